"""Lays out contexts of TAT-QA (Zhu et al., 2021) as PDFs: a table and the paragraphs around it.

The same file gives the same PDFs.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from typing import Any

from benchmarks.questions import Question, QuestionSet

__all__ = ["load_contexts", "load_tatqa"]

# The set has kept some of the markup it was taken from.
TAG = re.compile(r"</?[a-z]{1,8}>|&lt;/?[a-z]{1,8}&gt;")
# Points.
MARGIN, SIZE, LEADING, TABLE_SIZE = 56, 10, 13, 8
# A cell longer than this many characters is set over several lines; a table has at most this many values
# beside its label.
LONGEST_CELL = 60


def load_tatqa(path: Path, folder: Path, *, sample: int, seed: int) -> QuestionSet:
    """`sample` questions of the file, drawn by seed, each over the PDF of its own context, which is made
    in `folder`.
    """
    contexts: list[Mapping[str, Any]] = json.loads(path.read_text("utf-8"))
    pairs = [(question, context) for context in contexts for question in context["questions"]]
    drawn = random.Random(seed).sample(pairs, min(sample, len(pairs)))
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Path] = {}
    questions = []
    for question, context in drawn:
        name = f"context-{context['table']['uid'][:13]}.pdf"
        if name not in files:
            files[name] = _make_page(folder / name, context)
        questions.append(
            Question(
                question["uid"],
                question["question"],
                name,
                (name,),
                frozenset({1}),
                kind=question["answer_type"],
            )
        )
    return QuestionSet("tatqa", tuple(questions), tuple(files[name] for name in sorted(files)))


def load_contexts(
    paths: Sequence[Path], folder: Path, *, most: int, seed: int
) -> list[tuple[Mapping[str, Any], Path]]:
    """Up to `most` contexts of some files, drawn by seed, each with the PDF of it, which is made in
    `folder`.
    """
    contexts = [context for path in paths for context in json.loads(path.read_text("utf-8"))]
    drawn = random.Random(seed).sample(contexts, min(most, len(contexts)))
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for context in drawn:
        path = folder / f"context-{context['table']['uid'][:13]}.pdf"
        found.append((context, path if path.exists() else _make_page(path, context)))
    return found


def _make_page(path: Path, context: Mapping[str, Any]) -> Path:
    """The first paragraph, the table, then the others: the order in which they stood around it is not
    told.
    """
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

    style = ParagraphStyle("text", fontName="Times-Roman", fontSize=SIZE, leading=LEADING, alignment=4)
    texts = [
        TAG.sub("", unescape(part["text"]))
        for part in sorted(context["paragraphs"], key=lambda part: part["order"])
    ]
    paragraphs: list[Any] = [
        part for text in texts for part in (Paragraph(escape(text), style), Spacer(1, LEADING))
    ]
    document = SimpleDocTemplate(
        str(path),
        pagesize=A4,
        invariant=1,
        title="",
        **dict.fromkeys(("leftMargin", "rightMargin", "topMargin"), MARGIN),
    )
    document.build([*paragraphs[:2], _table(context["table"]["table"]), Spacer(1, LEADING), *paragraphs[2:]])
    return path


def _table(rows: Sequence[Sequence[str]]) -> Any:
    """The table as filings print it: labels left, figures right, a rule under the heads."""
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph, Table, TableStyle

    small = ParagraphStyle("cell", fontName="Times-Roman", fontSize=TABLE_SIZE, leading=TABLE_SIZE + 2)
    cells: list[list[Any]] = []
    for row in rows:
        cells.append([])
        for at, cell in enumerate(row):
            wraps = at == 0 or len(cell) > LONGEST_CELL
            cells[-1].append(Paragraph(escape(cell), small) if wraps else cell)
    values = max(1, len(rows[0]) - 1)
    width = 480.0
    label = max(width * 0.28, width - values * 85)
    widths = [label] + [(width - label) / values] * values
    look: list[tuple[Any, ...]] = [
        ("FONT", (0, 0), (-1, -1), "Times-Roman", TABLE_SIZE),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("VALIGN", (0, 0), (-1, -1), "BOTTOM"),
    ]
    look += [(f"{side}PADDING", (0, 0), (-1, -1), 1.5) for side in ("TOP", "BOTTOM", "LEFT", "RIGHT")]
    return Table(cells, colWidths=widths[: len(rows[0])], style=TableStyle(look), repeatRows=1)
