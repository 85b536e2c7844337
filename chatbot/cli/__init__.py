"""The command line: a thin shell that parses arguments, calls the service and prints lines."""

from chatbot.cli.arguments import main

__all__ = ["main"]
