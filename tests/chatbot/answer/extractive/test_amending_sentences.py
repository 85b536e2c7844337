"""An amendment is quoted where it quotes words of the answer or names its provision."""

from __future__ import annotations

import pytest

from chatbot.answer.extractive.amending_sentences import amending_sentences
from chatbot.evidence.passages import read_passages
from tests.case_rows import case_lines

POLICY = """Investment Policy of the Fund

Article 8 Asset classes
Not more than 35 per cent of the assets may be held in shares. Real estate is held through companies.

Article 9 Reporting
9.1 The treasurer reports to the trustees on all of the assets every 3 months.
9.2 The trustees publish the report in the month after they have received it."""
SHARES = "Not more than 35 per cent of the assets may be held in shares. [S1-0a1b]"
REPORT = "9.1 The treasurer reports to the trustees on all of the assets every 3 months. [S1-0a1b]"

SAID = case_lines("""
1. In Article 8, first sentence, “35 per cent” is replaced by “45 per cent”.
In the first sentence on shares, "35 per cent" becomes "45 per cent".
The words «35 per cent of the assets» are deleted and «half of the assets» is inserted.
The words ‘35 per cent’ are replaced by ‘45 per cent’.
Under Article 8 the share rises to 45 in the year 2025.
In Art. 8 the share rises to 45 in the year 2025.
§ 8 is worded anew from the year 2025 on.
""")


@pytest.mark.parametrize("sentence", SAID)
def test_a_sentence_that_means_the_quotation_is_found(sentence: str) -> None:
    passages = read_passages(POLICY, POLICY, [])
    text = f"{sentence}\nAll other provisions of this policy remain as they are."
    amendment = read_passages(text, text, [])
    assert amending_sentences(SHARES, passages, amendment) == [sentence]
    assert amending_sentences(REPORT, passages, amendment) == []


def test_a_sentence_that_announces_another_comes_with_it() -> None:
    text = "Paragraph 9.1 is replaced by the following:\nThe treasurer reports once a year.\nIt ends."
    found = amending_sentences(REPORT, read_passages(POLICY, POLICY, []), read_passages(text, text, []))
    assert " ".join(found).startswith("Paragraph 9.1 is replaced by the following: The treasurer reports")


NOT_SAID = case_lines("""
In Article 9, first sentence, “3 months” is replaced by “6 months”.
In Article 8, second sentence, “companies” is replaced by “funds”.
In Article 18 the share is raised to 45 in the year 2025.
The words “5 per cent” are replaced by “6 per cent” in all other rules.
An article 8.5 on loans is added at the end of the policy.
""")


@pytest.mark.parametrize("sentence", NOT_SAID)
def test_what_means_another_provision_is_left_out(sentence: str) -> None:
    passages = read_passages(POLICY, POLICY, [])
    assert amending_sentences(SHARES, passages, read_passages(sentence, sentence, [])) == []
