"""Questions to the chat model without documents, and what the prompt gets of the conversation."""

from __future__ import annotations

import pytest

from chatbot.asking.model_alone import UNCITED
from chatbot.asking.question import Ask
from chatbot.errors import UsageError
from chatbot.records import Answer, Exchange
from tests.provider import Provider, Say
from tests.stores import Make


def test_without_a_model_the_error_names_the_fix(make: Make) -> None:
    with pytest.raises(UsageError, match="Without documents only a chat model") as error:
        list(make().ask(Ask("What is inflation?", documents=False)))
    assert "FINPOLICY_CHAT_MODEL" in error.value.hint


def test_the_model_answers_alone_and_nothing_is_cited(make: Make) -> None:
    with Provider([Say(["Inflation is a rise ", "in prices [1]."])]) as provider:
        chatbot = make(base_url=provider.url, chat_model="stand-in", api_key="k")
        ask = Ask("What is the deficit ceiling?", conversation="talk", documents=False)
        *_, answer = chatbot.ask(ask)
        sent = provider.requests[-1].body["messages"]
        assert isinstance(answer, Answer)
        assert answer.text == "Inflation is a rise in prices [1]."
        assert answer.citations == ()
        assert answer.alone
        assert not answer.by_model
        assert UNCITED in answer.notices
        assert "3.0 per cent" not in str(sent), "no page reached the model"
        list(chatbot.ask(Ask("Why?", conversation="talk", documents=False)))
        again = provider.requests[-1].body["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]


def test_the_window_alone_is_five_exchanges_of_ten(make: Make) -> None:
    said = [Exchange(f"Question {number}? " + "rate " * 200, "Growth. " * 200) for number in range(8)]
    with Provider([Say(["Yes [1]."])]) as provider:
        chatbot = make(base_url=provider.url, chat_model="stand-in", api_key="k")
        for history in (tuple(said), None):
            list(chatbot.ask(Ask("What is the deficit ceiling?", history=history, window_alone=True)))
        whole = provider.requests[0].body["messages"][-1]["content"]
    assert "Question 3?" in whole
    assert "Question 2?" not in whole


def test_how_a_conversation_is_shortened_can_be_chosen_for_a_question(make: Make) -> None:
    said = [
        "The company's revenue, profit and dividend rose by 5 per cent. Its margin grew.",
        "Penguins live on the southern coast. They walk far. Their eggs are kept warm.",
        "Norland's gardens were opened by the mayor. The roses were planted in spring.",
        "It is late.",
    ]
    with Provider([Say([text]) for text in said]) as provider:
        chatbot = make(
            base_url=provider.url,
            chat_model="stand-in",
            api_key="k",
            compression=True,
            compression_tokens=70,
            prompt_exchanges=1,
            summary=False,
        )
        for _ in said:
            list(chatbot.ask(Ask("Tell me more?", conversation="talk", documents=False)))

        def earlier(**choices: bool | float) -> list[str]:
            ask = Ask("Where do penguins live?", conversation="talk", compression=tuple(choices.items()))
            return [text for _, text in chatbot.memory_context.before(ask, ask.question, None).earlier]

        by_question = " ".join(earlier(compression_ratio=0.5))
        by_words = " ".join(earlier(compression_ratio=0.5, seed_scoring=True))
        whole = earlier(compression_ratio=0.8, compression_rho=1.0)
        single = earlier(compression_ratio=0.8, compression_rho=0.0)
    assert "Penguins" in by_question
    assert "dividend" in by_words
    assert "dividend" not in by_question
    assert whole != single
