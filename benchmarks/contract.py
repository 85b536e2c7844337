"""Runs the tests that hold for each implementation of a store, and prints how many passed, by test module.

    python benchmarks/contract.py [--processes N]

Each test runs with the real thing: SQLite and files, a Postgres, Chroma in a folder and on a server, kept
copies in a folder and in an object store.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import markdown_table

# As tests call an implementation -> its column.
IMPLEMENTATIONS = {
    "files": "files",
    "folder": "files",
    "postgres": "Postgres",
    "Postgres": "Postgres",
    "server": "Chroma server",
    "s3": "object store",
    "file": "object store in a folder",
}
COLUMNS = tuple(dict.fromkeys(IMPLEMENTATIONS.values()))
# What a test ran with: "test_it[postgres-1]".
ARGUMENTS = re.compile(r"\[(.+)\]$")
Outcomes = Mapping[str, Mapping[str, Counter[str]]]


def main() -> None:
    """Run and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--processes", default="auto", help="that run tests at the same time")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        named = " or ".join(f"[{name} or -{name}" for name in IMPLEMENTATIONS)
        arguments = ["-q", "-n", given.processes, "--junitxml", str(report), "-k", named, "-m", ""]
        command = [sys.executable, "-m", "pytest", "tests/chatbot", *arguments]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        outcomes = outcomes_of(ElementTree.parse(report).iter("testcase"))
    print(table(outcomes))


def outcomes_of(tests: Iterable[ElementTree.Element]) -> Outcomes:
    """Module -> column -> how many tests ended how, for the modules that know several implementations."""
    found: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for test in tests:
        arguments = ARGUMENTS.search(test.get("name", ""))
        words = arguments[1].split("-") if arguments else []
        columns = [IMPLEMENTATIONS[word] for word in words if word in IMPLEMENTATIONS]
        if columns:
            module = test.get("classname", "").rsplit(".", 1)[-1].removeprefix("test_")
            found[module][columns[0]][outcome_of(test)] += 1
    return {module: columns for module, columns in found.items() if len(columns) > 1}


def outcome_of(test: ElementTree.Element) -> str:
    """How a test ended."""
    for ending in ("failure", "error", "skipped"):
        if test.find(ending) is not None:
            return ending
    return "passed"


def table(outcomes: Outcomes) -> str:
    """A row for each module."""
    rows = []
    for module in sorted(outcomes):
        cells = [cell_of(outcomes[module].get(column, Counter())) for column in COLUMNS]
        rows.append([module.replace("_", " "), *cells])
    return markdown_table(["tests of", *COLUMNS], rows)


def cell_of(counted: Counter[str]) -> str:
    """Passed of all, "–" where a module does not know the implementation."""
    if not counted:
        return "–"
    return f"{counted['passed']}/{counted.total()}"


if __name__ == "__main__":
    main()
