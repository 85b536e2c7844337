"""The command that moves a store: what it prints, refuses and returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import run
from tests.stores import RULES, Stores

SECRET = "Very-secret-word"


@pytest.fixture
def home(tmp_path: Path, stores: Stores) -> Path:
    stores.copy(RULES, tmp_path / "home")
    return tmp_path / "home"


def test_a_line_for_each_part_and_what_to_set_next(home: Path, tmp_path: Path) -> None:
    done = run(home, "migrate", "--to", tmp_path / "moved", "--json")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(line["equal"] and line["hash_before"] == line["hash_after"] for line in lines)
    assert {line["what"]: line["after"] for line in lines}["catalog page"] == len(RULES)
    assert f"set FINPOLICY_HOME to {tmp_path / 'moved'}" in done.stderr
    listed = run(tmp_path / "moved", "list", "--json")
    assert json.loads(listed.stdout)["document"] == "Rules.pdf"
    run(tmp_path / "moved", "keys", "create", "late").check_returncode()
    again = run(home, "migrate", "--to", tmp_path / "moved")
    assert again.returncode == 0
    assert "Everything is equal. The source is unchanged." in again.stderr
    run(tmp_path / "moved", "remove", "Rules.pdf", "--purge").check_returncode()
    used = run(home, "migrate", "--to", tmp_path / "moved")
    assert used.returncode == 1
    assert "✗ catalog document" in used.stdout
    assert "The target was used after the migration had ended." in used.stderr


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ([], 2, "The store is there already."),
        (["--to", "embedded"], 2, "The store is there already."),
        (["--to", f"postgresql://me:{SECRET}@127.0.0.1:9/none"], 3, "cannot be reached"),
        (["--to", f"postgresql://me:{SECRET}@a@b/none"], 3, "--to has more than one @"),
        (["--chroma", f"http://me:{SECRET}@there"], 1, "FINPOLICY_CHROMA_URL is not the address"),
        (["--chroma", "http://127.0.0.1:9"], 3, "127.0.0.1:9"),
        (["--files", f"what://me:{SECRET}@there"], 1, "FINPOLICY_FILES is not the address"),
    ],
)
def test_what_cannot_be_done_is_refused_without_a_password(
    home: Path, given: list[str], code: int, said: str
) -> None:
    done = run(home, "migrate", *given)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_home_without_a_store_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path / "none", "migrate", "--to", tmp_path / "moved")
    assert done.returncode == 3
    assert "There is no store in" in done.stderr
