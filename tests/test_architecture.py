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

from tests.commands import run_python

ROOT = Path(__file__).resolve().parent.parent

# The single modules of chatbot/ that all rooms stand on. A new one is entered here: the moment to ask whether
# it belongs in a folder.
GROUND = set(
    "calculator comparison errors forms mark_lines models question_reading records serialize settings "
    "usage_text user_settings".split()
)

# The arrows, one way: entry, ui, cli, mcp_server, api -> app -> audit -> service -> asking -> memory ->
# search -> store -> ground -> ingestion, and asking -> lookup -> search, answer -> evidence -> ground, and
# asking -> tools -> ground. A room knows itself and what lies below it; answer and search do not know each
# other.
BELOW: dict[str, set[str]] = {"ingestion": set(), "ground": {"ingestion"}}
BELOW["store"] = {"ground", *BELOW["ground"]}
BELOW["search"] = {"store", *BELOW["store"]}
BELOW["memory"] = {"search", *BELOW["search"]}
BELOW["evidence"] = {"ground", *BELOW["ground"]}
BELOW["answer"] = {"evidence", *BELOW["evidence"]}
BELOW["lookup"] = {"search", "answer", *BELOW["search"], *BELOW["answer"]}
BELOW["tools"] = {"ground", *BELOW["ground"]}
BELOW["asking"] = {"memory", "lookup", "tools", *BELOW["memory"], *BELOW["lookup"]}
BELOW["service"] = {"asking", *BELOW["asking"]}
BELOW["audit"] = {"service", *BELOW["service"]}
BELOW["app"] = {"audit", *BELOW["audit"]}
BELOW |= {shell: {"app", *BELOW["app"]} for shell in ("cli", "api")}
# It has the API's callers, and the forms of what goes in and out.
BELOW["mcp_server"] = {"api", *BELOW["api"]}
# The pages' server runs the others beside the pages.
BELOW["ui"] = {"cli", "api", "mcp_server", *BELOW["api"]}
# Programs in Python get what the API gives, and the memories by the names of the programs before.
BELOW["finpolicy"] = {"api", *BELOW["api"]}
BELOW |= {entry: {"ui", "cli", "api", "mcp_server", *BELOW["ui"]} for entry in ("entry", "__main__")}

# What answers --help must not wait for these.
# What users of one module bring along; pandas comes with Streamlit.
BROUGHT_ALONG = {
    "finpolicy/langchain_retriever.py": "langchain_core",
    "finpolicy/llamaindex_retriever.py": "llama_index",
    "finpolicy/results.py": "pandas",
}

HEAVY = """
    anthropic chromadb langchain langchain_core langchain_text_splitters mcp onnxruntime openai pandas
    pgvector psycopg streamlit
""".split()

# The starter of the reading processes hands a few harmless variables on; nothing else but the settings reads
# any.
MAY_READ_ENVIRONMENT = {
    "chatbot/settings.py",
    # What they find is what the module that starts reading processes hands on.
    "ingestion/reading/office.py",
    "ingestion/reading/reader.py",
}

# Written in pieces, so that this file does not say what it forbids.
IN_PIECES = """
    py|pi.org python|hosted.org npm|js.org deb.|debian.org proxy.|golang.org
"""
HOSTS = IN_PIECES.replace("|", "").split()
FORBIDDEN = {
    "a registry's host": re.compile("|".join(map(re.escape, HOSTS))),
    "a path of one machine": re.compile(r"(?<![\w.~-])/(?:work|root|home/[a-z]\w*|Users/\w+)/"),
}


# A memory's folder holds its part of two shells: its tab on the Memory page, and its commands. They are
# theirs, and no other module of a memory may import them.
SHELL_PARTS = re.compile(r"chatbot\.memory\.\w+\.\w+_(?P<part>tab|commands)")


def house() -> list[Path]:
    """The files of the product itself."""
    packages = ("chatbot", "finpolicy", "ingestion")
    modules = [path for package in packages for path in ROOT.glob(f"{package}/**/*.py")]
    return [path for path in (ROOT / "app.py", *modules) if path.exists()]


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
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout: git cannot tell which files belong to it")
    names = filter(None, done.stdout.split("\0"))
    paths = [ROOT / name for name in names]
    return [path for path in paths if path.is_file()]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def top_of(module: str) -> str:
    """The package at its top."""
    top, _, _ = module.partition(".")
    return top


