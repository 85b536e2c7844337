"""Holds README, CONTRIBUTING and docs/ to the code: settings, commands, what they show, links, the site."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from chatbot.cli import main
from chatbot.records import AGAINST, FINE, MARKS
from chatbot.search.refusal import REASONS
from chatbot.settings import ENVIRONMENT, Settings
from documents.make_samples import make_samples
from tests.commands import run
from tests.doc_blocks import Block, Reader, blocks_of

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("**/*.md"))]
FIRST_COMMANDS = ("make run", "make test")
STATEMENT = "Valmora_Fiscal_Policy_Statement_2025.pdf"
# "" is for the two pages that other programs read too.
KINDS = {"console", "bash", "sh", "python", "text", "json", "toml", "yaml", ""}
LONGEST_LINE = 110
OPTION = r"(?<![\w-])(?:--[a-z]+(?:-[a-z]+)*|-k)(?![\w-])"


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tokens_of(path: Path) -> list[Token]:
    """The blocks of a page, and what stands in a line of them behind these."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text_of(path))
    for block in list(tokens):
        tokens += block.children or ()
    return tokens


def section(text: str, heading: str) -> str:
    """The text under a heading, to the next one of the same or a higher level; empty where there is none."""
    found = re.search(rf"(?ms)^(#+) {re.escape(heading)}\s*\n(.*?)(?=^#{{1,2}} |\Z)", text)
    return found[2] if found else ""


def codes(path: Path) -> list[str]:
    """What stands in the code font in running text and tables, and each line of a block."""
    tokens = tokens_of(path)
    written = [token.content for token in tokens if token.type == "code_inline"]
    for token in tokens:
        if token.type == "fence":
            written += token.content.splitlines()
    return written


@pytest.mark.parametrize("command", FIRST_COMMANDS)
def test_the_first_commands_are_targets_and_shown(command: str) -> None:
    target = command.removeprefix("make ")
    assert re.search(rf"(?m)^{target}:.*## ", text_of(ROOT / "Makefile"))
    readme = text_of(ROOT / "README.md")
    shown = re.search(rf"(?m)^\s*(?:\$ )?{command}\b", readme)
    assert shown, f"`{command}` stands in no block of commands"


def test_the_gate_passes_the_tests_as_the_readme_says() -> None:
    assert re.search(r"(?m)^make test\b", text_of(ROOT / ".ci" / "run"))


def default_of(field: str) -> str:
    """As one would set it; "" where that is nothing, or depends on the machine."""
    value = getattr(Settings(), field)
    return f"{float(value):.10g}" if isinstance(value, int | float) else ""


def test_the_settings_are_those_of_the_code() -> None:
    tables = section(text_of(DOCS / "deploy.md"), "Settings")
    rows = re.findall(r"(?m)^\| `([A-Z_]+)` \| *(.*?) *\| \S.*\|$", tables)
    real = [(setting, default_of(field)) for setting, field in ENVIRONMENT.items()]
    assert sorted(rows) == sorted(real)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_setting_and_target_that_is_named_exists(path: Path) -> None:
    settings = re.findall(r"\b(?:FINPOLICY|MEMORY)_[A-Z_]+\b", text_of(path))
    assert set(settings) <= ENVIRONMENT.keys()
    targets = re.findall(r"(?m)^([a-z-]+):", text_of(ROOT / "Makefile"))
    named = re.findall(r"(?m)(?:^|\s)make ([a-z][a-z-]*)", "\n".join(codes(path)))
    assert set(named) <= set(targets)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_file_that_is_named_exists(path: Path) -> None:
    code = "\n".join(codes(path))
    named = re.findall(r"(?<![\w./-])(?:chatbot|ingestion|tests|benchmarks|docs)/[\w./-]*\w", code)
    scripts = re.findall(r"(?<![\w./-])[a-z_]+\.py\b", code)
    assert not [word for word in named if not (ROOT / word).exists()]
    for script in scripts:
        places = [folder / script for folder in (ROOT / "benchmarks", ROOT, ROOT / "chatbot" / "memory")]
        assert any(map(Path.exists, places)), script


@cache
def help_of(command: str) -> str:
    words = [command, "--help"] if command else ["--help"]
    return run(ROOT, *words).stdout


