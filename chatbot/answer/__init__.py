"""From pages to an answer that can be checked."""
