"""Each owner's settings: kept, reset, and nobody else's; a key that no file, message or representation
holds; and answers that follow the asker's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from chatbot.asking.question import Ask
from chatbot.errors import ModelError, SettingsError
from chatbot.memory.user_settings_store import UserSettingsStore
from chatbot.models.chat import LLM
from chatbot.records import Answer, Event, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.engines import memories_at
from tests.fakes import HashEmbedder, ScriptedModel
from tests.pdfs import make_pdf
from tests.provider import Provider, Refuse, Say, first_key

KEY = "sk-only-in-memory-4711"
MINE, OTHER = "http://127.0.0.1:11434/v1", "http://127.0.0.1:11435/v1"
QUESTION = "What is the deficit ceiling?"


def store(folder: Path, server: Settings) -> UserSettingsStore:
    """The settings of that file, as another process would have them."""
    return UserSettingsStore(memories_at(folder / "p.sqlite3"), server)


@pytest.fixture
def own(tmp_path: Path) -> UserSettingsStore:
    return store(tmp_path, Settings(chat_model="servers", api_key="sk-server"))


@pytest.mark.usefixtures("engine")
def test_what_one_chooses_is_theirs_and_survives(tmp_path: Path) -> None:
    server = Settings()
    first = store(tmp_path, server)
    first.choose("ann", "window", 7)
    first.choose_model("ann", "own", "m", MINE, KEY)
    again = store(tmp_path, server)
    anns = again.settings("ann")
    assert (anns.window, anns.chat_model, anns.base_url) == (7, "m", MINE)
    assert anns.api_key == ""  # it was in that process alone
    assert not again.has_key("ann")
    assert again.settings("bob") == server


def key_of(own: UserSettingsStore) -> str:
    return own.settings("ann").api_key


def test_the_key_is_for_one_endpoint(own: UserSettingsStore) -> None:
    own.choose_model("ann", "own", "m", MINE, KEY)
    assert key_of(own) == KEY
    own.choose_model("ann", "own", "m-2", MINE)
    assert key_of(own) == KEY
    own.choose_model("ann", "own", "m-2", OTHER)
    assert key_of(own) == ""
    own.choose_model("ann", "own", "m-2", MINE)
    assert key_of(own) == ""
    own.choose_model("ann", "own", "m-2", MINE, KEY)
    own.remove_key("ann")
    assert key_of(own) == ""
    own.choose_model("ann", "own", "m-2", MINE, KEY)
    own.reset("ann", "base_url")  # the server's endpoint again
    assert key_of(own) == "sk-server"
    assert not own.has_key("ann")


def test_what_is_refused_changes_nothing(own: UserSettingsStore) -> None:
    own.choose_model("ann", "own", "m", MINE, KEY)
    before = own.settings("ann")
    refused = [("m", "http://169.254.169.254/v1", "sk-x"), ("", MINE, "sk-x"), ("m", MINE, "no key at all")]
    for model, url, key in refused:
        with pytest.raises((SettingsError, ModelError)):
            own.choose_model("ann", "own", model, url, key)
    assert own.settings("ann") == before
    with pytest.raises(SettingsError):
        own.choose_model("ann", "every")


@pytest.mark.usefixtures("engine")
def test_one_and_all_can_be_reset(own: UserSettingsStore) -> None:
    own.choose("ann", "window", 7)
    own.choose("ann", "rerank", True)
    own.choose("bob", "window", 8)
    own.choose_model("ann", "own", "m", MINE, KEY)
    own.reset("ann", "window")
    assert own.chosen("ann").keys() == {"rerank", "answers", "chat_model", "base_url", "provider"}
    own.reset("ann")
    assert own.chosen("ann") == {}
    assert not own.has_key("ann")
    assert own.settings("bob").window == 8


def test_the_key_is_in_no_file_and_no_representation(own: UserSettingsStore, tmp_path: Path) -> None:
    own.choose_model("ann", "own", "m", MINE, KEY)
    settings = own.settings("ann")
    model = own.model("ann", lambda: None)
    assert settings.api_key == KEY
    assert KEY not in f"{settings!r} {settings} {own!r} {model!r}"
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def test_models_are_made_once_and_anew_after_a_change(own: UserSettingsStore) -> None:
    server = ScriptedModel(["x"])

    def model(owner: str) -> LLM | None:
        return own.model(owner, lambda: server)

    assert model("ann") is server
    own.choose_model("ann", "own", "m", MINE, KEY)
    first = model("ann")
    assert first is not None
    assert first is model("ann")
    assert first is not server
    assert model("bob") is server
    own.remove_key("ann")
    assert model("ann") is not first
    own.choose_model("ann", "none")
    assert model("ann") is None
    own.choose_model("ann", "server")
    assert model("ann") is server


def test_forbidden_it_is_neither_taken_nor_used(tmp_path: Path) -> None:
    before = store(tmp_path, Settings())
    before.choose_model("ann", "own", "m", MINE)
    server = Settings(user_models="0", chat_model="servers")
    own = store(tmp_path, server)
    assert own.settings("ann") == server
    assert not own.is_own("ann")
    with pytest.raises(SettingsError, match="lets nobody choose"):
        own.choose_model("ann", "own", "m", MINE)


def test_where_they_cannot_be_read_nothing_is_sent(own: UserSettingsStore) -> None:
    with own._database.write() as connection:
        connection.execute("drop table preference")
    assert own.settings("bob").chat_model == ""
    assert key_of(own) == ""
    assert own.model("ann", lambda: ScriptedModel(["x"])) is None


def test_damaged_values_are_passed_over(own: UserSettingsStore) -> None:
    own.choose("ann", "window", 7)
    with own._database.write() as connection:
        connection.execute(
            "insert into preference values ('ann', 'rerank', 'tru'), ('ann', 'signals_hours', '[1]'), "
            "('ann', 'prompt_exchanges', '-1')"
        )
    settings = own.settings("ann")
    assert settings.window == 7
    assert settings.rerank is False
    assert settings.prompt_exchanges == 5


def cite(name: str) -> Say:
    return Say(lambda body: [f"{name} says three per cent [{first_key(body)}]."])


def ask(chatbot: Chatbot, owner: str, **given: object) -> tuple[Answer, list[Event]]:
    events = list(chatbot.ask(Ask(QUESTION, owner=owner, **given)))  # type: ignore[arg-type]
    answer = events[-1]
    assert isinstance(answer, Answer)
    return answer, events


Opened = Callable[..., Chatbot]


def host_of(provider: Provider) -> str:
    return urlsplit(provider.url).netloc


def keys_sent(provider: Provider) -> list[str]:
    """What each request was authorised with."""
    return [one.headers["authorization"] for one in provider.requests]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens a chatbot with these settings, which has one document for each page."""
    with ExitStack() as stack:

        def make(*pages: str, **settings: Any) -> Chatbot:
            used = Settings(home=tmp_path / "home", **settings)
            chatbot = stack.enter_context(Chatbot(used, embedder=HashEmbedder(dimension=256)))
            for number, page in enumerate(pages):
                upload = Upload(make_pdf(tmp_path / f"Rules{number}.pdf", [page]))
                list(chatbot.add([upload]))
            return chatbot

        yield make