@cache
def subcommands() -> tuple[str, ...]:
    found = re.search(r"\{([a-z,\s-]+)\}", help_of(""))
    assert found, f"--help lists no subcommands as {{a,b,c}}:\n{help_of('')}"
    return tuple(word.strip() for word in found[1].split(","))


def helps_of_actions(*words: str) -> str:
    """What `--help` says of each action that comes after these words."""
    told = io.StringIO()
    with redirect_stdout(told), pytest.raises(SystemExit):
        main([*words, "--help"])
    own = re.search(r"(?m)^  \{([a-z,]+)\}", told.getvalue())
    return "".join(helps_of_actions(*words, word) for word in own[1].split(",")) if own else told.getvalue()


def options_of(command: str) -> dict[str, str]:
    """-k and --mode as `finpolicy command --help` lists them, each with its entries on one line.

    Without -h and --json, which every command takes.
    """
    text = helps_of_actions(command) if command == "memory" else help_of(command)
    listed: dict[str, str] = {}
    for entry in re.finditer(r"(?m)^  (?:-[a-z], )?(-[a-z]|--[a-z-]+)\b.*(?:\n {4,}.*)*", text):
        listed[entry[1]] = " ".join([listed.get(entry[1], ""), *entry[0].split()])
    for option in ("-h", "--help", "--json"):
        listed.pop(option, None)
    return listed


@cache
def sections() -> dict[str, str]:
    """Command -> what docs/commands.md says of it."""
    text = text_of(DOCS / "commands.md")
    return dict(re.findall(r"(?ms)^## finpolicy ([a-z-]+)\n(.*?)(?=^## |\Z)", text))


def test_every_command_has_its_section() -> None:
    assert set(sections()) == set(subcommands())


@pytest.mark.parametrize("command", sorted(sections()))
def test_the_options_of_a_command_are_those_of_its_help(command: str) -> None:
    said, real = sections()[command], options_of(command)
    named = set(re.findall(OPTION, said))
    assert named - {"--json"} == set(real)
    for option, default in re.findall(rf"(?m)^\| `({OPTION})[^`]*` \|.*\(default ([^ ,)]+)", said):
        same = re.search(rf"\(default {re.escape(default)}[ ,;)]", real[option])
        assert same, f"{option} has another default: {real[option]}"


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_commands_that_are_not_run_are_commands(path: Path) -> None:
    for block in blocks_of(path):
        assert block.info in KINDS, f"{name(path)}:{block.line}"
        lines = block.text.splitlines() if block.info == "bash" else []
        for line in lines:
            said = shlex.split(line, comments=True)
            match [word for word in said if not re.match(r"[A-Z_]+=", word)]:
                case ["finpolicy", *words]:
                    command, *others = words
                    assert command in subcommands(), line
                    given = {word for word in others if word.startswith("-")}
                    assert given <= {"--json", *options_of(command)}, line
                case [".venv/bin/python", *words]:
                    script = ROOT / words[0]
                    assert script.exists(), line


def test_the_fields_of_an_answer_are_documented(home: Path) -> None:
    done = run(home, "ask", "--json", "By when must the debt anchor be met?")
    answer = json.loads(done.stdout)
    rows = re.findall(r"(?m)^\| ((?:`[a-z_]+`(?:, )?)+) \|", sections()["ask"])
    fields = re.findall(r"[a-z_]+", " ".join(rows))
    assert set(fields) == answer.keys()


def test_the_words_of_an_answer_are_documented() -> None:
    answers = text_of(DOCS / "answers.md")
    first_cell = re.compile(r"(?m)^\| `([a-z_]+)` \|")
    reasons = first_cell.findall(section(answers, "Refusals"))
    assert reasons
    assert set(reasons) <= REASONS.keys()
    statuses = first_cell.findall(section(answers, "Is the figure right?"))
    assert set(statuses) == {*FINE, *AGAINST, "not_checked"}
    for mark in MARKS.values():
        assert f"{mark} |" in answers, mark


def console_blocks(path: Path) -> list[Block]:
    return [block for block in blocks_of(path) if block.info == "console"]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


