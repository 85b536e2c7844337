"""Files sent to a real server without a browser: from whom they are taken, how many bytes, and how long
they stay in its memory.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import time
import urllib.request
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest

# tests.browser, which starts servers, needs it.
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.browser import Server

MIB = 2**20
SECRET = "a cookie secret of more than thirty-two characters"
NUMBERS = count()
# What is told to nobody who is not signed in.
INSIDE = """
    /_stcore/metrics /_stcore/script-health-check /_stcore/agent/openapi.json /original/1-x/a.pdf
    /image/x.png /download/x
""".split()


class Tab:
    """An open page as the server sees it: a socket, a session and cookies. person: who is signed in, ""
    for nobody.
    """

    def __init__(self, server: Server, person: str = "") -> None:
        self.server = server
        with urllib.request.urlopen(f"{server.url}/_stcore/health") as answer:
            given = "\n".join(answer.headers.get_all("set-cookie"))
        found = re.search(r"(?m)^_streamlit_xsrf=([^;\n]*)", given)
        assert found
        self.xsrf = found[1]
        self.cookies = f"_streamlit_xsrf={self.xsrf}"
        if person:
            self.cookies += f"; _streamlit_user={cookie(server, person)}"
        self.socket = self.connect()
        run = BackMsg()
        run.rerun_script.query_string = ""
        self.socket.send(run.SerializeToString())
        self.session, drawn = "", False
        while not drawn:
            message = ForwardMsg.FromString(self.socket.recv(timeout=60))
            if message.WhichOneof("type") == "new_session":
                self.session = message.new_session.initialize.session_id
            drawn = message.WhichOneof("type") == "script_finished"

    def connect(self, session: str = "") -> ClientConnection:
        """Open the page's socket; of a session that lost its own, where one is given."""
        protocols = [Subprotocol(text) for text in ("streamlit", self.xsrf, session) if text]
        address, origin = self.server.url.replace("http", "ws"), Origin(self.server.url)
        url, headers = f"{address}/_stcore/stream", {"Cookie": self.cookies}
        return connect(url, subprotocols=protocols, origin=origin, additional_headers=headers, legacy=True)

    def send(self, size: int, *, session: str = "", chunked: bool = False) -> tuple[int, str]:
        """Send a file of so many bytes. Returns the status and what the server said."""
        head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="f.pdf"\r\n\r\n'
        parts = [bytes(min(MIB, size - at)) for at in range(0, size, MIB)]
        body = [head, *parts, b"\r\n--x--\r\n"]
        headers = {
            "Content-Type": "multipart/form-data; boundary=x",
            "Cookie": self.cookies,
            "X-Xsrftoken": self.xsrf,
        }
        if not chunked:
            headers["Content-Length"] = str(sum(map(len, body)))
        path = f"/_stcore/upload_file/{session or self.session}/{next(NUMBERS)}"
        return ask(self.server, path, "PUT", headers, body)

    def status(self, size: int, *, session: str = "", chunked: bool = False) -> int:
        """As `send`, without what the server said."""
        status, _ = self.send(size, session=session, chunked=chunked)
        return status

    def close(self) -> None:
        """As a browser does whose page is closed."""
        self.socket.close(code=1001)

    def lose(self) -> None:
        """Lose the connection, as on a train."""
        self.socket.socket.shutdown(socket.SHUT_RDWR)


