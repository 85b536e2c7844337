"""Servers that mean harm, in a process of their own: a chat model, and one of MCP's tools.

    python benchmarks/hostile_servers.py

Prints its port. The model is at /model, the one that calls a tool first at /calls, the tools at /mcp. Each
request gets another of the bad replies, in turn.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = ["hostile_servers"]

MIB = 2**20
LONGEST_LINE, LARGE_CALL, LARGE_RESULT, DEEP = 100 * MIB, 20 * MIB, 50 * MIB, 100_000
SCHEMA = {"type": "object", "properties": {"place": {"type": "string"}}}
TOOL = {"name": "forecast", "description": "Forecasts the weather.", "inputSchema": SCHEMA}
TURNS = itertools.count()


@contextmanager
def hostile_servers() -> Iterator[str]:
    """Gives the address of a process that runs them."""
    process = subprocess.Popen([sys.executable, str(Path(__file__))], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Serve until the process is ended."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    os.nice(19)  # it would be on another machine
    print(server.server_address[1], flush=True)
    server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            if self.path.startswith("/mcp"):
                self._answer_mcp(body)
            elif (
                self.path.startswith("/calls")
                and body["messages"][-1]["role"] != "tool"
                and body.get("tools")
            ):
                self._stream(_calling, body)
            else:
                self._stream(ANSWERS[next(TURNS) % len(ANSWERS)], body)
        except OSError:  # nobody listens any more
            self.close_connection = True

    def do_GET(self) -> None:
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def log_message(self, format: str, *_: object) -> None:
        return

    def _answer_mcp(self, asked: dict[str, Any]) -> None:
        match asked.get("method"):
            case "initialize":
                version = asked["params"]["protocolVersion"]
                told = {"name": "weather", "version": "1"}
                self._reply(
                    asked, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": told}
                )
            case "tools/list":
                self._reply(asked, {"tools": [TOOL]})
            case "tools/call":
                self._stream(RESULTS[next(TURNS) % len(RESULTS)], asked)
            case _:
                self.send_response(202)
                self.send_header("content-length", "0")
                self.end_headers()

    def _reply(self, asked: dict[str, Any], result: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, pieces: Callable[[dict[str, Any]], Iterator[bytes]], body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in pieces(body):
            self.wfile.write(piece)


def _event(delta: dict[str, Any]) -> bytes:
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return f"data: {json.dumps({**chunk, 'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode()


def _calling(body: dict[str, Any]) -> Iterator[bytes]:
    name = body["tools"][0]["function"]["name"]
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    yield _event({"role": "assistant", "tool_calls": [call]})
    yield b"data: [DONE]\n\n"


def _endless(body: dict[str, Any]) -> Iterator[bytes]:
    return itertools.repeat(_event({"content": "The deficit ceiling is three per cent. "}) * 100)


def _trickling(body: dict[str, Any]) -> Iterator[bytes]:
    for byte in itertools.cycle(_event({"content": "a"})):
        yield bytes([byte])
        time.sleep(1)


def _long_line(body: dict[str, Any]) -> Iterator[bytes]:
    yield b'data: {"choices":[{"index":0,"delta":{"content":"'
    yield from itertools.repeat(b"a" * MIB, LONGEST_LINE // MIB)
    yield b'"}}]}\n\ndata: [DONE]\n\n'


def _large_call(body: dict[str, Any]) -> Iterator[bytes]:
    for at in range(LARGE_CALL // 1_000):
        arguments = ('{"place":"' if not at else "") + "[" * 1_000
        function = {"name": "forecast", "arguments": arguments}
        yield _event({"tool_calls": [{"index": at % 50, "id": f"c{at % 50}", "function": function}]})
    yield b"data: [DONE]\n\n"


def _halves(body: dict[str, Any]) -> Iterator[bytes]:
    yield from itertools.repeat(_event({"content": "\ud83d\udc00\udfff\x00\x1b[2J"}), 20_000)
    yield b"data: [DONE]\n\n"


def _result(asked: dict[str, Any], value: bytes) -> Iterator[bytes]:
    """A result in pieces. value: the JSON of its text."""
    yield b'event: message\ndata: {"jsonrpc":"2.0","id":%s,' % json.dumps(asked["id"]).encode()
    yield b'"result":{"content":[{"type":"text","text":'
    yield value
    yield b"}]}}\n\n"


def _endless_result(asked: dict[str, Any]) -> Iterator[bytes]:
    return itertools.chain(itertools.islice(_result(asked, b'"'), 3), itertools.repeat(b"a" * MIB))


def _no_result(asked: dict[str, Any]) -> Iterator[bytes]:
    time.sleep(3_600)
    yield b""


def _large_result(asked: dict[str, Any]) -> Iterator[bytes]:
    return _result(asked, b'"' + b"a" * LARGE_RESULT + b'"')


def _deep_result(asked: dict[str, Any]) -> Iterator[bytes]:
    return _result(asked, b"[" * DEEP + b"]" * DEEP)


ANSWERS = (_endless, _trickling, _long_line, _large_call, _halves)
RESULTS = (_endless_result, _no_result, _large_result, _deep_result)

if __name__ == "__main__":
    main()