def test_each_asker_is_answered_by_their_own_choice(opened: Opened) -> None:
    with (
        Provider([cite("Server")]) as servers,
        Provider([cite("Ann")]) as anns,
        Provider([Refuse(401, f"no {KEY}")]) as carls,
    ):
        page = "The deficit ceiling is 3.0 per cent of output in every year."
        chatbot = opened(page, chat_model="s", base_url=servers.url, api_key="sk-server", timeout=5)
        chatbot.own.choose_model("ann", "own", "a", anns.url, KEY)
        chatbot.own.choose_model("bea", "none")
        chatbot.own.choose_model("carl", "own", "c", carls.url)
        ann, _ = ask(chatbot, "ann")
        assert ann.text.startswith("Ann says")
        assert ann.sent_to == ("a", host_of(anns))
        bea, _ = ask(chatbot, "bea")
        assert bea.model == "extractive"
        assert bea.sent_to is None
        dan, _ = ask(chatbot, "dan")
        assert dan.text.startswith("Server says")
        assert dan.sent_to
        assert dan.sent_to[1] == host_of(servers)
        carl, events = ask(chatbot, "carl")
        told = " ".join(f"{event.text} {event.hint}" for event in events if isinstance(event, Notice))
        assert "the key on the Settings page" in told
        assert carl.error
        assert "OPENAI_API_KEY" not in told
        assert keys_sent(anns) == [f"Bearer {KEY}"]
        assert keys_sent(servers) == ["Bearer sk-server"]
        assert keys_sent(carls) == ["Bearer none"]


def test_helping_calls_are_the_askers_too(opened: Opened) -> None:
    pages = [f"The deficit ceiling of city {number} is {number} per cent." for number in (2, 3)]
    with Provider([cite("Server")]) as servers, Provider(["[]", cite("Ann")]) as anns:
        chatbot = opened(*pages, chat_model="s", base_url=servers.url, timeout=5)
        chatbot.own.choose_model("ann", "own", "a", anns.url)
        chatbot.own.choose("ann", "rerank", True)
        ask(chatbot, "ann")
        assert len(anns.requests) == 2
        assert servers.requests == []
        ask(chatbot, "bob")
        assert len(anns.requests) == 2
        assert len(servers.requests) == 1
