"""What the benchmarks of retrieval, answers and refusal count is right; how good anything is stays out of
these tests.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.absent import (
    FILING_MEASURES,
    PUBLIC_MEASURES,
    Document,
    make_absent,
    swap_entity,
    swap_measure,
    swap_period,
    words_of,
)
from benchmarks.answers import Asked, answer_cells, figure_table, other_documents, refusal_table
from benchmarks.calibrate_refusal import (
    Example,
    fit,
    named_function,
    read_parts,
    refusals_left_out,
    separation,
)
from benchmarks.intervals import mean_cell, percentile, share_cell, sign_test, wilson
from benchmarks.questions import (
    Question,
    QuestionSet,
    as_line,
    chosen_sets,
    load_financebench,
    load_lines,
    load_questions,
    only_answerable,
)
from benchmarks.retrieval import (
    PEER,
    REPLIES,
    WHOLE,
    changes,
    hits_within,
    measure_reranking,
    report,
    reranking,
    reranking_report,
    switched_off,
)
from benchmarks.scores import (
    cited_pages,
    counted_text,
    gold_figure,
    gold_rank,
    has_value,
    is_printed,
    precision,
    printed_forms,
    states_figure,
)
from chatbot.records import Answer, Citation, Exchange, Hit
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.case_rows import case_lines, case_rows
from tests.commands import usage_of
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf


@pytest.mark.parametrize("script", ["retrieval", "answers", "calibrate_refusal"])
def test_each_script_says_how_it_is_used(script: str) -> None:
    usage = usage_of(f"{script}.py")
    assert usage.startswith("usage:")
    assert "--financebench" in usage


# --- intervals
# ------------------------------------------------------------------------------------------------------------


INTERVALS = [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)]


@pytest.mark.parametrize(("right", "n", "low", "high"), INTERVALS)
def test_wilson_s_interval(right: int, n: int, low: float, high: float) -> None:
    assert wilson(right, n) == pytest.approx((low, high), abs=1e-4)


def test_more_right_than_there_are_is_no_share() -> None:
    with pytest.raises(ValueError):
        wilson(3, 2)


def test_a_share_is_printed_with_its_interval_and_a_mean_too() -> None:
    half = share_cell(5, 10)
    assert half == ".500 (.237–.763)"
    assert share_cell(0, 0) == "–"
    assert mean_cell([]) == "–"
    assert mean_cell([1.0, 0.0] * 5) == half
    many_low = mean_cell([1 / 3] * 3 + [0.1] * 10)
    assert many_low.startswith(".154 (")
    mixed = mean_cell([0.1] * 3 + [0.9, 1.0, 1.0])
    assert mixed.startswith(".533 (")


def test_the_sign_test_counts_both_sides() -> None:
    assert sign_test(7, 0) == pytest.approx(2 / 2**7)
    assert sign_test(1, 4) == pytest.approx(2 * (1 + 5) / 2**5)
    assert sign_test(4, 1) == sign_test(1, 4)
    assert sign_test(0, 0) == 1.0
    assert sign_test(2, 2) == 1.0


SHARES = [(0.0, 1.0), (0.5, 2.0), (0.75, 3.0), (0.95, 4.0), (1.0, 4.0)]


def test_a_percentile_is_a_value_that_was_measured() -> None:
    for share, value in SHARES:
        assert percentile([4.0, 1.0, 3.0, 2.0], share) == value


# --- questions
# ------------------------------------------------------------------------------------------------------------


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


def test_a_question_written_is_read_again(tmp_path: Path) -> None:
    history = (Exchange("q", "a"),)
    first = asked_of(
        "a.pdf", "How “much”?", 2, 1, number="1", values=("x",), history=history, kind="table", company="Nike"
    )
    second = Question("2", "Where?", "b.pdf", (), answerable=False)
    path = tmp_path / "again.jsonl"
    path.write_text(f"{as_line(first)}\n{as_line(second)}\n", "utf-8")
    assert load_lines(path) == (first, second)


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


def test_physical_pages_are_taken_as_they_are(tmp_path: Path) -> None:
    pages = {"evidence_pages": [5], "alt_pages": [7]}
    row = {"id": "x", "doc_name": "A", "question": "?", "answer": "1", **pages}
    write_lines(tmp_path / "some.jsonl", row)
    (tmp_path / "A.pdf").touch()
    (question,) = load_financebench(tmp_path).questions
    assert question.pages == {5, 7}


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no FinanceBench questions"):
        load_financebench(tmp_path)
    path = write_lines(tmp_path / "mine.jsonl", {"id": 1, "question": "?", "doc": "gone.pdf"})
    with pytest.raises(SystemExit, match="gone.pdf"):
        load_questions(path, tmp_path)
    write_lines(path, {"id": 1})
    with pytest.raises(SystemExit, match=r"mine\.jsonl:1"):
        load_lines(path)
    nothing = argparse.Namespace(financebench=None, questions=None, documents=None)
    with pytest.raises(SystemExit, match="Give --financebench FOLDER"):
        chosen_sets(nothing, beside=tmp_path / "nothing")


# --- scores
# ------------------------------------------------------------------------------------------------------------


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


def test_citations_of_pages() -> None:
    first, second = citation("a.pdf", 1), citation("a.pdf", 2)
    cited = cited_pages([first, first, second, citation(None, None)])
    assert cited == {("a.pdf", 1), ("a.pdf", 2)}
    gold = {("a.pdf", 2), ("b.pdf", 1)}
    assert precision(cited, gold) == 0.5
    with pytest.raises(ValueError):
        precision(set(), cited)


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


def test_a_page_prints_a_figure_as_it_is_or_in_more_digits() -> None:
    (millions,) = gold_figure("$382.00", "in USD millions")
    assert is_printed("Net cash 381,603 466,699", millions)
    assert is_printed("some 382 million", millions)
    assert not is_printed("Net cash 383,603", millions)
    (ratio,) = gold_figure("24.26", "")
    assert not is_printed("24.3", ratio)
    (share,) = gold_figure("0.54", "")
    assert printed_forms(share) == ["0.54", ".54"]
    (large,) = gold_figure("$11588.00", "")
    forms = set(printed_forms(large))
    assert forms >= {"11,588", "11588", "11588.00", "11,588.00"}


# --- retrieval
# ------------------------------------------------------------------------------------------------------------


def numbered(number: int) -> Question:
    kind = "table" if number < 3 else "prose"
    return asked_of("a.pdf", f"question {number}", 1, number=str(number), kind=kind)


ASKED = [numbered(number) for number in range(5)]
RANKS = {
    "own document": {
        PEER: {"0": 0, "1": 1, "2": 2, "3": 4, "4": 11},
        WHOLE: {"0": 1, "1": 1, "2": 3, "3": 4, "4": 0},
    }
}


REPORTED = """
| nearest chunks (peer) | 5 | .200 (.036–.624) | .400 (.118–.769) | .600 (.231–.882) |
| everything | 5 | .400 (.118–.769) | .600 (.231–.882) | .800 (.376–.964) | .800 (.376–.964) | .517 (
| prose | 2 | .000 (.000–.658) | .000 (.000–.658) | .000 (.000–.658) | .000 (.000–.658) |
| table | 3 | .333 (.061–.792) | .667 (.208–.939) | .667 (.208–.939) | 1.000 (.439–1.000) |
"""


def test_the_report_counts_places() -> None:
    text = report(ASKED, RANKS)
    for line in case_lines(REPORTED):
        assert line in text
    assert hits_within(3, [0, 1, 3, 4]) == 2


def test_a_run_is_compared_with_one_before() -> None:
    before = {"own document": {WHOLE: {"0": 4, "1": 1, "2": 0, "3": 2, "gone": 1}}}
    text = changes(ASKED, before, RANKS)
    assert "2 better, 1 worse of 4; within the first 3: 2 gained, 1 lost (sign test p = 1.000)" in text
    assert "| 2 | > 10 | 3 | better | question 2 |" in text
    assert "| 3 | 2 | 4 | worse | question 3 |" in text
    assert "question 1" not in text
    assert "0 better, 0 worse of 0" in changes(ASKED, {}, RANKS)


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


PLACES = {
    "without reranking": 2,
    "reranked: pages that answer first": 1,
    "reranked: turned round": 1,
    "reranked: nonsense": 2,
}


NONSENSE = "| reranked: nonsense | 1 | .000 (.000–.793) | 1.000 (.207–1.000) | 1.000 (.207–1.000) |"


def test_what_reranking_can_bring_and_cost_is_measured_with_servers_that_stand_in_for_models(
    tmp_path: Path,
) -> None:
    chatbot, questions = three_pages(tmp_path)
    with chatbot:
        ranks = measure_reranking(chatbot, questions)
    assert set(ranks) == {"own document", "all documents"}
    for by_variant in ranks.values():
        places = {name: found["q"] for name, found in by_variant.items()}
        assert places == PLACES
    assert NONSENSE in reranking_report(ranks)


def test_the_page_that_answers_is_put_first_and_a_turned_round_one_last(tmp_path: Path) -> None:
    chatbot, questions = three_pages(tmp_path)
    (question,) = questions.questions
    found = {}
    with chatbot:
        for name, reply in REPLIES.items():
            with reranking(reply) as search:
                hits = search(chatbot, question, ())
            found[name] = [hit.page for hit in hits]
    assert found == {"pages that answer first": [2, 3, 1], "turned round": [3, 2, 1], "nonsense": [1, 2, 3]}


def test_an_order_that_is_not_taken_ends_the_measurement(tmp_path: Path) -> None:
    chatbot, questions = three_pages(tmp_path)
    with (
        chatbot,
        reranking(lambda keys, gold: '["P1-00000000"]') as search,
        pytest.raises(SystemExit, match="The search ordered the pages"),
    ):
        search(chatbot, questions.questions[0], ())


@dataclass(frozen=True)
class Switches:
    """As a retriever's may look."""

    kinds: bool = True
    words: float = 0.5
    kept: float = 0.7
    turned_off: bool = False
    name: str = "x"


def test_each_part_is_switched_off_once() -> None:
    off = switched_off(Switches(), neutral={"kept": 1.0})
    assert list(off) == ["kinds", "words", "kept"]
    assert off["kinds"] == Switches(kinds=False)
    assert off["words"] == Switches(words=0.0)
    assert off["kept"] == Switches(kept=1.0)


# --- absent questions
# -----------------------------------------------------------------------------------------------------------

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


def test_words_are_compared_without_case_and_plural() -> None:
    words = words_of("The Taxes of FY24, 1,234.5 and 2025-26: Loss")
    assert words == set("the tax of 2024 1234.5 and 2025 2026 loss".split())


def test_all_words_on_one_page_may_be_it() -> None:
    document = Document.of(PAGES)
    assert document.has("toll taxes")
    assert not document.has("tax gap")


def test_another_company_that_the_document_does_not_name() -> None:
    companies = ["Nike", "Best Buy", "Costco"]
    document = Document.of([*PAGES, "Best results; buy back"])
    swapped = swap_entity(FILING, document, companies)
    assert swapped == "What is the FY2019 total revenue for Costco? Compare with FY2018."
    with_both = Document.of([*PAGES, "Best Buy, Costco"])
    assert swap_entity(FILING, with_both, companies) == ""
    named = filing("What did Block (formerly known as Square) earn?", "Block")
    assert swap_entity(named, document, ["Block", "Costco"]) == "What did Costco earn?"
    follow_up = replace(FILING, history=(Exchange("a", "b"),))
    assert swap_entity(follow_up, document, ["Costco"]) == ""


def test_another_country_or_institution() -> None:
    country = asked_of("m.pdf", "Where does Malaysia stand?", 1, number="p")
    institution = replace(country, text="When does the NSRF begin, by GDP?")
    neither = replace(country, text="How high is GDP?")
    document = Document.of(["Malaysia and India and Indonesia", "NSRF"])
    assert swap_entity(country, document, []) == "Where does Kenya stand?"
    assert swap_entity(institution, document, []) == "When does the PROSUR begin, by GDP?"
    assert swap_entity(neither, document, []) == ""


def test_years_that_stand_nowhere_are_moved_alike() -> None:
    document = Document.of(PAGES)  # 2017, 2018, 2019, 2022, 2025 and 2026 are there
    assert swap_period(FILING, document) == "What is the FY2016 total revenue for Nike? Compare with FY2015."
    assert swap_period(filing("How much in 2019-20?"), document) == "How much in 2015-16?"
    assert swap_period(filing("How much in FY19?"), document) == "How much in FY16?"
    assert swap_period(filing("How much?"), document) == ""
    all_years = " ".join(map(str, range(1950, 2100)))
    assert swap_period(FILING, Document.of([all_years])) == ""


def test_a_measure_that_the_document_lacks() -> None:
    document = Document.of([*PAGES, "net interest margin; common equity Tier 1"])
    swapped = swap_measure(FILING, document)
    assert swapped == "What is the FY2019 combined ratio for Nike? Compare with FY2018."
    long = filing("What is the FY2019 quick ratio for Nike? " + "It is defined at length. " * 9)
    assert swap_measure(long, document, turn=1) == "What was Nike's value at risk in FY2019?"
    public = filing("How large is the fiscal deficit?", company="")
    apart, together = Document.of(["tax", "gap"]), Document.of(["the gap in tax"])
    assert swap_measure(public, apart) == "How large is the tax gap?"
    assert swap_measure(public, together) == "How large is the lottery proceeds?"
    unnamed = filing("How large is it?", company="")
    assert swap_measure(unnamed, document) == ""


def test_there_are_forty_measures() -> None:
    measures = [names[0] for names in (*FILING_MEASURES, *PUBLIC_MEASURES)]
    assert len(measures) == 40
    assert len(set(measures)) == 40


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


def test_at_least_a_hundred_are_made_of_the_shared_questions(shared: Path) -> None:
    policy = load_questions(shared / "policyqa_dev.jsonl", shared / "policy")
    # Without any text nothing stands in the way; what the documents hold takes some away, a handful in all.
    made, originals = list[Question](), set[str]()
    for some in (policy, load_financebench(shared)):
        texts = {path.name: ["nothing"] for path in some.files}
        made += make_absent(some.questions, texts)
        originals |= {question.text for question in some.questions}
    assert len(made) > 100
    names, asked = {question.id for question in made}, {question.text for question in made}
    assert len(names) == len(made)
    assert not originals & asked


# --- answers
# ------------------------------------------------------------------------------------------------------------

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


def test_refusals_are_counted_by_what_was_asked() -> None:
    yes, no = asked_for(VALUED, "x"), asked_for(VALUED, "x", answered=False)
    groups = {
        "own document": [yes, no],
        "all documents": [yes, yes],
        "absent period, made": [no, no],
        "absent entity, made": [no, yes],
    }
    text = refusal_table(groups)
    assert f"| all made absent | 4 | {share_cell(3, 4)} |" in text
    assert f"| answerable, own document | 2 | {share_cell(1, 2)} |" in text


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


# --- calibration
# ------------------------------------------------------------------------------------------------------------


def examples(group: str, answerable: bool, *values: float) -> list[Example]:
    return [Example(group, "some", answerable, {"good": value, "idle": 0.5}) for value in values]


def test_what_separates_is_learned() -> None:
    answerable = examples("a", True, 0.8, 0.9, 0.7, 0.6)
    absent = examples("a", False, 0.1, 0.2, 0.3, 0.4)
    both = [*answerable, *absent]
    model = fit(both)
    assert model.names == ("good", "idle")
    good, idle = model.weights
    assert good > 1
    assert idle == pytest.approx(0)
    assert not any(model.refuses(example.features) for example in answerable)
    assert all(model.refuses(example.features) for example in absent)
    assert separation(both, "good") == 1.0
    assert separation(both, "idle") == 0.5


def test_the_threshold_refuses_no_more_than_may_be() -> None:
    high, low = [0.01 * step for step in range(50, 100)], [0.01 * step for step in range(40)]
    answerable = examples("a", True, *high, 0.0)
    absent = examples("a", False, *low)
    for wrongly in (0.0, 0.05, 0.2):
        model = fit([*answerable, *absent], wrongly=wrongly)
        refused = sum(model.refuses(example.features) for example in answerable)
        assert refused == int(wrongly * 51)


def test_few_answerable_ones_weigh_as_much_as_many_absent_ones() -> None:
    answerable = examples("a", True, 0.6, 0.8)
    absent = examples("a", False, *[0.2, 0.4] * 50)
    model = fit([*answerable, *absent])
    assert model.probability({"good": 0.5, "idle": 0.5}) == pytest.approx(0.5, abs=0.01)


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


def test_one_label_alone_teaches_nothing() -> None:
    with pytest.raises(ValueError):
        fit(examples("a", True, 0.1, 0.2))
    with pytest.raises(ValueError):
        fit([])


def test_features_are_the_best_of_each_part() -> None:
    first = hit("a.pdf", 1, vector=0.2, coverage=0.9)
    second = hit("a.pdf", 2, vector=0.4, page_words=0.1)
    parts = read_parts("?", [first, second])
    assert parts["vector"] == 0.4
    assert parts["coverage"] == 0.9
    assert parts["page_words"] == 0.1
    assert parts["chunk_words"] == 0.0
    assert parts["first vector"] == 0.2
    assert parts["first page_words"] == 0.0
    of_nothing = read_parts("?", [])
    assert set(of_nothing.values()) == {0.0}


def test_a_function_is_named_by_its_module() -> None:
    assert named_function("benchmarks.calibrate_refusal:read_parts") is read_parts
    for wrong in ("benchmarks.nothing:x", "benchmarks.calibrate_refusal:nothing", "nothing"):
        with pytest.raises(SystemExit, match="MODULE:FUNCTION"):
            named_function(wrong)
