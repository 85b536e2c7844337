"""Looks things up in documents for a model: one list of tools and one implementation, for MCP and answers."""
