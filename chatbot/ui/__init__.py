"""The pages in the browser: thin shells over the service."""
