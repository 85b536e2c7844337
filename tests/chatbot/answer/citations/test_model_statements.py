"""Which sentences of a model's answer rest on a page: those written to pass for it do not."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from chatbot.answer.citations.model_statements import (
    CheckedText,
    check_statements,
    with_whole_keys,
    without_added,
)
from chatbot.evidence.page import forget_pages
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over
from tests.timing import growth

RESERVES = (
    "Reserves cover nine months of imports. The reserve fund is invested abroad.\nThe ceiling is 3.0 per "
    "cent of output.\n"
)
DUTIES = "The Bank has these duties: it sets the rates for 2024; it keeps the reserves for 2025.\n"


def checked(answer: str, *pages: str) -> CheckedText:
    hits = [hit_of(text, page=number) for number, text in enumerate(pages or (RESERVES,), 1)]
    return check_statements(answer, prompt_over(*hits, question="What was it?"))


def judged(answer: str, *pages: str) -> list[tuple[str, str]]:
    return [(one.text, one.status) for one in checked(answer, *pages).statements]


def statuses(answer: str, *pages: str) -> list[str]:
    return [status for _, status in judged(answer, *pages)]


# ---------------------------------------------------------------- lists and keys


MARKS = """
1. | 2.
(a) | (b)
a) | b)
i. | ii.
(iii) | (iv)
(A) | (B)
• | •
▪ | ▪
"""


@pytest.mark.parametrize(("first", "second"), case_rows(MARKS))
def test_an_item_rests_on_the_key_of_the_line_that_leads_its_list_in(first: str, second: str) -> None:
    said = f"""The Bank has these duties [S1-7f3a]:
{first} it sets the rates for 2024;
{second} it keeps the reserves for 2025."""
    assert statuses(said, DUTIES) == ["cited", "cited", "cited"]


def test_a_row_of_a_table_gets_its_key_within_its_last_cell_and_gives_it_back() -> None:
    said = "| What | Value |\n|---|---|\n| Reserves cover | nine months of imports |"
    asked = prompt_over(hit_of(RESERVES), question="What was it?")
    table = check_statements(said, asked)
    assert table.text.endswith("| nine months of imports [S1] |")
    *_, row = table.statements
    assert row.text.endswith("[S1] |")
    whole = [replace(one, text=with_whole_keys(one.text, asked)) for one in table.statements]
    assert without_added(with_whole_keys(table.text, asked), whole, asked) == said


def test_a_key_alone_in_its_paragraph_belongs_to_the_sentence_before_it() -> None:
    sentence = "Reserves cover nine months of imports."
    (statement,) = judged(f"{sentence}\n\n[S1-7f3a]")
    assert statement == (f"{sentence}\n\n[S1]", "cited")
    *_, last = statuses(f"[S1-7f3a]\n\n{sentence}")
    assert last == "cited_by_check"


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
    ceiling, resigned = judged(
        "The ceiling is 3.0 per cent of output [S1-7f3a, S9-0000], and ministers resigned."
    )
    assert ceiling == ("The ceiling is 3.0 per cent of output [S1][S9-0000],", "cited")
    assert resigned == ("and ministers resigned.", "unsupported")
    assert statuses("The ceiling is 3.0 per cent of output [S1-7f3a][S9-abcd].") == ["cited"]


def test_what_the_page_says_is_found_behind_a_key_too() -> None:
    ceiling, reserves = judged(
        "The ceiling is 3.0 per cent of output [S1-7f3a], and reserves cover nine months of imports."
    )
    assert ceiling == ("The ceiling is 3.0 per cent of output [S1],", "cited")
    assert reserves == ("and reserves cover nine months of imports. [S1]", "cited_by_check")


NOT_PARTED = """
According to [S1-7f3a], foreign holdings last most of a year.
According to the annual report [S1-7f3a], foreign holdings last most of a year.
The ceiling is 3.0 per cent of output [S1-7f3a] (page 4).
The ceiling is 3.0 per cent of output [S1-7f3a].
The ceiling is 3.0 per cent of output [S1-7f3a], but it gives no dollar amount.
"""


@pytest.mark.parametrize(
    "said", [*case_lines(NOT_PARTED), "| Ceiling | 3.0 [S1-7f3a] | per cent of output |"]
)
def test_a_sentence_is_not_parted_behind_the_words_that_open_it_or_before_few(said: str) -> None:
    assert statuses(said) == ["cited"]


# ---------------------------------------------------------------- clause by clause

SCATTERED = (
    "The reserve fund is invested abroad. The state finances schools. The northern railway carries freight. "
    "The Ministry of Health runs clinics. A bank that is insolvent is wound up.\n"
)
OTHER_CLAUSES = """
Reserves cover nine months of imports, the levy on fuel is abolished, and the finance minister has resigned.
Reserves cover nine months of imports and the finance minister has resigned.
Reserves cover nine months of imports; the finance minister resigned.
Reserves cover nine months of imports (the finance minister resigned).
Reserves cover nine months of imports – the finance minister resigned.
The finance minister has resigned, but reserves cover nine months of imports.
Reserves cover nine months of imports while ministers steal.
"""


@pytest.mark.parametrize("said", case_lines(OTHER_CLAUSES))
def test_a_clause_that_no_page_has_is_not_cited_for_its_neighbour(said: str) -> None:
    assert statuses(said) == ["unsupported"]


def test_words_that_are_scattered_over_a_page_state_nothing_it_says() -> None:
    mixed = "The reserve fund finances the northern railway and the Ministry of Health is insolvent."
    assert statuses(mixed, SCATTERED) == ["unsupported"]
    as_on_the_page = "The reserve fund is invested abroad and the Ministry of Health runs clinics."
    assert statuses(as_on_the_page, SCATTERED) == ["cited_by_check"]


OWN_CLAUSES = """
Reserves cover nine months of imports, and the reserve fund is invested abroad.
However, reserves cover nine months of imports.
The ceiling is 3.0 per cent of output, and reserves cover nine months of imports.
"""


@pytest.mark.parametrize("said", case_lines(OWN_CLAUSES))
def test_clauses_that_the_page_has_are_found(said: str) -> None:
    assert statuses(said) == ["cited_by_check"]


LONG_LINES = """
Reserves cover nine months of imports in year {}.
Ministers praised the harbour in speech {}.
Reserves cover months {}.
"""


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("line", case_lines(LONG_LINES))
def test_time_grows_with_length_only(line: str) -> None:
    """A check of every sentence on every page took fifteen times as long for these."""
    pages = []
    for page in range(8):
        notes = [f"Note {number} of page {page} tells of other matters." for number in range(60)]
        pages.append(RESERVES + " ".join(notes))

    def judge(count: int) -> None:
        sentences = [line.format(number) for number in range(count)]
        assert len(statuses(" ".join(sentences), *pages)) == count

    assert growth(judge, small=40, large=320) < 3


def test_a_key_at_a_paragraphs_end_is_not_meant_for_a_clause_that_its_page_has_not() -> None:
    said = (
        "The reserve fund finances the northern railway and the Ministry of Health is insolvent. The state "
        "finances schools [S1-7f3a]."
    )
    assert statuses(said, SCATTERED) == ["unsupported", "cited"]


def test_a_key_below_a_table_is_meant_for_its_rows() -> None:
    said = """It is so:

