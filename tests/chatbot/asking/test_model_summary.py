"""A chat model that reads a whole document: in one step or several, stopped, failing, and what it invents."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from textwrap import fill
from typing import Protocol

import pytest

from chatbot.asking.model_summary import MOST_STEPS
from chatbot.asking.question import Ask
from chatbot.errors import ModelError
from chatbot.records import Answer, Event, Notice, Stage
from chatbot.service import Chatbot
from chatbot.settings import Settings
from tests.fakes import ScriptedModel
from tests.provider import Body, Provider, Say
from tests.stores import Stores, hashing

FILLER = " ".join(["The council met and heard the reports of its committees at length."] * 40)
QUESTION = "Summarise the document"
Messages = Sequence[tuple[str, str]]


def page(number: int) -> str:
    return fill(f"Programme {number} costs {number}.5 million crowns in 2031. {FILLER}", 90)


def costs(messages: Messages) -> list[str]:
    """A sentence for each programme among the sources, with its number."""
    found = re.findall(r"\[(\d+)\] [^\n]*\n<<<\w+\n(?:Programme (\d+))", messages[-1][1])
    return [f"Programme {name} costs {name}.5 million crowns in 2031 [{key}]. " for key, name in found]


def invented(messages: Messages) -> list[str]:
    return [*costs(messages), "The minister resigned over 47 per cent [1]."]


class Read(Protocol):
    """Opens a chatbot over a document of so many pages."""

    def __call__(self, count: int, model: ScriptedModel | None = None, **settings: object) -> Chatbot: ...


@pytest.fixture
def read(stores: Stores, tmp_path: Path) -> Iterator[Read]:
    with ExitStack() as opened:

        def build(count: int, model: ScriptedModel | None = None, **settings: object) -> Chatbot:
            stores.copy([page(number) for number in range(1, count + 1)], tmp_path / "home")
            made = Settings(home=tmp_path / "home", **settings)  # type: ignore[arg-type]
            return opened.enter_context(Chatbot(made, embedder=hashing(), model=model))

        yield build


def ask(chatbot: Chatbot, question: str = QUESTION, **given: object) -> tuple[Answer, list[Event]]:
    events = list(chatbot.ask(Ask(question), **given))  # type: ignore[arg-type]
    assert isinstance(events[-1], Answer)
    return events[-1], events


def steps(events: Sequence[Event]) -> list[tuple[int, int]]:
    return [
        (event.done, event.total) for event in events if isinstance(event, Stage) and event.name == "steps"
    ]


def test_a_short_document_is_read_at_once(read: Read) -> None:
    model = ScriptedModel(costs)
    answer, events = ask(read(3, model=model))
    assert steps(events) == []
    assert len(model.calls) == 1
    assert {citation.page for citation in answer.citations} == {1, 2, 3}
    assert all(citation.verified for citation in answer.citations)
    assert answer.understanding is not None and answer.understanding.form == "summary"


def test_a_long_one_is_read_in_steps_whose_sentences_are_checked(read: Read) -> None:
    model = ScriptedModel(invented)
    chatbot = read(12, model=model, context_tokens=3_000)
    answer, events = ask(chatbot)
    count = len(model.calls) - 1
    assert count > 1
    assert steps(events) == [(done, count) for done in range(count)] + [(count, count)]
    last = model.calls[-1][0][-1][1]
    assert "Programme 12 costs 12.5 million" in last, "every part reaches the last step"
    assert "resigned" not in last, "what is doubted does not"
    assert FILLER[:60] not in last, "nor do the pages themselves"
    cited = {citation.page for citation in answer.citations if citation.verified}
    assert cited == set(range(1, 13)), "the last answer is checked against the pages, not the notes"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 3 * 1_000, "the steps count too"


def test_a_summary_in_steps_has_the_cost_of_all_of_them(read: Read) -> None:
    def pieces(body: Body) -> list[str]:
        return costs([(message["role"], message["content"]) for message in body["messages"]])

    with Provider([Say(pieces, prompt_tokens=2_000, answer_tokens=100)]) as provider:
        chatbot = read(
            12,
            context_tokens=3_000,
            chat_model="m",
            base_url=provider.url,
            price_in=1.0,
            price_out=10.0,
            verify=False,
        )
        answer, _ = ask(chatbot)
    calls = len(provider.requests)
    assert calls > 2
    assert answer.usage is not None
    assert answer.usage.cost == pytest.approx(calls * 0.003)
    assert answer.usage.first_seconds <= answer.usage.seconds / calls + 1


def test_a_summary_of_which_nothing_holds_says_so(read: Read) -> None:
    model = ScriptedModel(lambda messages: ["The minister resigned over 47 per cent [1]."])
    _, events = ask(read(12, model=model, context_tokens=3_000))
    notices = [event.text for event in events if isinstance(event, Notice)]
    assert any("None of the model's notes" in notice for notice in notices), events


def test_one_that_is_stopped_gives_what_it_had_read(read: Read) -> None:
    model = ScriptedModel(costs)
    chatbot = read(12, model=model, context_tokens=3_000)
    answer, events = ask(chatbot, stop=lambda: len(model.calls) >= 2)
    assert len(model.calls) == 2
    assert "Programme 1 costs 1.5 million crowns" in answer.text
    assert all(citation.verified for citation in answer.citations)
    assert any(isinstance(event, Notice) and "You stopped" in event.text for event in events)


def test_a_step_that_fails_is_left_out_and_said(read: Read) -> None:
    model = ScriptedModel([ModelError("The server fell over.")], costs)
    chatbot = read(8, model=model, context_tokens=3_000)
    answer, events = ask(chatbot)
    assert answer.answered
    assert any(isinstance(event, Notice) and "A step failed" in event.text for event in events)
    assert "Programme 1 costs" not in answer.text
    assert "Programme 8 costs" in answer.text


def test_where_every_step_fails_the_document_is_searched_as_before(read: Read) -> None:
    model = ScriptedModel([ModelError("The server fell over.")])
    answer, _ = ask(read(8, model=model, context_tokens=3_000))
    assert answer.error and answer.text


def test_a_very_long_document_is_read_in_part(read: Read) -> None:
    model = ScriptedModel(costs)
    chatbot = read(40, model=model, context_tokens=1_500)
    answer, events = ask(chatbot)
    assert len(model.calls) <= MOST_STEPS + 1
    told = [event.text for event in events if isinstance(event, Notice)]
    assert any(re.search(r"has 40 pages\. A sample of \d+", text) for text in told)
    assert {citation.page for citation in answer.citations} > {1}


def test_without_a_model_nothing_changes(read: Read) -> None:
    answer, events = ask(read(3))
    assert answer.model == "extractive" and steps(events) == []


@pytest.mark.parametrize("question", ["What does programme 3 cost?", "Give me an outline"])
def test_other_questions_are_asked_once(read: Read, question: str) -> None:
    model = ScriptedModel(costs)
    ask(read(12, model=model, context_tokens=3_000), question)
    assert len(model.calls) <= 1
