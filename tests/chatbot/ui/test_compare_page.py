"""The Compare page over a real store and without a browser: what is asked, how it comes, what is kept for
whom, and what is offered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from chatbot.app.app_context import AppContext
from chatbot.app.running_comparisons import MOST_OF_ONE, AskedFigures, Comparisons, Running
from chatbot.asking.question import Ask
from chatbot.comparison import Change, Comparison, Entry, EntryPlace, Quantity, question_without_years
from chatbot.comparison.key_figure_records import DocumentFigures
from chatbot.errors import StoreError
from chatbot.records import Citation, DocumentRow, Notice
from chatbot.store.library import Upload
from chatbot.ui.compare_chart import chart_spec
from chatbot.ui.compare_entries import ComparisonView, entry_html, filled, overall, table_of
from chatbot.ui.compare_page import examples, suggested_years, summary_text
from tests.chatbot.ui.visitor import write
from tests.pages import ME, OTHER, click, open_context, press, shown, visit
from tests.pdfs import make_pdf

CEILING = "What is the deficit ceiling?"
NAMES = ("Rules_2023.pdf", "Rules_2024.pdf")
HOSTILE = "<b>bold</b> $x$ :red[y] =1+1"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppContext]:
    """A chatbot with two editions of one policy."""
    folder = tmp_path_factory.mktemp("chatbot")
    with open_context(folder / "home") as opened:
        for name, ceiling in zip(NAMES, ("3.0", "2.5"), strict=True):
            page = f"The deficit ceiling is {ceiling} per cent of output."
            path = make_pdf(folder / name, [page])
            list(opened.chatbot.add([Upload(path)]))
        yield opened


def settle(running: Running | None) -> Running:
    """The comparison once it has ended."""
    end = time.monotonic() + 60
    while running is not None and running.busy and time.monotonic() < end:
        time.sleep(0.02)
    assert running is not None
    assert not running.busy
    return running


def test_what_is_chosen_is_asked_and_stands_in_table_and_address(context: AppContext) -> None:
    app = visit("compare_page.py")
    write(app, "compare-question", CEILING)
    app.multiselect(key="compare-documents").set_value(list(NAMES))
    click(app, "compare")
    asked = Comparison(CEILING, NAMES)
    settle(context.comparisons.find(asked, ME))
    app.run()
    assert not app.exception
    said = shown(app)
    assert "3.0 per cent" in said
    assert "2.5 per cent" in said
    assert "−0.5 points from 2023" in said
    assert '<th scope="col"><span data-tip="Rules_2024.pdf">Rules 2024</span>' in said
    assert "2 answers: 2 figures." in said
    assert app.query_params["q"] == CEILING
    assert app.query_params["d"] == list(NAMES)
    press(app, "0-0-0-0")
    assert app.session_state["open_page"].document == NAMES[0]


def test_an_address_brings_it_back_for_its_owner_and_asks_nothing_for_another(context: AppContext) -> None:
    asked = Comparison(CEILING, NAMES, ("2024",))
    settle(context.comparisons.begin(asked, ME))
    address = {"q": [CEILING], "d": list(NAMES), "y": ["2024"]}
    mine = visit("compare_page.py", address=address)
    assert "2 answers:" in shown(mine)
    other = visit("compare_page.py", address=address, owner=OTHER)
    assert "no longer here" in shown(other)
    assert context.comparisons.find(asked, OTHER) is None
    assert other.text_input(key="compare-question").value == CEILING


@pytest.mark.parametrize(
    "address",
    [
        {"q": ["What?"], "d": ["Rules_2023.pdf"]},
        {"q": ["?"]},
        {"q": ["What?"], "d": list(NAMES), "y": ["soon"]},
    ],
)
def test_an_address_that_cannot_be_compared_says_why(
    context: AppContext, address: dict[str, list[str]]
) -> None:
    app = visit("compare_page.py", address=address)
    assert '<div class="notice"' in shown(app)


def test_nothing_chosen_is_said_and_asks_nothing(context: AppContext) -> None:
    app = visit("compare_page.py")
    assert "There is no question yet." in click(app, "compare")


def test_other_editions_and_an_example_are_offered(context: AppContext) -> None:
    app = visit("compare_page.py")
    app.multiselect(key="compare-documents").set_value([NAMES[0]]).run()
    click(app, "compare-series")
    assert app.multiselect(key="compare-documents").value == list(NAMES)
    app = visit("compare_page.py")
    click(app, "compare-example-0")
    assert app.text_input(key="compare-question").value
    assert app.multiselect(key="compare-documents").value == list(NAMES)


def test_the_last_question_of_the_chat_fills_the_fields_until_they_are_changed(context: AppContext) -> None:
    conversation = context.chatbot.conversations.begin(ME)
    ask = Ask("What is the deficit ceiling in 2024?", (NAMES[1],), conversation, None, ME)
    list(context.chatbot.ask(ask))
    app = visit("compare_page.py")
    app.session_state["conversation"] = conversation
    app.run()
    assert app.text_input(key="compare-question").value == CEILING
    assert app.multiselect(key="compare-documents").value == [NAMES[1]]
    assert app.multiselect(key="compare-years").value == ["2024"]
    assert "This question comes from Chat." in shown(app)
    write(app, "compare-question", "What is the levy?")
    list(context.chatbot.ask(Ask("What is the deficit?", (), conversation, None, ME)))
    app.run()
    assert app.text_input(key="compare-question").value == "What is the levy?"


# --- what is kept
# ------------------------------------------------------------------------------------------------------------


class Scripted:
    """Answers each place when it is let go on; asked: the places so far. A document called "bad" fails as
    a whole.
    """

    def __init__(self) -> None:
        self.asked: list[EntryPlace] = []
        self.go = threading.Semaphore(0)

    def compare(
        self,
        comparison: Comparison,
        *,
        places: Sequence[EntryPlace] | None = None,
        owner: str = "",
        stop: Callable[[], bool] = lambda: False,
        tell: Callable[[Notice], None] = lambda notice: None,
    ) -> Iterator[Entry]:
        for place in comparison.places if places is None else places:
            while not self.go.acquire(timeout=0.01):
                if stop():
                    return
            if stop():  # let go on for those that come after
                self.go.release()
                return
            self.asked.append(place)
            tell(Notice(f"Still being indexed: {place.document}."))
            if place.document == "bad":
                raise StoreError("The store is gone.")
            yield Entry(place, "passage", passage="words")

    def figures_of(self, names: Sequence[str]) -> Iterator[DocumentFigures]:
        for name in names:
            self.go.acquire()
            if name == "bad":
                raise StoreError("The store is gone.")
            yield DocumentFigures(name, 1)


ASKED = Comparison("What?", ("A", "B"), ("2021", "2022"))


def test_it_stops_keeps_what_came_and_goes_on_with_the_rest() -> None:
    scripted = Scripted()
    kept = Comparisons(scripted)
    running = kept.begin(ASKED, ME)
    scripted.go.release()
    while not running.found():
        time.sleep(0.01)
    running.stop()
    settle(running)
    assert list(running.found()) == [EntryPlace("A", "2021")]
    for _ in range(3):
        scripted.go.release()
    kept.go_on(running)
    settle(running)
    assert list(running.found()) == list(ASKED.places)
    assert scripted.asked == list(ASKED.places)
    told = [notice.text for notice in running.told()]
    assert told == ["Still being indexed: A.", "Still being indexed: B."]


def test_what_comes_after_a_stop_is_not_taken() -> None:
    class Deaf(Scripted):
        """Waits for an endpoint that is silent, whatever is said meanwhile."""

        def compare(self, comparison: Comparison, **_: object) -> Iterator[Entry]:
            self.go.acquire()
            first = comparison.places[0]
            yield Entry(first, "passage", passage="late")

    deaf = Deaf()
    kept = Comparisons(deaf)
    running = kept.begin(ASKED, ME)
    running.stop()
    assert not running.busy
    deaf.go.release()
    kept.close()
    assert running.found() == {}
    assert running.asking is None


def test_one_place_is_asked_again_and_a_failure_is_told_in_its_place() -> None:
    scripted = Scripted()
    kept = Comparisons(scripted)
    for _ in range(9):
        scripted.go.release()
    asked = Comparison("What?", ("A", "bad"))
    running = settle(kept.begin(asked, ME))
    good, bad = EntryPlace("A"), EntryPlace("bad")
    found = running.found()
    assert len(found) == 2
    assert found[good].state == "passage"
    assert found[bad].state == "failed"
    assert found[bad].reason == "The store is gone."
    kept.go_on(running, (good,))
    settle(running)
    assert scripted.asked == [good, bad, good]


def test_key_figures_are_filled_in_the_same_way() -> None:
    scripted = Scripted()
    kept = Comparisons(scripted)
    running = kept.begin(AskedFigures(("A", "bad", "B"), ()), ME)
    assert running.asking in {None, "A"}
    for _ in range(3):
        scripted.go.release()
    running.wait(60)
    found = settle(running).found()
    assert [(name, figures.remark) for name, figures in found.items()] == [
        ("A", ""),
        ("bad", "The store is gone"),
        ("B", "The store is gone"),
    ]


def test_each_owner_has_their_own_and_the_oldest_go() -> None:
    scripted = Scripted()
    kept = Comparisons(scripted)
    for _ in range(100):
        scripted.go.release()
    first = settle(kept.begin(ASKED, ME))
    assert kept.find(ASKED, OTHER) is None
    assert kept.begin(ASKED, ME) is first
    for number in range(MOST_OF_ONE):
        another = Comparison(f"What {number}?", ("A", "B"))
        settle(kept.begin(another, ME))
    assert kept.find(ASKED, ME) is None
    settle(kept.begin(ASKED, OTHER))
    kept.forget()
    assert kept.find(ASKED, OTHER) is None
    kept.close()


# --- what is drawn
# ------------------------------------------------------------------------------------------------------------


def row(name: str, period: str | None = None) -> DocumentRow:
    return DocumentRow(name, name, None, "ready", 1, 1, 1, 0, 0, 0.0, period=period)


def test_years_come_from_the_documents_own_periods() -> None:
    rows = [row("a.pdf", "2022"), row("b.pdf", "2025-26"), row("c.pdf")]
    assert suggested_years(rows, ()) == ["2025-26", "2022"]
    assert suggested_years(rows, ["a.pdf"]) == ["2022", "2021", "2020"]
    assert suggested_years(rows, ["b.pdf"]) == ["2025-26", "2024-25", "2023-24"]
    assert suggested_years(rows, ["c.pdf"]) == []
    named = [row("Budget_2024-25.pdf")]
    assert suggested_years(named, ()) == ["2024-25"]


def test_examples_are_of_series_and_first_documents() -> None:
    series = ("Budget Narnia 2023.pdf", "Budget Narnia 2024.pdf")
    rows = [row("Other.pdf"), row(series[0], "2023"), row(series[1], "2024")]
    of_series, of_all = examples(rows)
    assert of_series[1] == series
    assert of_all[1] == (*series, "Other.pdf")
    assert examples(rows, accounts=series)[0] == ("What was net income?", series, ())
    assert examples([row("Other.pdf")]) == []


def test_amounts_are_shown_in_one_unit_with_the_original_on_hover_and_a_rank() -> None:
    asked = Comparison("What?", ("A", "B"))
    first, second = asked.places
    billions = Quantity("$5.2 billion", 5.2, "USD", 1e9, 1)
    millions = Quantity("$ 640", 640, "USD", 1e6)
    found = {first: Entry(first, "figure", billions), second: Entry(second, "figure", millions)}
    view = filled(ComparisonView(asked), found)
    assert view.changed == {}
    assert not view.is_ranked_across_years
    assert replace(view, years={"A": "FY 2018 (to May)", "B": "2017"}).is_ranked_across_years
    html = entry_html(view, found[first])
    assert '<p class="amount" title="As printed: $5.2 billion">$5,200 million</p>' in html
    assert '<p class="moved">Highest of 2</p>' in html
    table = table_of(view)
    assert table.rows == [""]
    assert "A" in table.columns[0]
    assert "640" in table.cell(0, 1).html


def test_foreign_text_in_an_entry_takes_no_effect() -> None:
    citation = Citation("S1", HOSTILE, 1, None, HOSTILE, True)
    place = EntryPlace(HOSTILE, "2022")
    quantity = Quantity(HOSTILE, 1.0, status="contradicted", formula=HOSTILE)
    figure = Entry(place, "figure", quantity, HOSTILE, (citation,), reason=HOSTILE)
    passage = Entry(place, "passage", passage=HOSTILE)
    absent = Entry(place, "absent", reason=HOSTILE)
    failed = Entry(place, "failed", reason=HOSTILE, hint=HOSTILE)
    view = ComparisonView(Comparison("What?", (HOSTILE,), ("2022",)))
    changes = [{}, {place: Change(place, HOSTILE, HOSTILE, '"' + HOSTILE)}]
    for entry in (figure, passage, absent, failed):
        for changed in [*changes, {place: Change(place, why_not=HOSTILE)}]:
            html = entry_html(replace(view, changed=changed), entry)
            assert "<b>" not in html
            assert 'title=""' not in html
    assert "⚠ the cited page gives another figure" in entry_html(view, figure)


def test_the_whole_span_is_told_of_three_years_or_more() -> None:
    asked = Comparison("What?", ("A", "B", "C"), ("2020", "2021", "2022"))
    found = {}
    for figure, year in enumerate(asked.years, 1):
        place = EntryPlace("A", year)
        found[place] = Entry(place, "figure", Quantity(str(figure), figure))
    told = overall(asked, "A", found)
    assert told is not None
    year, change = told
    assert year == "2022"
    assert change.absolute == "+2"
    assert change.relative == "+200.0%"
    assert overall(asked, "B", found) is None
    table = table_of(ComparisonView(asked, found=found))
    assert table.rows == ["2020", "2021", "2022"]
    assert "<small>2020 to 2022: +2 (+200.0%)</small>" in table.columns[0]
    assert ">2<" in table.cell(1, 0).html
    assert "Not asked" in table.cell(1, 1).html


def test_the_years_of_a_single_document_stand_side_by_side() -> None:
    asked = Comparison("What?", ("A",), ("2020", "2021", "2022"))
    found = {place: Entry(place, "figure", Quantity("9", 9)) for place in asked.places}
    table = table_of(ComparisonView(asked, found=found))
    assert table.rows == [""]
    assert table.columns[:2] == ["2020", "2021"]
    assert table.columns[2].startswith("2022<small>2020 to 2022: ")
    assert table.caption == "A: What?"


def test_what_came_is_counted_in_words() -> None:
    found = {}
    for number, state in enumerate(("figure", "figure", "passage", "absent", "failed")):
        place = EntryPlace(str(number))
        found[place] = Entry(place, state)
    text = summary_text(found, 6)
    assert text == "6 answers: 2 figures, 1 passage, 1 not in its document, 1 failed, 1 not asked."


def points_of(asked: Comparison) -> list[tuple[EntryPlace, float]]:
    """A figure for each of its places."""
    return [(place, float(number)) for number, place in enumerate(asked.places)]


def test_lines_differ_by_shape_and_dash_and_bars_have_their_figures() -> None:
    several_years = Comparison("What?", ("A", "B"), ("2021", "2022"))
    lines = chart_spec(several_years, points_of(several_years), "USD")["encoding"]
    for channel in ("shape", "strokeDash", "color"):
        assert lines[channel]["field"] == "document"
    no_years = Comparison("What?", ("A", "B"))
    bars = chart_spec(no_years, points_of(no_years), "USD", theme="dark")
    assert [layer["mark"]["type"] for layer in bars["layer"]] == ["bar", "text"]


def test_years_stand_as_far_apart_as_in_time() -> None:
    asked = Comparison("What?", ("A",), ("2018", "2019", "2022-23"))
    spec = chart_spec(asked, points_of(asked), "USD")
    across = spec["encoding"]["x"]
    assert across["type"] == "quantitative"
    axis = across["axis"]
    assert axis["values"] == [2018, 2019, 2023]
    assert (
        axis["labelExpr"]
        == """datum.value === 2018 ? "2018" : datum.value === 2019 ? "2019" : datum.value === 2023 ? \
