"""Which sentences of a model's answer rest on a page: those written to pass for it do not."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from chatbot.answer.citations.model_statements import check_statements, with_whole_keys, without_added
from chatbot.evidence.page import forget_pages
from tests.chatbot.answer.citations.test_citation_spans import hit, prompt
from tests.timing import growth

RESERVES = (
    "Reserves cover nine months of imports. The reserve fund is invested abroad.\nThe ceiling is 3.0 per "
    "cent of output.\n"
)
DUTIES = "The Bank has these duties: it sets the rates for 2024; it keeps the reserves for 2025.\n"


def judged(answer: str, *pages: str, question: str = "What was it?") -> list[tuple[str, str]]:
    asked = prompt(
        *(hit(number, text) for number, text in enumerate(pages or (RESERVES,), 1)), question=question
    )
    return [(one.text, one.status) for one in check_statements(answer, asked).statements]


def statuses(answer: str, *pages: str, question: str = "What was it?") -> list[str]:
    return [status for _, status in judged(answer, *pages, question=question)]


# ---------------------------------------------------------------- lists and keys


@pytest.mark.parametrize(
    "marks",
    [
        ("1.", "2."),
        ("(a)", "(b)"),
        ("a)", "b)"),
        ("i.", "ii."),
        ("(iii)", "(iv)"),
        ("(A)", "(B)"),
        ("•", "•"),
        ("▪", "▪"),
    ],
)
def test_an_item_rests_on_the_key_of_the_line_that_leads_its_list_in(marks: tuple[str, str]) -> None:
    said = (
        "The Bank has these duties [S1-7f3a]:\n{} it sets the rates for 2024;\n{} it keeps the reserves for "
        "2025."
    ).format(*marks)
    assert statuses(said, DUTIES) == ["cited", "cited", "cited"]


def test_a_row_of_a_table_gets_its_key_within_its_last_cell_and_gives_it_back() -> None:
    said = "| What | Value |\n|---|---|\n| Reserves cover | nine months of imports |"
    asked = prompt(hit(1, RESERVES))
    checked = check_statements(said, asked)
    assert checked.text.endswith("| nine months of imports [S1] |") and checked.statements[-1].text.endswith(
        "[S1] |"
    )
    whole = [replace(one, text=with_whole_keys(one.text, asked)) for one in checked.statements]
    assert without_added(with_whole_keys(checked.text, asked), whole, asked) == said


def test_a_key_alone_in_its_paragraph_belongs_to_the_sentence_before_it() -> None:
    assert judged("Reserves cover nine months of imports.\n\n[S1-7f3a]", RESERVES) == [
        ("Reserves cover nine months of imports.\n\n[S1]", "cited")
    ]
    assert judged("[S1-7f3a]\n\nReserves cover nine months of imports.")[-1][1] == "cited_by_check"


@pytest.mark.parametrize(
    "behind",
    [
        ", and the minister of finance has embezzled the whole of the reserve fund.",
        " (the minister embezzled the fund)",
        "; ministers resigned",
    ],
)
def test_what_stands_behind_the_last_key_is_a_statement_of_its_own(behind: str) -> None:
    assert statuses(f"The ceiling is 3.0 per cent of output [S1-7f3a]{behind}") == ["cited", "unsupported"]


def test_a_bracket_is_not_parted_behind_the_known_key_in_it() -> None:
    said = "The ceiling is 3.0 per cent of output [S1-7f3a, S9-0000], and ministers resigned."
    assert judged(said) == [
        ("The ceiling is 3.0 per cent of output [S1][S9-0000],", "cited"),
        ("and ministers resigned.", "unsupported"),
    ]
    assert statuses("The ceiling is 3.0 per cent of output [S1-7f3a][S9-abcd].") == ["cited"]


def test_what_the_page_says_is_found_behind_a_key_too() -> None:
    said = "The ceiling is 3.0 per cent of output [S1-7f3a], and reserves cover nine months of imports."
    assert judged(said) == [
        ("The ceiling is 3.0 per cent of output [S1],", "cited"),
        ("and reserves cover nine months of imports. [S1]", "cited_by_check"),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "According to [S1-7f3a], foreign holdings last most of a year.",
        "According to the annual report [S1-7f3a], foreign holdings last most of a year.",
        "The ceiling is 3.0 per cent of output [S1-7f3a] (page 4).",
        "The ceiling is 3.0 per cent of output [S1-7f3a].",
        "The ceiling is 3.0 per cent of output [S1-7f3a], but it gives no dollar amount.",
        "| Ceiling | 3.0 [S1-7f3a] | per cent of output |",
    ],
)
def test_a_sentence_is_not_parted_behind_the_words_that_open_it_or_before_few(said: str) -> None:
    assert statuses(said) == ["cited"]


# ---------------------------------------------------------------- clause by clause

SCATTERED = (
    "The reserve fund is invested abroad. The state finances schools. The northern railway carries freight. "
    "The Ministry of Health runs clinics. A bank that is insolvent is wound up.\n"
)


@pytest.mark.parametrize(
    "said",
    [
        (
            "Reserves cover nine months of imports, the levy on fuel is abolished, and the finance minister "
            "has resigned."
        ),
        "Reserves cover nine months of imports and the finance minister has resigned.",
        "Reserves cover nine months of imports; the finance minister resigned.",
        "Reserves cover nine months of imports (the finance minister resigned).",
        "Reserves cover nine months of imports – the finance minister resigned.",
        "The finance minister has resigned, but reserves cover nine months of imports.",
        "Reserves cover nine months of imports while ministers steal.",
    ],
)
def test_a_clause_that_no_page_has_is_not_cited_for_its_neighbour(said: str) -> None:
    assert statuses(said) == ["unsupported"]


def test_words_that_are_scattered_over_a_page_state_nothing_it_says() -> None:
    assert statuses(
        "The reserve fund finances the northern railway and the Ministry of Health is insolvent.", SCATTERED
    ) == ["unsupported"]
    assert statuses(
        "The reserve fund is invested abroad and the Ministry of Health runs clinics.", SCATTERED
    ) == ["cited_by_check"]


@pytest.mark.parametrize(
    "said",
    [
        "Reserves cover nine months of imports, and the reserve fund is invested abroad.",
        "However, reserves cover nine months of imports.",
        "The ceiling is 3.0 per cent of output, and reserves cover nine months of imports.",
    ],
)
def test_clauses_that_the_page_has_are_found(said: str) -> None:
    assert statuses(said) == ["cited_by_check"]


@pytest.mark.timed
@pytest.mark.parametrize(
    "line",
    [
        "Reserves cover nine months of imports in year {}.",
        "Ministers praised the harbour in speech {}.",
        "Reserves cover months {}.",
    ],
)
def test_time_grows_with_length_only(line: str) -> None:
    """A check of every sentence on every page took fifteen times as long for these."""
    pages = []
    for page in range(8):
        notes = [f"Note {number} of page {page} tells of other matters." for number in range(60)]
        pages.append(RESERVES + " ".join(notes))

    def judge(sentences: int) -> None:
        assert (
            len(statuses(" ".join(line.format(number) for number in range(sentences)), *pages)) == sentences
        )

    assert growth(judge, small=40, large=320) < 3


def test_a_key_at_a_paragraphs_end_is_not_meant_for_a_clause_that_its_page_has_not() -> None:
    said = (
        "The reserve fund finances the northern railway and the Ministry of Health is insolvent. The state "
        "finances schools [S1-7f3a]."
    )
    assert statuses(said, SCATTERED) == ["unsupported", "cited"]


def test_a_key_below_a_table_is_meant_for_its_rows() -> None:
    said = (
        "It is so:\n\n| What | How much |\n|---|---|\n| Reserves cover | nine months |\n| Ceiling | 3.0 per "
        "cent |\n\n[S1-7f3a] The fund is abroad [S1-7f3a]."
    )
    checked = check_statements(said, prompt(hit(1, RESERVES)))
    assert {number.status for number in checked.numbers} == {"supported"}
    assert "unsupported" not in {one.status for one in checked.statements} and not any(
        one.doubted for one in checked.citations
    )


def test_a_short_sentence_that_leads_up_to_one_with_a_key_gets_it_and_no_tick() -> None:
    checked = check_statements(
        "Trade moves by the northern railway. It carries freight [S1-7f3a].", prompt(hit(1, SCATTERED))
    )
    assert [one.status for one in checked.statements] == ["cited_by_check", "cited"]
    assert not checked.citations[0].verified and not checked.citations[0].doubted
    # Neither behind the key nor apart from it, nor where the page has not what is said to be so.
    for said in (
        "It carries freight [S1-7f3a]. Trade moves by the northern railway.",
        "The state is bankrupt. It carries freight [S1-7f3a].",
    ):
        assert "unsupported" in statuses(said, SCATTERED)


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ("Largely, yes.", False),
        ("Yes, mostly.", False),
        ("No bank failed.", True),
        ("The banks paid no tax.", True),
    ],
)
def test_yes_or_no_alone_states_nothing(said: str, stated: bool) -> None:
    assert len(statuses(f"{said} The state finances schools [S1-7f3a].", SCATTERED)) == 1 + stated


@pytest.mark.timed
def test_a_long_list_is_judged_in_time_that_grows_with_it() -> None:
    def judge(entries: int) -> None:
        said = "\n".join(f"- ministers praised harbour {number}" for number in range(entries))
        assert set(statuses(said + " [S1-7f3a]")) == {"unsupported", "cited"}

    assert growth(judge, small=125, large=1_000) < 3


# ---------------------------------------------------------------- what states something

FINANCE = (
    "The Ministry of Finance keeps the debt anchor. The old law was abolished. The pension fund is sound. "
    "No bank is insolvent.\n"
)


@pytest.mark.parametrize(
    "said",
    [
        "**The Ministry of Finance abolished the debt anchor**",
        "The pension fund is insolvent:",
        "## The pension fund is insolvent",
        "Wrong: the minister was bribed?",
    ],
)
def test_a_heading_lead_in_or_question_with_a_statement_in_it_is_judged(said: str) -> None:
    assert statuses(f"{said}\n\n- The pension fund is sound [S1-7f3a]", FINANCE) == ["unsupported", "cited"]


@pytest.mark.parametrize(
    "said",
    [
        "**Debt anchor**",
        "## Key measures",
        "The main laws are:",
        "The Ministry of Finance has these laws:",
        "What the law was abolished for:",
        "Was the old law abolished?",
        "And how was the fund kept?",
        "Soll die Bank den Fonds verwalten?",
    ],
)
def test_mere_headings_lead_ins_and_questions_state_nothing(said: str) -> None:
    assert statuses(f"{said}\n\n- The pension fund is sound [S1-7f3a]", FINANCE) == ["cited"]


def test_text_without_blanks_between_words_is_judged() -> None:
    assert statuses("政府破产了。大臣偷走了钱。", FINANCE) == ["unsupported", "unsupported"]
    assert statuses("是的。", FINANCE) == []


@pytest.mark.parametrize(
    "said",
    [
        "The Ministry of Finance abolished the debt anchor.",
        "The Ministry of Finance of the debt anchor is insolvent.",
    ],
)
def test_what_was_done_and_what_something_is_stand_in_the_same_sentence(said: str) -> None:
    assert statuses(said, FINANCE) == ["unsupported"]
    assert statuses("The pension fund is sound.", FINANCE) == ["cited_by_check"]


def test_nothing_of_a_page_is_remembered_once_a_document_is_erased() -> None:
    secret = "The pipeline of Port Quell carries nine barrels a day."
    assert statuses(secret, f"{RESERVES}{secret}\n") == ["cited_by_check"]
    caches = {
        id(one): one
        for name, module in list(sys.modules.items())
        if name.startswith(("chatbot.answer", "chatbot.evidence"))
        for one in _caches(module)
    }.values()
    assert any(_holds(cache, "pipeline of Port Quell") for cache in caches), (
        "what is tested: pages are remembered"
    )
    forget_pages()
    assert not [cache for cache in caches if _holds(cache, "pipeline of Port Quell")]


def _caches(module: object) -> Iterator[object]:
    return (one for one in vars(module).values() if hasattr(one, "cache_clear"))


def _holds(cache: object, text: str) -> bool:
    """Whether a cache has a text among its arguments."""
    seen: set[int] = set()
    left: list[object] = [one for one in gc.get_referents(cache) if isinstance(one, dict)]
    while left:
        for one in gc.get_referents(left.pop()):
            if isinstance(one, str) and text in one:
                return True
            if isinstance(one, tuple | list | dict | frozenset) and id(one) not in seen:
                seen.add(id(one))
                left.append(one)
    return False
