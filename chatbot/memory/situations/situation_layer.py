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
# A figure in one word with letters: 3M, G7.
MIXED = re.compile(r"[^\W\d_]\d|\d[^\W\d_]")
# Scripts that do not separate words by blanks.
UNPARTED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    r"|[\U00020000-\U0003ffff]"
)
# A word of a name with the marks inside it: AT&T, 3M, C++, S&P, U.S.
NAME = re.compile(r"[^\W_]+(?:[&.+/'’-][^\W_]+)*[+#]{0,2}")


def names(question: str, scope: str) -> bool:
    """Whether a question names a scope; every question names "".

    Its terms count, in any form. A word without terms ("US", "WHO", "AT&T", a letter) counts only if it is in
    the question as a whole. One that is also a common word counts only with its capitals, and neither at the
    beginning of a sentence nor among words that are all in capitals.
    """
    found = NAME.findall(unicodedata.normalize("NFKC", scope))
    words = [re.sub(r"['’]s$", "", word) for word in found]
    if not words:
        return scope.strip() in question
    needed = [word for word in words if word.casefold() not in LINKS] or words
    question_terms = frozenset(terms(question))
    return all(_names_word(question, question_terms, word) for word in needed)


def _names_word(question: str, question_terms: frozenset[str], word: str) -> bool:
    if _is_term(word):
        return question_terms.issuperset(content_terms(word))
    return _stands_in(question, word)


def _is_term(word: str) -> bool:
    """Whether the word's terms alone stand for it.

    Terms leave out common words and single letters, and separate letters from figures.
    """
    if UNPARTED.search(word):
        return False
    parts = set(re.findall(r"[^\W\d_]+|\d+|[+#]", word.casefold()))
    return len(content_terms(word)) == len(parts) and not MIXED.search(word)


def _stands_in(question: str, word: str) -> bool:
    """Whether the question holds the whole word; capitals tell it from a common word."""
    question = unicodedata.normalize("NFKC", question)
    if UNPARTED.search(word):
        return word in question
    found = [match for match in NAME.finditer(question) if _is_same_word(match[0], word)]
    if not word.isalpha() or word.upper() == word.lower():
        return bool(found)
    if question.upper() == question:
        return False
    return any(_is_name(question, match, word) for match in found)


def _is_same_word(candidate: str, word: str) -> bool:
    """Whether two words are the same, whatever their case and a possessive "'s" of the first."""
    return re.sub(r"['’]s$", "", candidate, flags=re.I).casefold() == word.casefold()


def _is_name(question: str, match: re.Match[str], word: str) -> bool:
    """Whether a word of the question is a name, by its capitals."""
    beginning = match[0][:2]
    if not beginning[:1].isupper():
        return False
    if beginning.isupper() and len(word) > 1:
        return True
    return not _begins(question, match.start())


def _begins(question: str, at: int) -> bool:
    """Whether a sentence begins at a position."""
    before = question[:at].rstrip(" \t\"'“”‘’([")
    return not before or before[-1] in ".?!:;\n"


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
