"""The command line: parses arguments, calls the service and prints the result."""

from chatbot.cli.arguments import main

__all__ = ["main"]
