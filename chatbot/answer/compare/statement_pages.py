"""Tells which pages are the statements of a document, whose they are, and which key figures apply to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from chatbot.comparison.key_figure_names import key_measures, plain_label
from chatbot.records import Hit
from ingestion.pages.statement_terms import STATEMENTS as TITLES
from ingestion.prompt_injection.obfuscation import fold
from ingestion.records import Table

__all__ = ["BALANCE", "STATEMENTS", "families_of", "has_kind", "statement_pages"]

INCOME, BALANCE, CASH = "income_statement", "balance_sheet", "cash_flow_statement"
STATEMENTS = (INCOME, BALANCE, CASH)
# A page whose title says this has the whole group's statement, or another's.
WHOLE_GROUP = re.compile(r"\bconsolidated\b|\bgroup\b", re.IGNORECASE)
ALONE = re.compile(
    r"\b(?:standalone|stand-alone|parent|separate|unconsolidated|company only)\b", re.IGNORECASE
)
TITLE_CHARACTERS = 300
LONGEST_TITLE = 200
NO_STATEMENT = re.compile(
    r"\b(?:segments?|reconciliation|non-?gaap|pro ?forma|supplemental|notes? to|selected|parent"
    r"|impact|effect)\b"
)
# Rows of a statement that a table without its title must have.
LEAST_MEASURES = 3
# Rows that only the accounts of a government have.
GOVERNMENT = re.compile(
    r"(?:annual )?(?:surplus|deficit)\b.*|net financial (?:assets|debt)|excess of revenues? over.*"
)
# What a budget or a policy paper speaks of, on this share of its pages at least.
PUBLIC = re.compile(
    r"\b(?:government|parliament|minist(?:er|ry)|budget|public debt|monetary policy|GDP|fiscal policy)\b",
    re.IGNORECASE,
)
LEAST_PUBLIC = 0.3


def statement_pages(pages: Sequence[Hit]) -> dict[str, list[Hit]]:
    """Kind of statement -> its pages, those of the whole group first, of a part or the parent last."""
    return {kind: sorted(_statements(pages, kind), key=_standing) for kind in STATEMENTS}


def _statements(pages: Sequence[Hit], kind: str) -> list[Hit]:
    """The pages that are a statement, with what of it goes on over their end.

    Where none is, the tables whose caption is its title; else those with at least LEAST_MEASURES of its rows.
    """
    found: list[Hit] = []
    for hit in pages:
        goes_on = (
            found and found[-1].page == hit.page - 1 and any(table.continued for table in hit.tables[:1])
        )
        if kind in hit.kinds:
            found.append(hit)
        elif goes_on and not has_kind(hit, STATEMENTS):
            found.append(replace(hit, kinds=(kind,), tables=hit.tables[:1]))
    return found or _with_tables(pages, kind, _is_titled) or _with_tables(pages, kind, _has_its_rows)


def _with_tables(pages: Sequence[Hit], kind: str, is_meant: Callable[[Table, str], bool]) -> list[Hit]:
    """The pages with a table that is meant, as pages of the kind with no other tables."""
    found: list[Hit] = []
    for hit in pages:
        if tables := tuple(table for table in hit.tables if is_meant(table, kind)):
            found.append(replace(hit, kinds=(kind,), tables=tables))
    return found


def _has_its_rows(table: Table, kind: str) -> bool:
    """Whether a table without another title has rows of several measures that a company's statement has."""
    if NO_STATEMENT.search(fold(table.caption)):
        return False
    own = [measure for measure in key_measures() if kind in measure.kinds and measure.family != "budget"]
    named = {
        measure.name
        for row in table.rows
        for measure in own
        if measure.rank(plain_label(row.label)) is not None
    }
    return len(named) >= LEAST_MEASURES


def _is_titled(table: Table, kind: str) -> bool:
    """Whether a table's caption is the title of a statement, and of no part or variant of one."""
    caption = fold(table.caption)
    if len(caption) > LONGEST_TITLE or NO_STATEMENT.search(caption):
        return False
    return TITLES[kind].title.search(caption) is not None


def families_of(pages: Sequence[Hit], statements: Mapping[str, Sequence[Hit]]) -> frozenset[str]:
    """Which rows apply: a company's accounts, a government's accounts, or a budget."""
    if not any(statements.values()):
        public = sum(PUBLIC.search(hit.page_text) is not None for hit in pages)
        return frozenset({"budget"}) if public >= LEAST_PUBLIC * len(pages) > 0 else frozenset()
    tables = [table for hit in statements[INCOME] for table in hit.tables]
    labels = [plain_label(row.label) for table in tables for row in table.rows]
    if any(map(GOVERNMENT.fullmatch, labels)):
        return frozenset({"position", "budget"})
    return frozenset({"accounts", "position"})


def has_kind(hit: Hit, kinds: Sequence[str]) -> bool:
    """Whether a page is of one of these kinds."""
    return not set(kinds).isdisjoint(hit.kinds)


def _standing(hit: Hit) -> int:
    title = " ".join([hit.page_text[:TITLE_CHARACTERS], *(table.caption for table in hit.tables)])
    if ALONE.search(title):
        return 2
    return 0 if WHOLE_GROUP.search(title) else 1
