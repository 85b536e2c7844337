"""The Settings page: what holds, what each choice does, reset of one and of all, the model's form, and
what the sidebar says is sent where.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.secrets import Secrets
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from chatbot.app import app_context
from chatbot.memory.user_settings_store import UserSettingsStore
from chatbot.settings import Settings
from chatbot.ui import network_exposure, sign_in
from chatbot.ui.guard import is_owner
from chatbot.ui.main import sent_lines
from chatbot.ui.model_choice import is_in_the_open, is_on_this_machine
from chatbot.ui.settings_page import shown_value
from chatbot.ui.sign_in import owner_of
from chatbot.user_settings import BY_NAME, PREFERENCES, server_value
from tests.case_rows import case_rows
from tests.chatbot.ui.visitor import switch, write
from tests.pages import click, keys, open_context, shown, visit
from tests.provider import Mute, Page, Provider

ANN, BOB = "a" * 22, "b" * 22
KEY = "sk-typed-0815"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[app_context.AppContext]:
    with open_context(tmp_path_factory.mktemp("chatbot") / "home") as opened:
        yield opened


@pytest.fixture
def own(context: app_context.AppContext) -> UserSettingsStore:
    """What people have chosen for themselves."""
    return context.chatbot.own


@pytest.fixture
def page(own: UserSettingsStore) -> Iterator[AppTest]:
    yield visit("settings_page.py", owner=ANN)
    own.reset(ANN)


def field(page: AppTest, key: str) -> str:
    """What stands in a field."""
    value = page.text_input(key=key).value
    assert value is not None
    return value


def window(page: AppTest) -> object:
    """How many exchanges of a conversation the page says are used."""
    return page.number_input(key="set-window").value


def connect(page: AppTest, endpoint: str, key: str = "") -> str:
    """What the page says after an endpoint of one's own was given, once its models are there."""
    page.button(key="provider-other").click().run()
    write(page, "provider-url-other", endpoint)
    write(page, "provider-key", key)
    click(page, "connect")
    return waited(page, "Asking ")


def give_model(page: AppTest, model: str, endpoint: str, key: str = "") -> str:
    """What the page says after a model of one's own was saved."""
    connect(page, endpoint, key)
    write(page, "chosen-model", model)
    return click(page, "save-chosen")


def waited(page: AppTest, text: str) -> str:
    """What the page says once it no longer shows this, run as it does by itself."""
    end = time.monotonic() + 20
    while text in shown(page.run()):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert not page.exception
    return shown(page)


def labels(page: AppTest) -> set[str]:
    """The names of the settings under "Advanced"."""
    text = shown(page)
    return {one.name for one in PREFERENCES if f'<p class="choice">{one.label}</p>' in text}


