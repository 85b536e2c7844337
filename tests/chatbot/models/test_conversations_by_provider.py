"""A conversation of two turns by each kind of client, from the question to the checked answer."""

from __future__ import annotations

import re

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from tests.provider import Body, Provider, Say
from tests.stores import Make

PROVIDERS = ("openai", "azure", "deepseek", "openrouter", "ollama", "lmstudio", "vllm", "llamacpp")


def last_content(body: Body) -> str:
    """The text of the last message, its documents among it."""
    content = body["messages"][-1]["content"]
    if isinstance(content, str):
        return content
    parts = [block.get("text") or f"[{block['title']}]\n{block['source']['data']}" for block in content]
    return "\n".join(parts)


def answers(body: Body) -> list[str]:
    """What a good model says of the rules, with the number of their source."""
    question = last_content(body).rpartition("Question: ")[2]
    if "anchor" in question.partition("\n")[0]:
        return ["The debt anchor is 60 per cent of output [1]."]
    return ["The deficit ceiling is 3.0 per cent ", "of output in every year [1]."]


def two_turns(chatbot: Chatbot) -> tuple[Answer, Answer]:
    given = []
    for question in ("What is the deficit ceiling?", "And the debt anchor?"):
        answer = list(chatbot.ask(Ask(question, conversation="talk", verify=False)))[-1]
        assert isinstance(answer, Answer)
        given.append(answer)
    return given[0], given[1]


def check(first: Answer, second: Answer, server: Provider) -> None:
    assert first.error is None and second.error is None
    assert first.model == "m-1" and first.sent_to is not None
    assert all(citation.verified for citation in first.citations)
    assert [number.status for number in first.numbers] == ["supported"]
    assert "deficit ceiling is 3.0 per cent" in last_content(server.requests[1].body)
    assert first.usage is not None and first.usage.prompt_tokens == 1_000
    assert re.search(r"anchor", second.search_query)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_by_the_client_of_openai(make: Make, provider: str) -> None:
    with Provider([Say(answers, prompt_tokens=1_000, answer_tokens=12)]) as server:
        chatbot = make(provider=provider, chat_model="m-1", base_url=server.url, api_key="k", summary=False)
        chatbot.conversations.begin("local", "talk")
        check(*two_turns(chatbot), server)


def test_by_anthropics_own_client(make: Make) -> None:
    said = Say(
        lambda body: ["".join(answers(body)).replace(" [1].", ""), "."],
        cites=(0, -1),
        prompt_tokens=1_000,
        answer_tokens=12,
    )
    with Provider([said]) as server:
        chatbot = make(
            provider="anthropic",
            chat_model="m-1",
            base_url=server.url.removesuffix("/v1"),
            api_key="k",
            summary=False,
        )
        chatbot.conversations.begin("local", "talk")
        first, second = two_turns(chatbot)
        documents = [
            block
            for block in server.requests[0].body["messages"][-1]["content"]
            if block["type"] == "document"
        ]
        assert documents and documents[0]["title"].startswith("[1] Rules.pdf")
        assert first.text.startswith("The deficit ceiling is 3.0 per cent")
        check(first, second, server)
