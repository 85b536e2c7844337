"""Tells where sentences end according to pySBD, in an environment of its own.

It shares nothing with the product's splitter.

    echo '{"text": "It fell. It rose."}' | .venv-benchmarks/bin/python benchmarks/sentence_judge.py

One JSON text a line; one JSON line answers each: {"ends": [offsets in the text]}. See
benchmarks/quotations.py, which starts it.
"""

from __future__ import annotations

import json
import sys
import warnings

warnings.simplefilter("ignore")  # its patterns are older than the rules for writing them

import pysbd  # type: ignore[import-not-found]


def ends(segmenter: pysbd.Segmenter, text: str) -> list[int]:
    """The offset behind each sentence. A sentence that is not found again ends where the next one begins."""
    found, at = [], 0
    for sentence in segmenter.segment(text):
        words = sentence.strip()
        start = text.find(words, at) if words else -1
        if start >= 0:
            at = start + len(words)
            found.append(at)
    return found


def main() -> None:
    """Answer until standard input ends."""
    segmenter = pysbd.Segmenter(language="en", clean=False)
    for line in sys.stdin:
        print(json.dumps({"ends": ends(segmenter, json.loads(line)["text"])}), flush=True)


if __name__ == "__main__":
    main()
