"""Turns similar past cases into notes: answers to follow, then answers to avoid.

It words the notes and does not store the cases.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence

from chatbot.errors import NotFoundError, SettingsError
from chatbot.memory.cases.case_store import NEIGHBOURS, Cases, Documents, Recalled
from chatbot.memory.layers import LayerOpening, counted
from chatbot.records import Note, Notice, Recall
from ingestion.invisible_characters import one_line
from ingestion.prompt_injection.injections import find_instructions

__all__ = ["MOST_NEGATIVE", "MOST_POSITIVE", "CaseLayer", "open_layer"]

log = logging.getLogger(__name__)

# Examples to follow and to avoid that a question gets; and of all of them, the share that is kept for what to
# avoid: one in so many.
MOST_POSITIVE, MOST_NEGATIVE = 4, 2
NEGATIVE_SHARE = 3
# Characters that a note shows of a question, of an answer and of the user's comment.
QUESTION_CHARACTERS = 300
ANSWER_CHARACTERS = 700
WORD_CHARACTERS = 200


def open_layer(opening: LayerOpening) -> CaseLayer:
    """The layer over the cases of a store. Raises StoreError, SettingsError."""
    catalog = opening.catalog
    documents = Documents(catalog.digest_of, catalog.live_hashes)
    settings = opening.settings
    fields = settings.cases_key_field, settings.cases_value_field
    cases = Cases(opening.database, opening.embedder, documents=documents, fields=fields)
    try:
        # Where others can open the pages, what one of them rates is shared with all only if they share it.
        problems = cases.follow_file(settings.cases_file, appends=not settings.open_to_others)
    except NotFoundError as error:
        raise SettingsError(f"MEMORY_JSONL_PATH: {error.message}", hint=error.hint) from error
    if problems:
        log.warning("MEMORY_JSONL_PATH: %s cannot be read", counted(len(problems), "line"))
    return CaseLayer(cases, most=settings.cases_most)


class CaseLayer:
    """Recalls rated answers to similar questions; none where no question is similar."""

    name = "cases"

    def __init__(self, cases: Cases, *, most: int = NEIGHBOURS) -> None:
        """most: cases that one question recalls."""
        self.cases, self._most = cases, most

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """As MemoryLayer.recall.

        Nothing is embedded: without a vector there are no notes. Raises StoreError.
        """
        n = min(n, self._most)
        if recall.vector is None or n < 1:
            return []
        good, bad = (
            self.cases.recall(recall.owner, recall.vector, most, reward=reward)
            for most, reward in ((MOST_POSITIVE, 1), (MOST_NEGATIVE, 0))
        )
        few = min(len(bad), max(n // NEGATIVE_SHARE, n - len(good)))
        notes = list(map(self._note, [*good[: n - few], *bad[:few]]))
        for note in notes:
            if find_instructions(note.text):
                warning = f"A recalled rated answer contains instructions to a machine ({note.source})."
                recall.tell(Notice(warning, "You can delete it on the Memory page."))
        return notes

    def _note(self, found: Recalled) -> Note:
        case = found.case
        day = time.strftime(" of %d %B %Y", time.localtime(case.at)) if case.at else ""
        whose = "a shared rating" if case.by else "your rating"
        example = f"An example to {'follow, rated helpful' if case.reward else 'avoid, rated wrong'}."
        # Of a case that others share only the answer was checked, so its comment is left out.
        word = "" if case.by else one_line(case.word, WORD_CHARACTERS)
        comment = f" What was said about it: {word}" if word else ""
        question = one_line(case.question, QUESTION_CHARACTERS)
        answer = one_line(case.plan, ANSWER_CHARACTERS)
        text = f"{example} User: {question} Assistant: {answer}{comment}"
        return Note(self.name, f"{whose}{day}, similarity {found.score:.0%}", text)
