"""Tools of other MCP servers: who offers them, what they are called with, and what becomes of their replies.

Nothing that such a server says is trusted: it is data, bounded in time and size.
"""
