"""Code blocks of Markdown pages, and the `console` ones of them run as a reader would; knows no page.

A `console` block holds lines of `$ finpolicy …`, which stands for `python -m chatbot`, with what each shows.
Of the shell it may use settings before the command, `< FILE`, `> FILE` and `$ echo $?`, which shows the exit
code before it. `$ cat FILE` shows a file, which is made by that where it is not there. "..." stands for any
text, on a line of its own for any lines.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.commands import run_in

__all__ = ["Block", "Reader", "blocks_of", "steps_of"]

ANYTHING = "..."
FENCE = re.compile(r"(?ms)^```([\w-]*)\n(.*?)^```$")
# What is told every ten seconds where something takes that long, as on a busy machine.
PROGRESS = re.compile(r"[a-z]+ .+: [0-9,]+ of [0-9,]+")
# What differs from run to run, or from processor to processor, with what is compared in its place.
UNSTABLE = (
    (re.compile(r"python -m chatbot"), "finpolicy"),
    (re.compile(r"\b\d+\.\d+ s\b"), "0.0 s"),
    (re.compile(r"\b[0-9a-f]{16,64}\b"), "KEY"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d"), "DAY TIME"),
    (re.compile(r"(?<![\w.])\d\.\d\d(?=\)| {2}|, piece)"), "0.00"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """info: the word behind the fence; line: of the file, from 1, where it opens."""

    path: Path
    line: int
    info: str
    text: str


def blocks_of(path: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text, blocks = path.read_text(encoding="utf-8"), list[Block]()
    for found in FENCE.finditer(text):
        blocks.append(Block(path, text.count("\n", 0, found.start()) + 1, found[1], found[2]))
    return blocks


def steps_of(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, without "$ ", with the lines that it shows."""
    for part in re.split(r"(?m)^\$ ", block.text)[1:]:
        command, _, shown = part.replace("\\\n", " ").partition("\n")
        yield command, shown.rstrip("\n").split("\n") if shown.strip() else []


@dataclass(slots=True)
class Reader:
    """Who follows a page in a folder with a store of their own."""

    folder: Path
    code: int = field(default=0, init=False)

    def follow(self, block: Block) -> list[str]:
        """Run a console block. Returns what differs, a text for each command."""
        wrong = []
        for command, shown in steps_of(block):
            got = self._take(command, shown)
            if not _is_like(shown, got):
                listed = "\n".join(f"    {line}" for line in got)
                wrong.append(f"{block.path.name}:{block.line}: $ {command}\n  shows\n{listed}")
        return wrong

    def _take(self, command: str, shown: Sequence[str]) -> list[str]:
        words = shlex.split(command)
        match words:
            case ["echo", "$?"]:
                said, self.code = [str(self.code)], 0
                return said
            case ["cat", name]:
                return self._show(self.folder / name, shown)
        if self.code:
            return [f"(the command before has ended with {self.code}, and nobody looked at it)"]
        return self._run(words)

    def _show(self, path: Path, shown: Sequence[str]) -> list[str]:
        if not path.exists():
            path.write_text("".join(f"{line}\n" for line in shown), encoding="utf-8")
        return path.read_text(encoding="utf-8").rstrip("\n").split("\n")

    def _run(self, words: list[str]) -> list[str]:
        settings = dict[str, str]()
        while re.match(r"[A-Z_]+=", words[0]):
            name, _, settings[name] = words.pop(0).partition("=")
        files = dict[str, Path]()
        while len(words) > 2 and words[-2] in {"<", ">"}:
            name = words.pop()
            files[words.pop()] = self.folder / name
        program, *arguments = words
        assert program == "finpolicy", f"a console block can run finpolicy only: {program}"
        given = files["<"].read_text(encoding="utf-8") if "<" in files else ""
        done = run_in(self.folder, self.folder / "home", *arguments, stdin=given, **settings)
        self.code, said = done.returncode, done.stdout
        if ">" in files:
            files[">"].write_text(said, encoding="utf-8")
            said = ""
        lines = [line.rstrip() for line in (said + done.stderr).rstrip("\n").splitlines()]
        return [line for line in lines if not PROGRESS.fullmatch(line)]


def _is_like(shown: Sequence[str], got: Sequence[str]) -> bool:
    """Whether all of `got` is what is shown, but for what is unstable and for what ANYTHING stands for."""
    pattern = "".join(_pattern(_stable(line)) for line in shown)
    return re.fullmatch(pattern, "".join(f"{_stable(line)}\n" for line in got)) is not None


def _pattern(line: str) -> str:
    if line.strip() == ANYTHING:
        return "(?:.*\n)*?"
    return ".*".join(map(re.escape, line.split(ANYTHING))) + "\n"


def _stable(line: str) -> str:
    for pattern, text in UNSTABLE:
        line = pattern.sub(text, line)
    return line.rstrip()
