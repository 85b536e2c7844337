"""Measures which words that turn a sentence's sense the program confirms without a reader, by kind.

It also counts the harmless rewordings that it doubts.

    python benchmarks/planted_words.py [--data ../shared/data] [--seed 1] [--most 400] [--show KIND]

It reads the project's own sample documents, and the PDFs in the folders policy/ and financebench/ of --data,
if there are any.
Every sentence of a page is cited as from its own page, with two other pages of the document among the
sources, without quotation marks, and checked as a model's answer is.

Doubted: the sentence is marked as not found, or as something that the page says otherwise. Confirmed: it is
marked as word for word, stated or calculated.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.intervals import share_cell
from benchmarks.planted_numbers import paths_of, prompt_of
from benchmarks.tables import markdown_table
from chatbot.answer.verification.checked_text import check_statements
from chatbot.records import CONFIRMED, DOUBTFUL, Prompt
from ingestion.document import Circumstances, read_document
from ingestion.records import Page

__all__ = ["ERRORS", "REWORDINGS", "Judged", "plant_words"]

FEWEST_WORDS, MOST_WORDS = 8, 45
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SPELLED = "two three four five six seven eight nine ten".split()
_TURNS = (
    ("may", "must"),
    ("must", "may"),
    ("shall", "may"),
    ("increase", "decrease"),
    ("decrease", "increase"),
    ("increased", "decreased"),
    ("decreased", "increased"),
    ("rose", "fell"),
    ("fell", "rose"),
    ("raise", "lower"),
    ("raised", "lowered"),
    ("higher", "lower"),
    ("lower", "higher"),
    ("least", "most"),
    ("most", "least"),
    ("above", "below"),
    ("below", "above"),
    ("before", "after"),
    ("after", "before"),
    ("surplus", "deficit"),
    ("deficit", "surplus"),
    ("maximum", "minimum"),
    ("minimum", "maximum"),
    ("more", "less"),
    ("less", "more"),
    ("include", "exclude"),
    ("including", "excluding"),
    ("excluding", "including"),
)


def _put(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Callable[[str, random.Random], str]:
    """A change of one of a sentence's places, drawn by chance; the first and the last word are left."""

    def change(text: str, chance: random.Random) -> str:
        places = [
            found for found in re.finditer(pattern, text) if found.start() > 0 and found.end() < len(text) - 1
        ]
        if not places:
            return text
        found = chance.choice(places)
        return text[: found.start()] + (by if isinstance(by, str) else by(found)) + text[found.end() :]

    return change


def _other_number(text: str, chance: random.Random) -> str:
    def other(found: re.Match[str]) -> str:
        return chance.choice([word for word in _SPELLED if word != found[0]])

    return _put(rf"\b(?:{'|'.join(_SPELLED)})\b", other)(text, chance)


def _opposite(text: str, chance: random.Random) -> str:
    of = dict(_TURNS)
    return _put(rf"\b(?:{'|'.join(of)})\b(?! not\b)", lambda found: of[found[0]])(text, chance)


