"""What the benchmark of languages counts is right, and its translations are whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.languages import TRANSLATIONS, Translation, beside_each_other, load_translations, translated
from benchmarks.questions import Question, QuestionSet
from ingestion.language.language_detection import is_foreign


def test_each_language_has_ten_questions_and_none_stands_twice() -> None:
    made = load_translations(TRANSLATIONS)
    assert Counter(one.language for one in made) == {"de": 10, "fr": 10, "es": 10, "it": 10}
    assert len({one.id for one in made}) == len({one.text for one in made}) == 40
    assert all(is_foreign(one.text) for one in made)


@pytest.mark.parametrize("line", ["de\tq1", "de\t\tFrage?", "a\tb\tc\td"])
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "some.tsv").write_text(f"de\tq1\tWas?\n{line}\n")
    with pytest.raises(SystemExit, match=r"some\.tsv:2"):
        load_translations(tmp_path / "some.tsv")


def test_a_translation_keeps_all_of_its_original_but_the_words() -> None:
    original = Question("q1", "What?", "A.pdf", ("A.pdf",), frozenset({3}))
    sets = [QuestionSet("one", (original, Question("q2", "Who?", "B.pdf")), (Path("A.pdf"), Path("B.pdf")))]
    questions, by_language = translated(sets, [Translation("de", "q1", "Was?")])
    assert (questions.questions, questions.files) == ((original,), (Path("A.pdf"),))
    assert by_language == {
        "en": [original],
        "de": [Question("q1", "Was?", "A.pdf", ("A.pdf",), frozenset({3}))],
    }
    with pytest.raises(SystemExit, match="q9"):
        translated(sets, [Translation("de", "q9", "Was?")])


def test_hits_stand_beside_each_other_with_all_languages_but_english_in_one_row() -> None:
    ranks = {
        "A": {"en": {"q1": 1, "q2": 1}, "de": {"q1": 0}, "fr": {"q2": 4}},
        "B": {"en": {"q1": 1, "q2": 3}, "de": {"q1": 1}, "fr": {"q2": 3}},
    }
    rows = []
    for line in beside_each_other(ranks).splitlines():
        rows.append([cell.strip() for cell in line.split("|")[1:-1]])
    assert [row[0] for row in rows[2:]] == ["en", "de", "fr", "all but en"]
    assert [cell[:5].strip() for cell in rows[-1][1:6]] == ["2", ".000", ".500", ".000", "1.000"]
    assert rows[2][2].startswith("1.000") and rows[2][3].startswith(".500")
