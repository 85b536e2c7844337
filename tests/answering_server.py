"""A real HTTP server that gives the answers it was told, in order, and then none; knows no protocol."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

__all__ = ["AnsweringServer"]


class AnsweringServer:
    """A server on 127.0.0.1, running within `with`.

    headers: of the requests that arrived.
    """

    def __init__(self, answers: Sequence[tuple[int, str]]) -> None:
        """answers: (status, body), one for each request; later ones get silence."""
        left, self.headers = list(answers), list[Message]()
        self._ended = ended = threading.Event()
        headers = self.headers

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                headers.append(self.headers)
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if not left:
                    ended.wait()
                    return
                status, body = left.pop(0)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            do_GET = do_PUT = do_DELETE = do_HEAD = do_POST

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> AnsweringServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
