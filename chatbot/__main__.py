"""`python -m chatbot`: hands the command line over; an order to end, as a service manager gives it, ends a command as Ctrl+C does."""

import signal

from chatbot.cli import main

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raise SystemExit(main())
