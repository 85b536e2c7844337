"""The command line as other programs call it: lines, exit codes, batches, bad input; run as real
processes.
"""

import json
import os
import pty
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chatbot.cli import arguments, exit_codes, output
from chatbot.search import fusion, retrieval
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Library, Upload
from chatbot.store.lock import StoreLock
from tests.commands import run as run_command
from tests.fakes import HashEmbedder
from tests.pdfs import make_pdf
from tests.stores import read_now

PAGES = [
    "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.",
    "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.",
]


def run(home: Path, *arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """One command in its own process, with a store of its own."""
    done = run_command(home, *arguments, stdin=stdin)
    assert "Traceback" not in done.stderr
    return done


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "pdfs").mkdir()
    make_pdf(folder / "pdfs" / "Rules.pdf", PAGES)
    make_pdf(folder / "pdfs" / "Locked.pdf", PAGES, user_password="sesame")
    (folder / "pdfs" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / "passwords.tsv").write_text("Locked.pdf\tsesame\n")
    done = run(folder / "home", "add", folder / "pdfs", "--passwords", folder / "passwords.tsv", "--json")
    assert done.returncode == 1
    assert {line["document"]: line["status"] for line in lines(done)} == {
        "Rules.pdf": "added",
        "Locked.pdf": "added",
        "broken.pdf": "failed",
    }
    assert all(line.startswith(("reading", "embedding")) for line in done.stderr.splitlines())
    return folder / "home"


def test_add_prints_what_other_programs_read(home: Path) -> None:
    (line,) = lines(run(home, "add", home.parent / "pdfs" / "Rules.pdf", "--json"))
    assert set(line) >= {
        "document",
        "id",
        "status",
        "pages",
        "chunks",
        "ocr_pages",
        "failed_pages",
        "seconds",
        "searchable_seconds",
        "error",
    }
    assert (line["status"], line["pages"], line["failed_pages"]) == ("unchanged", 2, [])


def test_the_password_is_stored_nowhere(home: Path) -> None:
    kept = [path for path in home.rglob("*") if path.is_file() and path.suffix != ".pdf"]
    assert kept
    assert not any(b"sesame" in path.read_bytes() for path in kept)


def test_list_names_each_document_with_its_state(home: Path) -> None:
    assert {line["document"]: line["state"] for line in lines(run(home, "list", "--json"))} == {
        "Rules.pdf": "ready",
        "Locked.pdf": "ready",
    }


def test_search_prints_pages_best_first(home: Path) -> None:
    done = run(home, "search", "deficit ceiling", "-k", 2, "--document", "Rules.pdf", "--json")
    found = lines(done)
    assert [(line["rank"], line["page"]) for line in found] == [(1, 1), (2, 2)]
    assert set(found[0]) >= {
        "rank",
        "document",
        "page",
        "page_label",
        "score",
        "extraction_method",
        "chunk_id",
        "text",
    }