"2022-23" : ''"""
    )
    rows = spec["data"]["values"]
    assert [row["at"] for row in rows] == [2018, 2019, 2023]
    alike = Comparison("What?", ("A",), ("2022-23", "2023"))  # two that end in one year
    spec = chart_spec(alike, points_of(alike), "USD")
    assert spec["encoding"]["x"]["type"] == "ordinal"


def test_examples_of_the_sample_documents_are_of_years_and_of_editions() -> None:
    names = ("Valmora_Budget_Book_2025-26.pdf", "Valmora_Procurement_Policy_2019.pdf")
    rows = [row(name) for name in names]
    ((question, documents, years),) = examples(rows)
    assert question == "What is total expenditure?"
    assert documents == names[:1]
    assert years == ("2023-24", "2024-25", "2025-26")
    rows.append(row("Other.pdf"))
    assert question not in [asked for asked, *_ in examples(rows)]


@pytest.mark.parametrize(
    ("question", "expected", "years"),
    [
        ("What was revenue in 2021?", "What was revenue?", ("2021",)),
        ("What is the deficit for fiscal year 2025-26", "What is the deficit?", ("2025-26",)),
        ("Did revenue grow from 2020 to 2021?", "Did revenue grow from 2020 to 2021?", ()),
        ("What is the ceiling?", "What is the ceiling?", ()),
    ],
)
def test_a_question_of_one_year_can_be_asked_of_others(
    question: str, expected: str, years: tuple[str, ...]
) -> None:
    assert question_without_years(question) == (expected, years)
