"""Judges what the command line said of an odd PDF, by the PDF's category, without running anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "MOST_BYTES",
    "MOST_SECONDS",
    "Observed",
    "Outcome",
    "Row",
    "judge",
    "judge_batch",
    "judge_refusal",
    "observed",
]

# What anyone may be kept waiting for one file, and what no process may pass, however hostile the file.
MOST_SECONDS = 60.0
MOST_BYTES = 1_500_000_000
# Fewer characters in the whole file may be left out as no text at all.
LEAST_TEXT = 5
# Characters a page from which a text layer is a page's text, and below which some page of several must be
# without one.
GOOD_LAYER, NO_LAYER = 200, 20
# Of the words of a file's true text that are searched for, so many must be found: OCR may miss some.
FOUND_SHARE = 0.5
LONGEST_ERROR = 400


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table of odd PDFs. path: beside the table. pypdf, pdfium: what these libraries made of
    it; "" where unknown.
    """

    path: str
    category: str
    what: str = ""
    password: str = ""
    pypdf: str = ""
    pdfium: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """What a library saw: pages, characters on the first eight of them, and whether a page failed."""

    pages: int
    characters: int
    failed: bool

    @property
    def density(self) -> float:
        """Characters a page."""
        return self.characters / max(1, min(self.pages, 8))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the command line said of one file; status "missing" where it said nothing. failed: pages. found:
    share of the words of its true text that a search found, None where that text is not known."""

    status: str
    error: str = ""
    warning: str = ""
    pages: int = 0
    chunks: int = 0
    ocr_pages: int = 0
    failed: int = 0
    seconds: float = 0.0
    found: float | None = None


def observed(text: str) -> Observed | None:
    """ "ok pages=2 chars8=14 pageerr=..." taken apart; None for anything else, and for a file without
    pages.
    """
    match = re.match(r"ok pages=(\d+) chars8=(\d+)(.*)", text, re.S)
    if not match or match[1] == "0":
        return None
    return Observed(int(match[1]), int(match[2]), "pageerr" in match[3])


def judge(row: Row, outcome: Outcome) -> str:
    """Why the outcome is not what a file of this category should have; "" where it is. Unknown categories
    may be added or refused.
    """
    return _common(outcome) or _JUDGES.get(row.category, _either)(row, outcome)


def judge_refusal(outcome: Outcome) -> str:
    """The same for a protected file that was given no password: it must ask for one, and not be called
    damaged.
    """
    if outcome.status != "failed":
        return f"without its password it was {outcome.status}"
    if "password" not in outcome.error.casefold():
        return f"the error does not speak of a password: {outcome.error}"
    if re.search(r"damaged|corrupt|broken|repair", outcome.error, re.I):
        return f"a protected file is called damaged: {outcome.error}"
    return _common(outcome)


def judge_batch(code: int, outcomes: Sequence[Outcome], errors: str, peak: int) -> str:
    """What was wrong with the process that added these. code: its exit code. errors: its stderr. peak:
    bytes of its largest process.
    """
    wanted = 1 if any(outcome.status == "failed" for outcome in outcomes) else 0
    if "Traceback" in errors:
        return "a traceback on stderr: " + errors.strip().splitlines()[-1][:LONGEST_ERROR]
    if code != wanted:
        return f"exit code {code} instead of {wanted}: {errors.strip()[-LONGEST_ERROR:]}"
    if peak > MOST_BYTES:
        return f"a process took {peak / 1e9:.2f} GB, more than {MOST_BYTES / 1e9:.2f}"
    return ""


def _common(outcome: Outcome) -> str:
    if outcome.status == "missing":
        return "no line about this file"
    if outcome.seconds > MOST_SECONDS:
        return f"took {outcome.seconds:.0f} s, more than {MOST_SECONDS:.0f}"
    if outcome.status == "failed" and (
        not outcome.error.strip() or "\n" in outcome.error or "Traceback" in outcome.error
    ):
        return f"the error is not one line: {outcome.error!r:.{LONGEST_ERROR}}"
    return ""


def _either(row: Row, outcome: Outcome) -> str:
    return "" if outcome.status in {"added", "failed"} else f"was {outcome.status}"


def _added(row: Row, outcome: Outcome) -> str:
    """It was added, with as many pages as one of the two libraries counts."""
    if outcome.status != "added":
        return f"was {outcome.status}: {outcome.error}"
    counts = {seen.pages for text in (row.pypdf, row.pdfium) if (seen := observed(text))}
    if counts and outcome.pages not in counts:
        return f"{outcome.pages} pages instead of {' or '.join(map(str, sorted(counts)))}"
    return ""


def _with_text(row: Row, outcome: Outcome) -> str:
    if reason := _added(row, outcome):
        return reason
    if not outcome.chunks:
        return "no text found"
    if outcome.found is not None and outcome.found < FOUND_SHARE:
        return f"only {outcome.found:.0%} of the searched words of its true text were found"
    return ""


def _damaged(row: Row, outcome: Outcome) -> str:
    """What a library can still read must be there; a page that none can read must be named."""
    seen = [found for text in (row.pypdf, row.pdfium) if (found := observed(text))]
    if not seen:
        return _either(row, outcome)
    if any(found.characters >= LEAST_TEXT for found in seen):
        return _with_text(row, outcome)
    unread = all(found.failed for found in seen)
    return _added(row, outcome) or (
        "a page that cannot be read is not named"
        if unread and not outcome.failed and not outcome.chunks
        else ""
    )


def _from_images(row: Row, outcome: Outcome) -> str:
    return _with_text(row, outcome) or ("" if outcome.ocr_pages else "no page was read by OCR")


def _scan(row: Row, outcome: Outcome) -> str:
    """Read from its images, unless the libraries see a text layer after all: its pictures may then hold no
    words.
    """
    layer = any(seen.characters >= LEAST_TEXT for text in (row.pypdf, row.pdfium) if (seen := observed(text)))
    return _with_text(row, outcome) if layer else _from_images(row, outcome)


def _mixed(row: Row, outcome: Outcome) -> str:
    """Good layers are used, and only pages without one are read from their images: a page of few words may
    have them all in its layer.
    """
    densities = [seen.density for text in (row.pypdf, row.pdfium) if (seen := observed(text))]
    density = max(densities, default=(GOOD_LAYER + NO_LAYER) / 2)
    if reason := _with_text(row, outcome):
        return reason
    if density >= GOOD_LAYER and outcome.ocr_pages >= outcome.pages:
        return "a good text layer was not used"
    return (
        "no page was read by OCR"
        if density < NO_LAYER and outcome.pages > 1 and not outcome.ocr_pages
        else ""
    )


def _empty(row: Row, outcome: Outcome) -> str:
    if reason := _added(row, outcome):
        return reason
    if outcome.chunks:
        return f"{outcome.chunks} chunks out of nothing"
    return "" if outcome.warning else "no warning that there is no text"


_JUDGES: Mapping[str, Callable[[Row, Outcome], str]] = {
    "broken": _either,
    "control": _with_text,
    "damaged": _damaged,
    "empty": _empty,
    "encrypted-open": _with_text,
    "encrypted-password": _added,
    "garbage-text": _from_images,
    "gov-error": _with_text,
    "huge": _either,
    "layout": _with_text,
    "mixed": _mixed,
    "scan": _scan,
    "script": _with_text,
}
