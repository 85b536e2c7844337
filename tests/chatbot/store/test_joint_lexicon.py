"""Several lexicons read as one score as each does alone."""

import pytest

from chatbot.store.joint_lexicon import JointLexicon, JointRows, starts_of
from chatbot.store.term_scores import LABEL, RowTerms, pack_terms, unpack_terms

FIRST = [["debt", "rule", "debt"], ["revenue"]]
NONE: list[list[str]] = []
LAST = [["rule"], ["debt", "deficit"], []]
WEIGHTS = {"debt": 2.0, "rule": 0.5, "zebra": 3.0}


def test_units_are_counted_on_and_score_as_alone() -> None:
    lexicons = [unpack_terms(pack_terms(units, [], [])).chunks for units in (FIRST, NONE, LAST)]
    starts = starts_of([len(FIRST), len(NONE), len(LAST)])
    assert starts == [0, 2, 2, 5]
    together = JointLexicon(lexicons, starts, WEIGHTS)
    units, counts = together.postings("debt")
    assert (units.tolist(), counts.tolist()) == ([0, 3], [2, 1])
    assert together.frequencies("rule").tolist() == [1, 0, 1]
    assert together.frequencies("zebra").tolist() == [0, 0, 0]
    alone = []
    for lexicon in lexicons:
        of_one = JointLexicon([lexicon], starts_of([len(lexicon.lengths)]), WEIGHTS)
        alone += of_one.scores(WEIGHTS).tolist()
    assert together.scores(WEIGHTS).tolist() == alone


def test_room_between_documents_scores_nothing() -> None:
    lexicons = [unpack_terms(pack_terms(units, [], [])).chunks for units in (FIRST, LAST)]
    together = JointLexicon(lexicons, [0, 3, 7], WEIGHTS)
    assert together.postings("rule")[0].tolist() == [0, 3]
    assert together.scores(WEIGHTS).tolist()[2] == 0


def test_only_the_terms_it_was_made_for_can_be_asked_for() -> None:
    lexicon = unpack_terms(pack_terms(FIRST, [], [])).chunks
    with pytest.raises(KeyError):
        JointLexicon([lexicon], [0, 2], ["debt"]).postings("rule")


def test_rows_stand_on_pages_counted_on() -> None:
    assets = RowTerms(4, ["total", "asset"], ["2024"], [])
    debt = RowTerms(1, ["total", "debt"], [], [])
    rows = [unpack_terms(pack_terms([], [], [row])).rows for row in (assets, debt)]
    together = JointRows(rows, [0, 6], ["total", "debt"])
    assert together.pages.tolist() == [4, 7]
    assert together.labels.tolist() == [2, 2]
    assert together.dated.tolist() == [True, False]
    assert together.having("total", LABEL).tolist() == [0, 1]
    assert together.having("debt", LABEL).tolist() == [1]
