"""`python -m chatbot` and `finpolicy`: hands over the command line.

An order to end, as a service manager gives it, ends a command as Ctrl+C does.
"""

import signal

from chatbot import cli


def main() -> int:
    """Run the command of this process's arguments; see `cli` for what it returns."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
