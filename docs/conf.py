"""Builds the site of these pages, by `make docs`, and gives their order; they are plain Markdown."""

from __future__ import annotations

from typing import Any

# The pages in their order. A folder's index stands for its pages, which follow in the order of their names.
PAGES = (
    "use answers documents models memory news commands api python deploy measure develop decisions/index"
).split()

project = "Financial policy chatbot"
extensions = ["myst_parser"]
exclude_patterns = ["templates"]
templates_path = ["templates"]
# As other readers of Markdown name the headings of a page.
myst_heading_anchors = 4
nitpicky = True

html_theme = "furo"
html_title = project
html_favicon = "../chatbot/ui/static/icon.png"
html_copy_source = False
html_use_index = False
html_show_sphinx = False


def _add_order(_: Any, page: str, source: list[str]) -> None:
    """Give the two pages that lead to others what Sphinx wants of them, and nobody else would understand."""
    listed = {"index": "\n".join(PAGES), "decisions/index": ":glob:\n\n*"}.get(page)
    if listed:
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n{listed}\n```\n"


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _add_order)
