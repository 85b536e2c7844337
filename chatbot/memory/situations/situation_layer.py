"""Recorded advice as notes: what a user advised in situations like the one a question describes; knows how
it is put, not how it is kept.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Sequence

from chatbot.memory.layers import LayerOpening
from chatbot.memory.situations.situation_store import RecalledSituation, Situations
from chatbot.models.cosine_scale import EMBEDDED, by_embedder
from chatbot.records import Note, Recall
from chatbot.search.fusion import LongQuery, QueryChunk, embed_query
from ingestion.invisible_characters import one_line
from ingestion.language.terms import content_terms, terms

__all__ = ["SituationLayer", "names", "open_layer"]

# Cosine from which a question describes a situation, by what the embedder's fingerprint begins with; else
# UNKNOWN, so high that nothing misleads. MiniLM: of 24 questions written for 12 situations 21 reach it and
# none reaches it for another's; of 106 development questions on other matters 4 do. e5: of 16 paragraphs that
# tell of a situation in other words 5 reach it (MiniLM none), none another's, and none of 100 development
# questions (1).
SIMILAR = {"minilm-": 0.5, "e5-": 0.85}
UNKNOWN = 0.85
# Tokens of the pieces that a long question is cut into by the embedded model: a paragraph on a situation
# within a window of 254 on other matters is found for 41 to 69 in 100, within one of 64 for 97 and more.
# Another's endpoint would be called for each of them, so there its own windows do.
FINE_TOKENS = 64
SITUATION_CHARACTERS, ADVICE_CHARACTERS = 300, 700
# Small words within a name that nobody need repeat: "Bank of Latvia" is "Latvia's bank" too.
LINKS = frozenset(
    """
        a all an and any at both by each every for from her his in into its my of on or other our over own
        same such that the their these this those to under with your
    """.split()
)
# A figure in one word with letters: 3M, G7.
MIXED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
# Scripts whose words are not parted by blanks.
UNPARTED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    r"|[\U00020000-\U0003ffff]"
)
# A word of a name with the marks that hold it together: AT&T, 3M, C++, S&P, U.S.
NAME = re.compile(r"[^\W_]+(?:[&.+/'’-][^\W_]+)*[+#]{0,2}")


def names(question: str, scope: str) -> bool:
    """Whether a question names a scope; "" is named by all.

    By its terms, in any form of theirs. What has none ("US", "WHO", "AT&T", a letter) is a name only as it
    stands there whole, and what is also a common word only with its capitals, not at the beginning of a
    sentence nor among words that are all in capitals.
    """
    words = [re.sub(r"['’]s$", "", word) for word in NAME.findall(unicodedata.normalize("NFKC", scope))]
    wanted = [word for word in words if word.casefold() not in LINKS] or words
    if not words:
        return scope.strip() in question
    said = frozenset(terms(question))
    return all(
        said.issuperset(content_terms(word)) if _is_term(word) else _stands_in(question, word)
        for word in wanted
    )


def _is_term(word: str) -> bool:
    """Whether its terms alone stand for it: they leave out common words and single letters, and part
    letters from figures.
    """
    return (
        not UNPARTED.search(word)
        and len(content_terms(word)) == len(set(re.findall(r"[^\W\d_]+|\d+|[+#]", word.casefold())))
        and not MIXED.search(word)
    )


def _stands_in(question: str, word: str) -> bool:
    """Whether the word stands whole in the question, told from a common one by its capitals."""
    question = unicodedata.normalize("NFKC", question)
    if UNPARTED.search(word):
        return word in question
    found = [
        match
        for match in NAME.finditer(question)
        if re.sub(r"['’]s$", "", match[0], flags=re.I).casefold() == word.casefold()
    ]
    if not word.isalpha() or word.upper() == word.lower():
        return bool(found)
    if question.upper() == question:
        return False
    return any(
        match[0][:1].isupper()
        and ((match[0][:2].isupper() and len(word) > 1) or not _begins(question, match.start()))
        for match in found
    )


def _begins(question: str, at: int) -> bool:
    before = question[:at].rstrip(" \t\"'“”‘’([")
    return not before or before[-1] in ".?!:;\n"


def open_layer(opening: LayerOpening) -> SituationLayer:
    """The layer over the situations of a store."""
    return SituationLayer(Situations(opening.database, opening.embedder))


class SituationLayer:
    """Recalls advice for situations like the one a question describes: of no scope, and of the scopes that
    the question names.
    """

    name = "situations"

    def __init__(self, situations: Situations) -> None:
        self.situations = situations

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """As MemoryLayer.recall. A question longer than the embedder takes is searched piece by piece.
        Raises ModelError, StoreError.
        """
        scopes = [scope for scope in self.situations.scopes(recall.owner) if names(recall.question, scope)]
        if recall.vector is None or n < 1 or not scopes:
            return []
        embedder = self.situations.embedder
        query = LongQuery(recall.question, (QueryChunk(0, recall.question, recall.vector),))
        if len(embedder.split(recall.question)) > 1:
            if embedder.fingerprint.startswith(EMBEDDED):
                reserve = max(0, embedder.max_tokens - FINE_TOKENS)
            else:
                reserve = 0
            query = embed_query(embedder, recall.question, reserve=reserve)
        self.situations.catch_up()
        found = self.situations.search(query, recall.owner, scopes, strategy="per_chunk", n=n)
        least = by_embedder(SIMILAR, embedder.fingerprint, UNKNOWN)
        return [self._note(one) for one in found if one.score >= least]

    def _note(self, found: RecalledSituation) -> Note:
        one = found.situation
        of = f", on {one.scope}" if one.scope else ""
        day = time.strftime("%d %B %Y", time.localtime(one.at))
        advice = one_line("; also: ".join(one.recommendations), ADVICE_CHARACTERS)
        return Note(
            self.name,
            f"advice you recorded on {day}{of}, {found.score:.0%} alike",
            f"When {one_line(one.situation, SITUATION_CHARACTERS)}: {advice}",
        )
