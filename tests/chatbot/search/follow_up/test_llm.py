"""Follow-ups in the chat model's words: what it is shown, what of its reply is taken, and that the rules'
query stands whatever goes wrong.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer, Exchange, Notice
from chatbot.search.follow_up.llm import MOST_EXCHANGES, Rewritten, make_rewriting_model, read_query, rewrite
from chatbot.search.follow_up.rules import standalone_query
from chatbot.service import Chatbot
from chatbot.settings import Settings, load_settings
from tests.fakes import HashEmbedder
from tests.provider import Provider, Refuse, Say

SAID = (Exchange("What is the debt ceiling of Norland in 2024?", "60 per cent of GDP. [S1]"),)
FOLLOW_UP = "And was it kept the year before?"


def settings_for(provider: Provider) -> Settings:
    return Settings(chat_model="test-model", base_url=provider.url, rewrite=True)


def test_it_is_off_unless_switched_on_and_needs_a_chat_model() -> None:
    assert make_rewriting_model(load_settings({"FINPOLICY_CHAT_MODEL": "m"})) is None
    assert make_rewriting_model(load_settings({"FINPOLICY_REWRITE": "1"})) is None
    assert make_rewriting_model(load_settings({"FINPOLICY_REWRITE": "1", "FINPOLICY_CHAT_MODEL": "m"}))


def test_the_models_question_is_searched() -> None:
    with Provider([Say("Was the debt ceiling of Norland kept in 2023?")]) as provider:
        model = make_rewriting_model(settings_for(provider))
        assert model
        rewritten = rewrite(FOLLOW_UP, SAID * 9, model)
        assert rewritten == Rewritten("Was the debt ceiling of Norland kept in 2023?")
        messages = provider.requests[0].body["messages"]
    shown = messages[1]["content"]
    assert shown.count("User: What is the debt ceiling") == MOST_EXCHANGES
    assert shown.endswith(FOLLOW_UP)


def test_a_question_that_stands_alone_costs_no_call() -> None:
    with Provider([]) as provider:
        model = make_rewriting_model(settings_for(provider))
        assert model
        question = "What is the deficit target of Norland in 2026?"
        assert rewrite(question, SAID, model).query == question
        assert provider.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        Say("   "),
        Say("?"),
        Say("x " * 900),
        Say("Was the ceiling of 75 per cent kept in 1987?"),
        Refuse(400, "no"),
    ],
)
def test_the_rules_stand_where_the_model_fails_or_makes_something_up(reply: object) -> None:
    with Provider([reply]) as provider:  # type: ignore[list-item]
        model = make_rewriting_model(settings_for(provider))
        assert model
        found = rewrite(FOLLOW_UP, SAID, model)
    assert found.query == standalone_query(FOLLOW_UP, SAID)
    assert found.notice


def test_the_last_line_is_the_question_and_a_year_beside_one_spoken_of_may_be_named() -> None:
    reply = 'Here it is:\n"Was the ceiling kept in 2023?"'
    query = read_query(reply, "Was it kept in 2023?", "the ceiling in 2024")
    assert query == "Was the ceiling kept in 2023?"
    with pytest.raises(ValueError, match="2013"):
        read_query("Was the ceiling kept in 2013?", "Was it kept?", "the ceiling in 2024")


def test_a_conversation_is_searched_by_the_models_question(tmp_path: Path) -> None:
    query = "What is the deficit ceiling of Norland?"
    with Provider([Say(query), Say("It is 3 per cent.")]) as provider:
        settings = replace(settings_for(provider), home=tmp_path)
        with Chatbot(settings, embedder=HashEmbedder(dimension=64)) as chatbot:
            events = list(chatbot.ask(Ask("And the deficit?", history=SAID)))
    answer = next(event for event in events if isinstance(event, Answer))
    assert answer.search_query == query
    notices = [event.text for event in events if isinstance(event, Notice)]
    for notice in notices:
        assert "by rules" not in notice


@pytest.mark.parametrize(
    "reply", ["The documents say so [S9-000000].", "Health gets 5 million [1].", "What is the debt anchor?"]
)
def test_what_is_no_form_of_the_question_is_refused(reply: str) -> None:
    said = "What is the debt anchor? It is 60 per cent. Health gets 5 million. The documents say so."
    with pytest.raises(ValueError, match="a different question"):
        read_query(reply, "What about health?", said)
