"""Names and their initials, both ways, told by letters alone."""

import pytest

from chatbot.search.abbreviations import other_spellings
from tests.case_rows import case_rows

INITIALS = case_rows("""
CEO                     | Our Chief Executive Officer, Ann Bell
RBI                     | the Reserve Bank of India kept it
BoE                     | the Bank of England kept it
SEC                     | the Securities and Exchange Commission
ESG                     | Environmental, Social and Governance matters
EU                      | the European Union
Chief Executive Officer | the CEO said
Reserve Bank of India   | RBI kept it
United Kingdom          | the UK grew
""")
INITIALS += [("CEO's", "the Chief Executive\nOfficer said")]


@pytest.mark.parametrize(("name", "text"), INITIALS)
def test_a_name_is_known_by_its_initials_and_initials_by_their_words(name: str, text: str) -> None:
    assert other_spellings([name], text)


NO_NAMES = case_rows("""
CEO                     | costs could even offset it
CEO                     | Chief Executive. Officer ranks
EU                      | even under stress
Apple                   | A grew
Reserve Bank of India   | the RBA kept it
chief executive officer | CEO
""")


@pytest.mark.parametrize(("name", "text"), NO_NAMES)
def test_other_words_say_no_name(name: str, text: str) -> None:
    assert not other_spellings([name], text)
