"""Prints the table of ingestion/ocr/letter_triples.txt: letter triples counted in a folder of texts.

python -m benchmarks.letter_triples FOLDER    (FOLDER/en.txt, FOLDER/fr.txt ...: 0.1 to 0.6 million characters
each)
"""

from __future__ import annotations

import base64
import math
import re
import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path

from ingestion.ocr.plausibility import LETTERS, fold

# Half the triples of a language come from its hundred commonest words: a word counts as the root of its
# frequency.
COMMONEST = 0.5
# What a triple that no text has is taken to occur at, among the triples of all languages.
UNSEEN = 2e-7
# Triples below which a language's counts are noise; it weighs in proportion to its triples until then.
ENOUGH = 20_000
# Documents are in English more often than in any other language.
WEIGHTS = {"en": 4.0, "pl": 2.0, "ru": 2.0}
# Bounds between the four steps of the table, in natural logarithms of (how often a letter follows two / how
# often by chance).
BOUNDS = (-2.0, -0.7, 1.0)


def count_triples(text: str) -> Counter[str]:
    """How often each triple of letters and word ends occurs in the words of `text`, frequent words damped."""
    triples: Counter[str] = Counter()
    for word, times in Counter(re.findall("[a-z]+", fold(text))).items():
        edged = f" {word} "
        for at in range(len(word) if len(word) > 1 else 0):
            triples[edged[at : at + 3]] += math.ceil(times**COMMONEST)
    return triples


def mix(counts: dict[str, Counter[str]]) -> dict[str, float]:
    """Frequencies of triples over all languages, each language by its weight."""
    mixed: defaultdict[str, float] = defaultdict(float)
    for language, triples in counts.items():
        total = sum(triples.values())
        for triple, times in triples.items():
            mixed[triple] += times / max(total, ENOUGH) * WEIGHTS.get(language, 1.0)
    whole = sum(mixed.values())
    return {triple: times / whole for triple, times in mixed.items()}


def steps(frequencies: dict[str, float]) -> bytes:
    """The table: four triples a byte, in the order of LETTERS, the first in the lowest bits."""
    symbols = " " + LETTERS
    pairs: defaultdict[str, float] = defaultdict(float)
    for triple, frequency in frequencies.items():
        pairs[triple[:2]] += frequency
    found = []
    for triple in (a + b + c for a in symbols for b in symbols for c in symbols):
        chance = (pairs[triple[:2]] + len(symbols) * UNSEEN) / len(symbols)
        ratio = math.log((frequencies.get(triple, 0.0) + UNSEEN) / chance)
        found.append(sum(ratio > bound for bound in BOUNDS))
    return bytes(_packed(found[at : at + 4]) for at in range(0, len(found), 4))


def _packed(steps: list[int]) -> int:
    """Four steps, two bits each, as one byte."""
    return sum(step << 2 * place for place, step in enumerate(steps))


if __name__ == "__main__":
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(sys.argv[1]).glob("*.txt"))}
    table = base64.b85encode(
        zlib.compress(steps(mix({name: count_triples(text) for name, text in texts.items()})), 9)
    ).decode()
    print("\n".join(table[at : at + 100] for at in range(0, len(table), 100)))
