"""Finds the pages that answer a question."""
