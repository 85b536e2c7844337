"""Older against newer: which documents are of one series, and which of them is the newest."""

from __future__ import annotations

import pytest

from chatbot.search.editions import (
    NEWER_BONUS,
    Listed,
    asks_for_older,
    newer_bonus,
    newer_notice,
    newer_of,
    series_of,
    superseded,
)
from ingestion.records import DocumentFacts


def listed(
    name: str, period: str | None = None, status: str | None = None, *, title: str | None = None
) -> Listed:
    return Listed(name, title, DocumentFacts(period, status))


OLD, NEW = (
    listed("Valmora_Procurement_Policy_2019.pdf", "2019", "adopted"),
    listed("Valmora_Procurement_Policy_2024.pdf", "2024", "adopted"),
)
BUDGET = listed("Valmora_Budget_Book_2025-26.pdf", "2025-26")


def test_the_later_period_of_a_series_is_newer() -> None:
    assert newer_of(OLD.name, [OLD, NEW, BUDGET]) == NEW.name
    assert newer_of(NEW.name, [OLD, NEW, BUDGET]) is None
    assert newer_of(BUDGET.name, [OLD, NEW, BUDGET]) is None
    assert newer_of("gone.pdf", [OLD, NEW]) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (listed("PP2019.pdf"), listed("PP2024.pdf")),
        (listed("ACME_2018_10K.pdf", "2018"), listed("ACME_2023_10K.pdf", "2023")),
        (listed("fomcpresconf20190731.pdf", "2019"), listed("fomcpresconf20210616.pdf", "2021")),
        (listed("mpc_minutes20210317.pdf", "2021"), listed("mpc_minutes20210616.pdf", "2021")),
        (listed("rate minutes March 2021.pdf", "2021"), listed("rate minutes June 2021.pdf", "2021")),
        (listed("acme_2023Q1_10Q.pdf", "2023"), listed("acme_2023Q3_10Q.pdf", "2023")),
        (listed("karsk budget 2024-25.pdf"), listed("karsk budget 2025-26.pdf")),
        (listed("karsk_budget_2025_draft.pdf"), listed("karsk_budget_2025_adopted.pdf")),
        (
            listed("karsk_proposed_budget_FY25.pdf", "2025", "proposed"),
            listed("karsk_revised_budget_FY25.pdf", "2025", "revised"),
        ),
        (
            listed("annual_report_2021.pdf", "2021"),
            listed("annual_report_2022.pdf", "2022", title="Annual Report 2022"),
        ),
        (listed("karsk_policy_v1.pdf", "2021"), listed("karsk_policy_v2.pdf", "2022")),
        (listed("karsk_policy.pdf", None, "superseded"), listed("karsk_policy_new.pdf")),
        (
            listed("1.pdf", "2019", title="Debt Management Strategy 2019"),
            listed("2.pdf", "2023", title="Debt Management Strategy 2023"),
        ),
    ],
    ids=lambda document: document.name,
)
def test_newer_of_one_series(older: Listed, newer: Listed) -> None:
    assert newer_of(older.name, [newer, older, BUDGET]) == newer.name
    assert newer_of(newer.name, [newer, older, BUDGET]) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (listed("ACME_2018_10K.pdf", "2018"), listed("ACME_2018Q1_10Q.pdf", "2018")),
        (listed("ACME_2018_10K.pdf", "2018"), listed("BOLT_2023_10K.pdf", "2023")),
        (
            listed("ACME_2021_8K_dated-2021-05-20.pdf", "2021"),
            listed("ACME_2022_8K_dated-2022-05-20.pdf", "2022"),
        ),
        (
            listed("annual_report_2021.pdf", "2021", title="Acme Annual Report 2021"),
            listed("annual_report_2022.pdf", "2022", title="Bolt Annual Report 2022"),
        ),
        (listed("2021.pdf", "2021"), listed("2022.pdf", "2022")),
        (
            listed("acme.pdf", "2021", title="Annual Report 2021"),
            listed("bolt.pdf", "2022", title="Annual Report 2022"),
        ),
        (
            listed("acme.pdf", "2021", title="Securities and Exchange Commission"),
            listed("bolt.pdf", "2022", title="Securities and Exchange Commission"),
        ),
        (listed("karsk policy.pdf"), listed("karsk policy 2024.pdf", "2024")),
        (listed("karsk policy 2023.pdf", "2023"), listed("karsk policy 2024.pdf", "2024", "superseded")),
        (listed("karsk policy a.pdf", "2023"), listed("karsk policy b.pdf", "2023")),
    ],
    ids=lambda document: document.name,
)
def test_what_is_of_no_series_or_of_no_known_order_is_never_newer(one: Listed, other: Listed) -> None:
    assert newer_of(one.name, [one, other]) is None


def test_the_newest_of_several_is_named() -> None:
    years = [listed(f"ACME_{year}_10K.pdf", str(year)) for year in (2018, 2023, 2019)]
    assert newer_of("ACME_2018_10K.pdf", years) == "ACME_2023_10K.pdf"
    assert newer_of("ACME_2019_10K.pdf", years) == "ACME_2023_10K.pdf"


def test_the_notice_names_both_with_what_they_say_of_themselves() -> None:
    assert newer_notice(listed("Y.pdf"), listed("X.pdf", "2025", "draft")) == (
        "There is a newer document of this series: X.pdf (2025, draft); this answer rests on Y.pdf."
    )
    assert "2024" in newer_notice(listed("PP2019.pdf"), listed("PP2024.pdf"))


def test_who_asks_for_a_documents_own_year_is_not_told_of_newer_ones() -> None:
    there = {one.name: one for one in (OLD, NEW)}
    assert (
        superseded(there, {OLD.name}) == superseded(there, {OLD.name}, (2024,)) == (newer_notice(OLD, NEW),)
    )
    assert superseded(there, {OLD.name}, (2019,)) == ()


def test_the_bonus_is_for_the_newest_of_each_series_and_for_no_draft() -> None:
    draft = listed("Valmora_Procurement_Policy_2026_draft.pdf", "2026", "draft")
    assert newer_bonus([OLD, NEW, BUDGET]) == {NEW.name: NEWER_BONUS}
    assert newer_bonus([OLD, NEW, draft]) == {}
    assert newer_bonus([BUDGET]) == {}


@pytest.mark.parametrize(
    "question",
    [
        "What was the limit under the policy before that?",
        "What did the old rules ask for?",
        "How did the limit change?",
    ],
)
def test_a_question_for_what_was_before_is_known(question: str) -> None:
    assert asks_for_older(question)


@pytest.mark.parametrize(
    "question",
    [
        "From what value on is an open tender held?",
        "What is the ceiling before tax?",
        "Who holds the budget?",
    ],
)
def test_other_questions_want_the_newest(question: str) -> None:
    assert not asks_for_older(question)


def test_a_series_is_all_of_its_editions_the_oldest_first() -> None:
    assert series_of(NEW.name, [NEW, BUDGET, OLD]) == [OLD.name, NEW.name]
    assert series_of(BUDGET.name, [NEW, BUDGET, OLD]) == [BUDGET.name]
    assert series_of("gone.pdf", [NEW, OLD]) == []
