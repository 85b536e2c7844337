"""The HTTP interface: what programs call, over the same chatbot as the pages."""