def test_ask_prints_the_whole_answer(home: Path) -> None:
    (line,) = lines(run(home, "ask", "What is the deficit ceiling?", "--document", "Rules.pdf", "--json"))
    assert line["answered"]
    assert "3.0 per cent" in line["answer"]
    assert line["citations"][0] | {"quote": "", "confidence": None} == {
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
    assert set(line) >= {
        "answer",
        "answered",
        "reason",
        "nearest",
        "citations",
        "numbers",
        "notes",
        "search_query",
        "model",
        "conversation",
        "seconds",
    }
    assert "3.0 per cent" in run(home, "ask", "What is the deficit ceiling?").stdout


def test_what_the_user_should_know_of_an_answer_is_in_its_line(home: Path) -> None:
    done = run(home, "ask", "What is the deficit ceiling in 2030 and 2035?", "--json")
    (line,) = lines(done)
    assert {"layer": "notice", "source": "", "text": "These documents say nothing about 2035."} in line[
        "notes"
    ]
    assert "2035" in done.stderr


def test_a_conversation_goes_on_in_the_next_process(home: Path) -> None:
    run(home, "ask", "What is the deficit ceiling?", "--conversation", "talk")
    (line,) = lines(run(home, "ask", "And the debt anchor?", "--conversation", "talk", "--json"))
    assert line["search_query"] == "What is the debt anchor?"
    assert line["conversation"] == "talk"


def test_a_batch_gives_one_line_a_query_in_order_and_goes_on_after_a_bad_one(home: Path) -> None:
    rows = [
        json.dumps({"id": "a", "query": "deficit ceiling", "documents": ["Rules.pdf"], "k": 1}),
        "not json",
        json.dumps({"id": "b", "query": "", "k": 1}),
        json.dumps(
            {
                "id": "c",
                "query": "And the anchor?",
                "history": [{"user": "What is the debt policy?", "assistant": "…"}],
            }
        ),
        json.dumps({"id": "d", "query": "debt", "documents": ["Missing.pdf"]}),
        json.dumps({"id": "e", "query": "debt", "k": True, "history": [{"user": None}]}),
        json.dumps({"id": "f", "query": "debt \ud800", "k": None}),
    ]
    done = run(home, "search", "--batch", stdin="\n".join(rows))
    found = lines(done)
    assert done.returncode == 1
    assert [line["id"] for line in found] == ["a", None, "b", "c", "d", "e", "f"]
    assert len(found[0]["hits"]) == 1
    assert (found[1]["line"], "error" in found[1]) == (2, True)
    assert "empty" in found[2]["error"]
    assert found[3]["search_query"].startswith("What is the debt policy?")
    assert "Missing.pdf" in found[4]["error"]
    assert "k and history" in found[5]["error"]
    assert "hits" in found[6]
    assert [line["id"] for line in lines(run(home, "ask", "--batch", stdin=rows[0]))] == ["a"]


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_batch_goes_on_after_a_number_of_pages_that_cannot_be(home: Path, command: str) -> None:
    wrong = [0, -1, 10_001, "abc", 1.5, True, [], float("inf")]
    rows = [
        json.dumps({"id": number, "query": "deficit ceiling", "k": k})
        for number, k in enumerate([*wrong, 10_000])
    ]
    done = run(home, command, "--batch", stdin="\n".join(rows))
    found = lines(done)
    assert done.returncode == 1
    assert [line["id"] for line in found] == list(range(len(rows)))
    assert all(
        "k cannot be used" in line["error"] and "1 to 10000" in line["error"] and len(line) == 2
        for line in found[:-1]
    )
    assert "error" not in found[-1]


def test_remove_and_restore(home: Path) -> None:
    assert run(home, "remove", "Locked.pdf").returncode == 0
    assert {line["document"]: line["state"] for line in lines(run(home, "list", "--json"))}[
        "Locked.pdf"
    ] == "removed"
    assert run(home, "restore", "Locked.pdf").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["ask", ""], 1, "empty"),
        (["ask", "x" * 100_000], 1, "100,000 characters"),
        (["ask", "debt?", "--document", "No.pdf"], 1, "No.pdf"),
        (["search", "debt", "-k", "0"], 2, "k is 0"),
        (["search", "-k", "-1", "debt"], 2, "k is -1"),
        (["search", "debt", "-k", "10001"], 2, "1 to 10000"),
        (["search", "debt", "-k", "abc"], 2, "k is abc"),
        (["search", "debt", "-k", "1.5"], 2, "k is 1.5"),
        (["search", "debt", "-k", "9" * 5_000], 2, "1 to 10000"),
        (["search"], 2, "no question"),
        (["search", "debt", "--raw"], 2, "--mode vector"),
        (["search", "debt", "--raw", "--mode", "vector", "-k", "0"], 2, "k is 0"),
        (["remove", "\udcff"], 1, "no document"),
        (["remove", "No.pdf"], 1, "No.pdf"),
        (["add", "missing.pdf"], 1, "missing.pdf"),
        (["add", "nowhere/"], 1, "nowhere"),
        (["ask", "debt?", "--conversation", "../x"], 1, "../x"),
        (["frobnicate"], 2, "invalid choice"),
        (["search", "x", "--mode", "magic"], 2, "magic"),
    ],
    ids=lambda value: " ".join(map(str, value))[:30] if isinstance(value, list) else "",
)
def test_bad_input_is_one_clear_line(home: Path, arguments: Sequence[str], code: int, said: str) -> None:
    done = run(home, *arguments)
    assert done.returncode == code
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
    assert (
        "\x1b"
        not in run(tmp_path, "list").stdout + run(tmp_path, "ask", "What is the deficit ceiling?").stdout
    )


