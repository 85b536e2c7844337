"""Holds the house's plan by reading the source: who may import whom, what loads first, who reads the
environment, what no file may say.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# The single modules of chatbot/ that all rooms stand on. A new one is entered here: the moment to ask whether
# it belongs in a folder.
GROUND = {
    "fit",
    "usage_text",
    "comparison",
    "errors",
    "models",
    "records",
    "serialize",
    "settings",
    "user_settings",
}

# The arrows, one way: app, ui, cli, api, mcp_server -> audit -> service -> asking -> memory -> search ->
# store -> ground -> ingestion, and asking -> answer -> evidence -> ground. A room knows itself and what lies
# below it; answer and search do not know each other.
BELOW: dict[str, set[str]] = {"ingestion": set(), "ground": {"ingestion"}}
BELOW["store"] = {"ground", *BELOW["ground"]}
BELOW["search"] = {"store", *BELOW["store"]}
BELOW["memory"] = {"search", *BELOW["search"]}
BELOW["evidence"] = {"ground", *BELOW["ground"]}
BELOW["answer"] = {"evidence", *BELOW["evidence"]}
BELOW["asking"] = {"memory", "answer", *BELOW["memory"], *BELOW["answer"]}
BELOW["service"] = {"asking", *BELOW["asking"]}
BELOW["audit"] = {"service", *BELOW["service"]}
BELOW |= {shell: {"audit", *BELOW["audit"]} for shell in ("ui", "cli", "api", "mcp_server")}
BELOW |= {entry: {"ui", "cli", "api", "mcp_server", *BELOW["ui"]} for entry in ("app", "__main__")}

# What answers --help must not wait for these.
HEAVY = (
    "anthropic",
    "chromadb",
    "langchain",
    "langchain_core",
    "langchain_text_splitters",
    "mcp",
    "onnxruntime",
    "openai",
    "pandas",
    "pgvector",
    "psycopg",
    "streamlit",
)

# The starter of the reading processes hands a few harmless variables on; nothing else but the settings reads
# any.
MAY_READ_ENVIRONMENT = {"chatbot/settings.py", "ingestion/reading/reader.py"}

# Written in pieces, so that this file does not say what it forbids.
HOSTS = [
    a + b
    for a, b in (
        ("py", "pi.org"),
        ("python", "hosted.org"),
        ("npm", "js.org"),
        ("deb.", "debian.org"),
        ("proxy.", "golang.org"),
    )
]
FORBIDDEN = {
    "a registry's host": re.compile("|".join(map(re.escape, HOSTS))),
    "a path of one machine": re.compile(r"(?<![\w.~-])/(?:work|root|home/[a-z]\w*|Users/\w+)/"),
}


# A memory's folder holds its part of two shells: its tab on the Memory page, and its commands. They are
# theirs, and no other module of a memory may import them.
SHELL_PARTS = re.compile(r"chatbot\.memory\.\w+\.\w+_(?P<part>tab|commands)")


def house() -> list[Path]:
    """The files of the product itself."""
    return [
        path
        for path in (ROOT / "app.py", *ROOT.glob("chatbot/**/*.py"), *ROOT.glob("ingestion/**/*.py"))
        if path.exists()
    ]


def python_files() -> list[Path]:
    """The house, and what stands beside it."""
    return [
        *house(),
        *ROOT.glob("documents/*.py"),
        *ROOT.glob("benchmarks/**/*.py"),
        *ROOT.glob("tests/**/*.py"),
    ]


def tracked_files() -> list[Path]:
    """What is in git or would be added to it."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("not a git checkout: git cannot tell which files belong to it")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str | None:
    """The room of one of our modules; None for anything from elsewhere. An unknown room is its own name,
    which no arrow reaches.
    """
    if part := SHELL_PARTS.fullmatch(module):
        return {"tab": "ui", "commands": "cli"}[part["part"]]
    top, _, rest = module.partition(".")
    if top in {"app", "ingestion"}:
        return top
    if top != "chatbot":
        return None
    first = rest.partition(".")[0]
    return "ground" if not first or first in GROUND else first


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import anywhere in the file; `from chatbot import x` counts as chatbot.x."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            whole = [f"{module}.{alias.name}" for alias in node.names]
            yield from (
                (node.lineno, one if module == "chatbot" or SHELL_PARTS.fullmatch(one) else module)
                for one in whole
            )


