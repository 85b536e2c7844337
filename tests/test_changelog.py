"""Holds the changelog to its form, and the version that the program tells to the newest one there."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import chatbot
from tests.commands import run

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
RELEASES = re.findall(r"(?m)^## \[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)$", TEXT)


def test_the_version_is_the_newest_of_the_changelog() -> None:
    *numbers, _ = RELEASES[0]
    assert ".".join(numbers) == chatbot.__version__
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    assert project["version"] == chatbot.__version__


def test_the_command_line_tells_the_version(tmp_path: Path) -> None:
    done = run(tmp_path, "--version")
    assert done.returncode == 0
    assert done.stdout == f"finpolicy {chatbot.__version__}\n"


def test_versions_stand_below_what_is_unreleased_from_the_newest_on() -> None:
    unreleased, *releases = re.findall(r"(?m)^## (.*)", TEXT)
    assert unreleased == "[Unreleased]"
    assert len(releases) == len(RELEASES)
    order = [(date.fromisoformat(day), *map(int, numbers)) for *numbers, day in RELEASES]
    assert order == sorted(set(order), reverse=True)


def test_each_version_tells_of_known_kinds_of_changes_in_their_order() -> None:
    for section in re.split(r"(?m)^## ", TEXT)[1:]:
        title, _, _ = section.partition("\n")
        kinds = re.findall(r"(?m)^### (.*)", section)
        assert kinds == [kind for kind in KINDS if kind in kinds], title
        with_changes = re.findall(r"(?m)^### .*\n\n- ", section)
        assert len(kinds) == len(with_changes), title


def test_each_version_has_at_most_twelve_lines() -> None:
    for section in re.split(r"(?m)^## ", TEXT)[2:]:
        title, _, text = section.partition("\n")
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        assert len(lines) <= 12, title
