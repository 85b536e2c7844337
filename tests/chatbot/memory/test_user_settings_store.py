"""Each owner's settings: kept, reset, and nobody else's; a key that no file, message or representation
holds; and answers that follow the asker's choice.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.errors import ModelError, SettingsError
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.memory.signals.records import SignalOptions
from chatbot.memory.signals.signal_store import Signals
from chatbot.memory.user_settings_store import MOST_KEYS, UserSettingsStore
from chatbot.models.chat import LLM
from chatbot.records import Answer, Event, Notice
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder, ScriptedModel
from tests.pdfs import make_pdf
from tests.provider import Provider, Refuse, Say, first_key

KEY = "sk-only-in-memory-4711"
MINE, OTHER = "http://127.0.0.1:11434/v1", "http://127.0.0.1:11435/v1"
QUESTION = "What is the deficit ceiling?"


@pytest.fixture
def own(tmp_path: Path) -> UserSettingsStore:
    return UserSettingsStore(
        MemoryDatabase(tmp_path / "p.sqlite3"), Settings(chat_model="servers", api_key="sk-server")
    )


def test_what_one_chooses_is_theirs_and_survives(tmp_path: Path) -> None:
    server = Settings()
    first = UserSettingsStore(MemoryDatabase(tmp_path / "p.sqlite3"), server)
    first.choose("ann", "window", 7)
    first.choose_model("ann", "own", "m", MINE, KEY)
    again = UserSettingsStore(MemoryDatabase(tmp_path / "p.sqlite3"), server)
    assert (
        again.settings("ann").window,
        again.settings("ann").chat_model,
        again.settings("ann").base_url,
    ) == (7, "m", MINE)
    assert again.settings("ann").api_key == "" and not again.has_key("ann")  # it was in that process alone
    assert again.settings("bob") == server


def test_the_key_is_for_one_endpoint(own: UserSettingsStore) -> None:
    own.choose_model("ann", "own", "m", MINE, KEY)
    assert own.settings("ann").api_key == KEY
    own.choose_model("ann", "own", "m-2", MINE)
    assert own.settings("ann").api_key == KEY
    own.choose_model("ann", "own", "m-2", OTHER)
    assert own.settings("ann").api_key == ""
    own.choose_model("ann", "own", "m-2", MINE)
    assert own.settings("ann").api_key == ""
    own.choose_model("ann", "own", "m-2", MINE, KEY)
    own.remove_key("ann")
    assert own.settings("ann").api_key == ""
    own.choose_model("ann", "own", "m-2", MINE, KEY)
    own.reset("ann", "base_url")  # the server's endpoint again
    assert own.settings("ann").api_key == "sk-server" and not own.has_key("ann")


def test_what_is_refused_changes_nothing(own: UserSettingsStore) -> None:
    own.choose_model("ann", "own", "m", MINE, KEY)
    before = own.settings("ann")
    for model, url, key in (
        ("m", "http://169.254.169.254/v1", "sk-x"),
        ("", MINE, "sk-x"),
        ("m", MINE, "no key at all"),
    ):
        with pytest.raises((SettingsError, ModelError)):
            own.choose_model("ann", "own", model, url, key)
    assert own.settings("ann") == before
    with pytest.raises(SettingsError):
        own.choose_model("ann", "every")


def test_one_and_all_can_be_reset(own: UserSettingsStore) -> None:
    own.choose("ann", "window", 7)
    own.choose("ann", "rerank", True)
    own.choose("bob", "window", 8)
    own.choose_model("ann", "own", "m", MINE, KEY)
    own.reset("ann", "window")
    assert own.chosen("ann").keys() == {"rerank", "answers", "chat_model", "base_url"}
    own.reset("ann")
    assert own.chosen("ann") == {} and not own.has_key("ann") and own.settings("bob").window == 8


def test_the_key_is_in_no_file_and_no_representation(own: UserSettingsStore, tmp_path: Path) -> None:
    own.choose_model("ann", "own", "m", MINE, KEY)
    settings = own.settings("ann")
    assert settings.api_key == KEY
    assert KEY not in f"{settings!r} {settings} {own!r} {own.model('ann', lambda: None)!r}"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_models_are_made_once_and_anew_after_a_change(own: UserSettingsStore) -> None:
    server = ScriptedModel(["x"])

    def model(owner: str) -> LLM | None:
        return own.model(owner, lambda: server)

    assert model("ann") is server
    own.choose_model("ann", "own", "m", MINE, KEY)
    first = model("ann")
    assert first is not None and first is model("ann") and first is not server and model("bob") is server
    own.remove_key("ann")
    assert model("ann") is not first
    own.choose_model("ann", "none")
    assert model("ann") is None
    own.choose_model("ann", "server")
    assert model("ann") is server


def test_keys_are_held_for_so_many_only(own: UserSettingsStore) -> None:
    for number in range(MOST_KEYS + 1):
        own.choose_model(f"owner-{number}", "own", "m", MINE, KEY)
    assert not own.has_key("owner-0") and own.has_key("owner-1")


def test_forbidden_it_is_neither_taken_nor_used(tmp_path: Path) -> None:
    UserSettingsStore(MemoryDatabase(tmp_path / "p.sqlite3"), Settings()).choose_model(
        "ann", "own", "m", MINE
    )
    server = Settings(user_models="0", chat_model="servers")
    own = UserSettingsStore(MemoryDatabase(tmp_path / "p.sqlite3"), server)
    assert own.settings("ann") == server and not own.is_own("ann")
    with pytest.raises(SettingsError, match="lets nobody choose"):
        own.choose_model("ann", "own", "m", MINE)


def test_where_they_cannot_be_read_nothing_is_sent(own: UserSettingsStore) -> None:
    with own._database.write() as connection:
        connection.execute("drop table preference")
    assert (
        own.settings("bob").chat_model == ""
        and own.settings("ann").api_key == ""
        and own.model("ann", lambda: ScriptedModel(["x"])) is None
    )


def test_damaged_values_are_passed_over(own: UserSettingsStore) -> None:
    own.choose("ann", "window", 7)
    with own._database.write() as connection:
        connection.execute(
            "insert into preference values ('ann', 'rerank', 'tru'), ('ann', 'signals_hours', '[1]'), "
            "('ann', 'prompt_exchanges', '-1')"
        )
    assert (own.settings("ann").window, own.settings("ann").rerank, own.settings("ann").prompt_exchanges) == (
        7,
        False,
        5,
    )


# --- answers
# ------------------------------------------------------------------------------------------------------------


def cite(name: str) -> Say:
    return Say(lambda body: [f"{name} says three per cent [{first_key(body)}]."])


def ask(chatbot: Chatbot, owner: str, **given: object) -> tuple[Answer, list[Event]]:
    events = list(chatbot.ask(Ask(QUESTION, owner=owner, **given)))  # type: ignore[arg-type]
    assert isinstance(events[-1], Answer)
    return events[-1], events


def test_each_asker_is_answered_by_their_own_choice(tmp_path: Path) -> None:
    paper = make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is 3.0 per cent of output in every year."])
    with (
        Provider([cite("Server")]) as servers,
        Provider([cite("Ann")]) as anns,
        Provider([Refuse(401, f"no {KEY}")]) as carls,
    ):
        settings = Settings(
            home=tmp_path / "home", chat_model="s", base_url=servers.url, api_key="sk-server", timeout=5
        )
        with Chatbot(settings, embedder=HashEmbedder(dimension=256)) as chatbot:
            list(chatbot.add([Upload(paper)]))
            chatbot.own.choose_model("ann", "own", "a", anns.url, KEY)
            chatbot.own.choose_model("bea", "none")
            chatbot.own.choose_model("carl", "own", "c", carls.url)
            ann, _ = ask(chatbot, "ann")
            assert ann.text.startswith("Ann says") and ann.sent_to == ("a", anns.url.split("/")[2])
            bea, _ = ask(chatbot, "bea")
            assert (bea.model, bea.sent_to) == ("extractive", None)
            dan, _ = ask(chatbot, "dan")
            assert (
                dan.text.startswith("Server says")
                and dan.sent_to is not None
                and dan.sent_to[1] == servers.url.split("/")[2]
            )
            carl, events = ask(chatbot, "carl")
            told = " ".join(f"{event.text} {event.hint}" for event in events if isinstance(event, Notice))
            assert "the key on the Settings page" in told and carl.error and "OPENAI_API_KEY" not in told
            assert {one.headers["authorization"] for one in anns.requests} == {f"Bearer {KEY}"}
            assert {one.headers["authorization"] for one in servers.requests} == {"Bearer sk-server"}
            assert {one.headers["authorization"] for one in carls.requests} == {"Bearer none"}
            assert (len(anns.requests), len(servers.requests), len(carls.requests)) == (1, 1, 1)


def test_helping_calls_are_the_askers_too(tmp_path: Path) -> None:
    papers = [
        make_pdf(
            tmp_path / f"Rules{number}.pdf", [f"The deficit ceiling of city {number} is {number} per cent."]
        )
        for number in (2, 3)
    ]
    with Provider([cite("Server")]) as servers, Provider(["[]", cite("Ann")]) as anns:
        settings = Settings(home=tmp_path / "home", chat_model="s", base_url=servers.url, timeout=5)
        with Chatbot(settings, embedder=HashEmbedder(dimension=256)) as chatbot:
            list(chatbot.add([Upload(paper) for paper in papers]))
            chatbot.own.choose_model("ann", "own", "a", anns.url)
            chatbot.own.choose("ann", "rerank", True)
            ask(chatbot, "ann")
            assert (len(anns.requests), len(servers.requests)) == (2, 0)
            ask(chatbot, "bob")
            assert (len(anns.requests), len(servers.requests)) == (2, 1)


def test_windows_differ_by_owner(tmp_path: Path) -> None:
    with Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder(dimension=256)) as chatbot:
        list(
            chatbot.add(
                [Upload(make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is 3.0 per cent of output."]))]
            )
        )
        chatbot.own.choose("ann", "window", 2)
        for owner in ("ann", "bob"):
            conversation = chatbot.conversations.begin(owner)
            for _ in range(4):
                ask(chatbot, owner, conversation=conversation)
            assert len(chatbot.memory.window(conversation, owner)) == (2 if owner == "ann" else 4)
            prompt = ask(chatbot, owner, conversation=conversation)[0].prompt
            assert prompt is not None and len(prompt.exchanges) == (2 if owner == "ann" else 4)


def test_thresholds_of_signals_differ_by_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SignalOptions] = []
    monkeypatch.setattr(Signals, "off", "")

    def find(self: Signals, *given: object, options: SignalOptions, **others: object) -> list[object]:
        asked.append(options)
        return []

    monkeypatch.setattr(Signals, "find", find)
    with Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder(dimension=256)) as chatbot:
        list(
            chatbot.add(
                [Upload(make_pdf(tmp_path / "Rules.pdf", ["The deficit ceiling is 3.0 per cent of output."]))]
            )
        )
        for name, value in (
            ("signals_threshold", 0.9),
            ("signals_confidence", 0.8),
            ("signals_hours", 24),
            ("signals_notes", 1),
        ):
            chatbot.own.choose("ann", name, value)
        chatbot.own.choose("bea", "signals_notes", 0)
        for owner in ("ann", "bea", "bob"):
            ask(chatbot, owner, conversation=chatbot.conversations.begin(owner))
    assert [(one.threshold, one.confidence, one.hours, one.most_notes) for one in asked] == [
        (0.9, 0.8, 24, 1),
        (0.0, 0.6, 168, 3),
    ]
