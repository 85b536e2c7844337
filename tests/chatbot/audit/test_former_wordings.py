"""Reasons in audit files that were made before their wording changed."""

import pytest

from chatbot.audit.former_wordings import is_same_reason

SAME = [
    (None, None),
    ("it is on none of the pages", "it is on none of the pages"),
    ("it stands on none of the pages", "it is on none of the pages"),
    ("its value stands in the row “Tax”, column “2024”", "its value is in the row “Tax”, column “2024”"),
    ("rounded from 4.8: stands in “GDP 4.8”", "rounded from 4.8: it is in “GDP 4.8”"),
    ("its value is that of 2023, not of 2024", "its value is for 2023, not 2024"),
    (
        "it is on a page that is not cited for it",
        "it is on page 5 of “Rules.pdf”, which is not cited for it",
    ),
    ("it stands on a page that is not cited for it", "it is on page 5, which is not cited for it"),
    ("the pages cited for it do not have “Gold”", "the pages cited for it do not mention “Gold”"),
]
OTHER = [
    ("it is on page 4, which is not cited for it", "it is on page 5, which is not cited for it"),
    (None, "it is on none of the pages"),
    ("it stands on none of the pages", None),
    ("it stands on none of the pages", "it is in the question, not on the cited pages"),
    ("its value is that of 2023, not of 2024", "its value is for 2022, not 2024"),
]


@pytest.mark.parametrize(("recorded", "now"), SAME)
def test_a_former_wording_is_the_same_reason(recorded: str | None, now: str | None) -> None:
    assert is_same_reason(recorded, now)


@pytest.mark.parametrize(("recorded", "now"), OTHER)
def test_another_reason_is_not(recorded: str | None, now: str | None) -> None:
    assert not is_same_reason(recorded, now)
