"""The same calls over an open store and over a server: what they return, and what they refuse."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from finpolicy import (
    DocumentError,
    EncryptedError,
    FinPolicy,
    NotFoundError,
    ProjectError,
    SettingsError,
    StoreError,
    UsageError,
)
from finpolicy.connection import CallStop
from tests.chatbot.api.conftest import Api
from tests.commands import run_python
from tests.finpolicy.conftest import NAME
from tests.pdfs import lock_pdf, make_pdf

QUESTION = "What is the deficit ceiling?"
PNG = b"\x89PNG"


def test_an_answer_has_its_page(policy: FinPolicy) -> None:
    answer = policy.ask(QUESTION, documents=[NAME])
    assert answer.answered
    assert "3.0 per cent" in answer.answer
    citation = answer.citations[0]
    assert (citation.document, citation.page, citation.verified) == (NAME, 1, True)
    whole, part = citation.image(), citation.image(crop=True)
    assert whole.startswith(PNG) and part.startswith(PNG)
    assert height(part) < height(whole) / 2


def height(png: bytes) -> int:
    return int.from_bytes(png[20:24])


def test_a_refusal_is_an_answer(policy: FinPolicy) -> None:
    answer = policy.ask("What was the inflation rate in Ruritania?")
    assert not answer.answered and answer.reason


def test_a_stream_ends_with_the_answer(policy: FinPolicy) -> None:
    *pieces, last = policy.stream(QUESTION)
    assert last.answer is not None
    text = ""
    for piece in pieces:
        text = piece.text if piece.replace else text + piece.text
    assert text.startswith(last.answer.answer)
    assert {piece.kind for piece in pieces} == {"stage", "token"}


def test_pages_are_found(policy: FinPolicy) -> None:
    (hit,) = policy.search("debt anchor", k=1, documents=[NAME])
    assert (hit.rank, hit.document, hit.page) == (1, NAME, 2)
    assert hit.image().startswith(PNG)


def test_tables_become_data_frames(policy: FinPolicy, tmp_path: Path) -> None:
    other = make_pdf(tmp_path / "Other.pdf", ["The deficit ceiling is 4.0 per cent of output."])
    policy.add(other)
    comparison = policy.compare(QUESTION, [NAME, "Other.pdf"])
    table = comparison.to_pandas()
    assert list(table["document"]) == [NAME, "Other.pdf"]
    assert [text[:3] for text in table["figure"]] == ["3.0", "4.0"]
    assert "<th>figure check</th>" in comparison._repr_html_()
    figures = policy.key_figures([NAME])
    assert len(figures.to_pandas()) == len(figures.figures)
    assert {NAME, "Other.pdf"} <= set(policy.key_figures().remarks)
    assert table["page"].tolist() == [1, 1] and table["page"].dtype == "Int64"
    policy.remove("Other.pdf", purge=True)
    assert [one.name for one in policy.documents() if one.state != "removed"][-1] == NAME


def test_a_conversation_is_kept_and_its_answers_can_be_verified(policy: FinPolicy, tmp_path: Path) -> None:
    talk = policy.conversation("talk")
    answer = talk.ask(QUESTION)
    assert answer.exchange == 1
    (exchange,) = talk.exchanges()
    assert exchange.question == QUESTION
    path = tmp_path / "audit.html"
    path.write_bytes(talk.audit(1))
    assert policy.verify(path).confirmed
    path.write_bytes(path.read_bytes().replace(b"deficit", b"surplus"))
    verification = policy.verify(path)
    assert not verification.confirmed
    assert {check.status for check in verification.checks} > {"does not hold"}


def test_protected_files_need_their_password(policy: FinPolicy, rules: Path, tmp_path: Path) -> None:
    path = lock_pdf(Path(shutil.copy(rules, tmp_path / "Secret.pdf")), "tulip")
    with pytest.raises(EncryptedError, match=r"Secret\.pdf"):
        policy.add(path)
    with pytest.raises(EncryptedError):
        policy.add(path, password="rose")
    (added,) = policy.add(path, password="tulip", name="Opened.pdf")
    assert added.document == "Opened.pdf"
    policy.remove("Opened.pdf", purge=True)


def test_a_damaged_file_keeps_no_other_from_being_added(
    policy: FinPolicy, rules: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "Broken.pdf"
    broken.write_bytes(b"%PDF-1.7 nothing")
    with pytest.raises(DocumentError, match=r"Broken\.pdf"):
        policy.add(broken, rules)
    assert NAME in [document.name for document in policy.documents()]


WRONG: list[tuple[type[ProjectError], str, Callable[[FinPolicy], object]]] = [
    (NotFoundError, "Name a file", lambda policy: policy.add("missing.pdf")),
    (NotFoundError, r"'Missing\.pdf'\. documents\(\)", lambda policy: policy.remove("Missing.pdf")),
    (NotFoundError, r"documents\(\)", lambda policy: policy.ask(QUESTION, documents=["Missing.pdf"])),
    (UsageError, r"Write \['Rules\.pdf'\]", lambda policy: policy.ask(QUESTION, documents=NAME)),
    (UsageError, "leave `documents` out", lambda policy: policy.ask(QUESTION, documents=[])),
    (UsageError, "leave `documents` out", lambda policy: policy.search(QUESTION, documents=())),
    (UsageError, "leave `documents` out", lambda policy: policy.compare(QUESTION, [])),
    (UsageError, "leave `documents` out", lambda policy: policy.key_figures([])),
    (UsageError, "^question: ", lambda policy: policy.ask("")),
    (UsageError, "^bogus: ", lambda policy: policy.ask(QUESTION, options={"bogus": 1})),
    (UsageError, "PROVIDER:MODEL", lambda policy: policy.ask(QUESTION, options={"model": "nobody"})),
    (NotFoundError, "unasked", lambda policy: policy.conversation("unasked").exchanges()),
    (DocumentError, "audit file", lambda policy: policy.verify(__file__)),
    (UsageError, "one file", lambda policy: policy.add("a.pdf", "b.pdf", name="c.pdf")),
]


@pytest.mark.parametrize(("kind", "said", "call"), WRONG, ids=[said for _, said, _ in WRONG])
def test_what_is_wrong_is_said_with_the_fix(
    policy: FinPolicy, kind: type[ProjectError], said: str, call: Callable[[FinPolicy], object]
) -> None:
    with pytest.raises(kind, match=said):
        call(policy)


def test_a_second_program_is_told_who_has_the_store(here: FinPolicy) -> None:
    context = here.connection.context
    assert context is not None
    program = f"from finpolicy import FinPolicy\nFinPolicy({str(context.settings.home)!r})"
    done = run_python("-c", program)
    assert "StoreError: The store is in use by process" in done.stderr
    assert "FinPolicy(ADDRESS)" in done.stderr


def test_what_is_closed_says_so(rules: Path, tmp_path: Path) -> None:
    policy = FinPolicy(tmp_path / "home")
    policy.add(rules)
    answer = policy.ask(QUESTION)
    policy.close()
    policy.close()
    for call in (policy.documents, lambda: policy.ask(QUESTION), answer.citations[0].image):
        with pytest.raises(StoreError, match="is closed"):
            call()
    assert "<img" not in answer._repr_html_()
    with FinPolicy(tmp_path / "home") as again:
        assert [document.name for document in again.documents()] == [NAME]


def test_a_server_wants_a_key_that_it_knows(server: Api) -> None:
    server.client("read").close()
    server.open = True
    try:
        for key in ("", "fpk_wrong", "text"):
            with pytest.raises(SettingsError, match="key"):
                FinPolicy(server.url, key=key)
        with FinPolicy(server.url, key=server.keys["read"]) as policy:
            assert policy.search("debt")
            with pytest.raises(SettingsError, match="scope ask"):
                policy.ask(QUESTION)
    finally:
        server.open = False


@pytest.mark.parametrize("address", ["localhost:9", "127.0.0.1:9/", "ftp://localhost"])
def test_an_address_without_http_is_no_folder(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="http://HOST:PORT"):
        FinPolicy(address)
    assert not list(tmp_path.iterdir())


def test_a_store_that_cannot_be_written_is_told_without_the_settings(rules: Path) -> None:
    with pytest.raises(StoreError, match="Name a folder you can write to"):
        FinPolicy(rules)


def test_a_server_that_is_not_there_or_another_program(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="finpolicy serve"):
        FinPolicy("http://127.0.0.1:9")

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        with pytest.raises(StoreError, match="no server of finpolicy"):
            FinPolicy(f"http://127.0.0.1:{other.server_port}")
        other.shutdown()


def test_a_server_that_stops_in_the_middle_of_an_answer() -> None:
    class Stopping(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'event: stage\ndata: {"stage": "searching"}\n\n')

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    with HTTPServer(("127.0.0.1", 0), Stopping) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        with FinPolicy(f"http://127.0.0.1:{server.server_port}") as policy:
            with pytest.raises(StoreError, match="does not answer") as told:
                policy.ask(QUESTION)
            assert told.value.retryable
        server.shutdown()


def test_what_is_stopped_before_it_is_reached_is_stopped_all_the_same() -> None:
    class Reached:
        ended = False

        def shutdown(self, how: int) -> None:
            self.ended = True

    stop, reached = CallStop(), Reached()
    stop.stop()
    stop.add(reached)  # type: ignore[arg-type]
    assert reached.ended


@pytest.mark.timed
def test_importing_it_takes_less_than_150_milliseconds() -> None:
    program = "import time; t = time.process_time(); import finpolicy; print(time.process_time() - t)"
    times = [float(run_python("-c", program).stdout) for _ in range(3)]
    assert min(times) < 0.15


def test_it_is_typed_for_users(tmp_path: Path) -> None:
    program = tmp_path / "user.py"
    program.write_text(
        "from finpolicy import FinPolicy\n"
        "from finpolicy.results import PolicyAnswer\n"
        "async def ask(policy: FinPolicy) -> PolicyAnswer:\n"
        '    answer: PolicyAnswer = policy.ask("?", documents=["a"])\n'
        '    async for event in policy.stream_async("?"):\n'
        "        text: str = event.text\n"
        '    return await policy.ask_async("?", documents=["a"])\n'
        "def wrong(policy: FinPolicy) -> int:\n"
        '    return policy.ask("?")\n'
    )
    root = Path(__file__).resolve().parent.parent.parent
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(root / "pyproject.toml"),
        str(program),
    ]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    lines: Iterator[str] = (line for line in done.stdout.splitlines() if "error" in line)
    assert [line.partition(": ")[0].rpartition(":")[2] for line in lines if str(program.name) in line] == [
        "9"
    ]
