"""Tells what counts as found, as right and as well cited, from numbers and texts alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from chatbot.records import Answer, Citation, Hit
from ingestion.language.numbers import Figure, find_figures, magnitude

__all__ = [
    "MOST_CITED",
    "cited_pages",
    "counted_text",
    "gold_figure",
    "gold_rank",
    "has_value",
    "is_printed",
    "precision",
    "printed_forms",
    "states_figure",
]

# Citing more pages than this proves nothing: whoever cites everything cites the right one too.
MOST_CITED = 3
# An answer's figure may be this far from the annotated one, which is often computed from rounded ones.
TOLERANCE = 0.01
# … or that many of its last digit's units: 1.42 % is 0.01 where two decimals were asked for. A hair below a
# half, for floating point.
LAST_DIGIT = 0.4999
GOLD_FIGURE = re.compile(r"-?\(?[$€£]?\s?-?\d[\d,]*(?:\.\d+)?\s?%?\)?(?:\s(?:thousand|million|billion))?")
GOLD_SCALE = re.compile(
    r"\bin\s(?:units\sof\s)?(?:USD|US\$|\$|dollars?)?\s?(thousand|million|billion)s?\b", re.I
)
SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}


def gold_rank(hits: Sequence[Hit], document: str, pages: Collection[int]) -> int:
    """The place of the first hit that is one of these pages, 1-based; 0 where none is."""
    return next(
        (rank for rank, hit in enumerate(hits, 1) if hit.document == document and hit.page in pages), 0
    )


def has_value(values: Sequence[str], text: str) -> bool:
    """Whether one of the values stands in the text as a word or figure of its own, white space and case
    aside.
    """
    flat = _flat(text)
    return any(re.search(rf"(?<![\w.]){re.escape(_flat(value))}(?!\w)", flat) for value in values)


def cited_pages(citations: Sequence[Citation]) -> set[tuple[str, int]]:
    """(document, page) of what is cited, unknown keys left out."""
    return {
        (citation.document, citation.page)
        for citation in citations
        if citation.document is not None and citation.page is not None
    }


def counted_text(answer: Answer, *, longest: int) -> str:
    """The words of an answer that are judged: the first `longest`, and none where it cites more than
    MOST_CITED pages.
    """
    return " ".join(answer.text.split()[:longest]) if len(cited_pages(answer.citations)) <= MOST_CITED else ""


def precision(cited: Collection[tuple[str, int]], gold: Collection[tuple[str, int]]) -> float:
    """The share of cited pages that answer; raises ValueError where none is cited."""
    if not cited:
        raise ValueError("no page is cited")
    return len(set(cited) & set(gold)) / len(cited)


def gold_figure(answer: str, question: str) -> tuple[Figure, ...]:
    """The figure that an annotated answer consists of, scaled as the question asks ("in USD millions"); ()
    where it is not one alone.
    """
    if not GOLD_FIGURE.fullmatch(answer.strip()):
        return ()
    found = find_figures(
        f"The figure is {answer.strip()}"
    )  # alone on a line a bare number could be taken for a heading's
    scale = GOLD_SCALE.search(question)
    if len(found) != 1 or not scale or not found[0].bare:
        return tuple(found[:1])
    figure = found[0]
    factor = SCALES[scale[1].lower()]
    scaled = Figure(
        figure.text, figure.start, figure.end, figure.value, figure.unit, factor, decimals=figure.decimals
    )
    return (scaled,)


def printed_forms(gold: Figure) -> list[str]:
    """How a page may print a figure: with and without grouping, and without idle decimals ("11,588",
    "11588", "11588.00").
    """
    value = abs(gold.value)
    exact = [
        f"{value:{comma}.{digits}f}"
        for comma in (",", "")
        for digits in {gold.decimals, 0 if value == int(value) else gold.decimals}
    ]
    return list(dict.fromkeys([*exact, *(form.removeprefix("0") for form in exact)]))


def states_figure(text: str, gold: Figure) -> bool:
    """Whether any figure of the text is the gold one: within TOLERANCE, or within half of its last digit
    where it is rounded that far.

    Signs are left out, because statements show what is paid in brackets. A bare figure may be a table's cell
    whose scale stands above the table. A share may be written as a percentage, and the other way round.
    """
    wanted = abs(magnitude(gold))
    reach = max(TOLERANCE * wanted, LAST_DIGIT * 10.0**-gold.decimals * gold.scale)
    return _states(text, gold, reach)


def is_printed(text: str, gold: Figure) -> bool:
    """Whether a page prints the gold figure as it is, or at another scale in more digits: 5,466,312 in
    thousands for 5,466 millions.
    """
    if has_value(printed_forms(gold), text):
        return True
    shown = f"{abs(gold.value):.{gold.decimals}f}"
    decimals = len(shown.rstrip("0").partition(".")[2])  # "$382.00" is a whole number of millions
    return gold.scale != 1.0 and _states(text, gold, LAST_DIGIT * 10.0**-decimals * gold.scale)


def _states(text: str, gold: Figure, reach: float) -> bool:
    wanted = abs(magnitude(gold))
    return any(
        abs(reading - wanted) <= reach for figure in find_figures(text) for reading in _readings(figure, gold)
    )


def _readings(figure: Figure, gold: Figure) -> list[float]:
    """What a figure may mean beside the gold one, signs left out; [] where they are of different kinds."""
    value = abs(figure.value)
    if figure.percent == gold.percent:
        readings = [abs(magnitude(figure))]
        if figure.bare and gold.scale != 1.0:
            readings += [value * scale for scale in SCALES.values()]
        return readings
    if figure.percent == "percent" and gold.bare:
        return [value / 100]
    return [value * 100] if gold.percent == "percent" and figure.bare and value < 1 else []


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text.lower())
