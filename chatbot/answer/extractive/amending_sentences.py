"""Finds what an amendment says of a quotation: by words that it quotes, or by the number of the provision.

Whether it changes what was quoted is left to the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.evidence.passages import Passage
from chatbot.evidence.word_runs import evened

__all__ = ["amending_sentences"]

# What words of another document stand between.
_QUOTED = re.compile(r"[“„«\"]\s*([^“”„«»\"]{2,300}?)[\s.,;]*[”“»\"]|‘([^‘’]{2,300}?)[.,;]*’")
_KIND = (
    r"(?i:articles?|(?:sub-?)?sections?|paragraphs?|clauses?|rules?|regulations?|items?|art\.|sec\.|§{1,2})"
)
_NUMBER = r"\d{1,3}(?:\.\d{1,3}){0,3}"
_PROVISION = re.compile(rf"(?<!\w){_KIND}\s?(?P<number>{_NUMBER})(?![\w%]|[.,]\d)")
# What stands under the number, at the beginning of a heading or of a paragraph.
_NUMBERED = re.compile(rf"(?:{_KIND}\s?)?(?P<number>{_NUMBER})[.:)]?(?:\s+(?=[^\W\da-z])|$)", re.M)
# More are not quoted.
MOST_SENTENCES = 3


def amending_sentences(said: str, cited: Iterable[Passage], amending: Sequence[Passage]) -> list[str]:
    """The sentences of an amendment that quote words of an answer, or name a provision that it quotes.

    said: the answer. cited: the passages of the pages that it cites. amending: those of a page of the
    amendment. One that quotes only what else these pages say is left out. One that ends with a colon comes
    with the next.
    """
    plain = evened(KEYS_IN_BRACKETS.sub("", said))
    texts = [(evened(passage.text), passage) for passage in cited]
    unsaid = "\n".join(text for text, _ in texts if text not in plain)
    numbers = {
        found["number"]
        for text, passage in texts
        if text in plain
        for part in (passage.head, passage.lead, passage.text)
        if (found := _NUMBERED.match(part))
    }
    sentences: list[str] = []
    for passage in amending:
        quoted = [evened(first or second) for first, second in _QUOTED.findall(passage.text)]
        is_meant = any(_has(plain, words) for words in quoted)
        if not is_meant and not any(_has(unsaid, words) for words in quoted):
            named = {found["number"] for found in _PROVISION.finditer(passage.text)}
            is_meant = bool(numbers & named) or bool(sentences and sentences[-1].endswith(":"))
        if is_meant:
            sentences.append(passage.text)
    return sentences[:MOST_SENTENCES]


def _has(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None
