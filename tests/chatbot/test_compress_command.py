"""The `compress` command as other programs call it: real processes, files of JSON lines in, objects out,
no store opened.
"""

import json
import subprocess
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.case_rows import case_rows
from tests.commands import run as run_command

FIGURE = "The programme will cost $4.5 million (page 8)."
SAID = [
    f"Well, that number {at} was a nice chat indeed. Shall we go on? Yes, let us do so." for at in range(40)
]
FIELDS = (
    "compressed original_tokens compressed_tokens target_tokens tail_tokens chunks chunks_compressed "
    "chunks_removed"
)


# However short, what is said is compressed.
ALWAYS = ("--max-tokens", 1)
Done: TypeAlias = subprocess.CompletedProcess[str]


def run(path: Path, *options: object, **environment: str) -> Done:
    """The command with the conversation at `path`, beside which a home would be."""
    done = run_command(path.parent / "home", "compress", path, *options, **environment)
    assert "Traceback" not in done.stderr
    return done


def lines(done: Done) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def line_of(done: Done) -> dict[str, Any]:
    """The only one."""
    (line,) = lines(done)
    return line


def write(path: Path, rows: list[Any]) -> Path:
    """A file of a row a line; one that is no text is written as JSON."""
    written = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_bytes("\n".join(written).encode("utf-8", "surrogatepass"))
    return path


@pytest.fixture
def said(tmp_path: Path) -> Path:
    contents = [FIGURE, *SAID, "Thanks.", "You are welcome."]
    rows = [{"id": f"m{at}", "role": "user", "content": text} for at, text in enumerate(contents)]
    return write(tmp_path / "said.jsonl", rows)


def test_one_object_tells_what_is_left(said: Path) -> None:
    line = line_of(run(said, *ALWAYS, "--json"))
    assert list(line) == ["id", "context", "kept", "stats"]
    assert line["id"] is None
    context = line["context"]
    assert all(list(message) == ["role", "content"] for message in context)
    first, *_, thanks, welcome = [message["content"] for message in context]
    assert first == FIGURE
    assert thanks == "Thanks."
    assert welcome == "You are welcome."
    kept = line["kept"]
    assert list(kept) == [f"m{at}" for at in range(43)]
    assert kept["m0"] == 1.0
    stats = line["stats"]
    assert set(stats) > set(FIELDS.split())
    assert 0.4 < stats["compressed_tokens"] / stats["original_tokens"] <= 0.5


def test_no_store_is_opened_and_the_threshold_holds(said: Path) -> None:
    line = line_of(run(said, "--json"))
    assert not line["stats"]["compressed"]
    assert set(line["kept"].values()) == {1.0}
    assert not (said.parent / "home").exists()


QUERIES = """{"id": "a", "query": "What does the programme cost?"}

{"id": 7, "query": "number 33?"}"""


def test_each_query_has_its_own_object_in_order(said: Path) -> None:
    queries = said.with_name("queries.jsonl")
    queries.write_text(QUERIES)
    options = (*ALWAYS, "--ratio", 0.1, "--keep-last", 0, "--queries", queries)
    for more in ([], ["--no-vectors"]):
        done = run(said, *options, *more)
        first, second = lines(done)
        assert first["id"] == "a"
        assert first["kept"]["m0"] == 1.0
        assert second["id"] == 7
        assert second["kept"]["m34"] == 1.0
    assert not (said.parent / "home" / "chroma_db").exists()


OPTIONS = """
--ratio | 0.2
--keep-last | 9
--scoring | seed
--rho | 0.2
--query | number 17?
"""


def test_every_option_reaches_the_compression(said: Path) -> None:
    def compressed(*options: object) -> dict[str, Any]:
        done = run(said, *ALWAYS, "--json", *options)
        return line_of(done)

    plain = compressed()
    for option, given in case_rows(OPTIONS):
        assert compressed(option, given) != plain
    seeded = ("--scoring", "seed", "--rho", 0)
    little_shared = compressed(*seeded, "--gamma", 0.5)
    much_shared = compressed(*seeded, "--gamma", 9)
    assert little_shared != much_shared


def test_without_json_the_conversation_is_printed(said: Path) -> None:
    printed = run(said, *ALWAYS, "--ratio", 0.1).stdout
    assert printed.startswith(f"user: {FIGURE}\n\nuser: ")
    assert "tokens kept;" in printed.splitlines()[-1]


# "\\n" parts the lines of a file.
BAD_LINES = """
{ | line 1: this is not JSON
\\n[1] | line 2: this is not an object
{"id": "a", "role": "user"} | line 1: id, role or content
{"id": true, "role": "user", "content": ""} | line 1: id, role or content
{"id": "1", "role": "user", "content": ""}\\n{"id": 1, "role": "user", "content": ""} | line 2: the id '1' \
appears twice
"""


UNENCODABLE = ("\ud800", "line 1: this is not JSON")


@pytest.mark.parametrize(("text", "told"), [*case_rows(BAD_LINES), UNENCODABLE], ids=range(6))
def test_bad_lines_are_named_with_the_fix(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path / "bad.jsonl", text.split("\\n"))
    done = run(path, "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"{path}, {told}" in done.stderr
    assert "A line is {" in done.stderr


def test_one_query_or_a_file_of_them(said: Path) -> None:
    done = run(said, "--query", "a", "--queries", said)
    assert done.returncode == 2
