"""Each form in which chat models write citations is read as the keys that were given, and nothing else is
taken for one.
"""

from __future__ import annotations

import time

import pytest

from chatbot.answer.citations.citation_forms import read_citations
from chatbot.answer.prompt import Request, build_prompt
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of

RULES = {"document": "Rules.pdf", "version": 2, "label_source": "printed"}
CEILING = hit_of("The ceiling is 3.0 per cent.", document="Budget 2025.pdf", page=7)
ANCHOR = hit_of("The anchor is 60 per cent.", page=23, page_label="21", **RULES)
FIVE_YEARS = hit_of("It is set for five years.", page=24, page_label="22", **RULES)
HITS = [CEILING, ANCHOR, FIVE_YEARS]
QUESTION = "What is the ceiling?"
REQUEST = Request(QUESTION, QUESTION, HITS, (), (), "7f3a", 12_000)
PROMPT = build_prompt(REQUEST)

FORMS = """
[1] | [S1-7f3a]
[2] | [S2-7f3a]
[s1] | [S1-7f3a]
(S1) | [S1-7f3a]
[1, 2] | [S1-7f3a; S2-7f3a]
[1 and 2] | [S1-7f3a; S2-7f3a]
[1][2] | [S1-7f3a][S2-7f3a]
[1-3] | [S1-7f3a; S2-7f3a; S3-7f3a]
[^1] | [S1-7f3a]
【1】 | [S1-7f3a]
【1†source】 | [S1-7f3a]
[Sources 1 and 2] | [S1-7f3a; S2-7f3a]
(excerpt 2) | [S2-7f3a]
(see excerpt 2) | [S2-7f3a]
(Source 1, Source 2) | [S1-7f3a; S2-7f3a]
[1, p. 7] | [S1-7f3a]
[1](https://example.org/1) | [S1-7f3a]
(Rules.pdf, page 23) | [S2-7f3a]
(rules, p. 24) | [S3-7f3a]
[Budget 2025.pdf, page 7] | [S1-7f3a]
(Rules.pdf, page 23, printed page 21) | [S2-7f3a]
(page 7) | [S1-7f3a]
[S1-7f3a] | [S1-7f3a]
[S1-7f3a, S2-7f3a] | [S1-7f3a; S2-7f3a]
[1, S9-abcd] | [S1-7f3a; S9-abcd]
# Not given: it stays a citation, of nothing.
[9] | [S9]
[1, 9] | [S1-7f3a; S9]
[S1-beef] | [S1-beef]
[1-9] | [S1-7f3a; S9]
"""
NONE = """
(1)
[2024]
[1.5]
[12 months]
(page 99)
(Other.pdf, page 23)
(pages 7 to 9)
1]
(S)
[0]
"""


@pytest.mark.parametrize(("written", "keys"), case_rows(FORMS))
def test_a_form_of_citation_is_read(written: str, keys: str) -> None:
    found = read_citations(f"The ceiling is 3.0 per cent {written}. More.", PROMPT)
    assert found == f"The ceiling is 3.0 per cent {keys}. More."


@pytest.mark.parametrize("written", case_lines(NONE))
def test_what_may_be_anything_stays(written: str) -> None:
    assert read_citations(f"It is {written} so.", PROMPT) == f"It is {written} so."


HEADS = """
Sources:
**Sources**
## References
Source:
_Citations:_
"""


@pytest.mark.parametrize("head", case_lines(HEADS))
def test_a_list_of_sources_at_the_end_goes(head: str) -> None:
    listed = "[1] Budget 2025.pdf, page 7\n- [2] Rules.pdf (p. 23)\n"
    found = read_citations(f"The ceiling is 3.0 per cent [1].\n\n{head}\n{listed}", PROMPT)
    assert found == "The ceiling is 3.0 per cent [S1-7f3a]."


@pytest.mark.parametrize(
    "text",
    ["Sources:\nThe treasury and the bank.", "Sources:", "Sources:\n[1] Rules.pdf", "It is in Rules.pdf."],
)
def test_no_statement_goes_with_it(text: str) -> None:
    left = read_citations(text, PROMPT)
    assert len(left.split()) == len(text.split())


@pytest.mark.timed
@pytest.mark.parametrize(
    "unit", ["[1, ", "[1][", "(", "(a, page ", "[source ", "1-", "(S1, ", "\nRules.pdf", "[S1-", "【1†"]
)
def test_a_text_of_any_length_is_read_in_little_time(unit: str) -> None:
    endless = unit * (100_000 // len(unit))
    started = time.process_time()
    read_citations(endless, PROMPT)
    assert time.process_time() - started < 2
