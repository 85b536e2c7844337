"""Holds the README to the code: its settings, its commands and its two first lines are those that are really there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatbot.settings import ENVIRONMENT
from tests.commands import run

ROOT = Path(__file__).resolve().parent.parent
FIRST_COMMANDS = ("make run", "make test")


@pytest.fixture(scope="module")
def readme() -> str:
    path = ROOT / "README.md"
    if not path.exists():
        pytest.fail("there is no README.md")
    return path.read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text under a heading, to the next one of the same or a higher level; empty where there is none."""
    found = re.search(rf"(?ms)^(#+) {re.escape(heading)}\s*\n(.*?)(?=^#{{1,2}} |\Z)", text)
    return found[2] if found else ""


def settings_table() -> str:
    """The table as the README should have it."""
    rows = [f"| `{name}` | {meaning.replace('|', chr(92) + '|')} |" for name, (_, meaning) in ENVIRONMENT.items()]
    return "\n".join(["| Setting | What it does |", "|---|---|", *rows])


def test_the_settings_are_those_of_the_code(readme: str) -> None:
    table = section(readme, "Settings")
    if not table:
        pytest.fail("README.md has no section 'Settings'")
    rows = re.findall(r"(?m)^\| `[A-Z_]+` \|.*\|$", table)
    assert rows == settings_table().splitlines()[2:], f"Under 'Settings' the README should have:\n\n{settings_table()}\n"


def subcommands() -> list[str]:
    if not (ROOT / "chatbot" / "cli").exists():
        pytest.fail("there is no chatbot/cli")
    done = run(ROOT, "--help")
    found = re.search(r"\{([a-z,\s-]+)\}", done.stdout)
    assert found, f"--help lists no subcommands as {{a,b,c}}:\n{done.stdout}"
    return [word.strip() for word in found[1].split(",")]


def test_every_command_is_documented(readme: str) -> None:
    if "python -m chatbot" not in readme:
        pytest.fail("README.md shows no commands")
    missing = [word for word in subcommands() if not re.search(rf"(?:`|chatbot ){word}\b", readme)]
    assert not missing


def options_of(command: str) -> set[str]:
    """-k and --mode as `python -m chatbot command --help` lists them, -h apart."""
    done = run(ROOT, command, "--help")
    return set(re.findall(r"(?m)^  (-[a-z]|--[a-z-]+)\b", done.stdout)) - {"-h"}


def test_every_option_is_documented_and_every_documented_one_exists(readme: str) -> None:
    # What belongs to a command stands on its line, and on those below that begin with an option.
    shown = dict[str, str]()
    for command, rest in re.findall(r"(?m)^python -m chatbot ([a-z]+)\b(.*(?:\n +\[-.*)*)", readme):
        shown[command] = shown.get(command, "") + rest
    real = {command: options_of(command) for command in subcommands()}
    for command, text in shown.items():
        assert set(re.findall(r"\[(-[a-z]|--[a-z-]+)\b", text)) <= real[command], command
    elsewhere = set(re.findall(r"(?<![\w-])--[a-z-]+", readme))
    missing = {
        command: options - set(re.findall(r"(?<![\w-])(-[a-z]|--[a-z-]+)\b", shown.get(command, ""))) - elsewhere for command, options in real.items()
    }
    assert not {command: options for command, options in missing.items() if options}


def help_of(command: str) -> dict[str, str]:
    """Option -> its entry of `--help`, on one line."""
    done = run(ROOT, command, "--help")
    return {found[1]: " ".join(found[0].split()) for found in re.finditer(r"(?m)^  (-[a-z]|--[a-z-]+)\b.*(?:\n {4,}.*)*", done.stdout)}


@pytest.mark.parametrize("command", ["search", "memory", "compress"])
def test_a_value_shown_for_an_option_is_its_default(readme: str, command: str) -> None:
    shown = "".join(re.findall(rf"(?m)^python -m chatbot {command}\b.*(?:\n +\[-.*)*", readme))
    values = re.findall(r"\[(-[a-z]|--[a-z-]+) ([a-z0-9][a-z0-9_.]*)(?=[\]|])", shown)
    said = help_of(command)
    assert values
    wrong = {option: said[option] for option, value in values if not re.search(rf"\(default {re.escape(value)}[ ,;)]", said[option])}
    assert not wrong, f"the README shows another default than --help: {wrong}"


@pytest.mark.parametrize("command", FIRST_COMMANDS)
def test_the_first_commands_are_targets_and_shown(readme: str, command: str) -> None:
    if command not in readme:
        pytest.fail(f"README.md does not show `{command}`")
    target = command.removeprefix("make ")
    assert re.search(rf"(?m)^{target}:.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert re.search(rf"(?m)^\s*(?:\$ )?{command}\b", readme), f"`{command}` stands in no block of commands"


def test_the_gate_passes_the_tests_as_the_readme_says() -> None:
    assert re.search(r"(?m)^make test\b", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))


def test_every_target_the_documents_name_exists() -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md") if path.exists()]
    named = {word for text in texts for word in re.findall(r"(?:^|`)\s*(?:\$ )?make ([a-z-]+)", text, re.MULTILINE)}
    assert named <= targets
