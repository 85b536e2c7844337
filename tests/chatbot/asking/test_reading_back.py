"""A chat model's answer is read back by a model behind a real HTTP server, and its marks come last."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from chatbot.answer.verification.probe import FEWEST_RIGHT, STATEMENTS
from chatbot.answer.verification.reading_call import StatementReading
from chatbot.asking.answering import Answering
from chatbot.asking.question import Ask
from chatbot.asking.reading_back import SLOW_SECONDS
from chatbot.records import Answer, Event, Notice, Stage
from chatbot.service import Chatbot
from tests.provider import Behaviour, Body, Mute, Provider, Refuse, Say, first_key
from tests.readers import data_of, quoting, reader
from tests.stores import Make

QUESTION = "What is the deficit ceiling?"
PRINTED = "The deficit ceiling is 3.0 per cent of output in every year"
REWORDED = "The deficit may never be larger than 3.0 per cent of output"
CEILING = {"as_written": "3.0 per cent", "as_printed": "3.0 per cent", "quote": 0, "relation": "same"}
ALL_STATED = reader(quoting("stated", PRINTED, figures=[CEILING]))


def saying(text: str) -> Callable[[Body], Sequence[str]]:
    return lambda body: [text.replace("KEY", f"[{first_key(body)}]")]


def events_of(chatbot: Chatbot, **ask: Any) -> list[Event]:
    return list(chatbot.ask(Ask(QUESTION, **ask)))


def last(events: Sequence[Event]) -> Answer:
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer


def read(
    make: Make, reads: Behaviour, text: str = f"{REWORDED} KEY.", **settings: Any
) -> tuple[Answer, Provider]:
    with Provider([saying(text)], reads=reads) as provider:
        chatbot = make(chat_model="m", base_url=provider.url, timeout=5.0, **settings)
        answer = last(events_of(chatbot))
        chatbot.close()
    return answer, provider


def test_the_answer_comes_at_once_and_its_marks_last(make: Make) -> None:
    with Provider([saying(f"{REWORDED} KEY.")], reads=ALL_STATED) as provider:
        chatbot = make(chat_model="m", base_url=provider.url)
        talk = chatbot.conversations.begin("local")
        kept = []
        events = []
        for event in chatbot.ask(Ask(QUESTION, conversation=talk)):
            events.append(event)
            if isinstance(event, Answer):
                kept.append(chatbot.memory.answer(talk, 1, "local"))
        *_, first, checking, marked = events
        assert isinstance(first, Answer) and isinstance(marked, Answer)
        assert checking == Stage("checking", 0, 1)
        assert [one.mark for one in first.statements] == [""] and first.unread == 1
        (statement,) = marked.statements
        assert (statement.verdict, statement.mark, statement.read_by) == ("stated", "stated", "m")
        assert [(quote.key, quote.page, quote.text) for quote in statement.quotes] == [("S1", 1, PRINTED)]
        assert marked.text == first.text and marked.unread == 0
        assert marked.citations[0].verified and marked.numbers[0].status == "supported"
        assert [answer is not None and answer.unread for answer in kept] == [1, 0]
        # The probe is asked once for a model, and both calls are counted.
        assert len(provider.readings) == 2
        assert marked.usage and first.usage and marked.usage.prompt_tokens > first.usage.prompt_tokens
        last(events_of(chatbot))
        assert len(provider.readings) == 3
        chatbot.close()


def test_a_reader_who_says_the_same_to_all_earns_no_mark(make: Make) -> None:
    yes = reader(quoting("stated", PRINTED), probe=False)
    answer, provider = read(make, yes)
    assert [one.mark for one in answer.statements] == [""]
    assert answer.reading is not None
    assert answer.reading.reason.startswith(f"m judged {len(STATEMENTS) // 2} of {len(STATEMENTS)} test")
    assert len(STATEMENTS) // 2 < FEWEST_RIGHT
    assert len(provider.readings) == 1


def test_a_false_statement_is_doubted_with_the_pages_own_words(make: Make) -> None:
    denies = reader(quoting("contradicted", PRINTED, difference="the ceiling holds in every year"))
    answer, _ = read(make, denies, "The deficit ceiling of 3.0 per cent holds in election years only KEY.")
    (statement,) = answer.statements
    assert statement.mark == "contradicted" and statement.quotes[0].text == PRINTED
    assert statement.difference == "the ceiling holds in every year"
    assert answer.citations[0].doubted


def test_a_quotation_that_is_on_no_page_proves_nothing(make: Make) -> None:
    invented = reader(quoting("stated", "The deficit may never be larger than 3.0 per cent"))
    answer, provider = read(make, invented)
    assert [one.mark for one in answer.statements] == [""]
    assert answer.statements[0].difference == "the reader's quotation is not on the page"
    assert len(provider.readings) == 3  # it is asked once more


BAD = {
    "prose": "All of this is true.",
    "refused": Refuse(400, "no"),
    "broken twice": Say(['{"statements": [{"number": "one"}]}']),
    "of another language": Say(["Alles stimmt."]),
    "ten thousand statements": lambda body: ['{"statements": [' + ",".join(["{}"] * 10_000) + "]}"],
    "cut": Say(['{"statements"'], ending="cut"),
}


@pytest.mark.parametrize("reads", BAD.values(), ids=BAD)
def test_a_reader_who_cannot_be_used_leaves_the_programs_half(make: Make, reads: Behaviour) -> None:
    said = f"{PRINTED} KEY. {REWORDED} KEY. The levy rises by 47 per cent KEY."
    answer, _ = read(make, reads, said)
    assert [one.mark for one in answer.statements] == ["quoted", "", "not_found"]
    assert answer.reading is not None and answer.reading.reason and not answer.reading.reply


def test_one_unusable_reply_to_the_probe_bars_a_model_for_a_day_alone(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider([saying(f"{REWORDED} KEY.")] * 3, reads=Say(["All of it is true."])) as provider:
        chatbot = make(chat_model="m", base_url=provider.url)
        for _ in range(2):
            answer = last(events_of(chatbot))
            assert answer.unread == 1 and answer.reading is not None
            assert "its reply could not be used" in answer.reading.reason
        assert len(provider.readings) == 2, "once more for the probe, and then no more"
        tomorrow = time.time() + SLOW_SECONDS + 1
        monkeypatch.setattr(time, "time", lambda: tomorrow)
        last(events_of(chatbot))
        assert len(provider.readings) == 4
        chatbot.close()


def test_a_fault_while_proving_never_costs_the_answer(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whole = Answering.marked

    def marked(self: Answering, answer: Answer, reading: StatementReading) -> Answer:
        if reading.read:
            raise OverflowError("words of a reply")
        return whole(self, answer, reading)

    monkeypatch.setattr(Answering, "marked", marked)
    answer, _ = read(make, ALL_STATED)
    assert [one.verdict for one in answer.statements] == ["not_checked"] and answer.unread == 1
    assert answer.reading is not None and answer.reading.reason == "The reading could not be used."
    assert answer.usage and answer.usage.answer_tokens > 100
    assert "OverflowError" in caplog.text and "words of a reply" not in caplog.text


def test_what_json_alone_can_write_does_not_break_the_check(make: Make) -> None:
    odd = reader(quoting("contradicted", PRINTED, difference="half \ud800 a sign"))
    answer, _ = read(make, odd, "The deficit ceiling of 3.0 per cent holds in election years only KEY.")
    assert answer.statements[0].difference == "half \ufffd a sign"
    for expression in ("abs()", "min()", "mean() + 3.0", "min3(3.0)"):
        empty: dict[str, Any] = {"expression": expression, "operands": []}
        answer, _ = read(make, reader(quoting("computed", PRINTED, calculation=empty)))
        assert [one.verdict for one in answer.statements] == ["computed"]


@pytest.mark.timed
def test_a_silent_reader_is_given_up_in_time(make: Make) -> None:
    began = time.monotonic()
    with Provider([saying(f"{REWORDED} KEY.")], reads=Mute()) as provider:
        for reason in ("It took too long", "m was too slow in its test"):
            chatbot = make(chat_model="m", base_url=provider.url, verify_timeout=1.5)
            answer = last(events_of(chatbot))
            chatbot.close()
            assert answer.reading is not None and answer.reading.reason.startswith(reason)
            assert answer.unread == 1
        assert len(provider.readings) == 1, "another process does not wait for it again"
    assert time.monotonic() - began < 60


def test_the_reader_sees_pages_and_statements_as_data_with_keys_that_no_document_knows(make: Make) -> None:
    answer, provider = read(make, ALL_STATED)
    assert answer.prompt is not None
    asked = data_of(provider.readings[-1].body)
    assert asked["question"] == QUESTION
    assert [one["text"] for one in asked["statements"]] == [f"{REWORDED}."]
    keys = {page["key"] for page in asked["pages"]}
    assert keys.isdisjoint(answer.prompt.sources) and len(keys) == len(answer.prompt.sources)


def test_nothing_is_read_where_that_is_off_or_not_wanted(make: Make) -> None:
    with Provider([saying(f"{REWORDED} KEY.")], reads=ALL_STATED) as provider:
        for settings, ask in (({"verify": False}, {}), ({}, {"verify": False})):
            chatbot = make(chat_model="m", base_url=provider.url, **settings)
            answer = last(events_of(chatbot, **ask))
            assert answer.reading is None and answer.unread == 1
            chatbot.close()
        assert provider.readings == []


def test_another_model_may_read(make: Make) -> None:
    with Provider([saying(f"{REWORDED} KEY.")], reads=ALL_STATED) as provider:
        chatbot = make(chat_model="m", base_url=provider.url, verify_model="careful")
        answer = last(events_of(chatbot))
        assert answer.model == "m" and answer.statements[0].read_by == "careful"
        assert {request.body["model"] for request in provider.readings} == {"careful"}
        chatbot.close()


def test_a_reader_that_does_not_exist_is_named(make: Make) -> None:
    with Provider([saying(f"{REWORDED} KEY.")], reads=ALL_STATED) as provider:
        chatbot = make(chat_model="m", base_url=provider.url, verify_model="olama:x")
        *_, answer, notice = events_of(chatbot)
        assert isinstance(answer, Answer) and answer.unread == 1
        assert isinstance(notice, Notice) and "not read back" in notice.text and notice.hint
        assert provider.readings == []
        chatbot.close()


def test_too_many_tokens_are_not_spent(make: Make) -> None:
    answer, provider = read(make, ALL_STATED, verify_tokens=10)
    assert answer.reading is not None and "FINPOLICY_VERIFY_TOKENS" in answer.reading.reason
    assert len(provider.readings) == 1  # the probe


def test_a_stop_leaves_the_answer_and_it_can_be_read_later(make: Make) -> None:
    with Provider([saying(f"{REWORDED} KEY.")], reads=ALL_STATED) as provider:
        chatbot = make(chat_model="m", base_url=provider.url)
        talk = chatbot.conversations.begin("local")
        stopped = threading.Event()
        for event in chatbot.ask(Ask(QUESTION, conversation=talk), stop=stopped.is_set):
            if isinstance(event, Answer):
                stopped.set()
        kept = chatbot.memory.answer(talk, 1, "local")
        assert kept is not None and kept.unread == 1
        assert kept.reading is not None and kept.reading.reason == "It was stopped."
        *_, marked = chatbot.read_back(talk, 1, "local")
        assert isinstance(marked, Answer)
        assert [one.mark for one in marked.statements] == ["stated"]
        assert chatbot.memory.answer(talk, 1, "local") == chatbot.memory.answer(talk, 1, "local")
        again = chatbot.memory.answer(talk, 1, "local")
        assert again is not None and [one.mark for one in again.statements] == ["stated"]
        chatbot.close()


def test_how_a_model_did_is_said_before_and_after(make: Make) -> None:
    with Provider([saying(f"{REWORDED} KEY.")], reads=ALL_STATED) as provider:
        chatbot = make(chat_model="m", base_url=provider.url)
        verifier = chatbot.models.verifying("local")
        assert verifier is not None and chatbot.reading.may_read(verifier)
        assert chatbot.reading.standing(verifier) == "m is tested before it reads its first answer."
        events_of(chatbot)
        assert chatbot.reading.standing(verifier).startswith(f"m judged {len(STATEMENTS)} of")
        chatbot.close()
