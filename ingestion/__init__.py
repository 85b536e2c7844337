"""PDF bytes to pages to chunks; knows no store, no model and no user interface."""
