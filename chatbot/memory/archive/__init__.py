"""Writes all that users made into one archive, and reads such archives as untrusted data."""
