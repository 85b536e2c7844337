"""The test of a model, before a real HTTP server: what its user is told, in plain words and without the
key.
"""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from threading import Thread

import httpx2
import pytest

from chatbot.errors import ModelError
from chatbot.models.connecting import Trial, try_model
from chatbot.models.endpoint_errors import explain_failure, refusal_of
from chatbot.models.endpoints import checked_transport
from chatbot.models.model_catalog import list_models
from chatbot.models.openai_chat import OpenAIModel
from chatbot.settings import Settings
from tests.provider import Behaviour, Drip, Mute, Page, Provider, Refuse, Say


def tried(
    *script: Behaviour, key: str = "sk-secret", models: list[str] | None = None, timeout: float = 5
) -> Trial:
    with Provider(script, models=models) as provider:
        trial = try_model(Settings(chat_model="m-1", base_url=provider.url, api_key=key, timeout=timeout))
        assert "sk-secret" not in f"{trial}"
        return Trial(trial.works, trial.text.replace(provider.url.split("/")[2], "HOST"), trial.hint)


def test_one_that_answers_says_how_fast() -> None:
    trial = tried("ready")
    assert (
        trial.works
        and trial.text.startswith("HOST answered in 0.")
        and trial.text.endswith(" s with model m-1.")
    )


def test_one_that_only_thought_has_not_answered() -> None:
    trial = tried(Say([""], finish="length"))
    assert not trial.works and "used all" in trial.text and "FINPOLICY_REASONING" in trial.hint


def test_a_refused_key_and_a_missing_one_are_told_apart() -> None:
    assert tried(Refuse(401, "bad sk-secret")) == Trial(
        False, "HOST refused the key.", "Copy the whole key again, and check that it is for this provider."
    )
    assert tried(Refuse(401), key="").text == "HOST asks for a key, and none is set."


def test_where_there_is_no_such_model_it_says_which_there_are() -> None:
    trial = tried(Refuse(404, "model not found"), models=["b", "a", "<b>c</b>", "x" * 300])
    assert trial.text == "HOST has no model m-1."
    assert trial.hint == "It offers: <b>c</b>, a, b."  # one of 300 characters is no name
    many = tried(Refuse(404), models=[f"m{number:02}" for number in range(40)])
    assert many.hint.endswith("m11 and 28 more.")
    assert "does not know a model m-1" in tried(Refuse(404)).text


@pytest.mark.alone
def test_a_list_of_models_that_drips_is_not_waited_for() -> None:
    with Provider([Refuse(404)], models=Drip(b"HTTP/1.1 200 OK\r\n\r\n", b"[")) as provider:
        started = time.monotonic()
        trial = try_model(Settings(chat_model="m-1", base_url=provider.url, timeout=0.5))
        assert time.monotonic() - started < 4
    assert "does not know a model m-1" in trial.text


def test_what_a_user_pointed_it_at_is_not_read_to_them() -> None:
    secret = "the internal token is 4711"
    streamed = Page(f'data: {{"error": {{"message": "{secret}"}}}}\n\n', "text/event-stream")
    for rule, shown in (("", True), ("user", False)):
        refusals: list[Behaviour] = [Refuse(status, secret) for status in (400, 403, 413, 418, 429, 500)]
        for behaviour in (*refusals, streamed):
            with Provider([behaviour] * 3) as provider:
                settings = Settings(
                    chat_model="m-1", base_url=provider.url, api_key="sk-secret", endpoint_rule=rule
                )
                with pytest.raises(ModelError) as raised:
                    list(OpenAIModel(settings).stream([("user", "x")], max_tokens=5))
                assert (secret in f"{raised.value.message} {raised.value.hint}") is shown, (rule, behaviour)


@pytest.mark.parametrize(("rule", "shown"), [("", True), ("user", False)])
def test_what_speaks_no_http_is_not_quoted(rule: str, shown: bool) -> None:
    def answer() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(100_000)
                connection.sendall(b"-ERR unknown command, the password is 4711\r\n\r\n")
                connection.recv(100_000)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=answer, daemon=True).start()
        trial = try_model(
            Settings(
                chat_model="m",
                base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1",
                endpoint_rule=rule,
            )
        )
        listener.shutdown(socket.SHUT_RDWR)
    assert "broke off the connection" in trial.text
    assert ("4711" in f"{trial}") is shown


def test_who_shares_the_server_is_not_read_an_endpoints_list() -> None:
    with Provider([Refuse(404)], models=["internal-model"]) as provider:
        settings = Settings(chat_model="m-1", base_url=provider.url, api_key="sk-secret")
        assert "internal-model" in f"{try_model(settings)}"
        assert [model.name for model in list_models(settings)] == ["internal-model"]
        assert list_models(replace(settings, endpoint_rule="public")) == []


def test_no_server_is_no_connection() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    trial = try_model(Settings(chat_model="m", base_url=f"http://127.0.0.1:{port}/v1"))
    assert trial == Trial(
        False,
        f"Nothing answers at http://127.0.0.1:{port}.",
        "Is the server running? If it is, check OPENAI_BASE_URL.",
    )


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (
            "[Errno 111] Connection refused",
            "Nothing answers at http://127.0.0.1:11434.",
            "Is the server running?",
        ),
        ("[Errno -2] Name or service not known", "No server is called 127.0.0.1:11434.", "typing error"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version", "does not answer by https.", "http://"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed", "does not trust.", "Check"),
    ],
)
def test_no_connection_is_told_without_the_systems_words(said: str, message: str, hint: str) -> None:
    error = explain_failure(
        httpx2.ConnectError(said), Settings(chat_model="m", provider="ollama"), model_setting="X"
    )
    assert error.kind == "unreachable"
    assert message in error.message and hint in error.hint
    assert "rror " not in error.message and "SSL" not in error.message
    assert "FINPOLICY_PROVIDER" in error.hint and "OPENAI_BASE_URL" not in error.hint


def test_an_address_that_changes_after_its_check_is_refused_when_it_is_connected_to() -> None:
    settings = Settings(chat_model="m", base_url="http://169.254.169.254/v1")
    with checked_transport(settings) as transport, pytest.raises(httpx2.ConnectError) as raised:
        transport.handle_request(httpx2.Request("GET", settings.base_url))
    assert "a link-local or cloud metadata address" in refusal_of(raised.value)


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (Page("<html>"), "sent a web page, not an answer"),
        (Page("", "text/event-stream"), "empty answer"),
        (Mute(), "sent nothing within 2.5 s"),
        (Refuse(400, "no sk-secret"), "***"),
    ],
)
def test_whatever_else_happens_is_told(behaviour: Behaviour, said: str) -> None:
    trial = tried(behaviour, timeout=0.5)
    assert not trial.works and said in trial.text


def test_offline_nothing_is_asked() -> None:
    with Provider(["ready"]) as provider:
        trial = try_model(Settings(chat_model="m", base_url=provider.url, offline=True))
        assert not trial.works and "FINPOLICY_OFFLINE" in trial.text and provider.requests == []
