"""The command line as other programs call it: lines, exit codes, batches, bad input; run as real
processes.
"""

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from chatbot.cli import arguments, output
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Library, Upload
from chatbot.store.lock import StoreLock
from tests.case_rows import case_rows
from tests.commands import run as run_command
from tests.commands import run_at_terminal
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import read_now

PAGES = [
    "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.",
    "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.",
]


Done: TypeAlias = subprocess.CompletedProcess[str]


def run(home: Path, *arguments: object, stdin: str = "") -> Done:
    """One command in its own process, with a store of its own."""
    done = run_command(home, *arguments, stdin=stdin)
    assert "Traceback" not in done.stderr
    return done


def lines(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def line_of(done: Done) -> dict[str, Any]:
    """The only one."""
    (line,) = lines(done)
    return line


def states(home: Path) -> dict[str, str]:
    listed = lines(run(home, "list", "--json"))
    return {line["document"]: line["state"] for line in listed}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    pdfs, passwords = folder / "pdfs", folder / "passwords.tsv"
    pdfs.mkdir()
    make_pdf(pdfs / "Rules.pdf", PAGES)
    make_pdf(pdfs / "Locked.pdf", PAGES, user_password="sesame")
    (pdfs / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    passwords.write_text("Locked.pdf\tsesame\n")
    done = run(folder / "home", "add", pdfs, "--passwords", passwords, "--json")
    assert done.returncode == 1
    statuses = {line["document"]: line["status"] for line in lines(done)}
    assert statuses == {"Rules.pdf": "added", "Locked.pdf": "added", "broken.pdf": "failed"}
    assert all(line.startswith(("reading", "embedding")) for line in done.stderr.splitlines())
    return folder / "home"


ADDED = "document id status pages chunks ocr_pages failed_pages seconds searchable_seconds error"
FOUND = "rank document page page_label score extraction_method chunk_id text"
ANSWERED = "answer answered reason nearest citations numbers notes search_query model conversation seconds"


@pytest.mark.parametrize(
    ("command", "loads"),
    [
        (["list"], False),
        (["search", "deficit ceiling", "--mode", "keyword"], False),
        (["search", "deficit ceiling"], True),
    ],
)
def test_chroma_is_only_loaded_where_vectors_are_searched(
    home: Path, command: list[str], loads: bool
) -> None:
    code = "import sys; from chatbot.cli import main; main(sys.argv[1:]); print('chromadb' in sys.modules)"
    environment = {**os.environ, "FINPOLICY_HOME": str(home)}
    process = [sys.executable, "-c", code, *command]
    done = subprocess.run(process, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == str(loads), done.stderr


def test_add_prints_what_other_programs_read(home: Path) -> None:
    line = line_of(run(home, "add", home.parent / "pdfs" / "Rules.pdf", "--json"))
    assert set(line) >= set(ADDED.split())
    assert line["status"] == "unchanged"
    assert line["pages"] == 2
    assert line["failed_pages"] == []


def test_the_password_is_stored_nowhere(home: Path) -> None:
    kept = [path for path in home.rglob("*") if path.is_file() and path.suffix != ".pdf"]
    assert kept
    assert not any(b"sesame" in path.read_bytes() for path in kept)


def test_search_prints_pages_best_first(home: Path) -> None:
    done = run(home, "search", "deficit ceiling", "-k", 2, "--document", "Rules.pdf", "--json")
    first, second = lines(done)
    assert (first["rank"], first["page"]) == (1, 1)
    assert (second["rank"], second["page"]) == (2, 2)
    assert set(first) >= set(FOUND.split())


def test_ask_prints_the_whole_answer(home: Path) -> None:
    done = run(home, "ask", "What is the deficit ceiling?", "--document", "Rules.pdf", "--json")
    line = line_of(done)
    assert line["answered"]
    assert "3.0 per cent" in line["answer"]
    assert set(line) >= set(ANSWERED.split())
    citation = line["citations"][0]
    assert citation | {"quote": "", "confidence": None} == {
        "key": "S1",
        "document": "Rules.pdf",
        "page": 1,
        "page_label": None,
        "quote": "",
        "verified": True,
        "reason": None,
        "confidence": None,
        "instructs": False,
        "basis": "located",
        "doubted": False,
    }
    assert "3.0 per cent" in run(home, "ask", "What is the deficit ceiling?").stdout


def test_a_conversation_goes_on_in_the_next_process(home: Path) -> None:
    run(home, "ask", "What is the deficit ceiling?", "--conversation", "talk")
    line = line_of(run(home, "ask", "And the debt anchor?", "--conversation", "talk", "--json"))
    assert line["search_query"] == "What is the debt anchor?"
    assert line["conversation"] == "talk"


BATCH = r"""
{"id": "a", "query": "deficit ceiling", "documents": ["Rules.pdf"], "k": 1}
not json
{"id": "b", "query": "", "k": 1}
{"id": "c", "query": "And the anchor?", "history": [{"user": "What is the debt policy?", "assistant": "…"}]}
{"id": "d", "query": "debt", "documents": ["Missing.pdf"]}
{"id": "e", "query": "debt", "k": true, "history": [{"user": null}]}
{"id": "f", "query": "debt \ud800", "k": null}
""".strip()


def test_a_batch_gives_one_line_a_query_in_order_and_goes_on_after_a_bad_one(home: Path) -> None:
    done = run(home, "search", "--batch", stdin=BATCH)
    assert done.returncode == 1
    limited, no_json, empty, after_history, of_missing, of_wrong_types, odd = lines(done)
    assert limited["id"] == "a"
    assert len(limited["hits"]) == 1
    assert no_json["id"] is None
    assert no_json["line"] == 2
    assert "error" in no_json
    assert empty["id"] == "b"
    assert "empty" in empty["error"]
    assert after_history["id"] == "c"
    assert after_history["search_query"].startswith("What is the debt policy?")
    assert of_missing["id"] == "d"
    assert "Missing.pdf" in of_missing["error"]
    assert of_wrong_types["id"] == "e"
    assert "k and history" in of_wrong_types["error"]
    assert odd["id"] == "f"
    assert "hits" in odd
    first_query, *_ = BATCH.splitlines()
    assert line_of(run(home, "ask", "--batch", stdin=first_query))["id"] == "a"


LONG = "The debt anchor is 60 per cent of output. " * 40 + "The deficit ceiling is 3.0 per cent. " * 40


def test_strategies_are_shown_side_by_side(home: Path) -> None:
    command = ("search", LONG, "--strategy", "average,per_chunk", "-k", "2", "--document", "Rules.pdf")
    found = lines(run(home, *command, "--json"))
    assert [line["strategy"] for line in found] == ["average"] * 2 + ["per_chunk"] * 2
    assert [line["rank"] for line in found] == [1, 2, 1, 2]
    assert ["chunk_match" in line for line in found] == [False, False, True, True]
    for strategy in ("average", "per_chunk"):
        alone = lines(run(home, *command[:3], strategy, *command[4:], "--json"))
        assert [{"strategy": strategy, **line} for line in alone] == [
            line for line in found if line["strategy"] == strategy
        ]
    head, rule, first, second = run(home, *command).stdout.splitlines()
    assert head.split() == ["average", "per_chunk"]
    assert rule.split() == ["-------", "---------"]
    assert first.startswith("1. ")
    assert first.count("Rules.pdf, page") == second.count("Rules.pdf, page") == 2
    assert "piece" in first


def test_remove_and_restore(home: Path) -> None:
    assert run(home, "remove", "Locked.pdf").returncode == 0
    assert states(home) == {"Rules.pdf": "ready", "Locked.pdf": "removed"}
    assert run(home, "restore", "Locked.pdf").returncode == 0
    assert states(home)["Locked.pdf"] == "ready"


# The exit code, what is said, and the words of the command, parted by commas.
BAD_INPUT = """
1 | No.pdf | ask, debt?, --document, No.pdf
2 | k is 0 | search, debt, -k, 0
2 | k is -1 | search, -k, -1, debt
2 | 1 to 10000 | search, debt, -k, 10001
2 | k is abc | search, debt, -k, abc
2 | k is 1.5 | search, debt, -k, 1.5
2 | question is missing | search
2 | --mode vector | search, debt, --raw
2 | k is 0 | search, debt, --raw, --mode, vector, -k, 0
1 | No.pdf | remove, No.pdf
1 | missing.pdf | add, missing.pdf
1 | nowhere | add, nowhere/
2 | ../x | ask, debt?, --conversation, ../x
2 | invalid choice | frobnicate
2 | magic | search, x, --mode, magic
"""
ODD_INPUT = [
    (1, "empty", "ask, "),
    (1, "100,000 characters", "ask, " + "x" * 100_000),
    (2, "1 to 10000", "search, debt, -k, " + "9" * 5_000),
    (1, "no document", "remove, \udcff"),
]


@pytest.mark.parametrize(
    ("code", "said", "command"), [*case_rows(BAD_INPUT), *ODD_INPUT], ids=lambda value: str(value)[:40]
)
def test_bad_input_is_one_clear_line(home: Path, code: str | int, said: str, command: str) -> None:
    done = run(home, *command.split(", "))
    assert done.returncode == int(code)
    assert said in done.stdout + done.stderr


def test_a_store_in_use_is_refused_with_the_holders_pid(home: Path) -> None:
    lock = StoreLock(Settings(home=home).store / "store.lock")
    done = run(home, "search", "debt")
    listed = run(home, "list")
    lock.close()
    assert done.returncode == 3
    assert str(os.getpid()) in done.stderr
    assert listed.returncode == 0


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = run(tmp_path / "file", "search", "debt")
    assert done.returncode == 3
    assert "FINPOLICY_HOME" in done.stderr


def test_documents_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", ["The deficit ceiling is three per cent of output."])
    run(tmp_path, "add", path, "--name", "\x1b[31mred.pdf")
    assert "\x1b" not in run(tmp_path, "list").stdout
    assert "\x1b" not in run(tmp_path, "ask", "What is the deficit ceiling?").stdout


def test_doctor_is_silent_for_a_sound_store_and_names_what_is_wrong(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = make_pdf(tmp_path / "Rules.pdf", PAGES)
    run(home, "add", path)
    sound = run(home, "doctor", "--json")
    assert sound.returncode == 0
    assert sound.stdout == ""
    assert sound.stderr.startswith("The store is in order.\nScans are read in eng. Installed: ")
    for copy in (home / "documents").glob("*.pdf"):
        copy.unlink()
    done = run(home, "doctor", "--json")
    line = line_of(done)
    assert done.returncode == 1
    assert set(line) == {"document", "problem", "fix"}
    assert line["document"] == "Rules.pdf"
    assert "missing" in line["problem"]
    run(home, "add", path)
    assert run(home, "doctor", "--repair", "--json").stdout == ""


def test_rebuild_makes_a_store_anew_from_the_copies(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home, "add", make_pdf(tmp_path / "Rules.pdf", PAGES))
    catalogue = home / "chroma_db" / "catalog.sqlite3"
    catalogue.write_bytes(b"no database" * 999)
    refused = run(home, "search", "deficit")
    assert refused.returncode == 3
    assert "rebuild" in refused.stderr
    line = line_of(run(home, "rebuild", "--json"))
    assert line["document"] == "Rules.pdf"
    assert line["status"] == "added"
    assert line["pages"] == 2
    found = run(home, "search", "deficit ceiling", "--json")
    first, *_ = lines(found)
    assert first["page"] == 1
    assert list(catalogue.parent.glob("catalog.sqlite3.before-*"))


def test_a_password_is_asked_for_or_the_way_to_give_it_is_named(
    tmp_path: Path,
) -> None:
    path = make_pdf(tmp_path / "Locked.pdf", PAGES, user_password="sesame")
    done = run(tmp_path / "home", "add", path)
    assert done.returncode == 1
    assert "--passwords FILE.tsv, with one line per file: file name, tab, password." in done.stdout
    command = (tmp_path / "home", "add", path, "--json")
    code, said = run_at_terminal(*command, prompt="Password for Locked.pdf", replies=["wrong", "sesame"])
    line = json.loads(said)
    assert (code, line["status"], line["pages"]) == (0, "added", 2)


@pytest.mark.timed
def test_list_answers_beside_a_process_that_writes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run(home, "add", make_pdf(tmp_path / "Rules.pdf", PAGES))
    catalogue = sqlite3.connect(home / "chroma_db" / "catalog.sqlite3", isolation_level=None)
    with closing(catalogue) as writer:
        writer.execute("begin immediate")
        writer.execute("update document set name = 'Other.pdf'")
        begun = time.monotonic()
        assert list(states(home)) == ["Rules.pdf"]
        assert time.monotonic() - begun < 5.0
        writer.execute("rollback")


def test_names_are_found_however_they_are_typed_and_hints_can_be_pasted(tmp_path: Path) -> None:
    home, passwords = tmp_path / "home", tmp_path / "passwords.tsv"
    name = "re\u0301sume\u0301 $(id).pdf"  # as some systems write their file names
    path = make_pdf(tmp_path / name, PAGES, user_password="sesame")
    passwords.write_text(f"\ufeff{name}\tsesame\n", "utf-8")
    line = line_of(run(home, "add", path, "--passwords", passwords, "--json"))
    assert line["document"] == "résumé $(id).pdf"
    assert line["status"] == "added"
    assert lines(run(home, "search", "deficit", "--document", name, "--json"))
    removed = run(home, "remove", name)
    assert "restore -- 'résumé $(id).pdf'" in removed.stdout
    assert run(home, "restore", "--", name).returncode == 0


SEARCHED_ALREADY = (
    "Already searchable; completed by the next `add` or `doctor`, or while the server runs: Rules.pdf."
)


def test_an_interrupted_addition_says_what_becomes_of_what_is_searched_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home, path = tmp_path / "home", make_pdf(tmp_path / "Rules.pdf", PAGES)
    monkeypatch.setenv("FINPOLICY_HOME", str(home))
    library = Library(Settings(home=home), HashEmbedder())
    read_now(library, [Upload(path)])
    library.close()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Chatbot, "add", interrupted)
    assert arguments.main(["add", str(path)]) == 130
    said = capsys.readouterr().err
    assert SEARCHED_ALREADY in said
    assert "Stopped." in said
    assert "again" not in said


def test_without_a_terminal_progress_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 0)
    with output.progress_bars() as progress:
        progress("Rules\x1b.pdf", "reading", 1_200, 3_000)
    assert capsys.readouterr().err == "reading Rules‹U+001B›.pdf: 1,200 of 3,000\n"