def test_every_module_stands_in_a_known_room() -> None:
    unknown = [name(path) for path in house() if room_of(module_of(path)) not in BELOW]
    assert not unknown, f"Give them a room, or enter them in GROUND: {unknown}"


def test_imports_follow_the_arrows() -> None:
    wrong = []
    for path in house():
        here = room_of(module_of(path)) or ""
        for line, module in imports(path):
            there = room_of(module)
            if module.startswith(".") or (there and there != here and there not in BELOW.get(here, set())):
                wrong.append(f"{name(path)}:{line} ({here}) imports {module} ({there})")
    assert not wrong, "\n".join(wrong)


def folder_of(module: str) -> str:
    """The folder of a module in a room, "" where it stands in none."""
    parts = module.split(".")
    return ".".join(parts[:3]) if len(parts) > 3 and parts[0] == "chatbot" else ""


def test_folders_of_a_room_do_not_import_one_another_in_circles() -> None:
    needs: dict[str, set[str]] = {}
    for path in house():
        here = folder_of(module_of(path))
        if here:
            needs.setdefault(here, set()).update(
                there for _, module in imports(path) if (there := folder_of(module)) not in {"", here}
            )
    TopologicalSorter(needs).prepare()  # raises CycleError


def test_streamlit_stays_in_the_user_interface_and_the_tabs_of_the_memories() -> None:
    wrong = [
        f"{name(path)}:{line}"
        for path in house()
        if room_of(module_of(path)) not in {"app", "ui"}
        for line, module in imports(path)
        if module.partition(".")[0] == "streamlit"
    ]
    assert not wrong


def test_every_module_says_what_it_knows() -> None:
    assert not [name(path) for path in python_files() if not ast.get_docstring(tree(path))]


def in_order(names: list[str]) -> list[str]:
    """Constants, classes, functions, each by name: the order that ruff's RUF022 gives."""

    def rank(word: str) -> int:
        if word.isupper() and len(word) > 1:
            return 0
        return 1 if word[0].isupper() else 2

    return sorted(names, key=lambda word: (rank(word), word))


def test_what_a_module_offers_is_sorted() -> None:
    wrong = []
    for path in python_files():
        for node in tree(path).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                offered = list(ast.literal_eval(node.value))
                if offered != in_order(offered):
                    wrong.append(f"{name(path)}: __all__ = {in_order(offered)}")
    assert not wrong, "\n".join(wrong)


def test_the_command_line_loads_nothing_heavy_first() -> None:
    if not (ROOT / "chatbot" / "cli").exists():
        pytest.skip("there is no chatbot/cli yet")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "chatbot", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    loaded = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "chatbot" in loaded
    assert not loaded & set(HEAVY)


def environment_reads(path: Path) -> Iterator[int]:
    """Lines that read the process's environment; os.environ[x] = y and os.environ.setdefault(x, y) and the
    like only write.
    """
    written: set[int] = set()
    for node in ast.walk(tree(path)):  # parents come before their parts
        match node:
            case (
                ast.Subscript(value=value, ctx=ast.Store())
                | ast.Attribute(value=value, attr="setdefault" | "clear" | "update")
            ):
                written.add(id(value))
            case ast.Attribute(value=ast.Name("os"), attr="environ" | "environb" | "getenv") if (
                id(node) not in written
            ):
                yield node.lineno
            case ast.ImportFrom(module="os", names=names) if {"environ", "getenv"} & {
                alias.name for alias in names
            }:
                yield node.lineno


