"""Tells what a page is from how such pages are written; knows one page at a time, no document and no question."""

from __future__ import annotations

from ingestion.records import Page
from ingestion.text_quality import is_contents

__all__ = ["CONTENTS", "page_kinds"]

CONTENTS = "contents"


def page_kinds(page: Page) -> tuple[str, ...]:
    """The kinds that a page is of, sorted; none for a page of no special kind."""
    return (CONTENTS,) if is_contents(page.text) else ()
