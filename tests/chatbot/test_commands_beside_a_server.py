"""Commands beside a server that has the store open: the same lines and exit codes, in real processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import chatbot
from chatbot.cli.command_client import socket_path
from tests.browser import Server, answered_by
from tests.commands import run, run_at_terminal, run_in
from tests.pdfs import make_pdf
from tests.provider import Mute, Provider

PAGES = [
    "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.",
    "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.",
]
CEILING, ANCHOR = "What is the deficit ceiling?", "What is the debt anchor?"
Done: TypeAlias = subprocess.CompletedProcess[str]


def socket_of(home: Path) -> Path:
    return home / "chroma_db" / "chatbot.sock"


def wait_for_socket(home: Path) -> None:
    end = time.monotonic() + 60
    while not socket_of(home).is_socket():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that no server opens. Its path is longer than the address of a socket may be."""
    folder = tmp_path_factory.mktemp("beside") / ("long" * 30)
    folder.mkdir()
    home = folder / "home"
    run(home, "add", make_pdf(folder / "Rules.pdf", PAGES)).check_returncode()
    return home


@pytest.fixture(scope="module")
def home(alone: Path) -> Iterator[Path]:
    """The same store, opened by `streamlit run app.py`."""
    copied = Path(shutil.copytree(alone, alone.with_name("served")))
    with Server(copied) as server:
        wait_for_socket(copied)
        yield copied
    assert "Traceback" not in server.log.read_text()
    assert not socket_of(copied).exists()


def lines(done: Done) -> list[dict[str, Any]]:
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


SAME = """
search debt anchor: search, debt anchor, --json
search as text: search, debt anchor
ask: ask, What is the deficit ceiling?, --document, Rules.pdf
refusal: ask, Who won the cup in 1998?
compare: compare, What is the debt anchor?, --document, Rules.pdf
key figures: key-figures
doctor: doctor
no document: ask, debt?, --document, No.pdf
no page count: search, debt, -k, 0
no query: search
both forms: compare, x, --document, Rules.pdf, --json, --csv
no conversation: conversations, nothing
no memory: memory, cases, list
"""


@pytest.mark.parametrize(("name", "command"), [row.split(": ", 1) for row in SAME.strip().splitlines()])
def test_what_is_printed_is_the_same_as_without_a_server(
    alone: Path, home: Path, name: str, command: str
) -> None:
    words = command.split(", ")
    without, beside = run(alone, *words), run(home, *words)
    assert beside.returncode == without.returncode
    assert beside.stdout == without.stdout
    assert beside.stderr == without.stderr


def test_a_large_file_is_read_from_standard_input(alone: Path, home: Path, tmp_path: Path) -> None:
    large = tmp_path / "news.jsonl"
    large.write_text(json.dumps({"text": "é" * 5_000_000}) + "\n", encoding="utf-8")
    said = []
    for store in (alone, home):
        environment = {**os.environ, "FINPOLICY_HOME": str(store)}
        command = [sys.executable, "-m", "chatbot", "memory", "signals", "import", "-"]
        with large.open() as file:
            done = subprocess.run(
                command, env=environment, stdin=file, capture_output=True, text=True, timeout=60, check=False
            )
        said.append((done.returncode, done.stdout, done.stderr))
    assert said[0] == said[1]
    assert "inside failed" not in said[1][2]


def test_documents_are_added_removed_and_restored(home: Path, tmp_path: Path) -> None:
    make_pdf(tmp_path / "Fees.pdf", ["The fee for a licence is 40 crowns."])
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    done = run_in(tmp_path, home, "add", "Fees.pdf", "broken.pdf", "missing.pdf", "--json")
    assert done.returncode == 1
    added, broken, missing = lines(done)
    assert [line["status"] for line in (added, broken, missing)] == ["added", "failed", "failed"]
    assert added["pages"] == 1
    assert 0 < added["searchable_seconds"] <= added["seconds"] < 60
    (hit, *_) = lines(run(home, "search", "fee for a licence", "--json"))
    assert hit["document"] == "Fees.pdf"
    (again,) = lines(run_in(tmp_path, home, "add", "Fees.pdf", "--json"))
    assert again["status"] == "unchanged"
    assert run(home, "remove", "Fees.pdf").returncode == 0
    assert run(home, "ask", "fee?", "--document", "Fees.pdf").returncode == 1
    assert run(home, "restore", "Fees.pdf").returncode == 0
    (purged,) = lines(run(home, "remove", "Fees.pdf", "--purge", "--json"))
    assert purged == {"document": "Fees.pdf", "status": "purged"}
    assert run(home, "restore", "Fees.pdf").returncode == 1


def test_what_is_copied_into_the_folder_is_added(home: Path) -> None:
    make_pdf(home / "documents" / "Copied.pdf", ["Ferries are exempt from the toll."])
    (line,) = lines(run(home, "add", "--json"))
    assert line["document"] == "Copied.pdf"
    assert line["status"] == "added"
    assert run(home, "add").stderr.startswith("There is nothing new in")
    (home / "documents" / "Copied.pdf").unlink()
    assert run(home, "remove", "Copied.pdf", "--purge").returncode == 0


@pytest.mark.parametrize(
    "command", [("rebuild",), ("migrate", "--to", "elsewhere"), ("import", "elsewhere.zip")]
)
def test_what_needs_the_store_alone_names_the_server(home: Path, command: tuple[str, ...]) -> None:
    done = run(home, *command)
    assert done.returncode == 3
    assert "the server at http://127.0.0.1:" in done.stderr
    assert "Stop the server" in done.stderr


