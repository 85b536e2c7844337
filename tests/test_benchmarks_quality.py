"""What the benchmarks of retrieval, answers and refusal count is right; how good anything is stays out of
these tests.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

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
from tests.case_rows import case_rows
from tests.commands import usage_of
from tests.pdfs import make_pdf
from tests.stores import add_now, hashing


@pytest.mark.parametrize("script", ["retrieval", "answers", "calibrate_refusal"])
def test_each_script_says_how_it_is_used(script: str) -> None:
    usage = usage_of(f"benchmarks/{script}.py")
    assert usage.startswith("usage:")
    assert "--financebench" in usage


# --- intervals
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_wilson_s_interval(right: int, n: int, low: float, high: float) -> None:
    interval = wilson(right, n)
    assert interval == pytest.approx((low, high), abs=1e-4)


def test_more_right_than_there_are_is_no_share() -> None:
    with pytest.raises(ValueError):
        wilson(3, 2)


def test_a_share_is_printed_with_its_interval_and_a_mean_too() -> None:
    half = share_cell(5, 10)
    assert half == ".500 (.237–.763)"
    assert share_cell(0, 0) == "–"
    assert mean_cell([]) == "–"
    assert mean_cell([1.0, 0.0] * 5) == half
    low = mean_cell([1 / 3] * 3 + [0.1] * 10)
    high = mean_cell([0.1] * 3 + [0.9, 1.0, 1.0])
    assert low.startswith(".154 (")
    assert high.startswith(".533 (")


def test_the_sign_test_counts_both_sides() -> None:
    assert sign_test(7, 0) == pytest.approx(2 / 2**7)
    one_of_five = pytest.approx(2 * (1 + 5) / 2**5)
    assert sign_test(1, 4) == one_of_five
    assert sign_test(4, 1) == one_of_five
    assert sign_test(0, 0) == 1.0
    assert sign_test(2, 2) == 1.0


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [4.0, 1.0, 3.0, 2.0]
    assert percentile(values, 0.0) == 1.0
    assert percentile(values, 0.5) == 2.0
    assert percentile(values, 0.75) == 3.0
    assert percentile(values, 0.95) == 4.0
    assert percentile(values, 1.0) == 4.0


# --- questions
# ------------------------------------------------------------------------------------------------------------


def question(id: str, text: str, document: str, pages: Iterable[int]) -> Question:
    """A question asked of the document that answers it."""
    return Question(id, text, document, (document,), frozenset(pages))


def write_lines(path: Path, *rows: Mapping[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = map(json.dumps, rows)
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_questions_of_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").touch()
    of_it = {"id": 1, "question": "How much?", "doc": "a.pdf", "pages": [3], "values": ["4.4"]}
    said = {"user": "x", "assistant": "y"}
    own = {**of_it, "history": [said], "kind": "table"}
    anywhere = {"id": "two", "question": "And this?", "doc": None, "doc_hint": "a.pdf", "pages": [1, 2]}
    absent = {"id": "three", "question": "Who?", "doc": "a.pdf", "answerable": False}
    path = write_lines(tmp_path / "mine.jsonl", own, anywhere, absent)
    read = load_questions(path, tmp_path)
    assert read.name == "mine"
    assert read.files == (tmp_path / "a.pdf",)
    first, second, _ = read.questions
    history = (Exchange("x", "y"),)
    usual = question("1", "How much?", "a.pdf", {3})
    expected = replace(usual, values=("4.4",), history=history, kind="table")
    assert first == expected
    assert second.document == "a.pdf"
    assert second.names == ()
    assert only_answerable(read.questions) == [first, second]
    enumeration = replace(first, kind="list")
    assert first.longest == 120
    assert enumeration.longest == 300


def test_a_question_written_is_read_again(tmp_path: Path) -> None:
    plain = question("1", "How “much”?", "a.pdf", {2, 1})
    history = (Exchange("q", "a"),)
    first = replace(plain, values=("x",), history=history, kind="table", company="Nike")
    second = Question("2", "Where?", "b.pdf", (), answerable=False)
    path = tmp_path / "again.jsonl"
    path.write_text(f"{as_line(first)}\n{as_line(second)}\n", "utf-8")
    assert load_lines(path) == (first, second)


def test_a_published_financebench_counts_pages_from_nought(tmp_path: Path) -> None:
    filing = {"doc_name": "ACME_2020_10K", "company": "Acme"}
    row = {
        **filing,
        "financebench_id": "fb_1",
        "question_type": "metrics-generated",
        "question": "How much?",
        "answer": "$5.00",
        "evidence": [
            {"evidence_page_num": 59, "doc_name": "ACME_2020_10K"},
            {"evidence_page_num": 3, "doc_name": "ACME_2020_10K"},
        ],
    }
    elsewhere = {**row, "financebench_id": "fb_2", "doc_name": "NOT_HERE"}
    write_lines(tmp_path / "data" / "financebench_open_source.jsonl", row, elsewhere)
    write_lines(tmp_path / "data" / "financebench_document_information.jsonl", filing)
    path = tmp_path / "pdfs" / "ACME_2020_10K.pdf"
    path.parent.mkdir()
    path.touch()
    read = load_financebench(tmp_path)
    (found,) = read.questions
    assert found.id == "fb_1"
    assert found.document == "ACME_2020_10K.pdf"
    assert found.pages == {60, 4}
    assert found.company == "Acme"
    assert read.files == (path,)


def test_physical_pages_are_taken_as_they_are(tmp_path: Path) -> None:
    row = {"id": "x", "doc_name": "A", "question": "?", "answer": "1"}
    pages = {"evidence_pages": [5], "alt_pages": [7]}
    write_lines(tmp_path / "some.jsonl", {**row, **pages})
    (tmp_path / "A.pdf").touch()
    (found,) = load_financebench(tmp_path).questions
    assert found.pages == {5, 7}


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no FinanceBench questions"):
        load_financebench(tmp_path)
    of_missing_document = {"id": 1, "question": "?", "doc": "gone.pdf"}
    path = write_lines(tmp_path / "mine.jsonl", of_missing_document)
    with pytest.raises(SystemExit, match="gone.pdf"):
        load_questions(path, tmp_path)
    write_lines(path, {"id": 1})
    with pytest.raises(SystemExit, match=r"mine\.jsonl:1"):
        load_lines(path)
    given = argparse.Namespace(financebench=None, questions=None, documents=None)
    with pytest.raises(SystemExit, match="Give --financebench FOLDER"):
        chosen_sets(given, beside=tmp_path / "nothing")


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
    elsewhere = hit("b.pdf", 4)
    hits = [elsewhere, hit("a.pdf", 3), hit("a.pdf", 4)]
    assert gold_rank(hits, "a.pdf", {4, 9}) == 3
    assert gold_rank(hits, "a.pdf", {9}) == 0


@pytest.mark.parametrize(
    ("value", "text", "there"),
    case_rows(
        """
        4.4          | It is 4.4 per cent.           | yes
        4.4          | It is 14.4 per cent.          | no
        4.4          | In 1.4.4 it says              | no
        4.4          | 4.45                          | no
        Nil          | the duty is⏎NIL.              | yes
        1 lakh crore | about 1  lakh⏎crore is        | yes
        $120 billion | at least $120 billion a month | yes
        nil          | vanilla                       | no
        """  # "⏎" ends a line
    ),
)
def test_a_value_stands_by_itself(value: str, text: str, there: str) -> None:
    lines = text.replace("⏎", "\n")
    assert has_value(["never", value], lines) is (there == "yes")


def test_only_a_short_answer_with_few_pages_counts() -> None:
    three_pages_cited = answer("one two three", 1, 2, 3)
    four_pages_cited = answer("one two three", 1, 2, 3, 4)
    one_page_cited = answer("one", 1, 1, 1, 1)
    assert counted_text(three_pages_cited, longest=2) == "one two"
    assert counted_text(four_pages_cited, longest=2) == ""
    assert counted_text(one_page_cited, longest=2) == "one"


def test_citations_of_pages() -> None:
    first = citation("a.pdf", 1)
    second = citation("a.pdf", 2)
    nowhere = citation(None, None)
    cited = cited_pages([first, first, second, nowhere])
    assert cited == {("a.pdf", 1), ("a.pdf", 2)}
    assert precision(cited, {("a.pdf", 2), ("b.pdf", 1)}) == 0.5
    with pytest.raises(ValueError):
        precision(set(), cited)


@pytest.mark.parametrize(
    ("gold", "question", "value", "scale"),
    case_rows(
        """
        $11588.00 | What is net income (in USD millions)?     | 11588 | 1e6
        $4.60     | What is capex (in USD billions)?          | 4.6   | 1e9
        $8.70     | net PPNE? Answer in USD billions.         | 8.7   | 1e9
        2.8%      | What margin? Answer in units of percents. | 2.8   | 1
        24.26     | What ratio?                               | 24.26 | 1
        -3.7%     | What growth?                              | -3.7  | 1
        """
    ),
)
def test_an_annotated_figure_is_read_with_its_scale(gold: str, question: str, value: str, scale: str) -> None:
    (figure,) = gold_figure(gold, question)
    assert figure.value == float(value)
    assert figure.scale == float(scale)


@pytest.mark.parametrize("gold", ["Yes, by 3%.", "The 2018 segment", "", "between 2 and 3"])
def test_an_annotated_sentence_is_no_figure(gold: str) -> None:
    assert gold_figure(gold, "in USD millions") == ()


@pytest.mark.parametrize(
    ("gold", "question", "text", "right"),
    case_rows(
        """
        $11588.00 | in USD millions | Net income 3,033 10,073 11,588 [S1]   | yes
        $11588.00 | in USD millions | Net income was $11.6 billion.         | yes
        $11588.00 | in USD millions | Net income was $11.3 billion.         | no
        $11588.00 | in USD millions | Net income was $11,588 billion.       | no
        $1577.00  | in USD millions | Purchases of property (1,577) (1,373) | yes
        $5466.00  | in USD millions | Total current liabilities 5,466,312   | yes
        $4.60     | in USD billions | Capital spending (4,625)              | yes
        $4.60     | in USD billions | net capital spending of $4.5 billion  | no
        2.8%      |                 | a margin of 2.8 percent               | yes
        2.8%      |                 | a margin of 0.028                     | yes
        2.8%      |                 | 2.8 million                           | no
        2.8%      |                 | 2.9%                                  | no
        0.54      |                 | the ratio was 54%                     | yes
        0.01      |                 | return on assets 0.014                | yes
        0.01      |                 | return on assets 0.02                 | no
        24.26     |                 | a turnover of 24.3                    | yes
        24.26     |                 | by 2024 [S24]                         | no
        24.26     |                 |                                       | no
        """
    ),
)
def test_an_answer_states_the_figure_within_one_per_cent(
    gold: str, question: str, text: str, right: str
) -> None:
    (figure,) = gold_figure(gold, question)
    assert states_figure(text, figure) is (right == "yes")


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
    forms = printed_forms(large)
    assert {"11,588", "11588", "11588.00", "11,588.00"} <= set(forms)


# --- retrieval
# ------------------------------------------------------------------------------------------------------------


def of_kind(kind: str, numbers: str) -> list[Question]:
    questions = [question(number, f"question {number}", "a.pdf", {1}) for number in numbers]
    return [replace(one, kind=kind) for one in questions]


ASKED = of_kind("table", "012") + of_kind("prose", "34")
PEER_RANKS = {"0": 0, "1": 1, "2": 2, "3": 4, "4": 11}
WHOLE_RANKS = {"0": 1, "1": 1, "2": 3, "3": 4, "4": 0}
RANKS = {"own document": {PEER: PEER_RANKS, WHOLE: WHOLE_RANKS}}


def test_the_report_counts_places() -> None:
    text = report(ASKED, RANKS)
    assert "| nearest chunks (peer) | 5 | .200 (.036–.624) | .400 (.118–.769) | .600 (.231–.882) |" in text
    everything = (
        "| everything | 5 | .400 (.118–.769) | .600 (.231–.882) | .800 (.376–.964) | .800 (.376–.964) |"
    )
    assert f"{everything} .517 (" in text
    assert "| prose | 2 | .000 (.000–.658) | .000 (.000–.658) | .000 (.000–.658) | .000 (.000–.658) |" in text
    table = "| table | 3 | .333 (.061–.792) | .667 (.208–.939) | .667 (.208–.939) | 1.000 (.439–1.000) |"
    assert table in text
    assert hits_within(3, [0, 1, 3, 4]) == 2


def test_a_run_is_compared_with_one_before() -> None:
    ranks_before = {"0": 4, "1": 1, "2": 0, "3": 2, "gone": 1}
    text = changes(ASKED, {"own document": {WHOLE: ranks_before}}, RANKS)
    assert "2 better, 1 worse of 4; within the first 3: 2 gained, 1 lost (sign test p = 1.000)" in text
    assert "| 2 | > 10 | 3 | better | question 2 |" in text
    assert "| 3 | 2 | 4 | worse | question 3 |" in text
    assert "question 1" not in text
    without_one = changes(ASKED, {}, RANKS)
    assert "0 better, 0 worse of 0" in without_one


def three_pages(folder: Path) -> tuple[Chatbot, QuestionSet]:
    """A chatbot over pages that the question finds in the order 1, 2, 3, and a question that each of the
    last two answers.
    """
    texts = [
        "The deficit ceiling, the ceiling of the deficit.",
        "The deficit ceiling and other rules of budgets.",
        "A ceiling, among many other rules.",
    ]
    path = make_pdf(folder / "Rules.pdf", texts)
    chatbot = Chatbot(Settings(home=folder / "home"), embedder=hashing())
    (added,) = add_now(chatbot.library, [Upload(path)])
    assert not added.error
    asked = question("q", "What is the deficit ceiling?", "Rules.pdf", {2, 3})
    return chatbot, QuestionSet("own", (asked,), (path,))


def test_what_reranking_can_bring_and_cost_is_measured_with_servers_that_stand_in_for_models(
    tmp_path: Path,
) -> None:
    chatbot, questions = three_pages(tmp_path)
    with chatbot:
        ranks = measure_reranking(chatbot, questions)
    places = {
        "without reranking": 2,
        "reranked: pages that answer first": 1,
        "reranked: turned round": 1,
        "reranked: nonsense": 2,
    }
    assert set(ranks) == {"own document", "all documents"}
    for by_variant in ranks.values():
        found_at = {name: found["q"] for name, found in by_variant.items()}
        assert found_at == places
    nonsense = "| reranked: nonsense | 1 | .000 (.000–.793) | 1.000 (.207–1.000) | 1.000 (.207–1.000) |"
    assert nonsense in reranking_report(ranks)


def test_the_page_that_answers_is_put_first_and_a_turned_round_one_last(tmp_path: Path) -> None:
    chatbot, questions = three_pages(tmp_path)
    (asked,) = questions.questions
    found = {}
    with chatbot:
        for name, reply in REPLIES.items():
            with reranking(reply) as search:
                hits = search(chatbot, asked, ())
            found[name] = [hit.page for hit in hits]
    assert set(found) == {"pages that answer first", "turned round", "nonsense"}
    assert found["pages that answer first"] == [2, 3, 1]
    assert found["turned round"] == [3, 2, 1]
    assert found["nonsense"] == [1, 2, 3]


def test_an_order_that_is_not_taken_ends_the_measurement(tmp_path: Path) -> None:
    chatbot, questions = three_pages(tmp_path)
    (asked,) = questions.questions
    with (
        chatbot,
        reranking(lambda keys, gold: '["P1-00000000"]') as search,
        pytest.raises(SystemExit, match="order of the search"),
    ):
        search(chatbot, asked, ())


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
    assert set(off) == {"kinds", "words", "kept"}
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
OF_NIKE = question("n", "What is the FY2019 total revenue for Nike? Compare with FY2018.", "nike.pdf", {1})
FILING = replace(OF_NIKE, company="Nike")


def test_words_are_compared_without_case_and_plural() -> None:
    words = words_of("The Taxes of FY24, 1,234.5 and 2025-26: Loss")
    assert words == set("the tax of 2024 1234.5 and 2025 2026 loss".split())


def test_all_words_on_one_page_may_be_it() -> None:
    document = Document.of(PAGES)
    assert document.has("toll taxes")
    assert not document.has("tax gap")


def test_another_company_that_the_document_does_not_name() -> None:
    document = Document.of([*PAGES, "Best results; buy back"])
    companies = ["Nike", "Best Buy", "Costco"]
    swapped = swap_entity(FILING, document, companies)
    assert swapped == "What is the FY2019 total revenue for Costco? Compare with FY2018."
    names_them = Document.of([*PAGES, "Best Buy, Costco"])
    assert swap_entity(FILING, names_them, companies) == ""
    named = replace(FILING, text="What did Block (formerly known as Square) earn?", company="Block")
    assert swap_entity(named, document, ["Block", "Costco"]) == "What did Costco earn?"
    follow_up = replace(FILING, history=(Exchange("a", "b"),))
    assert swap_entity(follow_up, document, ["Costco"]) == ""


def test_another_country_or_institution() -> None:
    of_country = question("p", "Where does Malaysia stand?", "m.pdf", {1})
    document = Document.of(["Malaysia and India and Indonesia", "NSRF"])
    assert swap_entity(of_country, document, []) == "Where does Kenya stand?"
    of_institution = replace(of_country, text="When does the NSRF begin, by GDP?")
    assert swap_entity(of_institution, document, []) == "When does the PROSUR begin, by GDP?"
    of_neither = replace(of_country, text="How high is GDP?")
    assert swap_entity(of_neither, document, []) == ""


def test_years_that_stand_nowhere_are_moved_alike() -> None:
    document = Document.of(PAGES)  # 2017, 2018, 2019, 2022, 2025 and 2026 are there

    def moved(text: str) -> str:
        return swap_period(replace(FILING, text=text), document)

    assert moved(FILING.text) == "What is the FY2016 total revenue for Nike? Compare with FY2015."
    assert moved("How much in 2019-20?") == "How much in 2015-16?"
    assert moved("How much in FY19?") == "How much in FY16?"
    assert moved("How much?") == ""
    all_years = " ".join(map(str, range(1950, 2100)))
    assert swap_period(FILING, Document.of([all_years])) == ""


def test_a_measure_that_the_document_lacks() -> None:
    document = Document.of([*PAGES, "net interest margin; common equity Tier 1"])
    swapped = swap_measure(FILING, document)
    assert swapped == "What is the FY2019 combined ratio for Nike? Compare with FY2018."
    long = replace(FILING, text="What is the FY2019 quick ratio for Nike? " + "It is defined at length. " * 9)
    assert swap_measure(long, document, turn=1) == "What was Nike's value at risk in FY2019?"
    public = replace(FILING, company="", text="How large is the fiscal deficit?")
    words_apart = Document.of(["tax", "gap"])
    words_together = Document.of(["the gap in tax"])
    assert swap_measure(public, words_apart) == "How large is the tax gap?"
    assert swap_measure(public, words_together) == "How large is the lottery proceeds?"
    of_none = replace(public, text="How large is it?")
    assert swap_measure(of_none, document) == ""


def test_there_are_forty_measures() -> None:
    measures = [names[0] for names in (*FILING_MEASURES, *PUBLIC_MEASURES)]
    assert len(measures) == 40
    assert len(set(measures)) == 40


def test_made_questions_are_absent_and_the_same_every_time() -> None:
    other = replace(FILING, id="c", document="costco.pdf", company="Costco", text="Costco?")
    texts = {"nike.pdf": PAGES, "costco.pdf": ["Costco"]}
    absent = replace(FILING, id="x", answerable=False)
    of_none = replace(FILING, id="y", document="unknown.pdf")
    made = make_absent([FILING, other, absent, of_none], texts)
    ids = [one.id for one in made]
    assert ids == ["n-absent-entity", "n-absent-period", "n-absent-measure", "c-absent-entity"]
    kinds = {one.kind for one in made}
    assert kinds == {"absent entity", "absent period", "absent measure"}
    for one in made:
        assert not one.answerable
        assert not one.pages
        assert not one.values
    assert made[0].names == ("nike.pdf",)
    again = make_absent([FILING, other], texts)
    assert made == again


def test_at_least_a_hundred_are_made_of_the_shared_questions(shared: Path) -> None:
    sets = [load_questions(shared / "policyqa_dev.jsonl", shared / "policy"), load_financebench(shared)]
    # Without any text nothing stands in the way; what the documents hold takes some away, a handful in all.
    made = list[Question]()
    originals = set[str]()
    for some in sets:
        texts = {path.name: ["nothing"] for path in some.files}
        made += make_absent(some.questions, texts)
        originals |= {one.text for one in some.questions}
    ids = {one.id for one in made}
    made_texts = {one.text for one in made}
    assert len(made) > 100
    assert len(ids) == len(made)
    assert not originals & made_texts


# --- answers
# ------------------------------------------------------------------------------------------------------------

UNVALUED = question("v", "How much?", "a.pdf", {1, 2})
VALUED = replace(UNVALUED, values=("4.4",))


def test_an_answer_is_right_with_its_page() -> None:
    right = answer("It is 4.4", 1, 7)
    of_another_page = answer("It is 4.4", 7)
    wrong = answer("It is 5", 2)
    refused = answer("Not there: 4.4", answered=False)
    asked = [Asked(VALUED, (), given) for given in (right, of_another_page, wrong, refused)]
    assert [one.has_value for one in asked] == [True, True, False, False]
    assert [one.cites_gold for one in asked] == [True, False, True, False]
    half, quarter = share_cell(2, 4), share_cell(1, 4)
    mean = mean_cell([0.5, 0.0, 1.0])
    assert answer_cells(asked) == [4, half, quarter, half, mean, quarter]


def test_a_figure_is_right_wrong_or_refused() -> None:
    of_cash = replace(UNVALUED, answer="$382.00", text="How much, in USD millions?")
    right = Asked(of_cash, (), answer("It was $381.6 million", 1))
    wrong = Asked(of_cash, (), answer("It was $390 million", 1))
    refused = Asked(of_cash, (), answer("Not in these documents", answered=False))
    assert right.verdict == "right"
    assert wrong.verdict == "wrong"
    assert refused.verdict == "refused"
    of_ratio = replace(of_cash, id="r", answer="0.54")
    ratio = Asked(of_ratio, (), answer("0.54", 9))
    groups = {"own document": [right, wrong, refused, ratio], "all documents": []}
    text = figure_table(groups, {"a.pdf": ["cash 381,603", "", ""]})
    third = share_cell(1, 3)
    whole = share_cell(1, 1)
    none = share_cell(0, 1)
    assert f"| own document, printed on a gold page | 3 | {third} | {third} | {third} | {third} |" in text
    assert f"| own document, to be computed | 1 | {whole} | {none} | {none} |" in text


def test_refusals_are_counted_by_what_was_asked() -> None:
    yes = Asked(VALUED, (), answer("x"))
    no = Asked(VALUED, (), answer("x", answered=False))
    groups = {
        "own document": [yes, no],
        "all documents": [yes, yes],
        "absent period, made": [no, no],
        "absent entity, made": [no, yes],
    }
    text = refusal_table(groups)
    assert f"| all made absent | 4 | {share_cell(3, 4)} |" in text
    assert f"| answerable, own document | 2 | {share_cell(1, 2)} |" in text


def test_a_question_is_put_to_documents_that_hold_no_right_value() -> None:
    filing = replace(FILING, answer="$39117.00", text="revenue in USD millions?")
    of_the_year_before = replace(filing, id="same", document="nike_2018.pdf")
    questions = QuestionSet("x", (VALUED, filing, of_the_year_before), ())
    by_name = {
        "a.pdf": "4.4",
        "b.pdf": "It was 4.4 there",
        "c.pdf": "14.4 and 39,117",
        "nike.pdf": "1",
        "nike_2018.pdf": "2",
    }
    texts = {name: [text] for name, text in by_name.items()}
    pairs = other_documents(questions, texts, most=99, seed=1)
    for_value = {name for asked, name in pairs if asked is VALUED}
    for_filing = {name for asked, name in pairs if asked is filing}
    assert for_value == {"c.pdf", "nike.pdf", "nike_2018.pdf"}
    assert for_filing == {"a.pdf", "b.pdf"}
    fewer = other_documents(questions, texts, most=3, seed=1)
    other_order = other_documents(questions, texts, most=99, seed=2)
    assert fewer == pairs[:3]
    assert other_order != pairs


# --- calibration
# ------------------------------------------------------------------------------------------------------------


def examples(group: str, answerable: bool, *values: float) -> list[Example]:
    return [Example(group, "some", answerable, {"good": value, "idle": 0.5}) for value in values]


def test_what_separates_is_learned() -> None:
    answerable = examples("a", True, 0.8, 0.9, 0.7, 0.6)
    absent = examples("a", False, 0.1, 0.2, 0.3, 0.4)
    some = [*answerable, *absent]
    model = fit(some)
    assert model.names == ("good", "idle")
    assert model.weights[0] > 1
    assert model.weights[1] == pytest.approx(0)
    refused = [model.refuses(example.features) for example in some]
    assert refused == [False] * 4 + [True] * 4
    assert separation(some, "good") == 1.0
    assert separation(some, "idle") == 0.5


def test_the_threshold_refuses_no_more_than_may_be() -> None:
    high = [0.01 * step for step in range(50, 100)]
    low = [0.01 * step for step in range(40)]
    answerable = examples("a", True, *high, 0.0)
    absent = examples("a", False, *low)
    for wrongly in (0.0, 0.05, 0.2):
        model = fit([*answerable, *absent], wrongly=wrongly)
        refused = [model.refuses(example.features) for example in answerable]
        assert sum(refused) == int(wrongly * 51)


def test_few_answerable_ones_weigh_as_much_as_many_absent_ones() -> None:
    answerable = examples("a", True, 0.6, 0.8)
    absent = examples("a", False, *[0.2, 0.4] * 50)
    model = fit([*answerable, *absent])
    probability = model.probability({"good": 0.5, "idle": 0.5})
    assert probability == pytest.approx(0.5, abs=0.01)


def test_a_document_is_judged_by_the_others() -> None:
    odd = examples("odd", True, 0.1, 0.2)
    odd += examples("odd", False, 0.8, 0.9)
    usual = list[Example]()
    for group in "ab":
        usual += examples(group, True, 0.7, 0.8, 0.9)
        usual += examples(group, False, 0.1, 0.2, 0.3)
    judged = refusals_left_out([*usual, *odd], wrongly=0.0)
    groups = [example.group for example, _ in judged]
    assert groups == ["a"] * 6 + ["b"] * 6 + ["odd"] * 4
    refused = [refused for example, refused in judged if example.group == "odd"]
    assert refused == [True, True, False, False]


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
