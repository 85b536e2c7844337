"""How much a chat model takes, as real servers tell it, and what follows for the prompt and for calls
beside the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from chatbot.asking.model_limits import LEAST_PROMPT, ModelLimits
from chatbot.models.model_catalog import context_of
from chatbot.settings import Settings
from tests.case_rows import case_rows
from tests.provider import Drip, Provider

MODEL = "qwen:7b"


def settings(url: str) -> Settings:
    return Settings(chat_model=MODEL, base_url=url, timeout=2.0, context_tokens=12_000, answer_tokens=1_000)


def models(*entries: object) -> dict[str, object]:
    """What /v1/models lists."""
    return {"/v1/models": {"data": list(entries)}}


def listed(**fields: object) -> dict[str, object]:
    """As /v1/models lists it, among others."""
    other = {"id": "other", "max_model_len": 999_999}
    return models(other, {"id": MODEL, "object": "model", **fields})


LLAMA_ENTRY = {"id": "/models/a.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}
SERVERS = {
    "ollama": listed(owned_by="library"),
    "llama": models(LLAMA_ENTRY),
    "studio": listed(owned_by="organization_owner"),
}
# The context, the fields of the model in the list of models.
LISTED = """
8192 | {"owned_by": "vllm", "max_model_len": 8192}
32768 | {"context_length": 32768}
4096 | {"meta": {"n_ctx": 4096}}
0 | {"owned_by": "someone"}
0 | {"max_model_len": true}
0 | {"max_model_len": -5}
0 | {"max_model_len": "8192"}
0 | {"max_model_len": 16}
"""


def context_told(told: Mapping[str, object]) -> int | None:
    """The context that is read off what a server tells, of which nothing else is asked."""
    with Provider(["fine"], told=told) as provider:
        context = context_of(settings(provider.url))
    completions = [one for one in provider.requests if one.path.endswith("/completions")]
    assert not completions, "nothing is asked"
    return context


@pytest.mark.parametrize(("context", "fields"), case_rows(LISTED))
def test_a_context_is_told_in_the_list_of_models(context: str, fields: str) -> None:
    told = listed(**json.loads(fields))
    assert context_told(told) == int(context)


# The context, the server, and what it tells at further addresses.
TOLD = """
4096 | llama | {"/props": {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}}
4096 | ollama | {"/api/ps": {"models": [{"name": "qwen:7b", "context_length": 4096}]}}
2048 | ollama | {"/api/ps": {"models": []}, "/api/show": {"parameters": "stop  <end>\\nnum_ctx    2048", \
"model_info": {"x": 1}}}
unknown | ollama | {"/api/ps": {"models": []}, "/api/show": {"parameters": ""}}
unknown | ollama | {"/api/ps": []}
4096 | studio | {"/api/v0/models": {"data": [{"id": "qwen:7b", "loaded_context_length": 4096, \
"max_context_length": 32768}]}}
unknown | studio | {"/api/v0/models": {"data": [{"id": "qwen:7b", "state": "not-loaded"}]}}
"""


@pytest.mark.parametrize(("context", "server", "more"), case_rows(TOLD))
def test_a_context_is_told_as_each_server_tells_it(context: str, server: str, more: str) -> None:
    expected = None if context == "unknown" else int(context)
    told = SERVERS[server] | json.loads(more)
    assert context_told(told) == expected


def test_an_endpoint_that_does_not_answer_is_left_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatbot.models.model_catalog.CONTEXT_SECONDS", 0.2)
    endless = Drip(b"HTTP/1.1 200 OK\r\n\r\n", b" ")
    with Provider(["fine"], models=endless) as provider:
        assert context_of(settings(provider.url)) == 0
    nobody = "http://127.0.0.1:1/v1"
    assert context_of(settings(nobody)) == 0
    offline = Settings(chat_model=MODEL, base_url=nobody, offline=True)
    assert context_of(offline) == 0


def test_a_prompt_takes_what_the_context_leaves_by_any_vocabulary() -> None:
    asked: list[str] = []
    contexts = {"a": 8_192, "b": 1_024, "c": 1_000_000, "d": 0, "f": 1_500}

    def ask(one: Settings) -> int | None:
        asked.append(one.chat_model)
        return contexts.get(one.chat_model)

    limits = ModelLimits(ask)

    def room_for(model: str) -> int:
        return limits.prompt_tokens(Settings(chat_model=model))

    for _ in range(2):
        assert room_for("a") == int(8_192 * 0.7) - 1_000
        assert room_for("b") == LEAST_PROMPT
        assert room_for("f") + limits.answer_tokens(Settings(chat_model="f")) == int(1_500 * 0.7)
        assert room_for("c") == 12_000
        assert room_for("d") == 12_000
        assert room_for("e") == 12_000
    assert asked == ["a", "b", "f", "c", "d", "e", "e"], "what was told, or is never told, is not asked again"


def test_what_was_too_long_is_remembered() -> None:
    limits, one = ModelLimits(lambda _: 0), Settings(chat_model="a")
    assert limits.too_long(one, 8_000) == 4_000
    assert limits.prompt_tokens(one) == 4_000
    assert limits.too_long(one, 1_600) == 800 == limits.prompt_tokens(one)
    assert limits.answer_tokens(one) == 400
    assert limits.too_long(one, 800) == LEAST_PROMPT


def test_a_slow_model_is_known_for_a_while_and_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = ModelLimits(lambda _: 0)
    one, other = Settings(chat_model="a"), Settings(chat_model="b")
    assert not limits.is_slow(one)
    assert limits.found_slow(one)
    assert not limits.found_slow(one)
    assert limits.is_slow(one)
    assert not limits.is_slow(other)
    monkeypatch.setattr("chatbot.asking.model_limits.time.monotonic", lambda: 1e12)
    assert not limits.is_slow(one)
