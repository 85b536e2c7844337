"""How much a chat model takes, as real servers tell it, and what follows for the prompt and for calls
beside the answer.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from chatbot.asking.model_limits import ModelLimits, ask_context
from chatbot.settings import LEAST_CONTEXT, Settings
from tests.provider import Drip, Provider

MODEL = "qwen:7b"


def settings(url: str) -> Settings:
    return Settings(chat_model=MODEL, base_url=url, timeout=2.0, context_tokens=12_000, answer_tokens=1_000)


def listed(**fields: object) -> dict[str, object]:
    """As /v1/models lists it, among others."""
    return {
        "/v1/models": {
            "data": [{"id": "other", "max_model_len": 999_999}, {"id": MODEL, "object": "model", **fields}]
        }
    }


OLLAMA = listed(owned_by="library")
LLAMA = {
    "/v1/models": {
        "data": [{"id": "/models/a.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]
    }
}
STUDIO = listed(owned_by="organization_owner")


@pytest.mark.parametrize(
    ("told", "context"),
    [
        (listed(owned_by="vllm", max_model_len=8_192), 8_192),
        (listed(context_length=32_768), 32_768),
        (listed(meta={"n_ctx": 4_096}), 4_096),
        ({**LLAMA, "/props": {"default_generation_settings": {"n_ctx": 4_096}, "total_slots": 1}}, 4_096),
        ({**OLLAMA, "/api/ps": {"models": [{"name": MODEL, "context_length": 4_096}]}}, 4_096),
        (
            {
                **OLLAMA,
                "/api/ps": {"models": []},
                "/api/show": {"parameters": "stop  <end>\nnum_ctx    2048", "model_info": {"x": 1}},
            },
            2_048,
        ),
        ({**OLLAMA, "/api/ps": {"models": []}, "/api/show": {"parameters": ""}}, None),
        ({**OLLAMA, "/api/ps": []}, None),
        (
            {
                **STUDIO,
                "/api/v0/models": {
                    "data": [{"id": MODEL, "loaded_context_length": 4_096, "max_context_length": 32_768}]
                },
            },
            4_096,
        ),
        ({**STUDIO, "/api/v0/models": {"data": [{"id": MODEL, "state": "not-loaded"}]}}, None),
        (listed(owned_by="someone"), 0),
        (listed(max_model_len=True), 0),
        (listed(max_model_len=-5), 0),
        (listed(max_model_len="8192"), 0),
        (listed(max_model_len=16), 0),
        (listed(max_model_len=10**400), 0),
        (listed(max_model_len=10**4_200), 0),
        ({"/v1/models": {"data": "none"}}, 0),
        ({"/v1/models": []}, 0),
        ({}, 0),
    ],
)
def test_a_context_is_told_as_each_server_tells_it(told: Mapping[str, object], context: int | None) -> None:
    with Provider(["fine"], told=told) as provider:
        assert ask_context(settings(provider.url)) == context
        assert not [one for one in provider.requests if one.path.endswith("/completions")], "nothing is asked"


def test_an_endpoint_that_does_not_answer_is_left_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatbot.asking.model_limits.MOST_SECONDS", 0.2)
    with Provider(["fine"], models=Drip(b"HTTP/1.1 200 OK\r\n\r\n", b" ")) as provider:
        assert ask_context(settings(provider.url)) == 0
    assert ask_context(settings("http://127.0.0.1:1/v1")) == 0
    assert ask_context(Settings(chat_model=MODEL, base_url="http://127.0.0.1:1/v1", offline=True)) == 0


def test_a_prompt_takes_what_the_context_leaves_by_any_vocabulary() -> None:
    asked: list[str] = []
    contexts = {"a": 8_192, "b": 1_024, "c": 1_000_000, "d": 0}

    def ask(one: Settings) -> int | None:
        asked.append(one.chat_model)
        return contexts.get(one.chat_model)

    limits = ModelLimits(ask)
    rooms = [
        limits.prompt_tokens(Settings(chat_model=name)) for name in ("a", "b", "c", "d", "e", "a", "d", "e")
    ]
    assert rooms == [
        int(8_192 * 0.7) - 1_000,
        LEAST_CONTEXT,
        12_000,
        12_000,
        12_000,
        int(8_192 * 0.7) - 1_000,
        12_000,
        12_000,
    ]
    assert asked == ["a", "b", "c", "d", "e", "e"], "what was told, or is never told, is not asked again"


def test_what_was_too_long_is_remembered() -> None:
    limits, one = ModelLimits(lambda _: 0), Settings(chat_model="a")
    assert limits.too_long(one, 8_000) == 4_000
    assert limits.prompt_tokens(one) == 4_000
    assert limits.too_long(one, 1_600) == LEAST_CONTEXT


def test_a_slow_model_is_known_for_a_while_and_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    limits, one, other = ModelLimits(lambda _: 0), Settings(chat_model="a"), Settings(chat_model="b")
    assert not limits.is_slow(one)
    assert (limits.found_slow(one), limits.found_slow(one)) == (True, False)
    assert limits.is_slow(one) and not limits.is_slow(other)
    monkeypatch.setattr("chatbot.asking.model_limits.time.monotonic", lambda: 1e12)
    assert not limits.is_slow(one)