def test_only_the_settings_read_the_environment() -> None:
    assert not [
        f"{name(path)}:{line}"
        for path in house()
        if name(path) not in MAY_READ_ENVIRONMENT
        for line in environment_reads(path)
    ]


SILENCED = {"chatbot", "chromadb", "langchain_chroma", "onnxruntime"}


def test_what_loads_onnxruntime_outside_the_package_loads_the_package_before() -> None:
    """It says there that nothing is to be told to anybody; tests/test_nothing_leaves.py watches that."""
    for path in python_files():
        loaded = [top for _, module in imports(path) if (top := module.partition(".")[0]) in SILENCED]
        assert not loaded or room_of(module_of(path)) or loaded[0] == "chatbot", path


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str) -> None:
    wrong = []
    for path in tracked_files():
        data = path.read_bytes()
        if b"\0" in data[:8_192]:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            if found := FORBIDDEN[what].search(line):
                wrong.append(f"{name(path)}:{number}: {found[0]}")
    assert not wrong, f"No file names {what}:\n" + "\n".join(wrong)


LOCKED = sorted(ROOT.glob("requirements*.txt"))


@pytest.mark.parametrize("path", LOCKED, ids=lambda path: path.name)
def test_requirements_are_locked_with_hashes_and_name_no_registry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"(?m)^\s*(?:-\S+(?<!--hash)\s|.*://).*", re.sub(r"--hash=\S+", "", text))
    pins = re.split(r"(?m)^(?=\S)", text)[1:]
    assert pins
    loose = [
        pin.splitlines()[0]
        for pin in pins
        if not re.match(r"[\w.\[\],-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", pin, re.DOTALL)
    ]
    assert not loose


def test_every_imported_package_is_asked_for() -> None:
    """What is imported but only came along with another package may be gone after the next lock."""
    texts = [
        (ROOT / name).read_text(encoding="utf-8") for name in ("requirements.in", "requirements-signals.in")
    ]
    asked = {word.replace("_", "-").lower() for word in re.findall(r"(?m)^([\w.-]+)", "\n".join(texts))}
    given = metadata.packages_distributions()
    wrong = set()
    for path in house():
        for _, module in imports(path):
            top = module.partition(".")[0]
            names = {word.replace("_", "-").lower() for word in given.get(top, [top])}
            if top not in sys.stdlib_module_names and room_of(module) is None and not names & asked:
                wrong.add(f"{name(path)} imports {top} of {', '.join(sorted(names))}")
    assert not wrong, "Add to requirements.in, then make lock:\n" + "\n".join(sorted(wrong))


HARDENED: dict[str, dict[str, object]] = {
    "browser": {"gatherUsageStats": False},
    "client": {"showErrorDetails": "none"},
    "server": {
        "address": "127.0.0.1",
        "enableAgentApi": False,
        "enableCORS": True,
        "enableStaticServing": False,
        "enableXsrfProtection": True,
        "fileWatcherType": "none",
        "maxUploadSize": 200,
        "runOnSave": False,
    },
}


