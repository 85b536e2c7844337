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
    languages = Counter(one.language for one in made)
    assert languages == {"de": 10, "fr": 10, "es": 10, "it": 10}
    names, texts = {one.id for one in made}, {one.text for one in made}
    assert len(names) == 40
    assert len(texts) == 40
    assert all(is_foreign(text) for text in texts)


@pytest.mark.parametrize("line", ["de\tq1", "de\t\tFrage?", "a\tb\tc\td"])
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "some.tsv"
    path.write_text(f"de\tq1\tWas?\n{line}\n")
    with pytest.raises(SystemExit, match=r"some\.tsv:2"):
        load_translations(path)


def test_a_translation_keeps_all_of_its_original_but_the_words() -> None:
    original = Question("q1", "What?", "A.pdf", ("A.pdf",), frozenset({3}))
    other = Question("q2", "Who?", "B.pdf")
    sets = [QuestionSet("one", (original, other), (Path("A.pdf"), Path("B.pdf")))]
    questions, by_language = translated(sets, [Translation("de", "q1", "Was?")])
    assert questions.questions == (original,)
    assert questions.files == (Path("A.pdf"),)
    german = Question("q1", "Was?", "A.pdf", ("A.pdf",), frozenset({3}))
    assert by_language == {"en": [original], "de": [german]}
    unknown = Translation("de", "q9", "Was?")
    with pytest.raises(SystemExit, match="q9"):
        translated(sets, [unknown])


RANKS = {
    "A": {"en": {"q1": 1, "q2": 1}, "de": {"q1": 0}, "fr": {"q2": 4}},
    "B": {"en": {"q1": 1, "q2": 3}, "de": {"q1": 1}, "fr": {"q2": 3}},
}


def test_hits_stand_beside_each_other_with_all_languages_but_english_in_one_row() -> None:
    rows = []
    for line in beside_each_other(RANKS).splitlines():
        cells = line.split("|")[1:-1]
        rows.append([cell.strip() for cell in cells])
    assert [row[0] for row in rows[2:]] == ["en", "de", "fr", "all but en"]
    english, all_but_english = rows[2], rows[-1]
    shares = [cell[:5].strip() for cell in all_but_english[1:6]]
    assert shares == ["2", ".000", ".500", ".000", "1.000"]
    assert english[2].startswith("1.000")
    assert english[3].startswith(".500")