@pytest.fixture(scope="module")
def home(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of one sample."""
    home = tmp_path_factory.mktemp("store") / "home"
    done = run(home, "add", samples / STATEMENT)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def folder(samples: Path, tmp_path: Path) -> Path:
    """A folder to follow a page in, with the samples where the pages say."""
    shutil.copytree(samples, tmp_path / "documents" / "samples")
    return tmp_path


PAGES_WITH_COMMANDS = [
    pytest.param(page, id=name(page), marks=[pytest.mark.long] if page.name == "commands.md" else [])
    for page in filter(console_blocks, PAGES)
]


@pytest.mark.parametrize("path", PAGES_WITH_COMMANDS)
def test_commands_show_what_their_page_says(path: Path, folder: Path, request: pytest.FixtureRequest) -> None:
    blocks = console_blocks(path)
    if not any("$ finpolicy add " in block.text for block in blocks):
        home = request.getfixturevalue("home")
        shutil.copytree(home, folder / "home")
    reader = Reader(folder)
    wrong = list[str]()
    for block in blocks:
        wrong += reader.follow(block)
    assert not wrong, "\n\n".join(wrong)


def links_of(path: Path) -> Iterator[str]:
    for token in tokens_of(path):
        if target := token.attrGet("href") or token.attrGet("src"):
            yield str(target)


@cache
def anchors_of(path: Path) -> frozenset[str]:
    """The headings of a page as GitHub and MyST name them."""
    found, seen = list[str](), Counter[str]()
    for opening, inline in pairwise(tokens_of(path)):
        if opening.type == "heading_open":
            said = "".join(child.content for child in inline.children or ())
            plain = re.sub(r"[^\w\- ]", "", said.casefold())
            slug = plain.replace(" ", "-")
            found.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return frozenset(found)


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_every_link_leads_somewhere_here(path: Path) -> None:
    dead = []
    for target in links_of(path):
        file, _, anchor = target.partition("#")
        led = (path.parent / file).resolve() if file else path
        outside = "://" in target or not led.exists()
        if outside or (anchor and anchor not in anchors_of(led)):
            dead.append(target)
    assert not dead


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_lines_are_short(path: Path) -> None:
    prose = [line for line in text_of(path).splitlines() if not line.startswith("|")]
    assert not [line for line in prose if len(line) > LONGEST_LINE]


def test_every_page_is_led_to() -> None:
    led = set[Path]()
    for path in PAGES:
        files = [target.partition("#")[0] for target in links_of(path)]
        led |= {(path.parent / file).resolve() for file in files}
    pages = [path for path in PAGES if path.parent != ROOT]
    assert not [name(path) for path in pages if path not in led]


# What a browser would fetch, or open on a click, by the kind of file that says so.
HOST = r"""((?:[a-z]+:)?//[^"'\s>)]+)"""
LINKED = re.compile(rf"""(?:src|href|srcset|action)\s*=\s*["']?\s*{HOST}""", re.IGNORECASE)
STYLED = re.compile(rf"""(?:url\(|@import)\s*["']?{HOST}""", re.IGNORECASE)
FETCHED = {"*.html": (LINKED, STYLED), "*.css": (STYLED,), "*.svg": (LINKED, STYLED)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as strictly as by `make docs`."""
    pytest.importorskip("sphinx", reason="make setup-dev installs it")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "doctrees")]
    command += [str(DOCS), str(folder / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.mark.long
def test_nothing_of_the_site_is_on_another_host(site: Path) -> None:
    found, looked_into = set[str](), 0
    for suffix, patterns in FETCHED.items():
        for path in site.rglob(suffix):
            looked_into += 1
            text = path.read_text(encoding="utf-8")
            for pattern in patterns:
                found |= {f"{path.name}: {host}" for host in pattern.findall(text)}
    assert looked_into > len(PAGES)
    assert not found
    search = (site / "search.html").read_text(encoding="utf-8")
    assert "searchindex.js" in search


@pytest.mark.long
def test_every_page_is_in_the_site(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    for path in DOCS.glob("**/*.md"):
        page = path.relative_to(DOCS).with_suffix(".html").as_posix()
        built = site / page
        assert built.exists()
        assert page in index or page == "index.html", f"{page} is not in the list of pages"


def test_make_docs_builds_it_so() -> None:
    recipe = re.search(r"(?m)^docs: .*## .*\n\t(.*)$", text_of(ROOT / "Makefile"))
    assert recipe
    assert "sphinx -W" in recipe[1]
    assert " docs site" in recipe[1]
    ignored = text_of(ROOT / ".gitignore")
    assert "/site/" in ignored.splitlines()