def ask(
    server: Server,
    path: str,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: list[bytes] | None = None,
) -> tuple[int, str]:
    """A request; returns the status and the answer. What is refused early may be told while its body is
    still being sent.
    """
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    sent = iter(body) if body else None
    named = headers or {}
    chunked = "Content-Length" not in named
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.request(method, path, sent, named, encode_chunked=chunked)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def status_of(server: Server, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> int:
    """As `ask`, without the answer."""
    status, _ = ask(server, path, method, headers)
    return status


def cookie(server: Server, person: str) -> str:
    """What a browser holds whose user signed in."""
    claims = {"origin": server.url, "is_logged_in": True, "iss": "https://login.example.org", "sub": person}
    return create_signed_value(SECRET, "_streamlit_user", json.dumps(claims)).decode()


def memory(server: Server) -> float:
    """MiB that the server's process holds."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    _, _, after = status.partition("VmRSS:")
    kilobytes, *_ = after.split()
    return int(kilobytes) / 1024


def settled_memory(server: Server, most: float) -> float:
    """The same once it is at most `most`, or after ten seconds."""
    end = time.monotonic() + 10
    while memory(server) > most and time.monotonic() < end:
        time.sleep(0.1)
    return memory(server)


def started(folder: Path, settings: dict[str, str], port: int = 0) -> Iterator[Server]:
    with Server(folder / "home", settings, port=port) as running:
        end = time.monotonic() + 60
        while status_of(running, "/ready") != 200:
            assert time.monotonic() < end, running.log.read_text()
            time.sleep(0.2)
        yield running
        assert "Traceback" not in running.log.read_text()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that nobody signs in to, and that takes few bytes; it gives up a session that lost its
    connection after a second.
    """
    settings = {
        "FINPOLICY_SESSION_UPLOADS_MB": "100",
        "FINPOLICY_SERVER_UPLOADS_MB": "150",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "2",
    }
    yield from started(tmp_path_factory.mktemp("uploads"), settings)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that asks to sign in."""
    folder = tmp_path_factory.mktemp("closed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    secrets = folder / "secrets.toml"
    text = f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\ncookie_secret = "{SECRET}"\n'
    secrets.write_text(text, encoding="utf-8")
    yield from started(folder, {"STREAMLIT_SECRETS_FILES": str(secrets)}, port)


def test_who_is_not_signed_in_sends_nothing(closed: Server) -> None:
    nobody, before = Tab(closed), memory(closed)
    for _ in range(3):
        status, said = nobody.send(150 * MIB)
        assert status == 403
        assert "Sign in first" in said
    ann = Tab(closed, "Ann")
    assert nobody.status(10, session=ann.session) == 403
    assert ann.status(10, session=nobody.session) == 403
    assert memory(closed) < before + 50
    assert ann.status(10) == 204


def test_before_sign_in_the_server_tells_nothing_of_itself(closed: Server) -> None:
    anns = cookie(closed, "Ann")
    signed_in = {"Cookie": f"_streamlit_user={anns}"}
    forged = {"Cookie": f"_streamlit_user={anns[:-2]}xx"}
    for path in INSIDE:
        assert status_of(closed, path) == 403
        assert status_of(closed, path, headers=forged) == 403
        assert status_of(closed, path, headers=signed_in) in {200, 404}
    assert status_of(closed, "/stop/1-x", "POST") == 403
    for path in ("/", "/_stcore/health", "/_stcore/host-config", "/ready", "/documents"):
        assert status_of(closed, path) == 200
    _, config = ask(closed, "/_stcore/host-config")
    assert json.loads(config)["allowedOrigins"] == []
    assert status_of(closed, "/auth/../_stcore/metrics") != 200


def test_a_session_that_nobody_has_sends_nothing(server: Server) -> None:
    tab = Tab(server)
    for made_up in ("00000000-0000-0000-0000-000000000000", "x", "%00"):
        assert tab.status(10, session=made_up) == 403


@pytest.mark.parametrize("chunked", [False, True])
def test_a_page_and_all_pages_hold_so_much_and_let_it_go(server: Server, chunked: bool) -> None:
    first, second, before = Tab(server), Tab(server), memory(server)
    assert first.status(60 * MIB, chunked=chunked) == 204
    status, said = first.send(60 * MIB, chunked=chunked)
    assert status == 413
    assert "100 MiB" in said
    assert second.status(60 * MIB, chunked=chunked) == 204
    third = Tab(server)
    status, said = third.send(60 * MIB, chunked=chunked)
    assert status == 503
    assert "Other uploads are using all the space" in said
    assert third.status(10 * MIB, chunked=chunked) == 204
    assert before + 100 < memory(server) < before + 200
    first.close()
    second.close()
    assert settled_memory(server, before + 60) < before + 60
    assert third.status(60 * MIB, chunked=chunked) == 204
    third.close()


def idle(tab: Tab, size: int) -> socket.socket:
    """A connection that announces a file of so many bytes and sends none of it."""
    host, _, port = urlsplit(tab.server.url).netloc.partition(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    request = f"""\
PUT /_stcore/upload_file/{tab.session}/{next(NUMBERS)} HTTP/1.1
Host: {host}:{port}
Content-Type: multipart/form-data; boundary=x
Cookie: {tab.cookies}
X-Xsrftoken: {tab.xsrf}
Content-Length: {size}

--x
"""
    connection.sendall(request.replace("\n", "\r\n").encode())
    return connection


def test_what_is_announced_and_does_not_come_keeps_nobody_out_and_ends_with_its_page(server: Server) -> None:
    first, second, third = Tab(server), Tab(server), Tab(server)
    with idle(first, 99 * MIB) as one, idle(second, 99 * MIB):
        time.sleep(0.5)
        assert third.status(60 * MIB) == 204
        assert first.status(60 * MIB) == 204
        first.close()
        assert b" 403 " in one.recv(4_096)
    third.close()
    second.close()


def test_an_upload_that_is_broken_off_makes_no_noise(server: Server) -> None:
    tab = Tab(server)
    idle(tab, MIB).close()
    time.sleep(0.5)
    assert "ClientDisconnect" not in server.log.read_text()
    tab.close()


def test_a_lost_connection_comes_back_to_its_files_and_in_the_end_they_go(server: Server) -> None:
    tab, before = Tab(server), memory(server)
    assert tab.status(80 * MIB) == 204
    tab.lose()
    time.sleep(0.5)
    assert tab.status(10) == 403
    tab.socket = tab.connect(tab.session)
    time.sleep(0.5)
    assert tab.status(60 * MIB) == 413  # the first file is there still
    tab.lose()
    assert settled_memory(server, before + 40) < before + 40
