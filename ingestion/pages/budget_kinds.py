"""Tells what a page of a budget or report is about, by a heading or caption and the rows under it."""

from __future__ import annotations

import re

from ingestion.pages import budget_terms as words
from ingestion.pages.features import Look, count_found

__all__ = ["SUBJECTS"]

# The fewest rows of figures of a table, and the number of lines below its heading that are searched for them.
FEWEST_ROWS = 4
BELOW_A_HEADING = 30
# The fewest kinds of rows of a summary, with a heading that says what it is and without, and the fewest taxes
# among the sources of a government.
FEWEST_SOURCES = 4
SOURCES_ALONE = 6
FEWEST_TAXES = 2
FEWEST_OWED = 4
# A page about rules has at least this many different words of rules, and this many in all.
FEWEST_RULE_WORDS = 3
MOST_OFTEN = 5
YEARS = re.compile(r"(?<!\d, )\b20\d\d(?:[-/]\d{2,4})?")
FEWEST_YEARS = 3
# Heads of columns stand on the line before that of the years, or on this many lines from it on.
LINES_OF_COLUMN_HEADS = 4
LONGEST_COLUMN_HEAD = 70
# One column may be an estimate of the current year. More than one look ahead.
FEWEST_AHEAD = 2
# A running foot that was not recognised still says what the part of the document is about.
LINES_OF_A_FOOT = 2


def _is_financial_highlights(look: Look) -> bool:
    """Whether a page has figures of several years, or key figures, chosen from the statements."""
    for number, text in look.headings:
        found = words.HIGHLIGHTS.match(text)
        if not found or words.OTHER_HIGHLIGHTS.search(found["rest"]):
            continue
        if _rows_below(look, number) >= 2 * FEWEST_ROWS:
            return True
    return False


def _is_revenue_summary(look: Look) -> bool:
    """Whether a page has a government's revenue by source."""
    if not _is_summary(look, words.REVENUE, words.SOURCES, words.TOTAL_REVENUE):
        return False
    taxes = words.SOURCES[: words.TAXES]
    return count_found(taxes, look.text) >= FEWEST_TAXES


def _is_expenditure_summary(look: Look) -> bool:
    """Whether a page has a government's expenditure by function, ministry or kind."""
    return _is_summary(look, words.EXPENDITURE, words.PURPOSES, words.TOTAL_SPENDING)


def _is_budget_summary(look: Look) -> bool:
    """Whether a page has receipts, expenditure and their balance.

    They stand in a table, or in a few sentences under such a heading.
    """
    headed = _headed(look, words.BUDGET)
    if headed and count_found(words.SAID, look.text) == len(words.SAID):
        return True
    rows = (words.TOTAL_SPENDING, words.INCOME, words.SPENDING, words.BALANCE)
    if look.rows() < FEWEST_ROWS or count_found(rows, look.text) < len(rows):
        return False
    return headed or bool(words.TOTAL_REVENUE.search(look.text))


def _is_debt_service(look: Look) -> bool:
    """Whether a page has what is owed, by instrument or by the year in which it falls due."""
    for number, text in look.headings:
        if not any(word in text for word in words.DEBT_WORDS):
            continue
        if not words.DEBT.fullmatch(text) and not words.DEBT_TABLE.search(text):
            continue
        if _rows_below(look, number) < FEWEST_ROWS:
            continue
        if count_found(words.OWED, look.text) >= FEWEST_OWED:
            return True
    return False


def _is_fiscal_targets(look: Look) -> bool:
    """Whether a page is about rules, targets, ceilings and objectives of public money."""
    texts = (_headings(look), *look.edges, *look.folded[-LINES_OF_A_FOOT:])
    if not any(map(words.TARGETS.search, texts)):
        return False
    if not words.PUBLIC_MONEY.search(look.text):
        return False
    counts = [look.text.count(word) for word in words.RULE_WORDS]
    return sum(map(bool, counts)) >= FEWEST_RULE_WORDS and sum(counts) >= MOST_OFTEN


def _is_forecast(look: Look) -> bool:
    """Whether a page has a table of years to come, of the economy or of public finances."""
    if look.rows() < FEWEST_ROWS or not words.AHEAD.search(look.text):
        return False
    if _headed(look, words.FORECAST):
        fewest = 1
    else:
        fewest = FEWEST_AHEAD
    for number, line in enumerate(look.folded):
        if len(set(YEARS.findall(line))) >= FEWEST_YEARS:
            near = look.folded[max(0, number - 1) : number + LINES_OF_COLUMN_HEADS]
            heads = " ".join(head for head in near if len(head) <= LONGEST_COLUMN_HEAD)
            if len(words.AHEAD.findall(heads)) >= fewest:
                return True
    return False


def _headings(look: Look) -> str:
    return "\n".join(text for _, text in look.headings)


def _headed(look: Look, title: re.Pattern[str]) -> bool:
    return bool(title.search(_headings(look)))


def _rows_below(look: Look, number: int) -> int:
    if number < 0:
        return look.rows()
    return look.rows(number + 1, number + BELOW_A_HEADING)


def _is_summary(
    look: Look, title: re.Pattern[str], rows: tuple[re.Pattern[str], ...], total: re.Pattern[str]
) -> bool:
    if look.rows() < FEWEST_ROWS or not total.search(look.text):
        return False
    fewest = FEWEST_SOURCES if _headed(look, title) else SOURCES_ALONE
    return count_found(rows, look.text) >= fewest


# The test for each kind of page.
SUBJECTS = {
    "budget_summary": _is_budget_summary,
    "debt_service": _is_debt_service,
    "expenditure_summary": _is_expenditure_summary,
    "financial_highlights": _is_financial_highlights,
    "fiscal_targets": _is_fiscal_targets,
    "forecast": _is_forecast,
    "revenue_summary": _is_revenue_summary,
}
