"""The `compress` command as other programs call it: real processes, files of JSON lines in, objects out,
no store opened.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands import run as run_command

FIGURE = "The programme will cost $4.5 million (page 8)."
SAID = [
    f"Well, that number {at} was a nice chat indeed. Shall we go on? Yes, let us do so." for at in range(40)
]
FIELDS = {
    "compressed",
    "original_tokens",
    "compressed_tokens",
    "target_tokens",
    "tail_tokens",
    "chunks",
    "chunks_compressed",
    "chunks_removed",
}


def run(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    done = run_command(folder / "home", "compress", *arguments, **environment)
    assert "Traceback" not in done.stderr
    return done


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8"
    )
    return path


@pytest.fixture
def said(tmp_path: Path) -> Path:
    contents = [FIGURE, *SAID, "Thanks.", "You are welcome."]
    return write(
        tmp_path / "said.jsonl",
        [{"id": f"m{at}", "role": "user", "content": text} for at, text in enumerate(contents)],
    )


def test_one_object_tells_what_is_left(said: Path) -> None:
    (line,) = lines(run(said.parent, said, "--max-tokens", 1, "--json"))
    assert list(line) == ["id", "context", "kept", "stats"] and line["id"] is None
    assert all(list(message) == ["role", "content"] for message in line["context"])
    assert line["context"][0]["content"] == FIGURE
    assert [message["content"] for message in line["context"][-2:]] == ["Thanks.", "You are welcome."]
    assert list(line["kept"]) == [f"m{at}" for at in range(43)] and line["kept"]["m0"] == 1.0
    assert set(line["stats"]) > FIELDS
    assert 0.4 < line["stats"]["compressed_tokens"] / line["stats"]["original_tokens"] <= 0.5


def test_no_store_is_opened_and_the_threshold_holds(said: Path) -> None:
    (line,) = lines(run(said.parent, said, "--json"))
    assert not line["stats"]["compressed"] and set(line["kept"].values()) == {1.0}
    assert not (said.parent / "home").exists()


def test_each_query_has_its_own_object_in_order(said: Path) -> None:
    queries = write(
        said.parent / "queries.jsonl",
        [{"id": "a", "query": "What does the programme cost?"}, "", {"id": 7, "query": "number 33?"}],
    )
    for more in ([], ["--no-vectors"]):
        first, second = lines(
            run(
                said.parent,
                said,
                "--max-tokens",
                1,
                "--ratio",
                0.1,
                "--keep-last",
                0,
                "--queries",
                queries,
                *more,
            )
        )
        assert (first["id"], second["id"]) == ("a", 7)
        assert first["kept"]["m0"] == 1.0 and second["kept"]["m34"] == 1.0
    assert not (said.parent / "home" / "chroma_db").exists()


def test_every_option_reaches_the_compression(said: Path) -> None:
    plain = lines(run(said.parent, said, "--max-tokens", 1, "--json"))
    for options in (
        ["--ratio", 0.2],
        ["--keep-last", 9],
        ["--scoring", "seed"],
        ["--rho", 0.2],
        ["--query", "number 17?"],
    ):
        assert lines(run(said.parent, said, "--max-tokens", 1, "--json", *options)) != plain
    sharings = [
        lines(
            run(
                said.parent,
                said,
                "--max-tokens",
                1,
                "--json",
                "--scoring",
                "seed",
                "--rho",
                0,
                "--gamma",
                gamma,
            )
        )
        for gamma in (0.5, 9)
    ]
    assert sharings[0] != sharings[1]


def test_without_json_the_conversation_is_printed(said: Path) -> None:
    done = run(said.parent, said, "--max-tokens", 1, "--ratio", 0.1)
    assert (
        done.stdout.startswith(f"user: {FIGURE}\n\nuser: ") and "tokens kept;" in done.stdout.splitlines()[-1]
    )


def test_without_the_model_words_alone_choose(said: Path) -> None:
    done = run(
        said.parent,
        said,
        "--max-tokens",
        1,
        "--json",
        "--query",
        "programme",
        FINPOLICY_MODEL_CACHE="/dev/null",
    )
    assert lines(done)[0]["kept"]["m0"] == 1.0 and "words alone" in done.stderr


def test_content_is_text_whatever_it_holds(tmp_path: Path) -> None:
    content = "<|endoftext|> \u2028 \x1b[31m \ud800 今天很好。"
    path = write(
        tmp_path / "odd.jsonl",
        ["\ufeff" + json.dumps({"id": 1, "role": "anyone", "content": content}), "", ""],
    )
    (line,) = lines(run(tmp_path, path, "--json"))
    assert line["context"] == [{"role": "anyone", "content": content}] and line["kept"] == {"1": 1.0}
    assert "\x1b" not in run(tmp_path, path).stdout


def test_an_empty_file_is_an_empty_conversation(tmp_path: Path) -> None:
    (line,) = lines(run(tmp_path, write(tmp_path / "none.jsonl", []), "--json"))
    assert (line["context"], line["kept"], line["stats"]["original_tokens"]) == ([], {}, 0)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["{"], "line 1: this is not JSON"),
        (["", "[1]"], "line 2: this is not an object"),
        ([{"id": "a", "role": "user"}], "line 1: id, role or content"),
        ([{"id": True, "role": "user", "content": ""}], "line 1: id, role or content"),
        (
            [{"id": "1", "role": "user", "content": ""}, {"id": 1, "role": "user", "content": ""}],
            "line 2: the id '1' stands twice",
        ),
        (["\ud800"], "line 1: this is not JSON"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_lines_are_named_with_the_fix(tmp_path: Path, rows: list[Any], told: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode(
            "utf-8", "surrogatepass"
        )
    )
    done = run(tmp_path, path, "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{path}, {told}" in done.stderr and "A line is {" in done.stderr


def test_bad_queries_and_missing_files_are_named(said: Path) -> None:
    done = run(
        said.parent, said, "--queries", write(said.parent / "queries.jsonl", [{"id": "a", "text": "?"}])
    )
    assert done.returncode == 1 and "queries.jsonl, line 1: id or query" in done.stderr
    done = run(said.parent, said.parent / "nowhere.jsonl")
    assert done.returncode == 1 and "nowhere.jsonl cannot be read" in done.stderr


@pytest.mark.parametrize(
    "options",
    [
        "--ratio 0",
        "--ratio 1.5",
        "--ratio nan",
        "--rho 2",
        "--gamma -1",
        "--keep-last -1",
        "--max-tokens -1",
        "--scoring best",
    ],
)
def test_values_out_of_range_are_usage(said: Path, options: str) -> None:
    done = run(said.parent, said, *options.split())
    assert (done.returncode, done.stdout) == (2, "")


def test_one_query_or_a_file_of_them(said: Path) -> None:
    assert run(said.parent, said, "--query", "a", "--queries", said).returncode == 2
