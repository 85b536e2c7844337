"""A model's text is made clean once, where it arrives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.models.model_text import CleanText, clean_json
from chatbot.models.tool_calls import CallPiece, CallPieces
from tests.chatbot.models.test_chat import ask, model_for
from tests.provider import Provider, Say

# Of an emoji, as a model sends them whose pieces end anywhere.
HIGH, LOW = "\ud83d", "\ude00"
CHARACTERS = st.sampled_from(["a", "\n", "\t", "\r", "\x00", "\x1b", "\x85", "é", "😀", HIGH, LOW])


def joined(pieces: list[str]) -> str:
    clean = CleanText()
    said = [clean.take(piece) for piece in pieces]
    return "".join([*said, clean.take("", last=True)])


@pytest.mark.parametrize("whole", [False, True], ids=["stream", "whole"])
def test_what_no_text_may_hold_is_gone_where_the_answer_arrives(whole: bool) -> None:
    pieces = ["Up ", HIGH, f"{LOW} by \x00three\x1b[31m", f" {LOW}per{HIGH}", " cent\r\n", f"so{HIGH}"]
    with Provider([Say(pieces, whole=whole)]) as provider:
        text = "".join(ask(model_for(provider)))
    assert text == "Up 😀 by three[31m \ufffdper\ufffd cent\nso\ufffd"


@given(st.lists(st.lists(CHARACTERS, max_size=4).map("".join), max_size=8))
def test_it_does_not_matter_where_the_pieces_end(pieces: list[str]) -> None:
    text = joined(pieces)
    assert text == joined(["".join(pieces)])
    assert text == CleanText().take("".join(pieces), last=True)
    text.encode()
    assert text.replace("\n", "").replace("\t", "").isprintable()


def test_a_call_of_a_tool_is_clean_too() -> None:
    arguments = json.dumps({"place": [f"Kuala {HIGH}", f"\x00Lumpur{LOW}"], f"n{HIGH}": 1})
    calls = CallPieces()
    calls.take([CallPiece(0, f"id{HIGH}", f"weather{LOW}", arguments[:20])])
    calls.take([CallPiece(0, arguments=arguments[20:])])
    (call,) = calls.calls()
    assert (call.id, call.name) == ("id\ufffd", "weather\ufffd")
    assert call.arguments == {"place": ["Kuala \ufffd", "Lumpur\ufffd"], "n\ufffd": 1}
    assert clean_json([1, None, {"a": True}]) == [1, None, {"a": True}]
