"""Older against newer: which documents are of one series, and which of them is the newest."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from chatbot.search.editions import (
    NEWER_BONUS,
    Listed,
    amendments,
    newer_bonus,
    newer_notice,
    newer_of,
    series_of,
    superseded,
)
from ingestion.records import DocumentFacts
from tests.case_rows import case_rows


def listed(
    name: str, period: str | None = None, status: str | None = None, *, title: str | None = None
) -> Listed:
    return Listed(name, title, DocumentFacts(period, status))


OLD = listed("Valmora_Procurement_Policy_2019.pdf", "2019", "adopted")
NEW = listed("Valmora_Procurement_Policy_2024.pdf", "2024", "adopted")
BUDGET = listed("Valmora_Budget_Book_2025-26.pdf", "2025-26")


def read_listed(text: str) -> Listed:
    """A document of its name, its period, its status and its title, of which "-" is none."""
    name, *others = text.split(", ")
    period, status, title, *_ = (None if part == "-" else part for part in [*others, "-", "-", "-"])
    return listed(name, period, status, title=title)


AMENDED = case_rows("""
Reserve Policy of Quill County 2022, 2022 | Quill County: First Amendment to the Reserve Policy 2024, 2024
Finance Act 2020, 2020                    | Finance (Amendment) Act 2024, 2024
Investment Policy 2021, 2021              | Amendment No. 2 to the Investment Policy
Quill County Reserve Policy 2022, 2022    | First Amendment to the Reserve Policy 2024, 2024
Quill Investment Guidelines, -            | Addendum to the Investment Guidelines of Quill, 2023
Travel and Hotel Rules 2024, 2024         | Act to amend the Travel and Hotel Rules 2024, 2024
""")


def titled(said: str) -> Listed:
    title, _, period = said.partition(", ")
    return listed(f"{title.casefold()}.pdf", None if period in ("", "-") else period, title=title)


@pytest.mark.parametrize(("older", "later"), AMENDED)
def test_a_later_document_that_names_a_title_amends_it(older: str, later: str) -> None:
    own, other, beside = titled(older), titled(later), titled("Loan Policy of Norland 2021, 2021")
    assert amendments([own, other, beside]) == {own.name: [other.name]}


NOT_AMENDED = case_rows("""
# the other is the text with its amendments, is older, or amends something else
Reserve Policy of Quill County 2022, 2022 | Reserve Policy of Quill County (amended) 2024, 2024
Reserve Policy of Quill County 2025, 2025 | First Amendment to the Reserve Policy of Quill County 2024, 2024
Reserve Policy of Quill County 2022, 2022 | First Amendment to the Loan Policy of Quill County 2024, 2024
Annual Report 2022, 2022                  | Amendment to the Annual Report 2024, 2024
""")


@pytest.mark.parametrize(("own", "other"), NOT_AMENDED)
def test_no_other_document_amends_it(own: str, other: str) -> None:
    assert amendments([titled(own), titled(other)]) == {}


def test_an_amendment_of_the_same_title_is_known_by_its_file() -> None:
    title = "Liquidity Directive for Commercial Banks"
    own = listed("liquidity_directive_2023.pdf", "2023", title=title)
    other = listed("liquidity_directive_amendment_2025.pdf", "2025", title=title)
    assert amendments([own, other]) == {own.name: [other.name]}


def test_an_amendment_of_the_same_title_may_say_so_on_its_cover_alone() -> None:
    title = "Capital Programme 2025 of Quill County"
    own = listed("r1.pdf", "2025", "adopted", title=title)
    other = listed("r2.pdf", "2025", "amendment", title=title)
    assert amendments([own, other]) == {own.name: [other.name]}
    # It stands beside the other, and takes its place nowhere.
    assert newer_of(own.name, [own, other]) is None


def test_whoever_asks_for_a_year_is_told_of_a_newer_edition_of_that_year() -> None:
    draft, adopted, later = (
        listed(f"budget_{year}_{status}.pdf", year, status)
        for year, status in (("2024", "draft"), ("2024", "adopted"), ("2025", "draft"))
    )
    both = {one.name: one for one in (draft, adopted)}
    assert superseded(both, [draft.name], [2024])
    assert not superseded({**both, later.name: later}, [adopted.name], [2024])


def test_an_amendment_that_could_be_of_two_issuers_is_of_neither() -> None:
    own, other = titled("Quill County Reserve Policy 2022, 2022"), titled("Karsk Reserve Policy 2021, 2021")
    amendment = titled("First Amendment to the Reserve Policy 2024, 2024")
    assert amendments([own, other, amendment]) == {}


EDITIONS = case_rows("""
PP2019.pdf                                      | PP2024.pdf
ACME_2018_10K.pdf, 2018                         | ACME_2023_10K.pdf, 2023
fomcpresconf20190731.pdf, 2019                  | fomcpresconf20210616.pdf, 2021
mpc_minutes20210317.pdf, 2021                   | mpc_minutes20210616.pdf, 2021
rate minutes March 2021.pdf, 2021               | rate minutes June 2021.pdf, 2021
acme_2023Q1_10Q.pdf, 2023                       | acme_2023Q3_10Q.pdf, 2023
karsk budget 2024-25.pdf                        | karsk budget 2025-26.pdf
karsk_budget_2025_draft.pdf                     | karsk_budget_2025_adopted.pdf
karsk_proposed_budget_FY25.pdf, 2025, proposed  | karsk_revised_budget_FY25.pdf, 2025, revised
annual_report_2021.pdf, 2021                    | annual_report_2022.pdf, 2022, -, Annual Report 2022
karsk_policy_v1.pdf, 2021                       | karsk_policy_v2.pdf, 2022
karsk_policy.pdf, -, superseded                 | karsk_policy_new.pdf
1.pdf, 2019, -, Debt Management Strategy 2019   | 2.pdf, 2023, -, Debt Management Strategy 2023
""")


@pytest.mark.parametrize(("older", "newer"), EDITIONS)
def test_newer_of_one_series(older: str, newer: str) -> None:
    first, second = read_listed(older), read_listed(newer)
    documents = [second, first, BUDGET]
    assert newer_of(first.name, documents) == second.name
    assert newer_of(second.name, documents) is None


UNORDERED = case_rows("""
ACME_2018_10K.pdf, 2018                               | ACME_2018Q1_10Q.pdf, 2018
ACME_2018_10K.pdf, 2018                               | BOLT_2023_10K.pdf, 2023
ACME_2021_8K_dated-2021-05-20.pdf, 2021               | ACME_2022_8K_dated-2022-05-20.pdf, 2022
2021.pdf, 2021                                        | 2022.pdf, 2022
acme.pdf, 2021, -, Annual Report 2021                 | bolt.pdf, 2022, -, Annual Report 2022
acme.pdf, 2021, -, Securities and Exchange Commission | bolt.pdf, 2022, -, Securities and Exchange Commission
karsk policy.pdf                                      | karsk policy 2024.pdf, 2024
karsk policy 2023.pdf, 2023                           | karsk policy 2024.pdf, 2024, superseded
karsk policy a.pdf, 2023                              | karsk policy b.pdf, 2023
""")
UNORDERED += [
    (
        "annual_report_2021.pdf, 2021, -, Acme Annual Report 2021",
        "annual_report_2022.pdf, 2022, -, Bolt Annual Report 2022",
    ),
]


@pytest.mark.parametrize(("one", "other"), UNORDERED)
def test_what_is_of_no_series_or_of_no_known_order_is_never_newer(one: str, other: str) -> None:
    first, second = read_listed(one), read_listed(other)
    assert newer_of(first.name, [first, second]) is None


def test_the_newest_of_several_is_named() -> None:
    years = [listed(f"ACME_{year}_10K.pdf", str(year)) for year in (2018, 2023, 2019)]
    assert newer_of("ACME_2018_10K.pdf", years) == "ACME_2023_10K.pdf"
    assert newer_of("ACME_2019_10K.pdf", years) == "ACME_2023_10K.pdf"


def test_the_notice_names_both_with_what_they_say_of_themselves() -> None:
    notice = newer_notice(listed("Y.pdf"), listed("X.pdf", "2025", "draft"))
    newer = "There is a newer document in this series, X.pdf (2025, draft)"
    assert notice == f"{newer}. This answer uses Y.pdf."
    by_names = newer_notice(listed("PP2019.pdf"), listed("PP2024.pdf"))
    assert "2024" in by_names


def test_who_asks_for_a_documents_own_year_is_not_told_of_newer_ones() -> None:
    there = {OLD.name: OLD, NEW.name: NEW}
    used = {OLD.name}
    notice = newer_notice(OLD, NEW)
    assert superseded(there, used) == (notice,)
    assert superseded(there, used, (2024,)) == (notice,)
    assert superseded(there, used, (2019,)) == ()


def bonuses(*documents: Listed) -> Mapping[str, float]:
    """What their pages gain."""
    return newer_bonus(tuple((document.name, document.facts) for document in documents))


def test_the_bonus_is_for_the_newest_of_each_series_and_for_no_draft() -> None:
    draft = listed("Valmora_Procurement_Policy_2026_draft.pdf", "2026", "draft")
    assert bonuses(OLD, NEW, BUDGET) == {NEW.name: NEWER_BONUS}
    assert bonuses(OLD, NEW, draft) == {}
    assert bonuses(BUDGET) == {}


def test_a_series_is_all_of_its_editions_the_oldest_first() -> None:
    assert series_of(NEW.name, [NEW, BUDGET, OLD]) == [OLD.name, NEW.name]
    assert series_of(BUDGET.name, [NEW, BUDGET, OLD]) == [BUDGET.name]
    assert series_of("gone.pdf", [NEW, OLD]) == []
