"""`python -m chatbot`: hands the command line over; knows nothing else."""

from chatbot.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
