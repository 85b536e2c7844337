"""A memory more is a folder and a line in the registry: with these alone it is recalled, switched, shown
in its tab and spoken to on the command line.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatbot.app.app_context import AppContext
from chatbot.asking.question import Ask
from chatbot.cli import main
from chatbot.memory import layers
from chatbot.memory.layers import REGISTERED, Registered
from chatbot.records import Answer
from tests.fakes import ScriptedModel
from tests.pages import ME, shown, visit
from tests.stores import Make

CEILING = "What is the deficit ceiling?"
FILES = {
    "__init__": "",
    "layer": """
from chatbot.memory.memory_database import Tables
from chatbot.records import Note

TABLES = Tables("birthdays", "create table birthday (whose text primary key, day text not null);\\n")

class BirthdayLayer:
    name = "birthdays"

    def __init__(self, database):
        database.prepare(TABLES)
        self._database = database

    def recall(self, recall, n):
        return [Note(self.name, whose, day) for whose,
        day in self._database.read("select * from birthday limit ?", (n,))]

def open_layer(opening):
    return BirthdayLayer(opening.database)
""",
    "tab": """
import streamlit as st

def draw(context):
    st.html("Whose birthday it is")
""",
    "commands": """
from chatbot.cli.memory_command import Action
from chatbot.cli.output import printed

@printed
def _add(options, chatbot):
    with chatbot.conversations._disk.write() as connection:
        connection.execute("insert into birthday values (?, ?)", (options.texts[0], options.when))
    return _lines(options, chatbot)

def _lines(options, chatbot):
    most = getattr(options, "k", 9)
    for whose, day in chatbot.conversations._disk.read("select * from birthday limit ?", (most,)):
        yield {"whose": whose, "day": day}, f"{whose}: {day}"

_list = printed(_lines)
WHEN = {"metavar": "DAY", "default": "today"}
ACTIONS = {"list": Action(_list, rows=5), "add": Action(_add, "NAME", options={"when": WHEN})}
""",
}


@pytest.fixture(autouse=True)
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder, and the line."""
    folder = tmp_path / "tiny_birthdays"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"birthday_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    switch = ("Use birthdays", "Whose it is.")
    one = Registered("birthdays", "tiny_birthdays", "Birthdays", switch, "Birthdays", commands=True)
    monkeypatch.setattr(layers, "REGISTERED", (*REGISTERED, one))


def test_it_is_recalled_where_it_is_switched_on(make: Make) -> None:
    chatbot = make(ScriptedModel(["The deficit ceiling is 3.0 per cent."] * 2))
    with chatbot.conversations._disk.write() as connection:
        connection.execute("insert into birthday values ('Ann', '5 May')")
    talk = chatbot.conversations.begin("me")
    asked = Ask(CEILING, conversation=talk, owner="me")

    def notes() -> list[str]:
        *_, answer = chatbot.ask(asked)
        assert isinstance(answer, Answer)
        return [note.text for note in answer.notes if note.layer == "birthdays"]

    assert notes() == ["5 May"]
    chatbot.conversations.switch(talk, "me", "birthdays", on=False)
    assert notes() == []


def test_it_has_its_commands_and_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    assert main(["memory", "birthdays", "add", "Ann", "--when", "5 May", "--json"]) == 0
    added = json.loads(capsys.readouterr().out)
    assert added == {"whose": "Ann", "day": "5 May"}
    for words in (["birthdays", "list", "--when", "6 May"], ["cases", "add", "Q?", "A.", "--when", "6 May"]):
        with pytest.raises(SystemExit):
            main(["memory", *words])
        assert "unrecognized arguments: --when 6 May" in capsys.readouterr().err


def test_it_has_its_tab_and_its_switch(context: AppContext) -> None:
    app = visit("memory_page.py")
    assert "Birthdays" in [tab.label for tab in app.tabs]
    app.session_state["memory-tab"] = "Birthdays"
    assert "Whose birthday it is" in shown(app.run())
    chatbot = context.chatbot
    chatbot.conversations.begin(ME, "mine")
    asked = Ask(CEILING, conversation="mine", owner=ME)
    list(chatbot.ask(asked))
    app = visit(conversation="mine")
    app.session_state["menu-open-mine"] = True
    app.run()
    assert "Use birthdays" in [toggle.label for toggle in app.toggle]
