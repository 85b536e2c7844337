"""What users may choose: ranges, what comes of it, whose key goes where, and which endpoints are refused,
when saved and when connected to.
"""

from __future__ import annotations

import socket
from dataclasses import fields, replace
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest

from chatbot.errors import ModelError, ProjectError, SettingsError
from chatbot.models import endpoints
from chatbot.models.endpoint_errors import explain_failure
from chatbot.models.endpoints import check_endpoint
from chatbot.models.openai_chat import OpenAIModel
from chatbot.settings import Settings, load_settings
from chatbot.user_settings import (
    BY_NAME,
    PREFERENCES,
    applied,
    check_address,
    check_key,
    check_model_name,
    check_value,
    in_own_words,
    server_value,
)
from tests.case_rows import case_lines, case_rows

SERVER = Settings(chat_model="servers", base_url="https://model.example/v1", api_key="sk-server")
MINE = "http://127.0.0.1:11434/v1"
OWN = {"answers": "own", "chat_model": "m", "base_url": MINE}


def test_each_has_a_sentence_on_its_effect_and_takes_its_default() -> None:
    names = {field.name for field in fields(Settings)}
    assert set(BY_NAME) < names
    for one in PREFERENCES:
        assert one.label, one.name
        assert one.effect.endswith("."), one.name
        default = server_value(one.name, Settings())
        assert check_value(one.name, default) == default, one.name


def test_the_embedded_model_is_never_built_in_the_folder_one_works_in(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Settings().model_cache == tmp_path / "finpolicy"
    assert load_settings().model_cache == tmp_path / "finpolicy"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 0),
        ("window", 51),
        ("window", 5.0),
        ("window", "5"),
        ("window", True),
        ("rerank", 1),
        ("signals_confidence", 1.01),
        ("signals_confidence", float("nan")),
        ("compression_ratio", 0),
        ("signals_notes", 4),
        ("signals_hours", 10**30),
    ],
)
def test_what_is_out_of_range_or_of_another_kind_is_refused(name: str, value: object) -> None:
    with pytest.raises(SettingsError):
        check_value(name, value)
    kept = applied(SERVER, {name: value})  # type: ignore[dict-item]
    assert getattr(kept, name) == getattr(SERVER, name)


def test_what_is_chosen_stands_over_the_servers_and_stays_coherent() -> None:
    made = applied(SERVER, {"window": 3, "rerank": True, "signals_confidence": 1, "unknown": 7, "home": "/"})
    assert made.window == 3
    assert made.prompt_exchanges == 3
    assert made.rerank is True
    assert made.signals_confidence == 1.0
    assert made.home == SERVER.home
    assert applied(SERVER, {}) == SERVER


def test_the_servers_key_goes_to_the_servers_endpoint_only() -> None:
    mine = applied(SERVER, OWN)
    assert mine.api_key == ""
    assert mine.base_url == MINE
    assert mine.endpoint_rule == "user"
    assert applied(SERVER, OWN, "sk-mine").api_key == "sk-mine"
    same_url = OWN | {"base_url": SERVER.base_url}
    assert applied(SERVER, same_url).api_key == ""
    no_url = OWN | {"base_url": ""}
    at_servers = applied(SERVER, no_url)
    assert at_servers.api_key == "sk-server"
    assert at_servers.base_url == SERVER.base_url
    assert at_servers.chat_model == "m"
    assert applied(SERVER, no_url, "sk-mine").api_key == "sk-mine"
    none = applied(SERVER, {"answers": "none", "chat_model": "m"})
    assert none.chat_model == ""
    assert none.api_key == ""


def test_an_operator_can_forbid_models_of_ones_own_and_offline_always_wins() -> None:
    forbidding = replace(SERVER, user_models="0")
    assert applied(forbidding, OWN, "sk-mine") == forbidding
    offline = replace(SERVER, offline=True)
    chosen = applied(offline, OWN)
    with pytest.raises(ModelError, match="FINPOLICY_OFFLINE"):
        check_endpoint(chosen.base_url, chosen)
    with pytest.raises(ModelError, match="FINPOLICY_OFFLINE"):
        check_address(MINE, offline)


