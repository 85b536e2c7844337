"""The parts of a document, by its list of contents and by its headings."""

from __future__ import annotations

import pytest

from chatbot.search.sections import Section, part_of, sections
from ingestion.pages.kinds import CONTENTS
from tests.case_rows import case_rows

PROSE = (
    "The government keeps to its rules, and reports on them every year to the house.\nIt does so in spring, "
    "and again in autumn of every year."
)
CONTENTS_PAGE = (
    "Contents\n1. Introduction ..... 2\n2. Fiscal rules ..... 3\n2.1 The debt anchor ..... 3\n3. Fiscal "
    "risks 4\nAnnex A Tables ..... 5"
)
LISTED = [
    CONTENTS_PAGE,
    f"1. Introduction\n{PROSE}",
    f"2. Fiscal\nrules\n{PROSE}\n2.1 The debt anchor\n{PROSE}",
    f"3. Fiscal risks\n{PROSE}",
    f"Annex A Tables\n{PROSE}",
]
HEADED = [
    f"Budget Speech\n{PROSE}\nGlobal Economic Developments\n{PROSE}",
    f"{PROSE}\nDebt Position\n{PROSE}\nWe thank, Madam\nSpeaker, all of them.",
    PROSE,
]


def places(found: list[Section]) -> list[tuple[str, ...]]:
    """The title of each part, its first page and its last."""
    return [(part.title, str(part.page), str(part.last)) for part in found]


def test_a_list_of_contents_names_the_parts_where_their_titles_stand() -> None:
    found = sections(LISTED, {1: (CONTENTS,)}, {})
    assert places(found) == case_rows("""
        1. Introduction     | 2 | 2
        2. Fiscal rules     | 3 | 3
        2.1 The debt anchor | 3 | 3
        3. Fiscal risks     | 4 | 4
        Annex A Tables      | 5 | 5
    """)


def test_printed_page_numbers_lead_to_physical_pages() -> None:
    moved = ["Cover", "Foreword", *LISTED]
    printed = {str(number): number + 2 for number in range(1, 6)}
    found = sections(moved, {3: (CONTENTS,)}, printed)
    assert [part.page for part in found] == [4, 5, 5, 6, 7]


def test_without_a_list_lines_that_look_like_headings_are_parts() -> None:
    found = sections(HEADED, {}, {})
    assert places(found) == case_rows("""
        Budget Speech                | 1 | 1
        Global Economic Developments | 1 | 1
        Debt Position                | 2 | 3
    """)


def test_a_line_on_many_pages_is_no_heading() -> None:
    pages = [f"Annual Report\n{PROSE}"] * 5
    assert sections(pages, {}, {}) == []


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_nothing_has_no_parts(texts: list[str]) -> None:
    assert sections(texts, {}, {}) == []


PARTS = case_rows("""
chapter 2      | 2. Fiscal rules
Chapter two    | 2. Fiscal rules
section 2.1    | 2.1 The debt anchor
part III       | III Outlook
part 3         | 3. Fiscal risks
annex A        | Annex A Tables
introduction   | 1. Introduction
Fiscal risks   | 3. Fiscal risks
chapter 9      | None
the conclusion | None
""")


@pytest.mark.parametrize(("said", "title"), PARTS)
def test_a_part_is_found_by_its_number_or_its_title(said: str, title: str) -> None:
    parts = [*sections(LISTED, {1: (CONTENTS,)}, {}), Section("III Outlook", 6, 7)]
    found = part_of(parts, said)
    found_title = found.title if found else None
    assert str(found_title) == title


def test_a_chapter_has_its_sections_in_it() -> None:
    parts = [
        Section("2 Rules", 3, 4),
        Section("2.1 Debt", 4, 6),
        Section("2.2 Deficit", 6, 9),
        Section("3 Risks", 9, 12),
    ]
    assert part_of(parts, "chapter 2") == Section("2 Rules", 3, 9)
