"""The Settings page: what holds, what each choice does, reset of one and of all, the model's form, and
what the sidebar says is sent where.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.secrets import Secrets
from streamlit.testing.v1 import AppTest

from chatbot.settings import Settings
from chatbot.ui import app_context, network_exposure, sign_in
from chatbot.ui.guard import is_owner
from chatbot.ui.main import sent_lines
from chatbot.ui.settings_model import is_in_the_open
from chatbot.ui.settings_page import shown_value
from chatbot.ui.sign_in import owner_of
from chatbot.user_settings import BY_NAME, PREFERENCES
from tests.pages import open_context, shown, visit
from tests.provider import Mute, Page, Provider

ANN, BOB = "a" * 22, "b" * 22
KEY = "sk-typed-0815"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[app_context.AppContext]:
    with open_context(tmp_path_factory.mktemp("chatbot") / "home") as opened:
        yield opened


@pytest.fixture
def page(context: app_context.AppContext) -> Iterator[AppTest]:
    yield visit("settings_page.py", owner=ANN)
    context.chatbot.own.reset(ANN)


def test_every_choice_is_explained_with_its_default(page: AppTest) -> None:
    assert not page.exception
    text = shown(page).replace("&#x27;", "'")
    for one in PREFERENCES:
        assert one.label in text and one.effect in text, one.name
    assert text.count("Default: ") == len(PREFERENCES)
    assert page.button(key="reset-all").disabled
    assert not [
        button
        for button in page.button
        if (button.key or "").startswith("reset-") and button.key != "reset-all"
    ]


def test_choices_hold_at_once_for_their_owner_and_are_reset(
    page: AppTest, context: app_context.AppContext
) -> None:
    page.number_input(key="set-window").set_value(4).run()
    page.toggle(key="set-compression").set_value(False).run()
    page.number_input(key="set-signals_confidence").set_value(0.75).run()
    mine = context.chatbot.own.settings(ANN)
    assert (mine.window, mine.prompt_exchanges, mine.compression, mine.signals_confidence) == (
        4,
        4,
        False,
        0.75,
    )
    assert context.chatbot.own.settings(BOB) == context.settings
    assert visit("settings_page.py", owner=BOB).number_input(key="set-window").value == 10
    page.button(key="reset-window").click().run()
    assert context.chatbot.own.settings(ANN).window == 10 and page.number_input(key="set-window").value == 10
    page.button(key="reset-all").click().run()
    assert context.chatbot.own.chosen(ANN) == {} and page.toggle(key="set-compression").value is True
    assert not page.exception


def test_what_another_tab_chose_is_shown(page: AppTest, context: app_context.AppContext) -> None:
    context.chatbot.own.choose(ANN, "window", 9)
    page.run()
    assert page.number_input(key="set-window").value == 9


def test_a_model_of_ones_own_is_saved_tried_and_its_key_never_shown(
    page: AppTest, context: app_context.AppContext
) -> None:
    with Provider(["ready"]) as provider:
        host = provider.url.split("/")[2]
        page.radio(key="answers-by").set_value("own").run()
        assert "Not saved yet. Until then answers come from: no model" in shown(page)
        page.text_input(key="own-model").set_value("m<b>1")
        page.text_input(key="own-endpoint").set_value(f" {provider.url}/ ")
        page.text_input(key="own-key").set_value(KEY)
        page.button(key="save-own-model").click().run()
        assert not page.exception
        assert context.chatbot.own.settings(ANN).api_key == KEY
        assert (
            page.text_input(key="own-key").value == ""
            and page.text_input(key="own-endpoint").value == provider.url
        )
        assert f"In use: m&lt;b&gt;1 at {host}. Your key is set." in shown(page)
        assert f"<strong>{host}</strong> (m&lt;b&gt;1). You chose this on the Settings page." in shown(page)
        page.button(key="test-model").click().run()
        tested(page)
        assert f"✓ {host} answered in " in shown(page)
        assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"
        assert "documents" not in str(provider.requests[0].body)
        assert all(KEY not in str(element) for element in page.main) and KEY not in repr(page.session_state)
        page.button(key="remove-key").click().run()
        assert "No key is set." in shown(page) and context.chatbot.own.settings(ANN).api_key == ""


def tested(page: AppTest) -> None:
    """Wait for the test of the model, as the page does."""
    end = time.monotonic() + 20
    while "Asking " in shown(page.run()):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert not page.exception


def test_a_model_that_is_silent_holds_nothing_up_and_is_given_up(
    page: AppTest, context: app_context.AppContext
) -> None:
    with Provider([Mute(), Page("<html>")]) as provider:
        page.radio(key="answers-by").set_value("own").run()
        page.text_input(key="own-model").set_value("m")
        page.text_input(key="own-endpoint").set_value(provider.url)
        page.button(key="save-own-model").click().run()
        page.button(key="test-model").click().run()
        assert "Asking 127.0.0.1" in shown(page)  # the page is there while the model is silent
        end = time.monotonic() + 20
        while not provider.requests:  # one that is cancelled before is never sent
            assert time.monotonic() < end
            time.sleep(0.02)
        page.button(key="trial-cancel").click().run()
        assert "Asking " not in shown(page)
        page.button(key="test-model").click().run()
        tested(page)
        assert "sent a web page, not an answer." in shown(
            page
        ) and "Check the endpoint on the Settings page" in shown(page)
        assert "OPENAI" not in shown(page)


def test_what_cannot_be_saved_is_told_in_a_sentence(page: AppTest, context: app_context.AppContext) -> None:
    page.radio(key="answers-by").set_value("own").run()
    page.text_input(key="own-model").set_value("m")
    page.text_input(key="own-endpoint").set_value("http://169.254.169.254/v1")
    page.text_input(key="own-key").set_value(KEY)
    page.button(key="save-own-model").click().run()
    assert "link-local or cloud metadata address" in shown(page)
    assert context.chatbot.own.chosen(ANN) == {} and not context.chatbot.own.has_key(ANN)
    assert (
        page.text_input(key="own-key").value == ""
        and page.text_input(key="own-endpoint").value == "http://169.254.169.254/v1"
    )


def test_where_it_is_forbidden_nobody_is_offered_a_model_of_their_own(
    page: AppTest, context: app_context.AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "allows_user_models", False)
    page.run()
    assert (
        list(page.radio(key="answers-by").options)
        == ["As this server is set up: no model, the documents' own words".replace("'", "\\'")]
        or len(page.radio(key="answers-by").options) == 1
    )
    assert "lets nobody choose an endpoint of their own" in shown(page)


def test_values_are_said_in_words() -> None:
    assert [
        shown_value(BY_NAME[name], value)
        for name, value in (("rerank", False), ("window", 10), ("signals_threshold", 0.0))
    ] == [
        "off",
        "10",
        "what suits the search in use",
    ]


def test_the_sidebar_tells_the_users_choice_and_the_servers_search() -> None:
    server = Settings(chat_model="s", embedding_model="e", base_url="https://in.example/v1")
    none = Settings(embedding_model="e", base_url="https://in.example/v1")
    lines = sent_lines(server, none, own=True)
    assert lines[0] == "Answers: in the documents' own words. You chose this on the Settings page."
    assert lines[1].startswith("Search:") and "in.example" in lines[1]
    own = sent_lines(server, Settings(chat_model="<m>", base_url="https://mine.example/v1"), own=True)
    assert "mine.example" in own[0] and "&lt;m&gt;" in own[0] and "in.example" in own[1]
    for here in (Settings(), Settings(embedding_model="multilingual")):
        assert sent_lines(here, here, own=False) == [
            "Answers: in the documents' own words.",
            "Nothing leaves this machine.",
        ]


HERE = ("localhost", "127.0.0.1", "::1")


@pytest.mark.parametrize(
    ("address", "hosts", "others"),
    [
        *[(address, HERE, False) for address in ("127.0.0.1", "::1", "localhost")],
        *[(address, HERE, True) for address in ("", "0.0.0.0", "10.0.0.4")],
        *[
            ("127.0.0.1", hosts, True)
            for hosts in (
                (*HERE, "policy.example.org"),
                ("policy.example.org",),
                ("*",),
                ("*.example.org",),
                ("10.0.0.4",),
                (),
            )
        ],
        *[("127.0.0.1", hosts, False) for hosts in (("LOCALHOST.",), ("[::1]",), (" 127.0.0.2 ",))],
    ],
)
def test_who_can_open_the_pages_is_read_from_the_address_and_the_host_names(
    monkeypatch: pytest.MonkeyPatch, address: str, hosts: tuple[str, ...], others: bool
) -> None:
    options = {"server.address": address, "server.allowedHosts": list(hosts)}
    monkeypatch.setattr(st, "get_option", options.__getitem__)
    assert (network_exposure.is_open_to_others(), network_exposure.lacks_sign_in()) == (others, others)
    monkeypatch.setattr(network_exposure, "signs_in", lambda: True)
    assert (network_exposure.is_open_to_others(), network_exposure.lacks_sign_in()) == (True, False)


def test_a_person_is_one_owner_and_no_browsers_mark() -> None:
    ann = owner_of("https://a.example", "1")
    assert ann == owner_of("https://a.example", "1") and not is_owner(ann)
    others = [
        owner_of("https://a.example", "2"),
        owner_of("https://b.example", "1"),
        owner_of("https://a.example1", ""),
        owner_of('https://a.example", "1', ""),
    ]
    assert len({ann, *others}) == 5


def test_who_is_not_signed_in_or_has_no_subject_does_not_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in, "signs_in", lambda: True)
    whole: dict[str, object] = {"is_logged_in": True, "iss": "https://a.example", "sub": "1"}
    for change, enters in (
        ({}, True),
        ({"is_logged_in": False}, False),
        ({"is_logged_in": "yes"}, False),
        ({"sub": ""}, False),
        ({"iss": None}, False),
    ):
        monkeypatch.setattr(st, "user", SimpleNamespace(to_dict=lambda claims=whole | change: claims))
        assert sign_in.may_enter() is enters, change


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
    for module in (st, config):
        monkeypatch.setattr(
            module, "get_option", lambda name: [str(path)] if name == "secrets.files" else usual(name)
        )
    monkeypatch.setattr(st, "secrets", Secrets())
    network_exposure.signs_in.cache_clear()
    try:
        assert network_exposure.signs_in() is signs
    finally:
        network_exposure.signs_in.cache_clear()


def test_what_goes_in_the_open_is_known() -> None:
    assert [
        is_in_the_open(url)
        for url in (
            "http://10.0.0.1/v1",
            "https://10.0.0.1",
            "http://localhost:1",
            "http://[::1]:1",
            "",
            "http://[",
        )
    ] == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]
