"""`python -m chatbot` and `finpolicy`: hands over the command line, and to it what serves the pages.

An order to end, as a service manager gives it, ends a command as Ctrl+C does.
"""

from __future__ import annotations

import argparse
import signal

from chatbot import cli
from chatbot.settings import Settings


def _serve(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.store.lock import StoreLock

    # Taken for a moment, so that a store that another process has is said here, and not on the pages.
    lock = StoreLock(settings.store / "store.lock")
    lock.close(settled=not lock.left_behind)
    # Commands of other processes print to their own terminal, which may be the one this was started from.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    from chatbot.ui.server import run

    run(settings.home, port=options.port, address=options.address, pages=not options.no_pages)
    return 0


def _mcp(_: argparse.Namespace, settings: Settings) -> int:
    from chatbot.ui.stdio_host import serve_stdio

    serve_stdio(settings)
    return 0


def main() -> int:
    """Run the command of this process's arguments; see `cli` for what it returns."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return cli.main(serve=_serve, mcp=_mcp)


if __name__ == "__main__":
    raise SystemExit(main())