def test_only_settings_that_have_an_effect_are_shown_each_with_its_default(
    page: AppTest, context: app_context.AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [one.label for one in page.expander] == ["Advanced"]
    assert not page.expander[0].proto.expanded
    assert labels(page) == {"pages", "strategy", "window"}
    assert shown(page).count("Default: ") == 3
    assert "Choose a model to see the settings that need one." in shown(page)
    assert page.button(key="reset-all").disabled
    context.chatbot.own.choose_model(ANN, "own", "m", "http://127.0.0.1:9/v1")
    page.run()
    shortening = {"compression_ratio", "compression_tokens"}
    assert not shortening & labels(page)
    switch(page, "set-compression", on=True)
    assert labels(page) == {one.name for one in PREFERENCES if one.part != "signals"}
    switch(page, "set-compression", on=False)
    monkeypatch.setattr(type(context.chatbot.signals), "off", "")
    page.run()
    assert labels(page) == BY_NAME.keys() - shortening
    page.number_input(key="set-signals_notes").set_value(0).run()
    assert "signals_hours" not in labels(page)


def test_choices_hold_at_once_for_their_owner_and_are_reset(
    page: AppTest, own: UserSettingsStore, context: app_context.AppContext
) -> None:
    own.choose_model(ANN, "own", "m", "http://127.0.0.1:9/v1")
    page.run()
    page.number_input(key="set-window").set_value(4).run()
    switch(page, "set-summary", on=False)
    switch(page, "set-compression", on=True)
    page.number_input(key="set-compression_ratio").set_value(0.75).run()
    mine = own.settings(ANN)
    assert mine.window == 4
    assert mine.prompt_exchanges == 4
    assert mine.summary is False
    assert mine.compression_ratio == 0.75
    assert own.settings(BOB) == context.settings
    bobs = visit("settings_page.py", owner=BOB)
    assert window(bobs) == 10
    click(page, "reset-window")
    assert own.settings(ANN).window == 10
    assert window(page) == 10
    assert "your model and key are forgotten" in click(page, "reset-all")
    click(page, "dialog-no")
    assert own.chosen(ANN)["summary"] is False
    click(page, "reset-all")
    click(page, "dialog-yes")
    assert own.chosen(ANN) == {}
    assert labels(page) == {"pages", "strategy", "window"}


def test_what_another_tab_chose_is_shown(page: AppTest, own: UserSettingsStore) -> None:
    own.choose(ANN, "window", 9)
    page.run()
    assert window(page) == 9


def test_a_model_of_ones_own_is_saved_tried_and_its_key_never_shown(
    page: AppTest, own: UserSettingsStore
) -> None:
    with Provider(["ready"]) as provider:
        host = provider.url.split("/")[2]
        text = give_model(page, "m<b>1", f" {provider.url}/ ", KEY)
        assert own.settings(ANN).api_key == KEY
        assert own.settings(ANN).base_url == provider.url
        assert field(page, "provider-key") == ""
        assert f"In use: m&lt;b&gt;1 at {host}. Your key is set." in text
        assert f"<strong>{host}</strong> (m&lt;b&gt;1). You chose this on the Settings page." in text
        click(page, "test-model")
        assert f"✓ {host} answered in " in waited(page, "Asking ")
        request = provider.requests[-1]
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert "documents" not in str(request.body)
        for element in page.main:
            assert KEY not in str(element)
        assert KEY not in repr(page.session_state)
        assert "You will have to enter it again" in click(page, "remove-key")
        click(page, "dialog-no")
        assert own.settings(ANN).api_key == KEY
        click(page, "remove-key")
        assert "No key is set." in click(page, "dialog-yes")
        assert own.settings(ANN).api_key == ""


def test_a_model_that_is_silent_holds_nothing_up_and_is_given_up(page: AppTest) -> None:
    with Provider([Mute(), Page("<html>")]) as provider:
        give_model(page, "m", provider.url)
        assert "Asking 127.0.0.1" in click(page, "test-model")  # the page is there while the model is silent
        end = time.monotonic() + 20
        while not provider.requests:  # one that is cancelled before is never sent
            assert time.monotonic() < end
            time.sleep(0.02)
        assert "Asking " not in click(page, "trial-cancel")
        click(page, "test-model")
        text = waited(page, "Asking ")
        assert "sent a web page, not an answer." in text
        assert "Check the address. Addresses usually end in /v1." in text
        assert "OPENAI" not in text


def test_what_cannot_be_used_is_told_in_a_sentence(page: AppTest, own: UserSettingsStore) -> None:
    forbidden = "http://169.254.169.254/v1"
    assert "link-local or cloud metadata address" in connect(page, forbidden, KEY)
    assert own.chosen(ANN) == {}
    assert not own.has_key(ANN)
    assert field(page, "provider-key") == ""
    assert field(page, "provider-url-other") == forbidden


def test_where_it_is_forbidden_nobody_is_offered_a_model_of_their_own(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "allows_user_models", False)
    page.run()
    assert keys(page, "provider-") == []
    assert keys(page, "answers-") == ["answers-none"]
    assert "does not allow models of your own" in shown(page)
    assert "Choose a model to see" not in shown(page)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("rerank", False, "off"),
        ("window", 10, "10"),
        ("signals_threshold", 0.0, "automatic"),
    ],
)
def test_values_are_said_in_words(name: str, value: float, said: str) -> None:
    preference = BY_NAME[name]
    assert shown_value(preference, value) == said


def test_the_sidebar_tells_the_users_choice_and_the_servers_search() -> None:
    server = Settings(chat_model="s", embedding_model="e", base_url="https://in.example/v1")
    none = Settings(embedding_model="e", base_url="https://in.example/v1")
    answers, search = sent_lines(server, none, own=True)
    assert answers == "Answers: in the documents' own words. You chose this on the Settings page."
    assert search.startswith("Search:")
    assert "in.example" in search
    mine = Settings(chat_model="<m>", base_url="https://mine.example/v1")
    answers, search = sent_lines(server, mine, own=True)
    assert "mine.example" in answers
    assert "exchanges and excerpts go to" in answers
    (seen, _) = sent_lines(server, replace(mine, pictures="1"), own=True)
    assert "excerpts and pictures of pages go to" in seen
    assert "&lt;m&gt;" in answers
    assert "in.example" in search
    for here in (Settings(), Settings(embedding_model="multilingual")):
        answers, rest = sent_lines(here, here, own=False)
        assert answers == "Answers: in the documents' own words."
        assert rest == "Nothing leaves this machine."


HERE = "localhost,127.0.0.1,::1"
# The server's address, the names it answers to, and whether others can open the pages.
EXPOSURES = f"""
    127.0.0.1 | {HERE}                    | no
    ::1       | {HERE}                    | no
    localhost | {HERE}                    | no
    0.0.0.0   | {HERE}                    | yes
    10.0.0.4  | {HERE}                    | yes
    127.0.0.1 | {HERE},policy.example.org | yes
    127.0.0.1 | policy.example.org        | yes
    127.0.0.1 | *                         | yes
    127.0.0.1 | *.example.org             | yes
    127.0.0.1 | 10.0.0.4                  | yes
    127.0.0.1 | LOCALHOST.                | no
    127.0.0.1 | [::1]                     | no
"""


