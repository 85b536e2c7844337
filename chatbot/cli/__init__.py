"""The command line: arguments in, service calls, lines out; a thin shell that decides nothing itself."""

from chatbot.cli.arguments import main

__all__ = ["main"]