@pytest.mark.parametrize(
    ("text", "others", "allowed"),
    [("", False, True), ("", True, False), ("1", True, True), ("0", False, False)],
)
def test_unset_it_depends_on_who_can_open_the_pages(text: str, others: bool, allowed: bool) -> None:
    loaded = load_settings({"FINPOLICY_USER_MODELS": text})
    settings = replace(loaded, open_to_others=others)
    assert settings.allows_user_models is allowed


REFUSED = """
http://169.254.169.254/latest
http://2852039166/v1
http://0251.0376.0251.0376/v1
https://METADATA.google.internal./v1
https://user@model.example/v1
https://user:hunter2@model.example/v1
http://192.168.1.1/v1
http://model.example/v1
https://exa mple/v1
javascript:alert(1)
"""


@pytest.mark.parametrize("url", [*case_lines(REFUSED), "https://" + "a" * 600])
def test_an_endpoint_that_must_not_be_contacted_is_refused_when_it_is_saved(url: str) -> None:
    with pytest.raises(ProjectError) as caught:
        check_address(url, SERVER)
    refusal = caught.value
    assert "OPENAI_" not in f"{refusal.message}{refusal.hint}"
    assert "hunter2" not in refusal.message


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434/v1",
        "http://[::1]:8080/v1",
        "http://localhost:1/v1",
        "https://192.168.1.1/v1",
        "",
    ],
)
def test_plain_http_goes_to_this_machine_only(url: str) -> None:
    typed = f"{url}/ " if url else " "
    assert check_address(typed, SERVER) == url


NOT_OF_THE_INTERNET = """
http://127.0.0.1:11434/v1
https://127.0.0.1/v1
https://10.0.0.7/v1
https://[::1]/v1
https://[fd12::1]/v1
https://100.64.0.1/v1
https://[fec0::1]/v1
https://[::127.0.0.1]/v1
https://224.0.0.1/v1
"""


@pytest.mark.parametrize("url", case_lines(NOT_OF_THE_INTERNET))
def test_where_others_can_open_the_pages_only_the_internet_is_reached(url: str) -> None:
    open_to_others = replace(SERVER, open_to_others=True, user_models="1")
    with pytest.raises(ModelError, match="on this machine or its network"):
        check_address(url, open_to_others)


@pytest.mark.parametrize("model", ["", "  ", "a\nb", "m" * 201])
def test_a_model_has_a_name_on_one_line(model: str) -> None:
    with pytest.raises(SettingsError):
        check_model_name(model)


@pytest.mark.parametrize("key", ["two words", "sk-\nx", "schlüssel", "k" * 1_001])
def test_what_is_no_key_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        check_key(key)
    assert key not in f"{caught.value} {caught.value.hint}"


def say(settings: Settings) -> str:
    """What the model of these settings says."""
    reply = OpenAIModel(settings).stream([("user", "x")], max_tokens=5)
    return "".join(reply)


ELSEWHERE = """
169.254.169.254 | link-local or cloud metadata
192.0.2.7 | thers can read
"""


@pytest.mark.parametrize(("then", "said"), case_rows(ELSEWHERE))
def test_a_name_that_leads_elsewhere_when_it_is_connected_to_is_refused_then(
    monkeypatch: pytest.MonkeyPatch, then: str, said: str
) -> None:
    """As an attacker's name server would: this machine when it is checked, another address a moment later."""
    here, elsewhere = ip_address("127.0.0.1"), ip_address(then)
    asked = []

    def addresses(host: str) -> list[object]:
        asked.append(host)
        return [here] if len(asked) % 2 else [elsewhere]

    def connect(*given: object, **options: object) -> None:
        pytest.fail(f"connected to {given}")

    monkeypatch.setattr(endpoints, "_addresses", addresses)
    monkeypatch.setattr(socket, "create_connection", connect)
    settings = applied(Settings(timeout=1), OWN | {"base_url": "http://rebinding.example/v1"})
    with pytest.raises(ModelError, match=said):
        say(settings)
    assert len(asked) >= 2


def test_who_waits_too_long_is_told_what_a_user_can_do() -> None:
    for limit in ("first", "between", "whole"):
        failure = explain_failure(httpx2.ReadTimeout(limit), Settings(), model_setting="")
        told = in_own_words(failure)
        assert "hoose a faster model" in told.hint
        assert "FINPOLICY" not in told.hint and "OPENAI" not in told.hint
