"""Whatever could be taken for a citation key is made inert, and nothing else is changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from tests.case_rows import case_rows

LOOK_LIKE_KEYS = """
[S1] | ⟦S1⟧
see [S1-7f3a, S2-7f3a]. | see ⟦S1-7f3a, S2-7f3a⟧.
【S1】 | ⟦S1⟧
[\u200bS\u200d1] | ⟦\u200bS\u200d1⟧
[Ｓ１] | ⟦Ｓ１⟧
[Ѕ1] | ⟦Ѕ1⟧
[𝐒𝟏] | ⟦𝐒𝟏⟧
[[S1]] | [⟦S1⟧]
[S1 | ⟦S1
[S1 and [S2]] | ⟦S1 and ⟦S2⟧]
[12] [Section 1] S1 | [12] [Section 1] S1
"""


@pytest.mark.parametrize(("text", "escaped"), case_rows(LOOK_LIKE_KEYS))
def test_look_alikes_are_made_inert(text, escaped):
    assert escape_keys(text) == escaped
    assert escape_keys(escaped) == escaped


# What a key is made of, and what looks like it.
PARTS = "[ ［ 【 ] ］ S Ｓ s 1 １ -7f3a \u200b , * \u0301 x ⟦ ⟧".split(" ")
NO_BRACKETS = dict.fromkeys(map(ord, "⟦⟧[]"))
LOOK_ALIKES = st.lists(st.sampled_from([*PARTS, " "]), max_size=25)


@given(st.text() | LOOK_ALIKES.map("".join))
@example("[S1-7f3a]" * 3)
@example("[S1" + " " * 300 + "[S2]")
def test_no_escaped_text_holds_a_key(text):
    escaped = escape_keys(text)
    assert KEYS_IN_BRACKETS.search(escaped) is None
    assert escape_keys(escaped) == escaped
    assert len(escaped) == len(text)
    without_brackets = re.sub(r"[\[\]⟦⟧]", "", escaped)
    assert escaped.translate(NO_BRACKETS) in (escaped, without_brackets)
