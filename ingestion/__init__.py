"""Turns PDF bytes into pages and chunks. Knows nothing of stores, models or user interfaces."""
