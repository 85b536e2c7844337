"""Documents that are scored together get the scores that each gets alone."""

from dataclasses import replace

import numpy as np
import pytest

from chatbot.search.joint_evidence import JointDocuments, KeptDocument
from chatbot.search.page_scores import WEIGHTS, score_pages
from chatbot.search.question_terms import understand
from chatbot.search.scored_question import ScoredQuestion, TermWeights
from chatbot.store.term_scores import RowTerms, pack_terms, unpack_terms
from ingestion.language.terms import terms
from ingestion.pages.kinds import CONTENTS, PRIMARY_STATEMENTS

QUESTION = "What were the total assets and the debt of Norland in 2024?"
PAGES = (
    "The balance sheet of Norland shows total assets of 2024.",
    "Debt is 60 per cent of output.",
    "The deficit was discussed by the council.",
)
ASSETS = RowTerms(1, ["total", "asset"], ["2024", "2023"], ["balanc", "sheet"])


def asked() -> tuple[ScoredQuestion, TermWeights]:
    question = ScoredQuestion(understand(QUESTION, QUESTION), None)
    return question, TermWeights(dict.fromkeys(question.words, 2.0), {"owe": 0.5})


def document(pages: list[str], *rows: RowTerms) -> KeptDocument:
    """A document with a chunk for each page."""
    words = [terms(page) for page in pages]
    packed = unpack_terms(pack_terms(words, words, rows))
    numbers = np.arange(len(pages))
    return KeptDocument(packed, {1: PRIMARY_STATEMENTS[:1], len(pages): (CONTENTS,)}, numbers, numbers + 1)


def scores_of(documents: list[KeptDocument]) -> list[tuple[int, int, int, float]]:
    """(document, page, best chunk, score) of each page."""
    question, weights = asked()
    joint = JointDocuments(documents)
    cosines = np.linspace(0.2, 0.7, 3, dtype=np.float32)
    chunks = sum(len(one.ordinals) for one in documents)
    scored = score_pages(joint.evidence(question, weights, WEIGHTS, np.resize(cosines, chunks)), WEIGHTS)
    places = joint.places_of(scored)
    rows = zip(places.owners, places.pages, places.ordinals, scored.total, strict=True)
    return [(int(owner), int(page), int(ordinal), float(total)) for owner, page, ordinal, total in rows]


def test_documents_score_together_as_each_does_alone() -> None:
    with_rows, without = document([*PAGES], ASSETS), document([*reversed(PAGES)])
    together = scores_of([with_rows, without, with_rows])
    alone = [scores_of([one]) for one in (with_rows, without, with_rows)]
    expected = []
    for owner, of_one in enumerate(alone):
        expected += [(owner, *row[1:]) for row in of_one]
    assert together == expected
    assert len({row[3] for row in together}) > len(PAGES)


def test_only_the_chosen_chunks_are_scored() -> None:
    whole = document([*PAGES], ASSETS)
    part = replace(whole, ordinals=whole.ordinals[1:], pages=whole.pages[1:])
    found = [row[:3] for row in scores_of([part, whole])]
    assert found == [(0, 2, 1), (0, 3, 2), (1, 1, 0), (1, 2, 1), (1, 3, 2)]


def test_chunks_without_terms_are_refused() -> None:
    whole = document([*PAGES])
    later = np.append(whole.ordinals[:-1], 9)
    for changed in (replace(whole, ordinals=later), replace(whole, pages=later)):
        with pytest.raises(IndexError):
            JointDocuments([changed, whole])
