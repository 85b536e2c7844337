"""Other accounts of the machine read nothing of a store, whatever the umask and whichever library made the
file; a store of before is mended.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.pdfs import make_pdf
from tests.stores import RULES, hashing


@pytest.fixture(params=[0, 0o022], ids=["umask 0", "umask 022"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def opened(home: Path) -> Chatbot:
    return Chatbot(Settings(home=home), embedder=hashing())


def told(chatbot: Chatbot, question: str) -> Answer:
    asked = Ask(question, conversation="talk", owner="me")
    *_, answer = chatbot.ask(asked)
    chatbot.settle(asked)
    assert isinstance(answer, Answer)
    return answer


def used(home: Path) -> Chatbot:
    """A chatbot, still open, that has kept something of each kind."""
    chatbot = opened(home)
    path = make_pdf(home.with_name("Rules.pdf"), RULES)
    (added,) = chatbot.add([Upload(path)])
    assert added.status == "added"
    answer = told(chatbot, "What is the deficit ceiling?")
    chatbot.cases.rate("me", answer, 1)
    chatbot.situations.add("me", [("inflation rises", "shorten duration")])
    told(chatbot, "What is the deficit ceiling when inflation rises?")
    chatbot.signals.switch(on=False)
    return chatbot


def readable_by_others(home: Path) -> list[str]:
    """Files and folders, the home among them, that any account but the owner's may do something with."""
    paths = [path for path in (home, *home.rglob("*")) if not path.is_symlink()]
    return [str(path) for path in paths if path.lstat().st_mode & 0o077]


def open_to_all(home: Path) -> None:
    """As a store of before: whoever can enter the home can read what is in it."""
    for path in home.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    home.chmod(0o700)


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_nothing_that_is_kept_is_readable_by_others(home: Path, umask: int) -> None:
    with used(home):
        assert not readable_by_others(home)
    assert not readable_by_others(home)
    made = {path.name for path in home.rglob("*")}
    assert {"catalog.sqlite3", "memory.sqlite3", "chroma.sqlite3", "meta.json", "store.lock"} <= made
    with opened(home):
        assert not readable_by_others(home)


def test_a_store_of_before_is_mended_and_what_is_not_of_it_is_left_alone(home: Path, tmp_path: Path) -> None:
    outside, theirs = tmp_path / "outside", tmp_path / "theirs"
    others = (outside, outside / "a.txt", theirs)
    used(home).close()
    outside.mkdir()
    for path in others:
        path.is_dir() or path.write_text("mine")
        path.chmod(0o755)
    open_to_all(home)
    store = home / "chroma_db"
    (store / "link").symlink_to(outside)
    (store / "keywords" / "link").symlink_to(theirs)
    copy = home / "documents" / ("0" * 64 + ".pdf")
    copy.symlink_to(theirs)
    with opened(home):
        assert not readable_by_others(home)
    assert [mode_of(path) for path in others] == [0o755] * 3


def test_in_a_checkout_only_what_is_kept_is_closed(home: Path) -> None:
    used(home).close()
    documents = home / "documents"
    left = [documents, documents / "make_samples.py", home / "chroma_db" / ".gitkeep"]
    _, script, kept = left
    shutil.copy(__file__, script)
    kept.touch()
    open_to_all(home)
    opened(home).close()
    assert sorted(readable_by_others(home)) == sorted(map(str, left))


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_file_that_is_written_where_the_user_says_has_the_users_mode(
    home: Path, tmp_path: Path, root: Path, umask: int, mode: int
) -> None:
    used(home).close()
    audit = tmp_path / "audit.html"
    ask = [sys.executable, "-m", "chatbot", "ask", "What is the deficit ceiling?", "--audit", str(audit)]
    environment = {**os.environ, "FINPOLICY_HOME": str(home)}
    subprocess.run(ask, env=environment, cwd=root, umask=umask, check=True, capture_output=True, timeout=100)
    assert mode_of(audit) == mode
    assert not readable_by_others(home)