def test_streamlit_is_hardened_and_knows_every_option() -> None:
    given = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    for section, wanted in HARDENED.items():
        assert {key: given[section].get(key) for key in wanted} == wanted
    assert set(given["server"]["allowedHosts"]) == {"localhost", "127.0.0.1", "::1"}
    done = subprocess.run(
        [sys.executable, "-m", "streamlit", "config", "show"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "not a valid config option" not in done.stdout + done.stderr


# What only the room of language may know; everything else asks it. A sure sign of each: no English word but a
# month's name, and so on.
OF_LANGUAGE = {
    "a month": (
        r"(?i)(?<![a-z])(?:january|february|april|june|july|august|september|october|november|december|feb"
        r"|apr|jul|aug|sept|oct|nov|dec)(?![a-z])"
    ),
    "a scale": r"(?i)(?<![a-z])(?:million|billion|trillion|crore|lakh|mln|bln)s?(?![a-z])",
    "a currency's sign": "[€£¥₹₨₩₱₦₫฿₪₺₴₽]",
    "a currency": r"(?i)(?<![a-z])(?:rupee|ringgit|euro|dollar|usd|eur|inr|gbp|baht|yuan)s?(?![a-z])",
    "a year": re.escape("(?:19|20)"),
    "where sentences end": (
        r"\[[^\]a-zA-Z]*\.[^\]a-zA-Z]*[!?][^\]a-zA-Z]*\][+*?]*(?:\\s| )[+*]"
        r"|\(\?<=\[[^\]]*[.!?][^\]]*\]\)"
    ),
}
ALLOWED = {
    "chatbot/memory/signals/analysis.py": "it asks a model for codes of assets, some of them for example",
    "chatbot/memory/signals/signal_tab.py": "a field's help has them for example",
    "ingestion/ocr/ocr_merge.py": "they are marks that a scan has for ink",
    "ingestion/ocr/plausibility.py": "they are bytes of another encoding",
}


def said(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of the strings of a file that are no docstrings."""
    homes = (ast.Module, ast.ClassDef, ast.FunctionDef)
    explained = {
        id(node.body[0].value)
        for node in ast.walk(tree(path))
        if isinstance(node, homes) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained:
            yield node.lineno, node.value


@pytest.mark.parametrize("what", OF_LANGUAGE)
def test_only_the_room_of_language_knows(what: str) -> None:
    elsewhere = [
        path
        for path in house()
        if not name(path).startswith("ingestion/language/") and name(path) not in ALLOWED
    ]
    wrong = [
        f"{name(path)}:{line}: {found[0]}"
        for path in elsewhere
        for line, text in said(path)
        if (found := re.search(OF_LANGUAGE[what], text))
    ]
    assert not wrong, "Ask ingestion/language for it:\n" + "\n".join(wrong)


def test_what_is_allowed_to_say_words_of_language_still_says_some() -> None:
    needed = set()
    for path in house():
        for _, text in said(path):
            if any(re.search(pattern, text) for pattern in OF_LANGUAGE.values()):
                needed.add(name(path))
    assert needed >= set(ALLOWED)


CLOCKS = {"get_traced_memory", "getrusage", "perf_counter", "process_time", "thread_time"}


def measures_time_or_memory(function: ast.FunctionDef) -> bool:
    """A look at a clock of these, or a difference of two looks at the monotonic one, which others only
    wait by.
    """
    for node in ast.walk(function):
        match node:
            case ast.Attribute(attr=attr) if attr in CLOCKS:
                return True
            case ast.BinOp(left=ast.Call(func=ast.Attribute(attr="monotonic")), op=ast.Sub()):
                return True
    return False


def test_what_measures_time_or_memory_runs_alone() -> None:
    """... or says that it may run beside others: it measures its own process's time, or has a limit far
    off.
    """
    wrong = []
    for path in ROOT.glob("tests/**/test_*.py"):
        for node in tree(path).body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            marks = {ast.unparse(decorator) for decorator in node.decorator_list}
            marked = marks & {"pytest.mark.alone", "pytest.mark.timed"}
            if measures_time_or_memory(node) and not marked:
                wrong.append(f"{name(path)}:{node.lineno}")
    assert not wrong, f"Give them @pytest.mark.alone or timed: {wrong}"


def test_no_time_of_the_pages_is_in_words() -> None:
    """Streamlit reads "300ms" with pandas, which takes a second and 60 MB at the first page that has one."""
    for path in (ROOT / "chatbot" / "ui").rglob("*.py"):
        assert not re.search(r"""\b(?:live|run_every|ttl)=f?["']""", path.read_text("utf-8")), path
