"""From a question to the pages that answer it."""
