"""Rated answers: kept as cases, recalled for like questions, and what they make of pages."""
