"""Knows how reasons of checks were worded before, so that files made then can still be verified."""

from __future__ import annotations

import re

__all__ = ["is_same_reason"]

# Of each former wording the words that changed, and what is written now; longer ones first where one
# contains another.
_CHANGED = (
    ("no such source was given", "there is no source with this number"),
    ("no passage of the page says it", "no passage on the page says it"),
    ("no passage of the page could be located", "no matching passage was found on the page"),
    (
        "only a figure or date of it was found on the page, not what it says of it",
        "only its figure or date was found on the page, not what it says about it",
    ),
    ("only a part of it stands there in these words", "only part of it is on the page in these words"),
    (
        "its row stands on the page, but not under that head",
        "its row is on the page, but not in that column",
    ),
    ("none of the pages given names “", "none of the pages mentions “"),
    ("the pages cited for it do not have “", "the pages cited for it do not mention “"),
    ("which no check can show: look through the page", "which cannot be checked: read the page"),
    ("its words stand there, but not with ", "its words are on the page, but not with "),
    ("a figure of it is contradicted", "one of its figures is contradicted"),
    ("no statement stands at this key", "there is no statement before this citation"),
    ("the quoted words do not stand on that page", "the quoted words are not on that page"),
    (
        "the quoted parts do not stand in this order in one sentence or neighbouring ones of that page",
        "the quoted parts are not in this order in one sentence, or in adjacent sentences, of that page",
    ),
    (
        "it is in other words than the page's, which no check can vouch for: compare the two",
        "it is worded differently from the page, which cannot be checked: compare the two",
    ),
    ("the answer says that it ", "the answer says it "),
    (" to it; ", " to this figure, but "),
    (
        "the page has it as the opposite, as a deficit is of a surplus",
        "the page gives it as the opposite, such as a deficit instead of a surplus",
    ),
    ("the page has it as a move the other way", "the page gives it as a change in the other direction"),
    ("the program's own calculation comes to it", "the program calculates the same figure"),
    ("the program's own calculation comes to ", "the program calculates "),
    (
        "not checked: of an answer's figures the first 500 are",
        "not checked: only the first 500 figures of an answer are",
    ),
    ("numbers a row of the answer", "it numbers a row of the answer"),
    (
        "counts the years that answer and question name",
        "it counts the years named in the question and the answer",
    ),
    ("it stands on a page that is not cited for it", "it is on a page that is not cited for it"),
    ("it stands in the question, not on the pages cited", "it is in the question, not on the cited pages"),
    ("it stands on none of the pages", "it is on none of the pages"),
    ("belongs to a head or label of a table", "it belongs to a heading or label of a table"),
    ("in the answer's words the page has ", "where the answer has this figure, the page has "),
    ("numbers a paragraph of the page", "it numbers a paragraph of the page"),
    (
        "the page has its digits under another scale, unit or kind:",
        "the page has these digits with another scale or unit:",
    ),
    ("the page has it with the other sign", "the page has it with the opposite sign"),
    ("rounded, which the answer does not say", "it is rounded, which the answer does not say"),
    ("only the mark of a note has that number", "only a footnote mark has that number"),
    ("the page has it of something else", "the page gives it for something else"),
    ("the page has it in ", "the page gives it in "),
    ("the page has it for ", "the page gives it for "),
    ("its sentence speaks of ", "its sentence is about "),
    ("its value is that of ", "its value is for "),
    (", not of ", ", not "),
    (
        "computed from figures of the answer; the arithmetic holds",
        "calculated from figures in the answer, correctly",
    ),
    ("; another row is read out", ", but the answer quotes another row"),
    ("; in its place the ", "; in that position the "),
    ("its value stands in other words", "its value is on the page in another context"),
    ("its value stands among other words:", "its value is on the page in another context:"),
    ("its value stands in ", "its value is in "),
    ("stands in ", "it is in "),
)

# Before, the page was not named.
_PAGE = re.compile(r"it is on page \d+(?: of “.*”)?, which is not cited for it")
_UNNAMED_PAGE = "it is on a page that is not cited for it"


def is_same_reason(recorded: str | None, now: str | None) -> bool:
    """Whether a reason in a file is the one found now, in its words or in those of an earlier version."""
    if recorded == now or recorded is None:
        return recorded == now
    for former, current in _CHANGED:
        recorded = recorded.replace(former, current)
    if recorded == _UNNAMED_PAGE and _PAGE.fullmatch(now or ""):
        return True
    return recorded == now