def test_doctor_is_silent_for_a_sound_store_and_names_what_is_wrong(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Rules.pdf", PAGES)
    run(tmp_path / "home", "add", path)
    sound = run(tmp_path / "home", "doctor", "--json")
    assert (sound.returncode, sound.stdout, sound.stderr.strip()) == (0, "", "The store is sound.")
    for copy in (tmp_path / "home" / "documents").glob("*.pdf"):
        copy.unlink()
    done = run(tmp_path / "home", "doctor", "--json")
    (line,) = lines(done)
    assert done.returncode == 1
    assert set(line) == {"document", "problem", "fix"}
    assert (line["document"], "missing" in line["problem"]) == ("Rules.pdf", True)
    run(tmp_path / "home", "add", path)
    assert run(tmp_path / "home", "doctor", "--repair", "--json").stdout == ""


def test_rebuild_makes_a_store_anew_from_the_copies(tmp_path: Path) -> None:
    run(tmp_path / "home", "add", make_pdf(tmp_path / "Rules.pdf", PAGES))
    catalogue = tmp_path / "home" / "chroma_db" / "catalog.sqlite3"
    catalogue.write_bytes(b"no database" * 999)
    refused = run(tmp_path / "home", "search", "deficit")
    assert refused.returncode == 3
    assert "rebuild" in refused.stderr
    (line,) = lines(run(tmp_path / "home", "rebuild", "--json"))
    assert (line["document"], line["status"], line["pages"]) == ("Rules.pdf", "added", 2)
    assert lines(run(tmp_path / "home", "search", "deficit ceiling", "--json"))[0]["page"] == 1
    assert list(catalogue.parent.glob("catalog.sqlite3.before-*"))


def test_on_a_terminal_the_password_is_asked_for_by_the_documents_name(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Locked.pdf", PAGES, user_password="sesame")
    command = [sys.executable, "-m", "chatbot", "add", str(path), "--json"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "FINPOLICY_HOME": str(tmp_path / "home")}
    with subprocess.Popen(
        command,
        env=environment,
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown = ""
        for password in ("wrong", "sesame"):
            while "Password for Locked.pdf" not in shown:
                shown += os.read(ours, 1000).decode()
            shown = ""
            os.write(ours, f"{password}\n".encode())
        assert process.stdout
        (line,) = [json.loads(text) for text in process.stdout]
    os.close(ours)
    assert (process.returncode, line["status"], line["pages"]) == (0, "added", 2)


@pytest.mark.timed
def test_list_answers_beside_a_process_that_writes(tmp_path: Path) -> None:
    run(tmp_path / "home", "add", make_pdf(tmp_path / "Rules.pdf", PAGES))
    with closing(
        sqlite3.connect(tmp_path / "home" / "chroma_db" / "catalog.sqlite3", isolation_level=None)
    ) as writer:
        writer.execute("begin immediate")
        writer.execute("update document set name = 'Other.pdf'")
        begun = time.monotonic()
        assert [line["document"] for line in lines(run(tmp_path / "home", "list", "--json"))] == ["Rules.pdf"]
        assert time.monotonic() - begun < 5.0
        writer.execute("rollback")


def test_names_are_found_however_they_are_typed_and_hints_can_be_pasted(tmp_path: Path) -> None:
    name = "re\u0301sume\u0301 $(id).pdf"  # as some systems write their file names
    path = make_pdf(tmp_path / name, PAGES, user_password="sesame")
    (tmp_path / "passwords.tsv").write_text(f"\ufeff{name}\tsesame\n", "utf-8")
    (line,) = lines(run(tmp_path / "home", "add", path, "--passwords", tmp_path / "passwords.tsv", "--json"))
    assert (line["document"], line["status"]) == ("résumé $(id).pdf", "added")
    assert lines(run(tmp_path / "home", "search", "deficit", "--document", name, "--json"))
    removed = run(tmp_path / "home", "remove", name)
    assert "restore -- 'résumé $(id).pdf'" in removed.stdout
    assert run(tmp_path / "home", "restore", "--", name).returncode == 0


def test_the_choices_are_those_of_the_search() -> None:
    assert (arguments.STRATEGIES, arguments.MODES, exit_codes.MOST_PAGES) == (
        fusion.STRATEGIES,
        retrieval.MODES,
        retrieval.MOST_HITS,
    )


def test_an_interrupted_addition_says_what_becomes_of_what_is_searched_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    library = Library(Settings(home=tmp_path / "home"), HashEmbedder())
    read_now(library, [Upload(make_pdf(tmp_path / "Rules.pdf", PAGES))])
    library.close()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Chatbot, "add", interrupted)
    assert arguments.main(["add", str(tmp_path / "Rules.pdf")]) == 130
    said = capsys.readouterr().err
    assert (
        "Searched already, and made complete with the next `add` or `doctor`, or while the server runs: "
        "Rules.pdf."
    ) in said
    assert "Stopped." in said
    assert "again" not in said


def test_an_order_to_end_names_what_has_to_be_added_again(tmp_path: Path) -> None:
    path = make_pdf(
        tmp_path / "Long.pdf",
        [f"Chapter {number}\nThe deficit ceiling is 3.0 per cent of output." for number in range(3_000)],
    )
    command = [sys.executable, "-m", "chatbot", "add", str(path)]
    environment = {**os.environ, "FINPOLICY_HOME": str(tmp_path / "home")}
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while not (tmp_path / "home" / "chroma_db" / "catalog.sqlite3").exists():
            time.sleep(0.02)
        process.terminate()
        assert process.stderr
        said = process.stderr.read()
    assert (process.returncode, "Traceback" in said) == (130, False)
    assert "Long.pdf" in said and "Stopped." in said


def test_without_a_terminal_progress_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "SECONDS_BETWEEN_LINES", 0)
    with output.progress_bars() as progress:
        progress("Rules\x1b.pdf", "reading", 1_200, 3_000)
    assert capsys.readouterr().err == "reading Rules‹U+001B›.pdf: 1,200 of 3,000\n"


def test_without_a_terminal_the_way_to_give_a_password_is_named(tmp_path: Path) -> None:
    done = run(tmp_path / "home", "add", make_pdf(tmp_path / "Locked.pdf", PAGES, user_password="sesame"))
    assert done.returncode == 1 and "--passwords FILE.tsv, lines of file name, tab, password." in done.stdout
