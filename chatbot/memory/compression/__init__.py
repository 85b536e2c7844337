"""Long conversations made short: what is kept of each message for a question."""
