"""Providers as cards: from a key in hand to a model in three clicks, what runs here, and what goes wrong."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox, TextInput

from chatbot.app import app_context
from chatbot.models.connecting import LocalModels
from chatbot.models.providers import PROVIDERS
from chatbot.settings import Settings
from chatbot.ui.settings_model import CARDS
from tests.pages import open_context, shown, visit
from tests.provider import Drip, Provider, Refuse

ANN = "a" * 22
KEY = "sk-typed-0815"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[app_context.AppContext]:
    with open_context(tmp_path_factory.mktemp("chatbot") / "home") as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is looked for at its usual port but where a test says so."""
    monkeypatch.setattr("chatbot.models.connecting.KNOWN_SECONDS", 0.0)
    monkeypatch.setattr("chatbot.models.connecting.look_for_programs", lambda settings: [])


@pytest.fixture
def page(nothing_runs: None, context: app_context.AppContext) -> Iterator[AppTest]:
    yield visit("settings_page.py", owner=ANN)
    context.chatbot.own.reset(ANN)


def until(page: AppTest, is_reached: Callable[[], bool]) -> None:
    """Runs the page, as it does by itself, until something is shown."""
    end = time.monotonic() + 20
    while not is_reached():
        assert time.monotonic() < end, shown(page)
        time.sleep(0.05)
        page.run()
    assert not page.exception


def connect(page: AppTest, card: str, url: str, key: str = "") -> None:
    page.button(key=f"provider-{card}").click().run()
    page.text_input(key=f"provider-url-{card}").set_value(url)
    if key:
        page.text_input(key="provider-key").set_value(key)
    page.button(key="connect").click().run()


def until_listed(page: AppTest) -> Selectbox[str]:
    """The models that the endpoint lists."""
    until(page, lambda: any(box.key == "chosen-model" for box in page.selectbox))
    return page.selectbox(key="chosen-model")


def until_named(page: AppTest) -> TextInput:
    """The field for a model's name, where the endpoint has no list."""
    until(page, lambda: any(one.key == "chosen-model" for one in page.text_input))
    return page.text_input(key="chosen-model")


def press(page: AppTest, key: str) -> None:
    page.button(key=key).click().run()


@pytest.mark.parametrize("card", ["vllm", "other"])
def test_a_model_is_listed_tested_and_only_then_saved(
    page: AppTest, context: app_context.AppContext, card: str
) -> None:
    models = ["text-embedding-3", "gpt-4.1-mini", "m-2", "m-1"]
    with Provider(["ready"], models=models) as provider:
        connect(page, card, provider.url, KEY)
        assert page.text_input(key="provider-key").value == "", "the key leaves the page at once"
        listed = until_listed(page)
        assert list(listed.options) == ["gpt-4.1-mini", "m-1", "m-2"]
        assert listed.value == "gpt-4.1-mini"
        listed.set_value("m-2")
        press(page, "test-chosen")
        until(page, lambda: "answered in" in shown(page))
        assert provider.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        assert context.chatbot.own.chosen(ANN) == {}, "nothing is kept before it is saved"
        assert not context.chatbot.own.has_key(ANN)
        press(page, "save-chosen")
        assert "Saved. m-2 at 127.0.0.1" in shown(page)
        mine = context.chatbot.own.settings(ANN)
        assert (mine.chat_model, mine.api_key) == ("m-2", KEY)
        assert mine.provider == ("" if card == "other" else card)
        page.selectbox(key="chosen-model").set_value("m-1")
        press(page, "save-chosen")
        mine = context.chatbot.own.settings(ANN)
        assert (mine.chat_model, mine.api_key) == ("m-1", KEY), "the key stays with its endpoint"
        assert KEY not in repr(page.session_state)
        assert all(KEY not in str(element) for element in page.main)


def test_an_endpoint_without_a_list_takes_a_typed_name(
    page: AppTest, context: app_context.AppContext
) -> None:
    with Provider(["ready"], models=Refuse(404)) as provider:
        connect(page, "other", provider.url)
        until_named(page)
        assert "offers no list of models. Type the model" in shown(page)
        press(page, "save-chosen")
        assert "The model has no name." in shown(page)
        page.text_input(key="chosen-model").set_value("m-9")
        press(page, "test-chosen")
        until(page, lambda: "answered in" in shown(page))
        press(page, "save-chosen")
    assert context.chatbot.own.settings(ANN).chat_model == "m-9"


def test_a_program_that_is_not_running_is_no_dead_end(page: AppTest, context: app_context.AppContext) -> None:
    with Provider(["ready"]) as provider:
        gone = provider.url
    connect(page, "vllm", gone)
    name = until_named(page)
    text = shown(page)
    assert f"Nothing answers at {gone.removesuffix('/v1')}." in text
    assert "vllm serve MODEL. Then press Connect again." in text
    assert "Errno" not in text
    assert "Settings page" not in text
    name.set_value("m-9")
    press(page, "test-chosen")
    until(page, lambda: shown(page).count("Nothing answers") == 2)
    press(page, "save-chosen")
    assert context.chatbot.own.settings(ANN).chat_model == "m-9"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "The address is missing."),
        ("gpu box", "which is not a web address."),
        ("http://10.0.0.9/v1", "Start the address with https://."),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_with_the_fix(
    page: AppTest, address: str, said: str
) -> None:
    connect(page, "other", address)
    text = shown(page)
    assert said in text
    assert "Settings page" not in text
    assert "OPENAI" not in text