ERRORS: Mapping[str, Callable[[str, random.Random], str]] = {
    "number in words": _other_number,
    "denied": _put(
        r"\b(?:is|are|was|were|will|shall|should|has|have|can)\b(?! not\b)", lambda found: f"{found[0]} not"
    ),
    "denial dropped": _put(r"(?<=[a-z]) not(?= )", ""),
    "opposite": _opposite,
}
# What says the same: none of these may be doubted.
REWORDINGS: Mapping[str, Callable[[str, random.Random], str]] = {
    "word left out": _put(r" (?:also|the|has|that|its|their|such|further|however,?)(?= )", ""),
    "said in other words": _put(
        r"\b(?:in order to|per cent|shall be|as well as|is expected to|approximately|due to|such as)\b",
        lambda found: {
            "in order to": "to",
            "per cent": "percent",
            "shall be": "must be",
            "as well as": "and",
            "is expected to": "should",
            "approximately": "about",
            "due to": "because of",
            "such as": "for example",
        }[found[0]],
    ),
    "put behind another's words": lambda text, _: f"According to the document, {text[:1].lower()}{text[1:]}",
    "clause left out": _put(r", (?:which|who|including|after|as|with)\b[^,.;]{5,80},", ","),
    "cut short": lambda text, _: " ".join(text.split()[: max(6, 2 * len(text.split()) // 3)]),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A changed sentence as checked. kind: of the change; harmless: it says the same. reason: why it is
    doubted, "" where it is not. confirmed: it has a mark that says so.
    """

    kind: str
    harmless: bool
    text: str
    document: str
    page: int
    reason: str
    confirmed: bool


def sentences_of(page: Page) -> Iterator[str]:
    """Its sentences of prose, on one line."""
    for sentence in _SENTENCE.split(page.text):
        line = " ".join(sentence.split())
        words = line.split()
        prose = sum(word.islower() for word in words) > 0.6 * len(words)
        one = line.endswith(".") and not re.search(r"[•\"“”]|[.!?] \(", line)
        if FEWEST_WORDS <= len(words) <= MOST_WORDS and prose and one and line[0].isupper():
            yield line


def judged(text: str, prompt: Prompt) -> tuple[str, bool]:
    """Why a text is doubted as cited from the first source, "" if it is not; whether it is confirmed."""
    statements = check_statements(f"{text} [S1-7f3a]", prompt).statements
    doubts = (one.difference or one.mark for one in statements if one.mark in DOUBTFUL)
    return next(doubts, ""), all(one.mark in CONFIRMED for one in statements)


def plant_words(documents: Mapping[str, Sequence[Page]], *, seed: int, most: int) -> Iterator[Judged]:
    """Up to `most` changed sentences a kind, drawn evenly from the documents."""
    for kind, change in (*ERRORS.items(), *REWORDINGS.items()):
        chance = random.Random(f"{seed} {kind}")
        harmless = kind in REWORDINGS
        drawn = {name: _drawn(name, pages, change, chance) for name, pages in sorted(documents.items())}
        room = most
        while drawn and room:
            for name in list(drawn):
                found = next(
                    (one for one in drawn[name] if not (harmless and judged(one[1], one[3])[0])), None
                )
                if found is None:
                    del drawn[name]
                elif room:
                    page, _, text, prompt = found
                    yield Judged(kind, harmless, text, name, page.number, *judged(text, prompt))
                    room -= 1


def _drawn(
    name: str, pages: Sequence[Page], change: Callable[[str, random.Random], str], chance: random.Random
) -> Iterator[tuple[Page, str, str, Prompt]]:
    """(page, sentence, as changed, prompt) in an order of chance."""
    for page in chance.sample(pages, len(pages)):
        for sentence in sentences_of(page):
            text = change(sentence, chance)
            if text != sentence:
                yield page, sentence, text, prompt_of(name, page, pages, sentence, chance)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=ROOT.parent / "shared" / "data",
        help="folder with policy/*.pdf and financebench/*.pdf",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=400, help="sentences for each kind of change")
    parser.add_argument(
        "--show",
        choices=(*ERRORS, *REWORDINGS),
        help="also print what was missed of that kind, or doubted though harmless",
    )
    chosen = parser.parse_args()
    if not chosen.data.is_dir():
        print(
            (
                f"There is no {chosen.data}: only the project's own sample documents are read. Name another "
                f"folder with --data."
            ),
            file=sys.stderr,
        )
    documents = {
        path.name: read_document(path, Circumstances(processes=1)).pages for path in paths_of(chosen.data)
    }
    found = list(plant_words(documents, seed=chosen.seed, most=chosen.most))
    rows = []
    for kind in (*ERRORS, *REWORDINGS):
        of_kind = [one for one in found if one.kind == kind]
        doubted = sum(bool(one.reason) for one in of_kind)
        confirmed = sum(one.confirmed for one in of_kind)
        shares = (share_cell(doubted, len(of_kind)), share_cell(confirmed, len(of_kind)))
        rows.append((kind, "harmless" if kind in REWORDINGS else "error", len(of_kind), *shares))
    print(markdown_table(("change", "is", "n", "doubted (95 %)", "confirmed (95 %)"), rows))
    for one in found:
        if one.kind == chosen.show and bool(one.reason) == one.harmless:
            print(f"\n{one.document}, page {one.page}: {one.text}\n  {one.reason or 'not doubted'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
