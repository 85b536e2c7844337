"""Tests whether the store survives being killed.

SIGKILL stops additions, replacements, removals, restorations and rebuilds; then the store is examined.

    python benchmarks/crash.py [--kills 200] [--real 40] [--seed 1] [--keep FOLDER]

Each command runs through the command line in a process of its own, and is killed with all that it started;
one time in four the reading processes are left running. --real: how many run as `python -m chatbot` with the
embedded model and are killed at random moments. The others run with a cheap embedder; they are killed when
they begin or end a step drawn at random, or a moment later.

After each kill `doctor` must find nothing. Every document must be as it was before the command or as it
should be after it, with the text of its file, and each page must be found by a word of its own. No file may
hold anything of what is gone. Exit code 1 if that fails once. The seed determines the plan, but not the
moments of the kills.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.crash_checks import Contents, Shown, embedding_repeated, faults, look, ocr_repeated, phase_of
from benchmarks.crash_files import File, make_files
from benchmarks.crash_report import Tally, report
from benchmarks.processes import process_tree

if TYPE_CHECKING:
    from benchmarks.crash_process import Moment

# Names that documents have.
NAMES = [f"Paper {letter}.pdf" for letter in "ABCDEFGH"]
# A short campaign has no use for all of them; this many kills are worth one more file than the fewest.
FEWEST_FILES, KILLS_A_FILE = 6, 5
# Steps that a command can be killed at; "opening" comes in each of them.
ADDING = (
    "opening copying naming noting reading ocr drafting storing wording showing ceasing embedding "
    "placing flipping looking refilling following aligning"
    " closing"
).split()
REMOVING = ["opening", "hiding", "naming", "closing"]
PURGING = (
    "opening hiding naming wording placing erasing dropping aligning rewording compacting closing"
).split()
KILLED_AT = {
    "add": ADDING,
    "replace": ADDING,
    "remove": REMOVING,
    "purge": PURGING,
    "restore": ["opening", "showing", "naming", "closing"],
    "rebuild": [*ADDING, "erasing", "rewording"],
    "doctor": ["opening", "aligning", "closing"],
}
WEIGHTS = {"add": 5, "replace": 6, "remove": 3, "purge": 4, "restore": 4, "rebuild": 1, "doctor": 1}
# Seconds: what a command may take at all; what a real one is expected to, until one has shown it.
LONGEST, EXPECTED = 120.0, 4.0
# One time in so many the reading processes outlive their parent.
LEFT_ALONE = 4
# How much likelier a file is added that is not there than one that is.
FRESH = 8
SUBREAPER = 36
MOST_SHOWN = 50
Choice = tuple[str, list[str], dict[str, Shown | None]]


class Campaign:
    """One store that is used and killed over and over. Knows what must be in it."""

    def __init__(self, folder: Path, files: Mapping[str, File], draw: random.Random, *, cheap: bool) -> None:
        self._folder, self._files, self._draw, self._cheap = folder, files, draw, cheap
        self._home = folder / "home"
        for new in (self._home, folder / "temporary"):
            new.mkdir(parents=True)
        self._seconds: dict[str, float] = {}
        self._contents = look(self._home)
        self._runs = 0

    def kill_one(self, tally: Tally) -> None:
        """Run one command, kill it, look at what is left. A command that ends before its moment counts as
        completed.
        """
        kind, arguments, after = self._choose()
        before = self._contents.shown
        self._runs += 1
        log, output = self._folder / f"{self._runs}.log", self._folder / f"{self._runs}.out"
        log.write_text("")
        killed = self._run(kind, arguments, log, output)
        left = look(self._home)
        lines = log.read_text().splitlines()
        phase = _last_step(lines) if self._cheap else phase_of(self._home, left)
        when = f"kill {self._runs} ({'cheap' if self._cheap else 'real'}), {' '.join(arguments)}, at {phase}"
        if killed:
            tally.kills[kind, phase] += 1
            tally.real += not self._cheap
        else:
            tally.completed += 1
        acknowledged = {
            row["document"]
            for row in map(json.loads, output.read_text().splitlines())
            if row.get("status", "failed") != "failed"
        }
        self._examine(tally, when)
        now = self._contents = look(self._home)
        for name in sorted({*before, *after, *now.shown}):
            due = [before.get(name), after.get(name, before.get(name))]
            if name in after and (name in acknowledged or not killed):
                due = [after[name]]
            if now.shown.get(name) not in due:
                tally.add("lost documents", [f"{name} is {now.shown.get(name)}, not {due}"], when)
        tally.add("half documents", faults(self._home, now, self._files), when)
        afterwards = self._log("doctor").read_text().splitlines()
        errors = self._folder / "errors.txt"
        tally.add("repeated work", [line for line in errors.read_text().splitlines() if "anew" in line], when)
        errors.unlink()
        again = embedding_repeated(left, now, afterwards)
        tally.add("repeated work", [f"{again} bytes of vectors were made again"] if again else [], when)
        pages = ocr_repeated(lines, afterwards)
        tally.add("repeated work", [f"{pages} pages were read by OCR again"] if pages else [], when)

    def fill(self, uploads: Sequence[Path]) -> Contents:
        """Add files and leave them be."""
        command = ["add", *map(str, uploads), "--json"]
        code = self._fork([(command, self._folder / "fill.out")], self._log("fill"))
        if code:
            raise SystemExit(f"The files cannot be added: {(self._folder / 'fill.out').read_text()}")
        return look(self._home)

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _choose(self) -> Choice:
        """(kind, arguments, how documents it speaks of should stand after)."""
        shown, before = self._contents.shown, self._contents.before
        live, hidden = (
            [name for name in shown if not shown[name].removed],
            [name for name in shown if shown[name].removed],
        )
        undoable = [name for name in live if name in before]
        free = [name for name in NAMES if name not in shown]
        possible = {
            "add": free,
            "replace": live,
            "remove": live,
            "purge": [*live, *hidden],
            "restore": [*hidden, *undoable],
            "rebuild": live,
        }
        possible["doctor"] = ["any"]
        kinds = [kind for kind in WEIGHTS if possible[kind]]
        kind = self._draw.choices(kinds, [WEIGHTS[kind] for kind in kinds])[0]
        if kind in {"rebuild", "doctor"}:
            return kind, [kind, "--json"], {}
        name = self._draw.choice(possible[kind])
        if kind in {"add", "replace"}:
            return self._addition(
                kind, [name] if kind == "replace" or self._draw.random() < 0.5 else free[:3]
            )
        if kind == "restore":
            return (
                kind,
                ["restore", name, "--json"],
                {name: Shown(shown[name].sha256 if name in hidden else before[name], False)},
            )
        purge = ["--purge"] if kind == "purge" else []
        return (
            kind,
            ["remove", name, *purge, "--json"],
            {name: None if purge else Shown(shown[name].sha256, True)},
        )

    def _addition(self, kind: str, names: Sequence[str]) -> Choice:
        folder = self._folder / f"in-{self._runs}"
        folder.mkdir()
        there = {sha256 for sha256, _, _ in self._contents.versions.values()}
        # Bytes that are there already need no reading: seldom.
        weights = [1 if file in there else FRESH for file in self._files]
        chosen = [self._draw.choices([*self._files.values()], weights)[0] for _ in names]
        paths = [shutil.copy(file.path, folder / name) for name, file in zip(names, chosen, strict=True)]
        shown: dict[str, Shown | None] = {}
        for name, file in zip(names, chosen, strict=True):
            shown[name] = Shown(file.sha256, False)
        return kind, ["add", *map(str, paths), "--json"], shown

    # --- processes
    # --------------------------------------------------------------------------------------------------------

    def _run(self, kind: str, arguments: list[str], log: Path, output: Path) -> bool:
        """Whether the command was killed before it ended."""
        left_alone = self._draw.randrange(LEFT_ALONE) == 0
        if not self._cheap:
            moment = time.monotonic() + self._draw.uniform(0.15, 1.0) * self._seconds.get(kind, EXPECTED)
            started = time.monotonic()
            command = [sys.executable, "-m", "chatbot", *arguments]
            with output.open("wb") as file:
                child = subprocess.Popen(
                    command,
                    cwd=ROOT,
                    env=self._environment(),
                    stdout=file,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            killed = _end_of(child.pid, left_alone=left_alone, moment=moment) == -signal.SIGKILL
            if not killed:
                self._seconds[kind] = time.monotonic() - started
            return killed
        from benchmarks.crash_process import Moment

        line = f"{self._draw.choice('<>')} {self._draw.choice(KILLED_AT[kind])}"
        pause = self._draw.choice([0.0, 0.0, self._draw.expovariate(200.0), self._draw.expovariate(20.0)])
        last = Moment(line, self._draw.choice([1, 1, 1, 2]), pause)
        return self._fork([(arguments, output)], log, last=last, left_alone=left_alone) == -signal.SIGKILL

    def _examine(self, tally: Tally, when: str) -> None:
        """What the program itself says of the store: `doctor` nothing, `search` each page of what is there
        and none of what is not.
        """
        rows = [
            {"id": [file.sha256, page], "query": word}
            for file in self._files.values()
            for page, word in file.words
        ]
        queries, found, hits = (
            self._folder / "queries.jsonl",
            self._folder / "doctor.out",
            self._folder / "search.out",
        )
        queries.write_text("\n".join(map(json.dumps, rows)))
        self._log("doctor").write_text("")
        commands = [
            (["doctor", "--json"], found),
            (["search", "--batch", "--mode", "keyword", "--json"], hits),
        ]
        code = self._fork(commands, self._log("doctor"), standard_input=queries)
        tally.add(
            "doctor findings", [f"exit code {code}"] * (code != 0) + found.read_text().splitlines(), when
        )
        shown = look(self._home).shown.items()
        for row in map(json.loads, hits.read_text().splitlines() if hits.exists() else ()):
            (sha256, page), words = row["id"], dict(self._files[row["id"][0]].words)
            names = {name for name, document in shown if document.sha256 == sha256 and not document.removed}
            best = [(hit["document"], hit["page"]) for hit in row["hits"] if words[page] in hit["text"]]
            if names and (not best or best[0][1] != page or best[0][0] not in names):
                tally.add(
                    "lost documents",
                    [f"{words[page]} of {sorted(names)}, page {page}, is found at {best}"],
                    when,
                )
            if not names and best:
                tally.add(
                    "half documents", [f"{words[page]}, which is hidden or gone, is found at {best}"], when
                )

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "FINPOLICY_HOME": str(self._home),
            "TMPDIR": str(self._folder / "temporary"),
            "PYTHONPATH": str(ROOT),
        }

    def _fork(
        self,
        commands: Sequence[tuple[Sequence[str], Path]],
        log: Path,
        *,
        last: Moment | None = None,
        left_alone: bool = False,
        standard_input: Path = Path(os.devnull),
    ) -> int:
        """Commands in a process made from this one, which has the slow imports behind it; its exit code."""
        child = os.fork()
        if child:
            return _end_of(child, left_alone=left_alone)
        code = 70
        with contextlib.suppress(BaseException):
            os.setsid()
            os.environ.update(self._environment())
            tempfile.tempdir = None
            os.dup2(os.open(standard_input, os.O_RDONLY), 0)
            os.dup2(os.open(self._folder / "errors.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            from benchmarks.crash_process import NEVER, run_commands

            code = run_commands(commands, log, cheap=self._cheap, last=last or NEVER)
        os._exit(code)


def _end_of(process: int, *, left_alone: bool, moment: float = math.inf) -> int:
    """Its exit code, -9 where it was killed: by itself, or here at `moment` (monotonic). left_alone: what it
    had started ends by itself, if it does. One that hangs is killed by SIGABRT."""
    end = time.monotonic() + LONGEST
    while not (found := os.waitpid(process, os.WNOHANG))[0]:
        now = time.monotonic()
        if now >= min(moment, end):
            os.kill(process, signal.SIGKILL if now >= moment else signal.SIGABRT)
            moment = end = math.inf
        time.sleep(0.001)
    if not left_alone:
        _kill_orphans()
    return os.waitstatus_to_exitcode(found[1])


def _last_step(lines: Sequence[str]) -> str:
    """The last step that a log names as begun or ended; "starting" before the first."""
    return next((line[2:] for line in reversed(lines) if line[:2] in {"> ", "< "}), "starting")


def _kill_orphans() -> None:
    """Kill what killed processes had started, which became ours."""
    for orphan in process_tree(os.getpid())[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def with_texts(files: Sequence[File], folder: Path) -> dict[str, File]:
    """The files by hash, with the texts of their pages and their tables as an undisturbed addition reads
    them.
    """
    contents = Campaign(folder, {}, random.Random(0), cheap=True).fill([file.path for file in files])
    texts = {sha256: contents.texts[version] for version, (sha256, _, _) in contents.versions.items()}
    for file in files:
        assert all(word in texts[file.sha256][page - 1] for page, word in file.words), file.path
    tables = {
        sha256: contents.tables.get(version, 0) for version, (sha256, _, _) in contents.versions.items()
    }
    assert any(tables.values())
    return {
        file.sha256: replace(file, texts=texts[file.sha256], tables=tables[file.sha256]) for file in files
    }


# --- the command
# ------------------------------------------------------------------------------------------------------------


def run(kills: int, real: int, seed: int, folder: Path) -> Tally:
    """So many kills, `real` of them of the real command line."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    import chatbot  # noqa: F401, I001  # before Chroma, as everywhere: see there
    import chromadb  # noqa: F401  # before any fork, since each would import it again

    import benchmarks.crash_process  # noqa: F401
    import tests.fakes  # noqa: F401

    draw, tally = random.Random(seed), Tally()
    (folder / "files").mkdir()
    files = with_texts(
        list(make_files(folder / "files", draw, FEWEST_FILES + kills // KILLS_A_FILE)), folder / "reference"
    )
    real_ones = Campaign(folder / "real", files, random.Random(seed + 1), cheap=False)
    cheap_ones = Campaign(folder / "cheap", files, random.Random(seed + 2), cheap=True)
    while (done := tally.kills.total()) < kills:
        (real_ones if tally.real < real else cheap_ones).kill_one(tally)
        if sys.stderr.isatty():
            print(f"\r{done + 1} of {kills} kills, {len(tally.faults)} faults", end="", file=sys.stderr)
    _kill_orphans()
    return tally


def main() -> int:
    """0 where nothing was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200, help="how many (default 200)")
    parser.add_argument(
        "--real",
        type=int,
        default=40,
        help="how many of them with the embedded model, at random moments (default 40)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="for the files, the commands and the steps they are killed at (default 1)",
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="work in this new folder, and leave it there"
    )
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="crash-", ignore_cleanup_errors=True))
        )
        folder.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        tally = run(options.kills, min(options.real, options.kills), options.seed, folder.resolve())
    print(f"python benchmarks/crash.py --kills {options.kills} --real {options.real} --seed {options.seed}")
    print(report(tally))
    for kind, line in tally.faults[:MOST_SHOWN]:
        print(f"{kind}: {line}")
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