STRANGER = """
import os, socket, sys
os.chdir(sys.argv[1])
os.seteuid(65534)
connection = socket.socket(socket.AF_UNIX)
connection.connect("chatbot.sock")
print(connection.recv(1000))
"""


def test_the_socket_is_only_for_its_owner(home: Path) -> None:
    assert socket_of(home).stat().st_mode & 0o777 == 0o600
    if os.geteuid():
        pytest.skip("only root can try as another account")
    command = [sys.executable, "-c", STRANGER, str(home / "chroma_db")]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "PermissionError" in refused.stderr
    (home / "chroma_db").chmod(0o755)
    socket_of(home).chmod(0o666)
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    (home / "chroma_db").chmod(0o700)
    assert "belongs to another account" in told.stdout


def connected(home: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(20)
    with socket_path(home / "chroma_db") as path:
        connection.connect(path)
    return connection


def test_a_command_of_another_version_is_told(home: Path) -> None:
    with connected(home) as connection:
        socket.send_fds(connection, [b"\n"], [1, 2])
        connection.sendall(b'{"version": "0.0.1", "arguments": ["search", "x"]}\n')
        told = json.loads(connection.recv(1_000))["refused"]
        assert not connection.recv(1_000)
    assert f"is version {chatbot.__version__}, and this command 0.0.1. Restart the server." in told


@pytest.mark.parametrize(
    ("data", "files"),
    [
        (b"\n", 1),
        (b"\nno\n", 2),
        (b"\n[]\n", 2),
        (b"\n" + b"[" * 200_000 + b"\n", 2),
        (b"GET / HTTP/1.1\r\n\r\n", 0),
    ],
)
def test_nonsense_ends_its_own_connection_alone(home: Path, data: bytes, files: int) -> None:
    with connected(home) as connection:
        if files:
            socket.send_fds(connection, [data[:1]], range(files))
            data = data[1:]
        with suppress(ConnectionError):  # it may hang up before it has all
            connection.sendall(data)
            assert not connection.recv(1_000)
    assert run(home, "search", "debt", "--json").returncode == 0


def started(home: Path, *words: str, stdin: int = subprocess.PIPE) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "chatbot", *words]
    environment = {**os.environ, "FINPOLICY_HOME": str(home)}
    return subprocess.Popen(
        command, env=environment, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.timed
def test_input_is_answered_line_by_line(home: Path) -> None:
    with started(home, "search", "--batch") as process:
        assert process.stdin
        assert process.stdout
        for at in range(2):
            process.stdin.write(json.dumps({"id": at, "query": "debt anchor"}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == at
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert process.wait(10) == 130
        assert time.monotonic() - begun < 1.5
        assert "Stopped." in process.communicate()[1]


@pytest.mark.timed
def test_a_command_is_stopped_while_nobody_reads_what_it_prints(home: Path) -> None:
    command = ("search", "--batch", "--mode", "keyword")
    row = json.dumps({"id": 1, "query": "debt anchor"}) + "\n"
    whole = 1_000 * len(run(home, *command, stdin=row).stdout)
    with started(home, *command) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(1_000 * row)
        process.stdin.flush()
        assert process.stdout.readline()
        time.sleep(1)
        process.kill()
        process.wait(10)
        printed = len(process.stdout.read())  # up to the end, which the server lets go of
    assert printed < whole / 2


def test_a_password_is_asked_for_at_the_commands_own_terminal(home: Path, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Locked.pdf", PAGES, user_password="sesame")
    done = run(home, "add", path, "--json")
    assert done.returncode == 1
    assert "password" in lines(done)[0]["error"]
    command = (home, "add", path, "--json")
    code, said = run_at_terminal(*command, prompt="Password for Locked.pdf", replies=["wrong", "sesame"])
    assert (code, json.loads(said)["status"]) == (0, "added")
    assert run(home, "remove", "Locked.pdf", "--purge").returncode == 0


@pytest.fixture
def slow(alone: Path, tmp_path: Path) -> Iterator[tuple[Path, Server, Provider]]:
    """A server whose model never answers."""
    home = Path(shutil.copytree(alone, tmp_path / "home"))
    with Provider([Mute()]) as provider, Server(home, answered_by(provider.url)) as server:
        wait_for_socket(home)
        yield home, server, provider


def wait_until_asked(provider: Provider, count: int) -> None:
    end = time.monotonic() + 30
    while len(provider.requests) < count:
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.timed
def test_who_goes_stops_the_work_and_a_killed_server_is_told(slow: tuple[Path, Server, Provider]) -> None:
    home, server, provider = slow
    with started(home, "ask", CEILING) as process:  # Ctrl+C
        wait_until_asked(provider, 1)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        _, errors = process.communicate(timeout=10)
        assert time.monotonic() - begun < 1.5
        assert process.returncode == 130
        assert "Everything finished so far is kept." in errors
    with started(home, "ask", CEILING) as process:  # gone without a word
        wait_until_asked(provider, 2)
        provider.hung_up.clear()
        process.kill()
        assert provider.hung_up.wait(1.5)
    with started(home, "ask", CEILING) as process:
        wait_until_asked(provider, 3)
        server.kill()
        _, errors = process.communicate(timeout=10)
        assert process.returncode == 3
        assert "The server that ran the command has ended." in errors
    assert socket_of(home).is_socket()
    assert run(home, "search", "debt").returncode == 0  # without a server
    with Server(home):
        end = time.monotonic() + 30
        while (done := run(home, "search", "debt")).returncode == 3 and time.monotonic() < end:
            time.sleep(0.2)
        assert done.returncode == 0
        assert run(home, "rebuild").returncode == 3
