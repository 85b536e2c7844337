"""Chat models over a real HTTP server that misbehaves in every way that providers do, and the contract
that every model keeps.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from email.utils import formatdate
from operator import itemgetter
from typing import Any

import pytest

from chatbot.errors import ModelError
from chatbot.models import endpoints
from chatbot.models.addresses import endpoint_host
from chatbot.models.chat import LLM, ReplacementText, Reply, SpentError, make_model
from chatbot.models.endpoint_errors import clean_text
from chatbot.models.endpoints import check_endpoint
from chatbot.models.openai_chat import OpenAIModel
from chatbot.settings import Settings
from tests.case_rows import case_rows
from tests.fakes import ScriptedModel
from tests.provider import Drip, Ending, Mute, Page, Provider, Refuse, Say

KEY = "sk-test-0123456789abcdef"
QUESTION = (("system", "Answer briefly."), ("user", "What was the deficit?"))
SECONDS = 0.4  # how long an endpoint may stay silent here


def settings_for(
    url: str, *, key: str = KEY, offline: bool = False, timeout: float = 5.0, **limits: Any
) -> Settings:
    return Settings(
        chat_model="test-model", base_url=url, api_key=key, timeout=timeout, offline=offline, **limits
    )


def model_for(provider: Provider, **limits: Any) -> OpenAIModel:
    return OpenAIModel(settings_for(provider.url, **limits))


def ask(model: LLM) -> Reply:
    return model.stream(QUESTION, max_tokens=100)


def read(reply: Reply) -> tuple[str, ModelError]:
    """What came, and the error that ended it."""
    said: list[str] = []
    try:
        for piece in reply:
            said.append(piece)
    except ModelError as error:
        return "".join(said), error
    raise AssertionError(f"no error after {said}")


@pytest.mark.parametrize(
    ("message", "name"),
    [
        (
            (
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
                "value is supported."
            ),
            "temperature",
        ),
        ("Unrecognized request argument supplied: reasoning_effort", "reasoning_effort"),
        ("body -> stream_options: Extra inputs are not permitted", "stream_options"),
    ],
)
def test_what_an_endpoint_refuses_is_left_out_from_then_on(message: str, name: str) -> None:
    with Provider([Refuse(400, message), "fine"]) as provider:
        model = model_for(provider, reasoning="low")
        assert "".join(ask(model)) == "fine" == "".join(ask(model))
        assert [name in request.body for request in provider.requests] == [True, False, False]


def test_a_refusal_without_end_ends() -> None:
    with Provider([Refuse(400, "temperature is not supported")]) as provider:
        assert read(ask(model_for(provider)))[0] == ""
        assert len(provider.requests) == 2


def test_it_tells_how_much_of_the_prompt_was_read() -> None:
    with Provider([Say(["fine"], prompt_tokens=4_096), "fine"]) as provider:
        model = model_for(provider)
        told, untold = ask(model), ask(model)
        assert told.prompt_tokens == 0
        assert "".join(told) == "".join(untold) == "fine"
        assert (told.prompt_tokens, untold.prompt_tokens) == (4_096, 0)


@pytest.mark.timed
def test_one_that_never_tells_is_not_waited_for() -> None:
    with Provider(
        [
            Page(
                'data: {"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}\n\n',
                "text/event-stream",
            )
        ]
    ) as provider:
        assert "".join(ask(model_for(provider))) == "fine"


Make = Callable[..., LLM]


@pytest.fixture(params=["openai", "scripted"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """make(pieces, cut=False, finish="stop"): a model of each kind that says just that."""
    with ExitStack() as stack:

        def over_http(pieces: Sequence[str], *, cut: bool = False, finish: str = "stop") -> LLM:
            say = Say(pieces, finish=finish, ending="cut" if cut else "complete")
            return model_for(stack.enter_context(Provider([say])))

        def scripted(pieces: Sequence[str], *, cut: bool = False, finish: str = "stop") -> LLM:
            return ScriptedModel(
                [*pieces, *([ModelError("The answer was cut off: as scripted.")] if cut else [])],
                finish=finish,
            )

        yield over_http if request.param == "openai" else scripted


class TestEveryModel:
    def test_says_its_pieces_verbatim_and_is_complete(self, make: Make) -> None:
        pieces = ["The deficit", " was\n\n", "£3.4 млрд ", "👩‍👧 $x$ ", "\u2028", "data: [DONE]"]
        reply = ask(make(pieces))
        assert reply.finish == ""
        assert "".join(reply) == "".join(pieces)
        assert reply.finish == "stop"
        assert list(reply) == []
        assert reply.finish == "stop"

    def test_tells_a_full_answer_from_one_that_reached_its_limit(self, make: Make) -> None:
        reply = ask(make(["The deficit was"], finish="length"))
        assert list(reply) == ["The deficit was"]
        assert reply.finish == "length"

    @pytest.mark.parametrize("most", [0, 2])
    def test_stops_before_the_first_piece_and_between_two(self, make: Make, most: int) -> None:
        said: list[str] = []
        pieces = ["one ", "two ", "three "]
        reply = make(pieces).stream(QUESTION, max_tokens=100, stop=lambda: len(said) == most)
        for piece in reply:
            said.append(piece)
        assert (said, reply.finish) == (pieces[:most], "stopped")

    def test_can_be_closed(self, make: Make) -> None:
        reply = ask(make(["one ", "two "]))
        assert next(reply) == "one "
        reply.close()
        assert list(reply) == []
        assert reply.finish == "stopped"
        reply.close()

    def test_a_cut_answer_is_an_error_after_what_came(self, make: Make) -> None:
        reply = ask(make(["The deficit ", "was"], cut=True))
        said, error = read(reply)
        assert said == "The deficit was"
        assert error.message.startswith("The answer was cut")
        assert not error.retryable
        assert reply.finish == ""

    @pytest.mark.parametrize("pieces", [[], [""], [" ", "\n"]], ids=["none", "empty", "blank"])
    def test_an_answer_without_a_word_is_an_error(self, make: Make, pieces: list[str]) -> None:
        _, error = read(ask(make(pieces)))
        assert "empty answer" in error.message

    def test_two_answers_do_not_mix(self, make: Make) -> None:
        model = make(["a", "b"])
        first, second = ask(model), ask(model)
        assert [next(first), next(second), next(second), next(first)] == ["a", "a", "b", "b"]
        assert (list(first), list(second)) == ([], [])


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["<think>", "So it is 3.", "</think>", "\n\nIt was 3."], "It was 3."),
        (["\n<thi", "nk>a</thi", "nk> It was ", "3."], "It was 3."),
        (["<", "3 per cent"], "<3 per cent"),
        (["It was 3. <think>not first</think>"], "It was 3. "),
        (
            ["It was 3. <thi", "nk>Is it", "? </thin", "k> It fell. <think>a</think>Then", " it rose."],
            "It was 3. It fell. Then it rose.",
        ),
        (["It was 3. <think>and on"], "It was 3. "),
        (["<th"], "<th"),
        (["<thought>So it is 3.</thought>It was 3."], "It was 3."),
        (["<reasoning>a", "</reason", "ing>It was 3. <b>Yes</b>."], "It was 3. <b>Yes</b>."),
        (["So it is 3.", " </think>", "\n\nIt was", " 3."], "It was 3."),
        (["So it is 3.</thi", "nk>"], ""),
        (["<think>a</think>It says </think> there."], "It says there."),
        (
            "<|channel|> analysis <|message|> So <|end|> <|start|> assistant <|channel|> final"
            " <|constrain|>json <|message|> It was 3. <|return|>".split(" "),
            "Itwas3.",
        ),
        (["<|channel|>commentary to=a<|message|>{}<|call|><|start|>assistant<|message|>Yes."], "Yes."),
    ],
)
def test_what_a_model_thought_aloud_is_left_out(pieces: list[str], said: str) -> None:
    with Provider([Say(pieces)]) as provider:
        if said:
            assert ask(model_for(provider)).whole() == said
        else:
            with pytest.raises(ModelError):
                ask(model_for(provider)).whole()


def test_thoughts_without_a_begin_are_held_back_from_then_on() -> None:
    said = ["So it", " is 3.</think>", "It was", " 3."]
    with Provider([Say(said), Say(said), Say(["It", " fell."]), Say(["It", " fell."])]) as provider:
        first = list(ask(model_for(provider)))
        assert first[0] == "So it"
        assert isinstance(first[1], ReplacementText)
        assert list(ask(model_for(provider))) == ["It was", " 3."]
        assert list(ask(model_for(provider))) == ["It fell."], "it does not think any more"
        assert list(ask(model_for(provider))) == ["It", " fell."]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (500, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Only user and assistant roles are supported!"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (422, "Input should be 'user' or 'assistant', got role 'system'"),
    ],
)
def test_a_model_that_refuses_the_role_system_hears_it_from_the_user(status: int, message: str) -> None:
    with Provider([Refuse(status, message), "fine"]) as provider:
        assert ask(model_for(provider)).whole() == "fine"
        assert ask(model_for(provider)).whole() == "fine"
        sent = [request.body["messages"] for request in provider.requests]
        roles = [list(map(itemgetter("role"), messages)) for messages in sent]
        assert roles == [["system", "user"], ["user"], ["user"]]
        said = provider.requests[-1].body["messages"][0]["content"]
    assert said == "Answer briefly.\n\nWhat was the deficit?"


@pytest.mark.parametrize("pieces", [["<think>and on", " and on"], []], ids=["thoughts", "nothing"])
def test_a_model_that_only_thinks_has_used_up_its_tokens(pieces: list[str]) -> None:
    with Provider([Say(pieces, finish="length")]) as provider:
        _, error = read(ask(model_for(provider)))
    assert isinstance(error, SpentError) and "FINPOLICY_ANSWER_TOKENS" in error.hint


def test_the_request_says_what_is_asked() -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    with Provider(["fine"]) as provider:
        assert list(model_for(provider).stream(QUESTION, max_tokens=77, schema=schema)) == ["fine"]
        (received,) = provider.requests
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "test-model",
        "messages": [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": "What was the deficit?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
        "max_tokens": 77,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": True},
        },
    }


def test_text_that_no_request_can_carry_is_sent_all_the_same() -> None:
    with Provider(["fine"]) as provider:
        assert list(
            model_for(provider).stream([("user", "GDP \ud800 <|endoftext|> \x00")], max_tokens=9)
        ) == ["fine"]
        assert provider.requests[0].body["messages"][0]["content"] == "GDP ? <|endoftext|> \x00"


def test_a_server_without_keys_gets_none_of_ours() -> None:
    with Provider(["fine"]) as provider:
        list(ask(OpenAIModel(settings_for(provider.url, key=""))))
        assert provider.requests[0].headers["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    "refusal",
    [
        Refuse(
            400,
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                "'max_completion_tokens' instead."
            ),
        ),
        Refuse(422, "body -> max_tokens: Extra inputs are not permitted"),
    ],
    ids=["400", "422"],
)
def test_the_other_name_of_the_limit_is_tried_once_and_remembered(refusal: Refuse) -> None:
    with Provider([refusal, "fine"]) as provider:
        model = model_for(provider)
        assert list(ask(model)) == list(ask(model)) == ["fine"]
        limits = []
        for request in provider.requests:
            limits.append([name for name in request.body if name.startswith("max_")])
        assert limits == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


# What the header Retry-After says; the last is a date gone by.
AFTER = [
    "0.05",
    "nonsense",
    "1e400",
    "1" + 200 * "0",
    "Fri, 01 Jan 9999 00:00:00 GMT",
    "Sun, 01 Nov 2026 00:00:00 GMT",
]
TROUBLES = [Refuse(429, headers={"Retry-After": after}) for after in AFTER]


@pytest.mark.parametrize(
    "trouble",
    [*TROUBLES, Refuse(500), Refuse(502, broken=True), Say([], ending="cut")],
    ids=[*AFTER, "500", "broken error", "cut before a word"],
)
def test_passing_trouble_is_waited_out(trouble: Refuse | Say) -> None:
    with Provider([trouble, "fine"]) as provider:
        assert list(ask(model_for(provider))) == ["fine"]
        assert len(provider.requests) == 2


@pytest.mark.timed
def test_retry_after_is_kept() -> None:
    with Provider([Refuse(429, headers={"Retry-After": "1"}), "fine"]) as provider:
        started = time.monotonic()
        assert list(ask(model_for(provider))) == ["fine"]
        assert 1 <= time.monotonic() - started < 4


@pytest.mark.parametrize(
    "after", ["600", formatdate(time.time() + 3_600, usegmt=True)], ids=["seconds", "date"]
)
def test_a_long_wait_is_told_and_not_waited_out(after: str) -> None:
    with Provider([Refuse(429, headers={"Retry-After": after})]) as provider:
        _, error = read(ask(model_for(provider)))
        assert len(provider.requests) == 1
    assert "429" in error.message
    assert "wait" in error.hint
    assert error.retryable


@pytest.mark.timed
def test_a_pause_can_be_stopped() -> None:
    with Provider([Refuse(429, headers={"Retry-After": "15"})]) as provider:
        started = time.monotonic()
        reply = model_for(provider).stream(
            QUESTION, max_tokens=9, stop=lambda: bool(provider.requests) and time.monotonic() - started > 0.3
        )
        assert list(reply) == []
        assert reply.finish == "stopped"
        assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("refusal", "names"),
    [
        (Refuse(401, "bad key"), ["OPENAI_API_KEY", "bad key"]),
        (Refuse(403, "not yours"), ["OPENAI_API_KEY", "not yours"]),
        (Refuse(404, "no such model"), ["'test-model'", "FINPOLICY_CHAT_MODEL", "OPENAI_BASE_URL"]),
        (
            Refuse(400, "maximum context length is 8192", "context_length_exceeded"),
            ["FINPOLICY_CONTEXT_TOKENS"],
        ),
        (
            Refuse(
                400, "max_tokens is too large. This model's maximum context length is 8192 tokens, unknown"
            ),
            ["FINPOLICY_CONTEXT_TOKENS"],
        ),
        (Refuse(500, "the request exceeds the available context size"), ["FINPOLICY_CONTEXT_TOKENS"]),
        (Refuse(413, "too much"), ["FINPOLICY_CONTEXT_TOKENS"]),
        (Refuse(400, "temperature must be 1"), ["FINPOLICY_CHAT_MODEL", "temperature must be 1"]),
        (Refuse(429, "pay first", "insufficient_quota"), ["credit", "pay first"]),
    ],
    ids=lambda value: f"{value.status} {value.message[:30]}" if isinstance(value, Refuse) else "",
)
def test_a_refusal_names_the_setting_and_is_not_repeated(refusal: Refuse, names: list[str]) -> None:
    with Provider([refusal]) as provider:
        _, error = read(ask(model_for(provider)))
        assert not [name for name in [*names, model_for(provider).host] if name not in str(error)]
        assert not error.retryable
        assert len({tuple(one.body) for one in provider.requests}) == len(
            provider.requests
        )  # no request twice


@pytest.mark.alone
def test_a_mute_endpoint_fails_after_the_timeout_once() -> None:
    with Provider([Mute()]) as provider:
        started = time.monotonic()
        _, error = read(ask(model_for(provider, first_word_timeout=SECONDS)))
        assert SECONDS <= time.monotonic() - started < SECONDS + 3
        assert len(provider.requests) == 1
        assert provider.hung_up.wait(2)
    assert provider.url.split("/")[2] in error.message
    assert "0.4 s" in error.message
    assert "FINPOLICY_TIMEOUT" in error.hint
    assert error.retryable


def test_a_dead_endpoint_names_host_and_setting() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        _, error = read(ask(OpenAIModel(settings_for(f"http://127.0.0.1:{port}/v1"))))
    assert f"127.0.0.1:{port}" in error.message
    assert "Nothing answers at" in error.message
    assert "OPENAI_BASE_URL" in error.hint


@pytest.mark.parametrize(
    "page",
    [
        Page("<html><h1>It works!</h1></html>"),
        Page('{"choices": []}', "application/json"),
        Page("", "text/event-stream"),
    ],
    ids=["web page", "plain JSON", "nothing"],
)
def test_something_else_than_a_chat_endpoint_is_recognised(page: Page) -> None:
    with Provider([page]) as provider:
        _, error = read(ask(model_for(provider)))
    assert "OPENAI_BASE_URL" in error.hint


@pytest.mark.parametrize(
    "event",
    [
        "null",
        "5",
        "[]",
        "{}",
        '{"choices": null}',
        '{"choices": [null]}',
        '{"choices": {"0": 1}}',
        '{"choices": [{"delta": [1]}]}',
        '{"choices": [{"delta": {"content": 5}, "finish_reason": 5}]}',
        '{"choices": [{"delta": {"content": ["x"]}}]}',
        "[" * 100_000,
    ],
    ids=lambda event: event[:60],
)
def test_events_of_any_shape_end_in_an_error_of_ours(event: str) -> None:
    with Provider([Page(f"data: {event}\n\ndata: [DONE]\n\n", "text/event-stream")]) as provider:
        said, _ = read(ask(model_for(provider)))
    assert said == ""


@pytest.mark.parametrize("ending", ["cut", "unfinished", "silent", "malformed", "error"])
def test_an_answer_that_breaks_off_is_told_and_never_asked_again(ending: Ending) -> None:
    with Provider([Say(["The deficit ", "was"], ending=ending), "fine"]) as provider:
        said, error = read(ask(model_for(provider, timeout=SECONDS)))
        assert said == "The deficit was"
        assert error.message.startswith(f"The answer was cut off: {model_for(provider).host} ")
        assert not error.retryable
        assert len(provider.requests) == 1


def test_what_the_content_filter_withholds_is_no_answer() -> None:
    with Provider([Say(["The deficit "], finish="content_filter")]) as provider:
        said, error = read(ask(model_for(provider)))
    assert said == "The deficit "
    assert "content filter" in error.message


def test_an_answer_is_complete_with_its_finish_reason_though_the_stream_stays_open() -> None:
    open_end = Page(
        (
            'data: {"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}\n\ndata: '
            '{"choices"\n\n'
        ),
        "text/event-stream",
    )
    with Provider([open_end]) as provider:
        assert list(ask(model_for(provider))) == ["fine"]


EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
LIMITS = {
    "first": "FINPOLICY_FIRST_WORD_TIMEOUT",
    "between": "FINPOLICY_TIMEOUT.",
    "whole": "FINPOLICY_ANSWER_TIMEOUT",
}


def event(**delta: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": delta, "finish_reason": None}]}).encode() + b"\n\n"


WORD, THOUGHT, BLANK, COMMENT = (
    event(content="word "),
    event(reasoning_content="hm "),
    event(content="", reasoning=" "),
    b": keep-alive\n\n",
)


@pytest.mark.alone
@pytest.mark.parametrize(
    ("begin", "again", "limit", "said"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Padding: ", b"a", "first", ""),
        (b"HTTP/1.1 503 Busy\r\nContent-Length: 9999\r\n\r\n", b"a", "first", ""),
        (EVENTS, b"a", "first", ""),
        (EVENTS, COMMENT, "first", ""),
        (EVENTS, BLANK, "first", ""),
        (EVENTS + WORD, COMMENT, "between", "word "),
        (EVENTS + WORD, BLANK, "between", "word "),
        (EVENTS + THOUGHT, BLANK, "between", ""),
        (EVENTS, THOUGHT, "whole", ""),
        (EVENTS, WORD, "whole", "word "),
    ],
    ids=[
        "headers",
        "error-body",
        "bytes",
        "comments",
        "blanks",
        "comments-after",
        "blanks-after",
        "after-a-thought",
        "thoughts",
        "words",
    ],
)
def test_an_endpoint_that_drips_meets_a_limit_and_is_told_which(
    begin: bytes, again: bytes, limit: str, said: str
) -> None:
    seconds = {"first": 0.5, "between": 0.6, "whole": 1.5}
    # An event of a word is complete well within the limit between words.
    with Provider([Drip(begin, again, delay=0.1 / len(again) if limit == "whole" else 0.01)]) as provider:
        model = model_for(
            provider,
            timeout=seconds["between"],
            first_word_timeout=seconds["first"],
            answer_timeout=seconds["whole"],
        )
        started = time.monotonic()
        came, error = read(ask(model))
        took = time.monotonic() - started
        assert seconds[limit] <= took < seconds[limit] + 2
        assert len(provider.requests) == 1
        assert provider.hung_up.wait(2)
    assert came[:5] == said
    assert f"{seconds[limit]} s" in error.message and LIMITS[limit] in error.hint
    assert ("lower FINPOLICY_CONTEXT_TOKENS" in error.hint) == (limit == "first")
    assert ("was cut" in error.message) == bool(said)


@pytest.mark.alone
def test_a_silent_endpoint_can_be_stopped() -> None:
    with Provider([Mute()]) as provider:
        started = time.monotonic()
        reply = model_for(provider).stream(
            QUESTION, max_tokens=9, stop=lambda: time.monotonic() - started > 0.5
        )
        assert list(reply) == []
        assert time.monotonic() - started < 3
        assert provider.hung_up.wait(2)
    assert reply.finish == "stopped"


@pytest.mark.parametrize("how", ["stop", "close", "drop"])
def test_the_connection_is_closed_at_once(how: str) -> None:
    with Provider([Say(["word "] * 1_000, delay=0.02)]) as provider:
        asked_to_stop: list[bool] = []
        reply = model_for(provider).stream(QUESTION, max_tokens=1_000, stop=lambda: bool(asked_to_stop))
        assert next(reply) == "word "
        if how == "stop":
            asked_to_stop.append(True)
            assert list(reply) == []
        elif how == "close":
            reply.close()
        else:
            del reply
        assert provider.hung_up.wait(2)


EVIL = f"\x1b[31mYour key\r\n{KEY}\u202e\u200b is {KEY[:8]}\u200b{KEY[8:]} wrong " + "x" * 1_000


@pytest.mark.parametrize(
    "behaviour",
    [
        *(Refuse(status, EVIL) for status in (400, 401, 403, 404, 413, 418, 429, 500)),
        Say(["word"], ending="error", error=EVIL),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Refuse) else "in the stream",
)
def test_the_providers_words_are_data_and_the_key_stays_in(behaviour: Refuse | Say) -> None:
    if isinstance(behaviour, Refuse) and behaviour.status in {429, 500}:
        behaviour = Refuse(behaviour.status, EVIL, headers={"Retry-After": "0.01"})
    with Provider([behaviour]) as provider:
        _, error = read(ask(model_for(provider)))
    shown = str(error) + "".join(traceback.format_exception(error))
    assert KEY not in shown
    assert "***" in str(error)
    assert str(error).isprintable()
    assert len(error.message) < 350


def test_a_key_that_was_pasted_wrongly_is_refused_unseen() -> None:
    for key in ("sk-one\nsk-two", "sk-\u200bone", "Bearer sk-one", "sk-ключ"):
        _, error = read(ask(OpenAIModel(settings_for("http://127.0.0.1:9/v1", key=key))))
        assert "OPENAI_API_KEY" in error.message
        assert "sk-" not in str(error)


def test_openai_itself_is_not_asked_without_a_key() -> None:
    _, error = read(ask(OpenAIModel(Settings(chat_model="gpt-4o"))))
    assert "OPENAI_API_KEY is not set" in error.message


def test_a_redirect_is_not_followed() -> None:
    with (
        Provider(["stolen"]) as other,
        Provider([Refuse(307, headers={"Location": f"{other.url}/chat/completions"})]) as provider,
    ):
        _, error = read(ask(model_for(provider)))
        assert other.requests == []
        assert len(provider.requests) == 1
    assert "OPENAI_BASE_URL" in error.hint


def test_offline_nothing_is_contacted() -> None:
    with Provider(["fine"]) as provider:
        _, error = read(ask(OpenAIModel(settings_for(provider.url, offline=True))))
        assert provider.requests == []
    assert "FINPOLICY_OFFLINE" in error.message


METADATA_ADDRESSES = """
169.254.169.254
169.254.0.1:80
2852039166
0xa9fea9fe
[fe80::1]
[fe80::1%25eth0]
[fd00:ec2::254]
[fd00:ec2:0::254]
[::ffff:169.254.169.254]
168.63.129.16
192.0.0.192
[64:ff9b:1::a9fe:a9fe]
[::ffff:0:a9fe:a9fe]
[::169.254.169.254]
[64:ff9b::a9fe:a9fe]
[2002:a9fe:a9fe::1]
100.100.100.200
metadata.google.internal
Metadata.Google.Internal.:80
""".strip().split("\n")


@pytest.mark.parametrize("host", METADATA_ADDRESSES)
def test_link_local_and_metadata_addresses_are_refused(host: str) -> None:
    _, error = read(ask(OpenAIModel(settings_for(f"http://{host}/v1"))))
    assert "OPENAI_BASE_URL" in error.message
    assert "metadata" in error.message


NO_PLAIN_ADDRESSES = """
ftp://host/v1
file:///etc/passwd
http://
http:///v1
http://ho st/v1
http://host\\.x/v1
http://h\u0009ost/v1
http://host:99999/v1
http://host:x/v1
http://host:0/v1
http://[::1/v1
http://[v1.x]/v1
http://ｈost/v1
\u001b[31m
""".strip().split("\n")


@pytest.mark.parametrize("url", NO_PLAIN_ADDRESSES)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with pytest.raises(ModelError, match="OPENAI_BASE_URL is") as caught:
        check_endpoint(url, Settings())
    assert str(caught.value).isprintable()
    assert endpoint_host(Settings(base_url=url)) == "an unreadable address"


def test_a_password_in_the_address_is_refused_unseen() -> None:
    for url in ("http://me:secret@host/v1", "http://169.254.169.254\\@host/v1", "http://a@b:secret@host/"):
        with pytest.raises(ModelError, match="user name or password") as caught:
            check_endpoint(url, Settings())
        assert "secret" not in str(caught.value)
        assert "secret" not in endpoint_host(Settings(base_url=url))


HOSTS = case_rows("""
                          | api.openai.com
http://localhost:11434/v1 | localhost:11434
https://[::1]:8000/v1     | [::1]:8000
http://my_box/v1          | my_box
""")


@pytest.mark.parametrize(("url", "host"), HOSTS)
def test_the_host_is_shown(url: str, host: str) -> None:
    assert endpoint_host(Settings(base_url=url)) == host
    check_endpoint(url or "https://127.0.0.1", Settings())


def test_text_of_others_is_cleaned() -> None:
    assert clean_text(f"a\x00\x1b[2J\n\u202eb  {KEY}", Settings(api_key=KEY)) == "a[2J b ***"
    assert clean_text("x" * 300, Settings()) == "x" * 199 + "…"


def test_the_setting_chooses_the_model() -> None:
    model = make_model(Settings(chat_model="gpt-4o", api_key=KEY))
    assert model is not None
    assert (model.name, model.host) == ("gpt-4o", "api.openai.com")


class Endless(http.server.BaseHTTPRequestHandler):
    """Sends nothing but comments of an event stream, without end."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b": keepalive\n\n" * 100)
                self.wfile.flush()
                time.sleep(0.05)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endless() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


@pytest.mark.timed
def test_an_answer_without_end_is_broken_off(endless: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MOST_WORDS_BYTES", 10_000)
    started = time.monotonic()
    with pytest.raises(ModelError, match="does not end"):
        list(
            OpenAIModel(Settings(chat_model="m", base_url=endless, timeout=0.5)).stream(
                QUESTION, max_tokens=9
            )
        )
    assert time.monotonic() - started < 10
