"""The MCP server: what assistants such as Claude Desktop call, over the same chatbot as the API."""
