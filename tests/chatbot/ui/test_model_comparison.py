"""Models side by side on the Compare page: what is offered, what comes, what is stopped or refused."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from chatbot.app import app_context
from chatbot.asking.side_by_side import compared_models
from chatbot.store.library import Upload
from chatbot.ui import model_comparison
from tests.pages import open_context, shown, visit
from tests.pdfs import make_pdf
from tests.provider import Mute, Provider, Say, first_key

ANN = "a" * 22
QUESTION = "What is the deficit ceiling?"
RIGHT = Say(lambda body: [f"The deficit ceiling is 3.0 per cent of output [{first_key(body)}]."])


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[app_context.AppContext]:
    folder = tmp_path_factory.mktemp("models")
    with open_context(folder / "home") as opened:
        path = make_pdf(
            folder / "Rules.pdf", ["The deficit ceiling is 3.0 per cent of output in every year."]
        )
        list(opened.chatbot.add([Upload(path)]))
        yield opened


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is looked for at its usual port."""
    monkeypatch.setattr("chatbot.models.connecting.look_for_programs", lambda settings: [])


def open_models(context: app_context.AppContext, provider: Provider) -> AppTest:
    context.chatbot.own.choose_model(ANN, "own", "m-1", provider.url)
    page = visit("compare_page.py", owner=ANN)
    page.session_state["compare-view"] = "Models"
    page.run()
    page.text_input(key="models-question").set_value(QUESTION)
    return page


def until(page: AppTest, is_reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_reached():
        assert time.monotonic() < end, shown(page)
        time.sleep(0.05)
        page.run()
    assert not page.exception


def test_ones_own_model_is_held_against_the_documents_own_words(context: app_context.AppContext) -> None:
    with Provider([RIGHT]) as provider:
        page = open_models(context, provider)
        assert page.multiselect(key="models-chosen").value == ["m-1", "none"]
        page.button(key="ask-models").click().run()
        until(
            page,
            lambda: "How much of each answer is confirmed" in shown(page) and "Waiting" not in shown(page),
        )
        assert "1 of 1 statements proven, 1 of 1 figures proven" in shown(page)
        assert "Figures in the answers" in shown(page)
        title = context.chatbot.titles()["Rules.pdf"]
        assert f"{title}, p.\u00a01: located on the page" in shown(page)
        assert len(provider.requests) == 1
    assert context.chatbot.conversations.listed(ANN) == []


def test_one_that_hangs_is_stopped_and_the_other_stays(context: app_context.AppContext) -> None:
    with Provider([Mute()]) as provider:
        page = open_models(context, provider)
        page.button(key="ask-models").click().run()
        until(page, lambda: "Waiting for m-1 …" in shown(page) and "located on the page" in shown(page))
        page.button(key="models-stop").click().run()
        until(page, lambda: "Stopped before it answered." in shown(page))


@pytest.mark.parametrize(
    ("models", "question", "said"),
    [
        (["none"], QUESTION, "Choose two to 4 different models, not 1."),
        (["m-1", "none"], "  ", "The question is empty."),
        (["m-1", "azure:gpt"], QUESTION, "Azure OpenAI needs the address of your resource."),
    ],
)
def test_what_cannot_be_compared_is_said(
    context: app_context.AppContext, models: list[str], question: str, said: str
) -> None:
    with Provider([RIGHT]) as provider:
        page = open_models(context, provider)
        page.text_input(key="models-question").set_value(question)
        page.multiselect(key="models-chosen").set_value(models)
        page.button(key="ask-models").click().run()
        assert said in shown(page)
        assert provider.requests == []


def test_where_others_open_the_pages_a_typed_name_gets_no_key_of_the_server(
    context: app_context.AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = replace(
        context.settings, open_to_others=True, user_models="1", anthropic_key="theirs", api_key="theirs"
    )
    monkeypatch.setattr("chatbot.ui.session.settings", lambda _: served)
    monkeypatch.setattr("chatbot.ui.session.owner", lambda: "b" * 22)
    opened = replace(context, settings=served)
    typed, own_words = compared_models(["anthropic:claude", "none"], served)
    bounded = model_comparison._bounded(typed, opened).settings
    assert (bounded.api_key, bounded.anthropic_key, bounded.endpoint_rule) == ("", "", "public")
    assert own_words.name in model_comparison._offered(opened)


def test_a_model_of_ones_own_is_asked_where_it_was_set_whatever_it_is_called(
    context: app_context.AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = replace(context.settings, chat_model="ollama:llama3", base_url="https://models.example/v1")
    monkeypatch.setattr("chatbot.ui.session.settings", lambda _: mine)
    offered = model_comparison._offered(context)
    assert offered["ollama:llama3"].settings == mine
    assert offered["none"].settings.api_key == ""