def room_of(module: str) -> str | None:
    """The room of one of our modules; None for anything from elsewhere. An unknown room is its own name,
    which no arrow reaches.
    """
    if found := SHELL_PARTS.fullmatch(module):
        shells = {"tab": "ui", "commands": "cli"}
        return shells[found["part"]]
    top, *rest = module.split(".")
    if top == "app":
        return "entry"
    if top in {"finpolicy", "ingestion"}:
        return top
    if top != "chatbot":
        return None
    if not rest or rest[0] in GROUND:
        return "ground"
    return rest[0]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import anywhere in the file; `from chatbot import x` counts as chatbot.x."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                is_module = module == "chatbot" or SHELL_PARTS.fullmatch(whole)
                yield node.lineno, whole if is_module else module


def test_every_module_stands_in_a_known_room() -> None:
    unknown = [name(path) for path in house() if room_of(module_of(path)) not in BELOW]
    assert not unknown, f"Give them a room, or enter them in GROUND: {unknown}"


def test_imports_follow_the_arrows() -> None:
    wrong = []
    for path in house():
        here = room_of(module_of(path)) or ""
        for line, module in imports(path):
            there = room_of(module)
            known = {None, here, *BELOW.get(here, set())}
            if module.startswith(".") or there not in known:
                wrong.append(f"{name(path)}:{line} ({here}) imports {module} ({there})")
    assert not wrong, "\n".join(wrong)


def folder_of(module: str) -> str:
    """The folder of a module in a room, "" where it stands in none."""
    match module.split("."):
        case ["chatbot", room, folder, _, *_]:
            return f"chatbot.{room}.{folder}"
    return ""


def test_folders_of_a_room_do_not_import_one_another_in_circles() -> None:
    needs: dict[str, set[str]] = {}
    for path in house():
        here = folder_of(module_of(path))
        if here:
            folders = {folder_of(module) for _, module in imports(path)}
            needs.setdefault(here, set()).update(folders - {"", here})
    TopologicalSorter(needs).prepare()  # raises CycleError


def test_streamlit_stays_in_the_user_interface_and_the_tabs_of_the_memories() -> None:
    wrong = []
    for path in house():
        if room_of(module_of(path)) in {"entry", "ui"}:
            continue
        for line, module in imports(path):
            if top_of(module) == "streamlit":
                wrong.append(f"{name(path)}:{line}")
    assert not wrong


# What Streamlit documents, and its messages.
DOCUMENTED = re.compile(r"streamlit(\.(typing|errors|delta_generator|proto\.\w+))?")


def test_one_module_reaches_into_streamlit() -> None:
    wrong = []
    for path in house():
        if path.name != "streamlit_internals.py":
            named = [module for _, module in imports(path) if top_of(module) == "streamlit"]
            wrong += [f"{name(path)}: {module}" for module in named if not DOCUMENTED.fullmatch(module)]
    assert not wrong


def test_every_module_says_what_it_knows() -> None:
    assert not [name(path) for path in python_files() if not ast.get_docstring(tree(path))]


def test_the_command_line_loads_nothing_heavy_first() -> None:
    if not (ROOT / "chatbot" / "cli").exists():
        pytest.skip("there is no chatbot/cli yet")
    done = run_python("-X", "importtime", "-m", "chatbot", "--help")
    assert done.returncode == 0, done.stderr[-2_000:]
    modules = re.findall(r"(?m)^import time:.*\| *(\S+)$", done.stderr)
    loaded = set(map(top_of, modules))
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
    wrong = []
    for path in house():
        if name(path) not in MAY_READ_ENVIRONMENT:
            wrong += [f"{name(path)}:{line}" for line in environment_reads(path)]
    assert not wrong


SILENCED = {"chatbot", "chromadb", "langchain_chroma", "onnxruntime"}


def test_what_loads_onnxruntime_outside_the_package_loads_the_package_before() -> None:
    """It says there that nothing is to be told to anybody; tests/test_nothing_leaves.py watches that."""
    for path in python_files():
        if room_of(module_of(path)):
            continue
        tops = [top_of(module) for _, module in imports(path)]
        loaded = [top for top in tops if top in SILENCED]
        assert loaded[:1] in ([], ["chatbot"]), path


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_names(what: str) -> None:
    wrong = []
    for path in tracked_files():
        data = path.read_bytes()
        if b"\0" in data[:8_192]:
            continue
        lines = data.decode("utf-8", "replace").splitlines()
        for number, line in enumerate(lines, 1):
            if found := FORBIDDEN[what].search(line):
                wrong.append(f"{name(path)}:{number}: {found[0]}")
    assert not wrong, f"No file names {what}:\n" + "\n".join(wrong)


