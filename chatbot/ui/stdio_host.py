"""Opens the store for one MCP client that has started this process, and closes it when the client goes."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from chatbot.app.running_questions import RunningQuestions
from chatbot.cli.served_command import served
from chatbot.store.addition_queue import Additions, open_additions

if TYPE_CHECKING:
    from chatbot.app.app_context import AppContext
    from chatbot.service import Chatbot
    from chatbot.settings import Settings

__all__ = ["serve_beside", "serve_stdio"]

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class StdioHost:
    """What the MCP server works with, of all that there is behind the pages."""

    settings: Settings
    chatbot: Chatbot
    additions: Additions
    asked: RunningQuestions

    def close(self) -> None:
        """Stops what is on its way and closes the store."""
        self.asked.close()
        self.additions.close()
        self.chatbot.close()


def serve_stdio(settings: Settings) -> None:
    """Serves until standard input ends. Raises StoreError if the store cannot be opened."""
    from chatbot.mcp_server.stdio_door import run_stdio
    from chatbot.service import Chatbot

    chatbot = Chatbot(settings)
    host = StdioHost(
        settings,
        chatbot,
        open_additions(chatbot.library, settings, readers=settings.threads + 1),
        RunningQuestions(chatbot, most=settings.waiting_questions),
    )
    for order in (signal.SIGINT, signal.SIGTERM):
        signal.signal(order, lambda *_: threading.Thread(target=_end, args=(host,)).start())
    try:
        run_stdio(cast("AppContext", host))
    finally:
        host.close()


def serve_beside(_: argparse.Namespace, settings: Settings) -> int:
    """Serves the client of a process that cannot open the store, since this server has it. Returns 0."""
    from chatbot.mcp_server.stdio_door import run_stdio

    command = served()
    assert command is not None, "only a command of another process comes here"
    read, write, _errors = command.streams
    run_stdio(command.store, read, write)
    return 0


def _end(host: StdioHost) -> None:
    """Closes the store and ends the process, although a thread still waits for standard input."""
    host.close()
    os._exit(INTERRUPTED)
