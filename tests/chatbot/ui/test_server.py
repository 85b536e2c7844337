"""How the server is set up: whose options hold, what its arguments may be, and where it cannot listen."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.__main__ import _serve
from chatbot.cli import arguments, main
from chatbot.errors import UsageError
from chatbot.settings import Settings
from chatbot.store.lock import StoreLock
from chatbot.ui.server import options, run
from tests.commands import run as run_command


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which something listens already."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        _, port = other.getsockname()
        yield port


def config(folder: Path, text: str) -> Path:
    file = folder / ".streamlit" / "config.toml"
    file.parent.mkdir()
    file.write_text(text)
    return folder


def test_the_options_are_those_of_the_checkouts_file(root: Path, tmp_path: Path) -> None:
    ours, checkouts = options(tmp_path), options(root)
    secrets = tmp_path / ".streamlit" / "secrets.toml"
    assert ours == {**checkouts, "secrets.files": [str(secrets)]}
    assert ours["server.allowedHosts"] == ["localhost", "127.0.0.1", "::1"]
    assert ours["theme.light.primaryColor"] == "#1f5f8b"


def test_the_homes_file_comes_over_ours_and_the_arguments_over_both(tmp_path: Path) -> None:
    folder = config(tmp_path, '[server]\nport = 9000\naddress = "::1"\nallowedHosts = ["chat.example.org"]\n')
    given = options(folder, address="0.0.0.0")
    assert given["server.port"] == 9000
    assert given["server.address"] == "0.0.0.0"
    assert given["server.allowedHosts"] == ["chat.example.org"]
    assert given["server.enableXsrfProtection"] is True


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = config(tmp_path, "[server\n")
    with pytest.raises(UsageError, match=r"config\.toml cannot be read.*Fix the"):
        options(folder)


def test_a_taken_port_is_told_with_another(tmp_path: Path, taken: int) -> None:
    told = rf"Port {taken} of 127\.0\.0\.1 is already in use.*serve --port {taken + 1}"
    with pytest.raises(UsageError, match=told):
        run(tmp_path, port=taken)


def test_an_address_of_another_machine_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Nothing can listen on port 0 of 192\.0\.2\.1.*--address"):
        run(tmp_path, port=0, address="192.0.2.1")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], (None, None)),
        (["--port", "0", "--address", "::1"], (0, "::1")),
        (["--port", "65535"], (65_535, None)),
    ],
)
def test_the_command_hands_its_arguments_on(words: list[str], wanted: tuple[int | None, str | None]) -> None:
    seen = []

    def serve(given: argparse.Namespace, _: Settings) -> int:
        seen.append((given.port, given.address))
        return 0

    assert arguments.main(["serve", *words], serve=serve) == 0
    assert seen == [wanted]


@pytest.mark.parametrize("port", ["65536", "-1", "http", ""])
def test_what_is_no_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        arguments.main(["serve", "--port", port], serve=lambda *_: 0)
    assert "--port" in capsys.readouterr().err


def test_a_store_that_is_in_use_is_not_served_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path))
    for command, said in (("add", "Wait until it is done"), ("mcp", "(finpolicy mcp). Close the assistant")):
        monkeypatch.setattr("sys.argv", ["finpolicy", command])
        lock = StoreLock(tmp_path / "chroma_db" / "store.lock")
        try:
            assert main(["serve", "--port", "0"], serve=_serve) == 3
        finally:
            lock.close(settled=True)
        errors = capsys.readouterr().err
        assert "The store is in use by process" in errors
        assert said in errors


def test_help_keeps_its_capitals(capsys: pytest.CaptureFixture[str]) -> None:
    for command, said in (("serve", "Run the chat in your browser, until Ctrl+C."), ("mcp", "Serve an MCP")):
        with pytest.raises(SystemExit, match="0"):
            main([command, "--help"], serve=lambda *_: 0, mcp=lambda *_: 0)
        assert said in capsys.readouterr().out


def test_a_path_below_which_all_is_to_be_served_is_refused(tmp_path: Path) -> None:
    done = run_command(tmp_path, "serve", "--port", "0", STREAMLIT_SERVER_BASE_URL_PATH="/finpolicy/")
    assert done.returncode == 2
    assert "Nothing can be served below /finpolicy" in done.stderr