@pytest.mark.parametrize(
    ("address", "hosts", "others"),
    [
        *case_rows(EXPOSURES),
        ("", HERE, "yes"),
        ("127.0.0.1", "", "yes"),
        ("127.0.0.1", " 127.0.0.2 ", "no"),
    ],
)
def test_who_can_open_the_pages_is_read_from_the_address_and_the_host_names(
    monkeypatch: pytest.MonkeyPatch, address: str, hosts: str, others: str
) -> None:
    names = hosts.split(",") if hosts else []
    options = {"server.address": address, "server.allowedHosts": names}
    monkeypatch.setattr(st, "get_option", options.__getitem__)
    is_open = others == "yes"
    assert network_exposure.is_open_to_others() == is_open
    assert network_exposure.lacks_sign_in() == is_open
    monkeypatch.setattr(network_exposure, "signs_in", lambda: True)
    assert network_exposure.is_open_to_others() is True
    assert network_exposure.lacks_sign_in() is False


def test_a_person_is_one_owner_and_no_browsers_mark() -> None:
    ann = owner_of("https://a.example", "1")
    assert ann == owner_of("https://a.example", "1")
    assert not is_owner(ann)
    others = {
        owner_of("https://a.example", "2"),
        owner_of("https://b.example", "1"),
        owner_of("https://a.example1", ""),
        owner_of('https://a.example", "1', ""),
    }
    assert len(others) == 4
    assert ann not in others


CLAIMS = {"is_logged_in": True, "iss": "https://a.example", "sub": "1"}


@pytest.mark.parametrize(
    ("change", "enters"),
    [
        ({}, True),
        ({"is_logged_in": False}, False),
        ({"is_logged_in": "yes"}, False),
        ({"sub": ""}, False),
        ({"iss": None}, False),
    ],
)
def test_who_is_not_signed_in_or_has_no_subject_does_not_enter(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, object], enters: bool
) -> None:
    monkeypatch.setattr(sign_in, "signs_in", lambda: True)
    claims = CLAIMS | change
    user = SimpleNamespace(to_dict=lambda: claims)
    monkeypatch.setattr(st, "user", user)
    assert sign_in.may_enter() is enters


@pytest.mark.parametrize(
    ("text", "signs"),
    [(None, False), ("other = 1\n", False), ("[auth]\n", True), ("[auth\n", True), ("\xff", True)],
)
def test_sign_in_is_asked_for_where_it_is_set_up_or_its_file_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, signs: bool
) -> None:
    path = tmp_path / "secrets.toml"
    if text is not None:
        path.write_text(text, encoding="latin-1")
    usual = config.get_option

    def get_option(name: str) -> object:
        return [str(path)] if name == "secrets.files" else usual(name)

    for module in (st, config):
        monkeypatch.setattr(module, "get_option", get_option)
    monkeypatch.setattr(st, "secrets", Secrets())
    network_exposure.signs_in.cache_clear()
    try:
        assert network_exposure.signs_in() is signs
    finally:
        network_exposure.signs_in.cache_clear()


def test_what_goes_in_the_open_is_known() -> None:
    assert is_in_the_open("http://10.0.0.1/v1") is True
    for url in ("https://10.0.0.1", "http://localhost:1", "http://[::1]:1", "", "http://["):
        assert is_in_the_open(url) is False, url


def test_what_stays_on_this_machine_is_known() -> None:
    assert is_on_this_machine("localhost:1234")
    assert is_on_this_machine("http://[::1]:1/v1")
    for url in ("https://models.example/v1", "http://localhost.example", "", "http://["):
        assert not is_on_this_machine(url), url


def test_every_field_begins_with_what_applies_and_that_is_no_choice(
    page: AppTest, own: UserSettingsStore
) -> None:
    """A browser that misses what the session sets sends back what a field begins with."""
    page.run()
    fields = [one for one in [*page.number_input, *page.toggle, *page.selectbox] if "set-" in str(one.key)]
    assert len(fields) >= 3
    for one in fields:
        mine = server_value(str(one.key).removeprefix("set-"), own.settings(ANN))
        default = one.proto.default
        assert (one.options[default] if isinstance(one, Selectbox) else default) == mine
    numbers = [one for one in page.number_input if one in fields]
    before = int(numbers[0].value or 0)
    numbers[0].set_value(before + 1).run()
    numbers[0].set_value(before).run()
    assert len(own.chosen(ANN)) == 1  # a choice is one, whatever applies without it
    own.reset(ANN)
