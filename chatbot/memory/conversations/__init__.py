"""Conversations: kept in SQLite, exported, and recalled by meaning or from a summary."""