| What | How much |
|---|---|
| Reserves cover | nine months |
| Ceiling | 3.0 per cent |

[S1-7f3a] The fund is abroad [S1-7f3a]."""
    table = checked(said)
    assert {number.status for number in table.numbers} == {"supported"}
    assert "unsupported" not in {one.status for one in table.statements}
    assert not any(citation.doubted for citation in table.citations)


def test_a_short_sentence_that_leads_up_to_one_with_a_key_gets_it_and_no_tick() -> None:
    led_up = checked("Trade moves by the northern railway. It carries freight [S1-7f3a].", SCATTERED)
    first, second = led_up.statements
    assert first.status == "cited_by_check"
    assert second.status == "cited"
    citation, *_ = led_up.citations
    assert not citation.verified
    assert not citation.doubted
    # Neither behind the key nor apart from it, nor where the page has not what is said to be so.
    behind = "It carries freight [S1-7f3a]. Trade moves by the northern railway."
    assert "unsupported" in statuses(behind, SCATTERED)
    not_said = "The state is bankrupt. It carries freight [S1-7f3a]."
    assert "unsupported" in statuses(not_said, SCATTERED)


YES_OR_NO = """
1 | Largely, yes.
1 | Yes, mostly.
2 | No bank failed.
2 | The banks paid no tax.
"""


@pytest.mark.parametrize(("count", "said"), case_rows(YES_OR_NO))
def test_yes_or_no_alone_states_nothing(count: str, said: str) -> None:
    """count: of statements, with the one that follows."""
    found = statuses(f"{said} The state finances schools [S1-7f3a].", SCATTERED)
    assert len(found) == int(count)


@pytest.mark.timed
def test_a_long_list_is_judged_in_time_that_grows_with_it() -> None:
    def judge(entries: int) -> None:
        items = [f"- ministers praised harbour {number}" for number in range(entries)]
        listed = "\n".join(items)
        assert set(statuses(f"{listed} [S1-7f3a]")) == {"unsupported", "cited"}

    assert growth(judge, small=125, large=1_000) < 3


# ---------------------------------------------------------------- what states something

FINANCE = (
    "The Ministry of Finance keeps the debt anchor. The old law was abolished. The pension fund is sound. "
    "No bank is insolvent.\n"
)
STATING = """
**The Ministry of Finance abolished the debt anchor**
The pension fund is insolvent:
Wrong: the minister was bribed?
"""


@pytest.mark.parametrize("said", [*case_lines(STATING), "## The pension fund is insolvent"])
def test_a_heading_lead_in_or_question_with_a_statement_in_it_is_judged(said: str) -> None:
    assert statuses(f"{said}\n\n- The pension fund is sound [S1-7f3a]", FINANCE) == ["unsupported", "cited"]


STATING_NOTHING = """
**Debt anchor**
The main laws are:
The Ministry of Finance has these laws:
What the law was abolished for:
Was the old law abolished?
And how was the fund kept?
Soll die Bank den Fonds verwalten?
"""


@pytest.mark.parametrize("said", [*case_lines(STATING_NOTHING), "## Key measures"])
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
    caches = list(_product_caches())
    remembering = [cache for cache in caches if _holds(cache, "pipeline of Port Quell")]
    assert remembering, "what is tested: pages are remembered"
    forget_pages()
    assert not [cache for cache in caches if _holds(cache, "pipeline of Port Quell")]


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


def _product_caches() -> Iterator[object]:
    seen = set()
    for name, module in list(sys.modules.items()):
        if not name.startswith(("chatbot.answer", "chatbot.evidence")):
            continue
        for member in vars(module).values():
            if hasattr(member, "cache_clear") and id(member) not in seen:
                seen.add(id(member))
                yield member