LOCKED = sorted(ROOT.glob("requirements*.txt"))


@pytest.mark.parametrize("path", LOCKED, ids=lambda path: path.name)
def test_requirements_are_locked_with_hashes_and_name_no_registry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    without_hashes = re.sub(r"--hash=\S+", "", text)
    assert not re.findall(r"(?m)^\s*(?:-\S+(?<!--hash)\s|.*://).*", without_hashes)
    _, *pins = re.split(r"(?m)^(?=\S)", text)
    assert pins
    locked = re.compile(r"[\w.\[\],-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", re.DOTALL)
    loose = [pin.splitlines()[0] for pin in pins if not locked.match(pin)]
    assert not loose


def written(package: str) -> str:
    """A package's name as all write it."""
    return package.replace("_", "-").lower()


def test_every_imported_package_is_asked_for() -> None:
    """What is imported but only came along with another package may be gone after the next lock."""
    asked = set()
    for file in ("requirements.in", "requirements-signals.in", "requirements-served.in"):
        text = (ROOT / file).read_text(encoding="utf-8")
        asked |= set(map(written, re.findall(r"(?m)^([\w.-]+)", text)))
    given = metadata.packages_distributions()
    wrong = set()
    for path in house():
        for _, module in imports(path):
            top = top_of(module)
            names = set(map(written, given.get(top, [top])))
            brought = BROUGHT_ALONG.get(name(path)) == top
            of_others = top not in sys.stdlib_module_names and room_of(module) is None and not brought
            if of_others and not names & asked:
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
        chosen = {option: given[section].get(option) for option in wanted}
        assert chosen == wanted
    hosts = given["server"]["allowedHosts"]
    assert set(hosts) == {"localhost", "127.0.0.1", "::1"}
    done = run_python("-m", "streamlit", "config", "show")
    done.check_returncode()
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
    "chatbot/answer/verification/probe.py": "it has a page of a report for example",
    "chatbot/memory/signals/analysis.py": "it asks a model for codes of assets, some of them for example",
    "chatbot/memory/signals/signal_tab.py": "a field's help has them for example",
    "ingestion/ocr/ocr_merge.py": "they are marks that a scan has for ink",
    "ingestion/ocr/plausibility.py": "they are bytes of another encoding",
}


def said(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of the strings of a file that are no docstrings."""
    explained = set[ast.expr]()
    for node in ast.walk(tree(path)):  # parents come before their parts
        match node:
            case (
                ast.Module(body=[ast.Expr(value), *_])
                | ast.ClassDef(body=[ast.Expr(value), *_])
                | ast.FunctionDef(body=[ast.Expr(value), *_])
            ):
                explained.add(value)
            case ast.Constant(value=str(text)) if node not in explained:
                yield node.lineno, text


@pytest.mark.parametrize("what", OF_LANGUAGE)
def test_only_the_room_of_language_knows(what: str) -> None:
    sign = re.compile(OF_LANGUAGE[what])
    wrong = []
    for path in house():
        if name(path).startswith("ingestion/language/") or name(path) in ALLOWED:
            continue
        for line, text in said(path):
            if found := sign.search(text):
                wrong.append(f"{name(path)}:{line}: {found[0]}")
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
            marks = set(map(ast.unparse, node.decorator_list))
            marked = marks & {"pytest.mark.alone", "pytest.mark.timed"}
            if measures_time_or_memory(node) and not marked:
                wrong.append(f"{name(path)}:{node.lineno}")
    assert not wrong, f"Give them @pytest.mark.alone or timed: {wrong}"


def test_no_time_of_the_pages_is_in_words() -> None:
    """Streamlit reads "300ms" with pandas, which takes a second and 60 MB at the first page that has one."""
    for path in (ROOT / "chatbot" / "ui").rglob("*.py"):
        text = path.read_text("utf-8")
        assert not re.search(r"""\b(?:live|run_every|ttl)=f?["']""", text), path
