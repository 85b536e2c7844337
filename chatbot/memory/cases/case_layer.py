"""Similar past cases as notes: answers to follow, then answers to avoid; knows how they are put, not how
they are kept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from chatbot.memory.cases.case_recall import MOST_NEGATIVE, MOST_POSITIVE, Recalled, share_notes
from chatbot.memory.cases.case_store import CaseQuery, Cases, Documents
from chatbot.memory.layers import LayerOpening
from chatbot.records import Note, Notice, Recall
from ingestion.invisible_characters import one_line
from ingestion.prompt_injection.injections import find_instructions

__all__ = ["CaseLayer", "open_layer"]

# What a note may take of a question, of an answer and of what its reader said about it.
QUESTION_CHARACTERS = 300
ANSWER_CHARACTERS = 700
WORD_CHARACTERS = 200


def open_layer(opening: LayerOpening) -> CaseLayer:
    """The layer over the cases of a store. Raises StoreError."""
    catalog = opening.catalog
    return CaseLayer(
        Cases(opening.database, opening.embedder, documents=Documents(catalog.digest_of, catalog.live_hashes))
    )


class CaseLayer:
    """Recalls rated answers to similar questions; none where no question is similar."""

    name = "cases"

    def __init__(self, cases: Cases) -> None:
        self.cases = cases

    def recall(self, recall: Recall, n: int) -> Sequence[Note]:
        """As MemoryLayer.recall. Nothing is embedded: without a vector there are no notes. Raises
        StoreError.
        """
        if recall.vector is None or n < 1:
            return []
        good = self.cases.recall(recall.owner, recall.vector, CaseQuery(MOST_POSITIVE, reward=1))
        bad = self.cases.recall(recall.owner, recall.vector, CaseQuery(MOST_NEGATIVE, reward=0))
        notes = [self._note(one) for some in share_notes(good, bad, n) for one in some]
        for note in notes:
            if find_instructions(note.text):
                recall.tell(
                    Notice(
                        (
                            f"A rated answer that was recalled addresses its reader as a machine "
                            f"({note.source})."
                        ),
                        "The Memory page deletes it.",
                    )
                )
        return notes

    def _note(self, found: Recalled) -> Note:
        case = found.case
        if case.at:
            day = time.strftime(" of %d %B %Y", time.localtime(case.at))
        else:
            day = ""
        whose = "a shared rating" if case.by else "your rating"
        example = (
            "An example to follow, rated helpful." if case.reward else "An example to avoid, rated wrong."
        )
        # Of what others share only the answer was checked.
        if case.word and not case.by:
            said = f" What was said about it: {one_line(case.word, WORD_CHARACTERS)}"
        else:
            said = ""
        text = (
            f"{example} Asked: {one_line(case.question, QUESTION_CHARACTERS)} Answered: "
            f"{one_line(case.plan, ANSWER_CHARACTERS)}{said}"
        )
        return Note(self.name, f"{whose}{day}, question {found.score:.0%} alike", text)
