"""Turns recorded advice into notes: what a user advised in situations like the one a question describes.

It words the notes and does not store the advice.
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

# Cosine from which a question describes a situation, by the beginning of the embedder's fingerprint. For any
# other embedder UNKNOWN, which is so high that nothing misleads. MiniLM: of 24 questions written for 12
# situations 21 reach it, and none reaches it for another situation; of 106 development questions on other
# matters 4 do. e5: of 16 paragraphs that describe a situation in other words 5 reach it (MiniLM none), none
# for another situation, and none of 100 development questions (MiniLM 1).
SIMILAR = {"minilm-": 0.5, "e5-": 0.85}
UNKNOWN = 0.85
# Tokens of the pieces into which the embedded model cuts a long question. A paragraph on a situation is found
# in 41 to 69 of 100 windows of 254 tokens on other matters, and in 97 and more windows of 64. A model behind
# an endpoint would be called for each piece, so it keeps its own windows.
FINE_TOKENS = 64
SITUATION_CHARACTERS, ADVICE_CHARACTERS = 300, 700
# Small words of a name that a question may leave out: "Bank of Latvia" is "Latvia's bank" too.
LINKS = frozenset(
    """
        a all an and any at both by each every for from her his in into its my of on or other our over own
        same such that the their these this those to under with your
    """.split()
)
# Scripts that do not separate words by blanks.
UNPARTED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    r"|[\U00020000-\U0003ffff]"
)
# A word of a name with the marks inside it: AT&T, 3M, C++, S&P, U.S.
NAME = re.compile(r"[^\W_]+(?:[&.+/'’-][^\W_]+)*[+#]{0,2}")


def names(question: str, scope: str) -> bool:
    """Whether a question names a scope; every question names "".

    The terms of its words count, in any form. A word without terms ("US", "WHO", "AT&T", a letter) counts
    only as it is written: in capitals, or with one where no sentence begins.
    """
    question = unicodedata.normalize("NFKC", question)
    found = [re.sub("['’]s$", "", word) for word in NAME.findall(unicodedata.normalize("NFKC", scope))]
    words = [word for word in found if word.casefold() not in LINKS] or found
    question_terms = frozenset(terms(question))
    return all(_names(question, question_terms, word) for word in words or [scope.strip()])


def _names(question: str, question_terms: frozenset[str], word: str) -> bool:
    if UNPARTED.search(word) or not any(map(str.isalnum, word)):
        return word in question
    own_terms = content_terms(word)
    if own_terms and word.isalpha():
        return question_terms.issuperset(own_terms)
    upper, capital = re.escape(word.upper()), re.escape(word.capitalize())
    return bool(re.search(rf"(?<!\w)(?:{upper}|(?<=[\w,;] ){capital})(?!\w)", question))


def open_layer(opening: LayerOpening) -> SituationLayer:
    """The layer over the situations of a store."""
    return SituationLayer(Situations(opening.database, opening.embedder))


class SituationLayer:
    """Recalls advice for situations like the one a question describes.

    The situations are those without a scope and those of scopes that the question names.
    """

    name = "situations"

    def __init__(self, situations: Situations) -> None:
        self.situations = situations

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """As MemoryLayer.recall.

        A question longer than the embedder takes is searched piece by piece. Raises ModelError, StoreError.
        """
        all_scopes = self.situations.scopes(recall.owner)
        scopes = [scope for scope in all_scopes if names(recall.question, scope)]
        if recall.vector is None or n < 1 or not scopes:
            return []
        embedder = self.situations.embedder
        if len(embedder.split(recall.question)) > 1:
            reserve = 0
            if embedder.fingerprint.startswith(EMBEDDED):
                reserve = max(0, embedder.max_tokens - FINE_TOKENS)
            query = embed_query(embedder, recall.question, reserve=reserve)
        else:
            query = LongQuery(recall.question, (QueryChunk(0, recall.question, recall.vector),))
        self.situations.catch_up()
        found = self.situations.search(query, recall.owner, scopes, strategy="per_chunk", n=n)
        least = by_embedder(SIMILAR, embedder.fingerprint, UNKNOWN)
        return [self._note(recalled) for recalled in found if recalled.score >= least]

    def _note(self, found: RecalledSituation) -> Note:
        situation = found.situation
        subject = f", on {situation.scope}" if situation.scope else ""
        day = time.strftime("%d %B %Y", time.localtime(situation.at))
        condition = one_line(situation.situation, SITUATION_CHARACTERS)
        advice = one_line("; also: ".join(situation.recommendations), ADVICE_CHARACTERS)
        source = f"advice you added on {day}{subject}, similarity {found.score:.0%}"
        return Note(self.name, source, f"When {condition}: {advice}")