def test_the_card_that_was_pressed_last_is_open(page: AppTest) -> None:
    for card in ("openai", "ollama", "other", "vllm"):
        press(page, f"provider-{card}")
    assert '<p class="choice">vLLM</p>' in shown(page)
    press(page, "answers-none")
    assert not any(one.key == "connect" for one in page.button)


def test_a_refused_key_is_said_and_nothing_is_kept(page: AppTest, context: app_context.AppContext) -> None:
    with Provider(["ready"], models=Refuse(401, "no such key")) as provider:
        connect(page, "llamacpp", provider.url, KEY)
        until(page, lambda: "refused the key (status 401)." in shown(page))
    assert not any(one.key == "save-chosen" for one in page.button)
    assert context.chatbot.own.chosen(ANN) == {}
    assert not context.chatbot.own.has_key(ANN)


def test_a_key_of_another_provider_is_refused_before_it_is_sent(
    page: AppTest, context: app_context.AppContext
) -> None:
    press(page, "provider-openai")
    page.text_input(key="provider-key").set_value("sk-ant-api03-0123")
    press(page, "connect")
    until(page, lambda: "This is a key for Anthropic, so it is not sent to OpenAI." in shown(page))
    assert context.chatbot.own.chosen(ANN) == {}


def test_azure_asks_for_the_address_of_the_resource(page: AppTest, context: app_context.AppContext) -> None:
    press(page, "provider-openai")
    press(page, "connect")
    assert "OpenAI needs a key." in shown(page)
    assert not any(one.key == "save-chosen" for one in page.button)
    press(page, "provider-azure")
    page.text_input(key="provider-key").set_value(KEY)
    press(page, "connect")
    assert "every Azure resource has an address of its own" in shown(page)
    with Provider(["ready"]) as provider:
        root = provider.url.removesuffix("/v1")
        pasted = f"{root}/openai/deployments/gpt-eu/chat/completions?api-version=2025-01-01-preview"
        connect(page, "azure", pasted, KEY)
        assert until_named(page).value == "gpt-eu"
        press(page, "save-chosen")
    mine = context.chatbot.own.settings(ANN)
    assert mine.chat_model == "gpt-eu"
    assert mine.base_url == f"{root}/openai/deployments/gpt-eu?api-version=2025-01-01-preview"


def test_a_long_list_is_offered_whole(page: AppTest) -> None:
    names = [f"maker/model-{number:04}" for number in range(5_000)]
    with Provider(["ready"], models=names) as provider:
        connect(page, "lmstudio", provider.url)
        listed = until_listed(page)
        assert len(listed.options) == 5_000
        assert "5,000 to choose from" in listed.label


def test_a_list_of_hostile_names_is_shown_as_text(page: AppTest) -> None:
    names = ["<img src=x onerror=alert(1)>", "a\x1b[31mb", "\u202egpt", "x" * 5_000, "plain"]
    with Provider(["ready"], models=names) as provider:
        connect(page, "lmstudio", provider.url)
        assert list(until_listed(page).options) == ["<img src=x onerror=alert(1)>", "plain"]
    assert "<img" not in shown(page)


def test_connecting_can_be_cancelled(page: AppTest, context: app_context.AppContext) -> None:
    with Provider(["ready"], models=Drip(b"HTTP/1.1 200 OK\r\n\r\n", b" ", delay=0.2)) as provider:
        connect(page, "ollama", provider.url)
        assert "Asking 127.0.0.1" in shown(page)
        press(page, "connect-cancel")
        assert "Asking 127.0.0.1" not in shown(page)
    assert context.chatbot.own.chosen(ANN) == {}


def test_what_runs_on_this_machine_is_offered_and_connected_by_one_click(
    page: AppTest, context: app_context.AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    with Provider(["ready"], models=["qwen3:8b", "nomic-embed-text"]) as provider:
        here = {"ollama": replace(PROVIDERS["ollama"], address=provider.url)}
        monkeypatch.setattr("chatbot.models.connecting.PROVIDERS", here)
        monkeypatch.setattr("chatbot.ui.settings_model.CARDS", {**CARDS, **here})
        page.run()
        until(page, lambda: "Ollama is running on this machine, with qwen3:8b." in shown(page))
        press(page, "use-ollama")
        assert until_listed(page).value == "qwen3:8b"
        press(page, "save-chosen")
    assert context.chatbot.own.settings(ANN).chat_model == "qwen3:8b"


def test_nothing_is_looked_for_offline_or_where_others_open_the_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    asked: list[str] = []
    monkeypatch.setattr("chatbot.models.connecting._models_of", lambda provider, _: asked.append(provider.id))
    for settings in (Settings(offline=True), Settings(open_to_others=True)):
        local = LocalModels(settings)
        assert local.programs() == []
        while local.is_looking:
            time.sleep(0.01)
        assert local.programs() == []
    assert asked == []
