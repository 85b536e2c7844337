"""What stands on a page and what the page is: its kind, printed number, margins, period and status."""
