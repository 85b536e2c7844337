"""What the benchmarks of retrieval, answers and refusal count is right; how good anything is stays out of
these tests.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.absent import Document, make_absent, swap_period
from benchmarks.answers import Asked, answer_cells, figure_table, other_documents
from benchmarks.calibrate_refusal import Example, fit, refusals_left_out
from benchmarks.intervals import mean_cell, share_cell, sign_test, wilson
from benchmarks.questions import Question, QuestionSet, load_financebench, load_questions, only_answerable
from benchmarks.retrieval import reranking
from benchmarks.scores import counted_text, gold_figure, gold_rank, has_value, states_figure
from chatbot.records import Answer, Citation, Exchange, Hit
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.case_rows import case_rows
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf

INTERVALS = [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)]


@pytest.mark.parametrize(("right", "n", "low", "high"), INTERVALS)
def test_wilson_s_interval(right: int, n: int, low: float, high: float) -> None:
    assert wilson(right, n) == pytest.approx((low, high), abs=1e-4)


def test_the_sign_test_counts_both_sides() -> None:
    assert sign_test(7, 0) == pytest.approx(2 / 2**7)
    assert sign_test(1, 4) == pytest.approx(2 * (1 + 5) / 2**5)
    assert sign_test(4, 1) == sign_test(1, 4)
    assert sign_test(0, 0) == 1.0
    assert sign_test(2, 2) == 1.0


def write_lines(path: Path, *rows: Mapping[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) + "\n" for row in rows]
    path.write_text("".join(lines), "utf-8")
    return path


def asked_of(document: str, text: str, *pages: int, number: str = "n", **other: Any) -> Question:
    """A question put to one document alone."""
    return Question(number, text, document, (document,), frozenset(pages), **other)


OWN_LINES = """
{"id": 1, "question": "How much?", "doc": "a.pdf", "pages": [3], "values": ["4.4"], "kind": "table", \
"history": [{"user": "x", "assistant": "y"}]}
{"id": "two", "question": "And this?", "doc": null, "doc_hint": "a.pdf", "pages": [1, 2]}
{"id": "three", "question": "Who?", "doc": "a.pdf", "answerable": false}
"""


def test_questions_of_one_s_own(tmp_path: Path) -> None:
    document, lines = tmp_path / "a.pdf", tmp_path / "mine.jsonl"
    document.touch()
    lines.write_text(OWN_LINES.lstrip(), "utf-8")
    read = load_questions(lines, tmp_path)
    assert read.name == "mine"
    assert read.files == (document,)
    own, anywhere, _ = read.questions
    history = (Exchange("x", "y"),)
    assert own == asked_of(
        "a.pdf", "How much?", 3, number="1", values=("4.4",), history=history, kind="table"
    )
    assert anywhere.document == "a.pdf"
    assert anywhere.names == ()
    assert only_answerable(read.questions) == [own, anywhere]
    assert own.longest == 120
    assert replace(own, kind="list").longest == 300


PUBLISHED = {
    "financebench_id": "fb_1",
    "company": "Acme",
    "doc_name": "ACME_2020_10K",
    "question_type": "metrics-generated",
    "question": "How much?",
    "answer": "$5.00",
    "evidence": [
        {"evidence_page_num": 59, "doc_name": "ACME_2020_10K"},
        {"evidence_page_num": 3, "doc_name": "ACME_2020_10K"},
    ],
}


def test_a_published_financebench_counts_pages_from_nought(tmp_path: Path) -> None:
    elsewhere = {**PUBLISHED, "financebench_id": "fb_2", "doc_name": "NOT_HERE"}
    write_lines(tmp_path / "data" / "financebench_open_source.jsonl", PUBLISHED, elsewhere)
    documents = tmp_path / "data" / "financebench_document_information.jsonl"
    write_lines(documents, {"doc_name": "ACME_2020_10K", "company": "Acme"})
    path = tmp_path / "pdfs" / "ACME_2020_10K.pdf"
    path.parent.mkdir()
    path.touch()
    read = load_financebench(tmp_path)
    (question,) = read.questions
    assert question.id == "fb_1"
    assert question.document == "ACME_2020_10K.pdf"
    assert question.pages == frozenset({60, 4})
    assert question.company == "Acme"
    assert read.files == (path,)


def hit(document: str, page: int, **scores: float) -> Hit:
    return Hit(document, 1, page, None, None, "text", None, f"1:{page}", "", scores=scores)


def citation(document: str | None, page: int | None) -> Citation:
    return Citation("S1", document, page, None, "", True)


def answer(text: str, *pages: int, answered: bool = True) -> Answer:
    cited = [citation("a.pdf", page) for page in pages]
    return Answer("?", "?", text, answered, citations=tuple(cited))


def test_a_gold_page_counts_in_its_own_document_only() -> None:
    hits = [hit("b.pdf", 4), hit("a.pdf", 3), hit("a.pdf", 4)]
    assert gold_rank(hits, "a.pdf", {4, 9}) == 3
    assert gold_rank(hits, "a.pdf", {9}) == 0


STANDING = case_rows("""
4.4          | It is 4.4 per cent.
Nil          | the duty is\\nNIL.
1 lakh crore | about 1  lakh\\ncrore is
$120 billion | at least $120 billion a month
""")


INSIDE = case_rows("""
4.4 | It is 14.4 per cent.
4.4 | In 1.4.4 it says
4.4 | 4.45
nil | vanilla
""")


@pytest.mark.parametrize(("value", "text"), STANDING)
def test_a_value_stands_by_itself(value: str, text: str) -> None:
    page = text.replace("\\n", "\n")
    assert has_value(["never", value], page)


@pytest.mark.parametrize(("value", "text"), INSIDE)
def test_a_value_inside_another_does_not_stand_by_itself(value: str, text: str) -> None:
    assert not has_value(["never", value], text)


def test_only_a_short_answer_with_few_pages_counts() -> None:
    long, scattered = answer("one two three", 1, 2, 3), answer("one two three", 1, 2, 3, 4)
    repeated = answer("one", 1, 1, 1, 1)
    assert counted_text(long, longest=2) == "one two"
    assert counted_text(scattered, longest=2) == ""
    assert counted_text(repeated, longest=2) == "one"


ANNOTATED = case_rows("""
$11588.00 | What is net income (in USD millions)?    | 11588 | 1e6
$4.60     | What is capex (in USD billions)?         | 4.6   | 1e9
$8.70     | net PPNE? Answer in USD billions.        | 8.7   | 1e9
2.8%      | What margin? Answer in units of percents. | 2.8  | 1
24.26     | What ratio?                              | 24.26 | 1
-3.7%     | What growth?                             | -3.7  | 1
""")


@pytest.mark.parametrize(("gold", "question", "value", "scale"), ANNOTATED)
def test_an_annotated_figure_is_read_with_its_scale(gold: str, question: str, value: str, scale: str) -> None:
    (figure,) = gold_figure(gold, question)
    assert figure.value == float(value)
    assert figure.scale == float(scale)


@pytest.mark.parametrize("gold", ["Yes, by 3%.", "The 2018 segment", "", "between 2 and 3"])
def test_an_annotated_sentence_is_no_figure(gold: str) -> None:
    assert gold_figure(gold, "in USD millions") == ()


RIGHT_FIGURES = case_rows("""
$11588.00 | in USD millions | Net income 3,033 10,073 11,588 [S1]
$11588.00 | in USD millions | Net income was $11.6 billion.
$1577.00  | in USD millions | Purchases of property (1,577) (1,373)
$5466.00  | in USD millions | Total current liabilities 5,466,312
$4.60     | in USD billions | Capital spending (4,625)
2.8%      |                 | a margin of 2.8 percent
2.8%      |                 | a margin of 0.028
0.54      |                 | the ratio was 54%
0.01      |                 | return on assets 0.014
24.26     |                 | a turnover of 24.3
""")


WRONG_FIGURES = case_rows("""
$11588.00 | in USD millions | Net income was $11.3 billion.
$11588.00 | in USD millions | Net income was $11,588 billion.
$4.60     | in USD billions | net capital spending of $4.5 billion
2.8%      |                 | 2.8 million
2.8%      |                 | 2.9%
0.01      |                 | return on assets 0.02
24.26     |                 | by 2024 [S24]
24.26     |                 |
""")


@pytest.mark.parametrize(("gold", "question", "text"), RIGHT_FIGURES)
def test_an_answer_states_the_figure_within_one_per_cent(gold: str, question: str, text: str) -> None:
    (figure,) = gold_figure(gold, question)
    assert states_figure(text, figure)


@pytest.mark.parametrize(("gold", "question", "text"), WRONG_FIGURES)
def test_an_answer_further_away_does_not_state_the_figure(gold: str, question: str, text: str) -> None:
    (figure,) = gold_figure(gold, question)
    assert not states_figure(text, figure)


RULES = [
    "The deficit ceiling, the ceiling of the deficit.",
    "The deficit ceiling and other rules of budgets.",
    "A ceiling, among many other rules.",
]


def three_pages(folder: Path) -> tuple[Chatbot, QuestionSet]:
    """A chatbot over pages that the question finds in the order 1, 2, 3, and a question that each of the
    last two answers.
    """
    path = make_pdf(folder / "Rules.pdf", RULES)
    chatbot = Chatbot(Settings(home=folder / "home"), embedder=HashEmbedder(dimension=256))
    errors = [result.error for result in chatbot.add([Upload(path)])]
    assert not any(errors)
    question = asked_of("Rules.pdf", "What is the deficit ceiling?", 2, 3, number="q")
    return chatbot, QuestionSet("own", (question,), (path,))


def test_an_order_that_is_not_taken_ends_the_measurement(tmp_path: Path) -> None:
    chatbot, questions = three_pages(tmp_path)
    with (
        chatbot,
        reranking(lambda keys, gold: '["P1-00000000"]') as search,
        pytest.raises(SystemExit, match="The search ordered the pages"),
    ):
        search(chatbot, questions.questions[0], ())


PAGES = [
    "Nike, Inc. 10-K 2019. Revenues 39,117 in fiscal 2019 and 2018.",
    "Notes maturing in 2022 and 2025-26; tax of the toll road",
    "The gap, FY17",
]
FILING = asked_of(
    "nike.pdf", "What is the FY2019 total revenue for Nike? Compare with FY2018.", 1, company="Nike"
)


def filing(text: str, company: str = "Nike") -> Question:
    """The question of the filing in other words."""
    return replace(FILING, text=text, company=company)


def test_years_that_stand_nowhere_are_moved_alike() -> None:
    document = Document.of(PAGES)  # 2017, 2018, 2019, 2022, 2025 and 2026 are there
    assert swap_period(FILING, document) == "What is the FY2016 total revenue for Nike? Compare with FY2015."
    assert swap_period(filing("How much in 2019-20?"), document) == "How much in 2015-16?"
    assert swap_period(filing("How much in FY19?"), document) == "How much in FY16?"
    assert swap_period(filing("How much?"), document) == ""
    all_years = " ".join(map(str, range(1950, 2100)))
    assert swap_period(FILING, Document.of([all_years])) == ""


def test_made_questions_are_absent_and_the_same_every_time() -> None:
    other = replace(FILING, id="c", document="costco.pdf", company="Costco", text="Costco?")
    unanswerable = replace(FILING, id="x", answerable=False)
    elsewhere = replace(FILING, id="y", document="unknown.pdf")
    texts = {"nike.pdf": PAGES, "costco.pdf": ["Costco"]}
    made = make_absent([FILING, other, unanswerable, elsewhere], texts)
    names = [question.id for question in made]
    assert names == ["n-absent-entity", "n-absent-period", "n-absent-measure", "c-absent-entity"]
    kinds = {question.kind for question in made}
    assert kinds == {"absent entity", "absent period", "absent measure"}
    for question in made:
        assert not question.answerable
        assert not question.pages
        assert not question.values
    assert made[0].names == ("nike.pdf",)
    assert made == make_absent([FILING, other], texts)


VALUED = asked_of("a.pdf", "How much?", 1, 2, number="v", values=("4.4",))


def asked_for(question: Question, text: str, *pages: int, answered: bool = True) -> Asked:
    return Asked(question, (), answer(text, *pages, answered=answered))


def test_an_answer_is_right_with_its_page() -> None:
    asked = [
        asked_for(VALUED, "It is 4.4", 1, 7),
        asked_for(VALUED, "It is 4.4", 7),
        asked_for(VALUED, "It is 5", 2),
        asked_for(VALUED, "Not there: 4.4", answered=False),
    ]
    assert [one.has_value for one in asked] == [True, True, False, False]
    assert [one.cites_gold for one in asked] == [True, False, True, False]
    quarter, half = share_cell(1, 4), share_cell(2, 4)
    mean = mean_cell([0.5, 0.0, 1.0])
    assert answer_cells(asked) == [4, half, quarter, half, mean, quarter]


def test_a_figure_is_right_wrong_or_refused() -> None:
    question = replace(VALUED, values=(), answer="$382.00", text="How much, in USD millions?")
    asked = [
        asked_for(question, "It was $381.6 million", 1),
        asked_for(question, "It was $390 million", 1),
        asked_for(question, "Not in these documents", answered=False),
    ]
    assert [one.verdict for one in asked] == ["right", "wrong", "refused"]
    ratio = asked_for(replace(question, id="r", answer="0.54"), "0.54", 9)
    groups = {"own document": [*asked, ratio], "all documents": []}
    text = figure_table(groups, {"a.pdf": ["cash 381,603", "", ""]})
    third, all_of_it, nothing = share_cell(1, 3), share_cell(1, 1), share_cell(0, 1)
    assert f"| own document, printed on a gold page | 3 | {third} | {third} | {third} | {third} |" in text
    assert f"| own document, to be computed | 1 | {all_of_it} | {nothing} | {nothing} |" in text


OTHER_TEXTS = {
    "a.pdf": ["4.4"],
    "b.pdf": ["It was 4.4 there"],
    "c.pdf": ["14.4 and 39,117"],
    "nike.pdf": ["1"],
    "nike_2018.pdf": ["2"],
}


def test_a_question_is_put_to_documents_that_hold_no_right_value() -> None:
    revenue = replace(FILING, answer="$39117.00", text="revenue in USD millions?")
    same = replace(revenue, id="same", document="nike_2018.pdf")
    questions = QuestionSet("x", (VALUED, revenue, same), ())
    pairs = other_documents(questions, OTHER_TEXTS, most=99, seed=1)
    of_value = {name for question, name in pairs if question is VALUED}
    of_revenue = {name for question, name in pairs if question is revenue}
    assert of_value == {"c.pdf", "nike.pdf", "nike_2018.pdf"}
    assert of_revenue == {"a.pdf", "b.pdf"}
    assert other_documents(questions, OTHER_TEXTS, most=3, seed=1) == pairs[:3]
    assert other_documents(questions, OTHER_TEXTS, most=99, seed=2) != pairs


def examples(group: str, answerable: bool, *values: float) -> list[Example]:
    return [Example(group, "some", answerable, {"good": value, "idle": 0.5}) for value in values]


def test_the_threshold_refuses_no_more_than_may_be() -> None:
    high, low = [0.01 * step for step in range(50, 100)], [0.01 * step for step in range(40)]
    answerable = examples("a", True, *high, 0.0)
    absent = examples("a", False, *low)
    for wrongly in (0.0, 0.05, 0.2):
        model = fit([*answerable, *absent], wrongly=wrongly)
        refused = sum(model.refuses(example.features) for example in answerable)
        assert refused == int(wrongly * 51)


def test_a_document_is_judged_by_the_others() -> None:
    usual = list[Example]()
    for group in "ab":
        usual += examples(group, True, 0.7, 0.8, 0.9)
        usual += examples(group, False, 0.1, 0.2, 0.3)
    odd = [*examples("odd", True, 0.1, 0.2), *examples("odd", False, 0.8, 0.9)]
    judged = refusals_left_out([*usual, *odd], wrongly=0.0)
    groups = [example.group for example, _ in judged]
    assert groups == ["a"] * 6 + ["b"] * 6 + ["odd"] * 4
    refused = [refused for _, refused in judged]
    assert refused[-4:] == [True, True, False, False]
