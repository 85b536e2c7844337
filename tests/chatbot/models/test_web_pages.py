"""Web pages that are fetched: their text, and the addresses that are refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from chatbot.errors import UsageError
from chatbot.models.web_pages import page_text, read_page
from chatbot.settings import Settings

HTML = (
    "<html><head><title>Rates &amp; bonds</title><style>p{}</style></head><body><nav>Menu</nav>"
    "<h1>Yields</h1><p>The yield rose\n to <b>5.2</b> per cent.</p><script>alert(1)</script></body></html>"
)


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, status = "text/html; charset=utf-8", 200
        body = HTML.encode()
        if self.path == "/pdf":
            kind = "application/pdf"
        if self.path == "/away":
            status = 302
        if self.path.startswith("/charset/"):
            kind, body = f"text/html; charset={self.path[9:]}", b"<p>caf\xe9 +2AA- \\ud800</p>"
        if self.path == "/large":
            body = b"x" * 6_000_000
        self.send_response(status)
        self.send_header("Location", "http://169.254.169.254/")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_page_is_read_as_its_title_and_text(site: str) -> None:
    expected = ("Rates & bonds", "Yields\nThe yield rose to 5.2 per cent.")
    assert read_page(f"{site}/", Settings(), rule="") == expected
    assert page_text("<p>one<p>two &lt;b&gt;") == ("", "one\ntwo <b>")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("windows-1252", "café +2AA- \\ud800"),
        *((name, "caf\ufffd +2AA- \\ud800") for name in "utf-8 none".split()),
        # Those that Python has for other purposes.
        *(
            (name, "caf\ufffd +2AA- \\ud800")
            for name in "hex idna punycode undefined unicode_escape utf-7".split()
        ),
    ],
)
def test_a_page_is_read_in_the_encodings_of_pages_alone(site: str, encoding: str, text: str) -> None:
    assert read_page(f"{site}/charset/{encoding}", Settings(), rule="") == ("", text)


@pytest.mark.parametrize(
    "html", ["<nav>" * 200_000 + "</svg>" * 200_000, "<a " * 300_000, "<a b='" * 200_000, "<!--" * 200_000]
)
@pytest.mark.timed
def test_a_page_that_is_made_to_be_slow_is_not_read_for_long(html: str) -> None:
    begun = time.monotonic()
    assert page_text(f"<p>The yield rose.</p>{html}")[1] == "The yield rose."
    assert time.monotonic() - begun < 10
    assert page_text(f"{'x' * 50_000}<p>a &amp") == ("", f"{'x' * 50_000}\na &")


@pytest.mark.parametrize(
    ("path", "reason"), [("/pdf", "kind"), ("/away", "cannot be fetched"), ("/large", "larger than")]
)
def test_what_is_no_page_is_refused(site: str, path: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as error:
        read_page(f"{site}{path}", Settings(), rule="")
    assert "/input_webtext/" in error.value.hint


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1/", "https://169.254.169.254/", "file:///etc/passwd", "https://a@b/", "https://[::1]/"],
)
def test_addresses_inside_are_refused(address: str) -> None:
    with pytest.raises(UsageError) as error:
        read_page(address, Settings())
    assert "OPENAI_BASE_URL" not in error.value.message
