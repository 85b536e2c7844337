"""A real HTTP server that stands in for a chat provider, OpenAI-compatible or Anthropic's, and misbehaves on
request; knows nothing of the product.

In tests: `with Provider([Refuse(429), Say(["Hello ", "there"])]) as provider: provider.url`.
By hand: `python tests/provider.py --port 9999 --script forged`, which prints the settings that point the
chatbot at it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import select
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

__all__ = [
    "SCRIPTS",
    "Behaviour",
    "Body",
    "CallTool",
    "Drip",
    "Ending",
    "Mute",
    "Page",
    "Provider",
    "Received",
    "Refuse",
    "Say",
    "first_key",
    "numbered_words",
]

Body = dict[str, Any]
Pieces = Sequence[str] | Callable[[Body], Sequence[str]]
# How a reply goes on after its pieces. cut: the connection breaks; unfinished: the body ends properly but
# without a finish reason; silent: nothing more comes; malformed: an event that is not JSON; error: an error
# object as an event.
Ending = Literal["complete", "cut", "unfinished", "silent", "malformed", "error"]

_KEY = re.compile(r"^\[([1-9])\] ", re.MULTILINE)
FORGED_KEY = "S9-000000"
# How the request begins in which a model reads an answer back.
READS_BACK = "You check statements against pages."


@dataclass(frozen=True)
class Say:
    """A streamed answer. pieces: the text of each event, or what makes them from the request. delay: seconds
    before each piece. prompt_tokens: as it counts them, 0 for not. whole: the answer comes as one JSON
    object, as of a server that ignores that it is to stream. cites: to Anthropic's client, of each piece
    the document that it cites, counted from 0, -1 for none."""

    pieces: Pieces
    delay: float = 0.0
    finish: str = "stop"
    ending: Ending = "complete"
    error: str = "the model fell over"
    prompt_tokens: int = 0
    answer_tokens: int = 0
    whole: bool = False
    cites: Sequence[int] = ()


@dataclass(frozen=True)
class CallTool:
    """A streamed call of a tool, its arguments in two pieces.

    name: what it calls, or what chooses that from the request. arguments: a string is sent as it is.
    said: what is written before it. beside: further calls of the same reply.
    """

    name: str | Callable[[Body], str]
    arguments: Mapping[str, object] | str = field(default_factory=dict)
    said: str = ""
    beside: tuple[CallTool, ...] = ()

    def pieces(self, body: Body) -> list[tuple[str, str, str]]:
        """(name, begin and end of the arguments) of all its calls."""
        found = []
        for call in (self, *self.beside):
            name = call.name(body) if callable(call.name) else call.name
            written = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            found.append((name, written[: len(written) // 2], written[len(written) // 2 :]))
        return found


@dataclass(frozen=True)
class Refuse:
    """An HTTP status with a JSON error. broken: the connection ends inside the error's body. body: the whole
    body, where it has another shape; a string is sent as text.
    """

    status: int
    message: str = "refused"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    broken: bool = False
    body: object = None


@dataclass(frozen=True)
class Page:
    """A whole body of another kind with status 200, as a web server says hello; or raw event lines."""

    body: str
    content_type: str = "text/html"


@dataclass(frozen=True)
class Mute:
    """Accepts the request and never answers."""


@dataclass(frozen=True)
class Drip:
    """A raw answer, a byte at a time, whatever the path. begin: what is sent at once; again: sent after
    it, over and over. delay: seconds before each byte.
    """

    begin: bytes
    again: bytes
    delay: float = 0.02


@dataclass(frozen=True)
class Received:
    """A request as it arrived. headers: names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Body


Behaviour = Say | CallTool | Refuse | Page | Mute | Drip | str | Callable[[Body], Sequence[str]]


class Provider:
    """A server on 127.0.0.1 that answers each chat request with the next behaviour, and with the last one
    from then on.

    A string, or a function from the request's body to the pieces of one, is a complete answer. requests: all
    that arrived. hung_up: set as soon as a client has closed its connection before the answer was complete.
    models: names that it lists, or how its list drips or is refused; None for a server that lists none.
    told: JSON by path, for what servers tell of themselves. reads: the behaviour for requests to read an
    answer back, of which no behaviour of the script is used; they are in `readings`.
    """

    def __init__(
        self,
        script: Sequence[Behaviour],
        *,
        port: int = 0,
        models: Sequence[str] | Drip | Refuse | None = None,
        told: Mapping[str, object] | None = None,
        reads: Behaviour = "I cannot judge that.",
    ) -> None:
        self.requests: list[Received] = []
        self.readings: list[Received] = []
        self._reads = _whole(reads)
        self.models, self.told = models, told or {}
        self.hung_up = threading.Event()
        self._script = [_whole(one) for one in script]
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, ending in /v1."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, received: Received) -> Say | CallTool | Refuse | Page | Mute | Drip:
        """The behaviour for a request that has just arrived."""
        with self._lock:
            if READS_BACK in json.dumps(received.body):
                self.readings.append(received)
                return self._reads
            self.requests.append(received)
            return self._script[min(len(self.requests), len(self._script)) - 1]

    def wait(self, connection: Any, seconds: float) -> bool:
        """Waits; False as soon as the client hangs up or the provider closes."""
        end = time.monotonic() + seconds
        while not self._closing.is_set():
            rest = end - time.monotonic()
            # A client says nothing while it listens: readable means that it has closed.
            if select.select([connection], [], [], max(0.0, min(rest, 0.02)))[0]:
                self.hung_up.set()
                return False
            if rest <= 0:
                return True
        return False

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(_Handler):
            owner = provider

        return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path in self.owner.told:
            self._send_whole(200, json.dumps(self.owner.told[self.path]).encode(), {})
            return
        behaviour = self.owner.take(
            Received(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        )
        self.close_connection = True
        try:
            if isinstance(behaviour, Drip):
                self._drip(behaviour)
            elif not self.path.partition("?")[0].endswith(("/chat/completions", "/v1/messages")):
                self._refuse(Refuse(404, "no such path"))
            elif isinstance(behaviour, Refuse):
                self._refuse(behaviour)
            elif isinstance(behaviour, Page):
                self._send_whole(200, behaviour.body.encode(), {"Content-Type": behaviour.content_type})
            elif isinstance(behaviour, Say):
                self._say(behaviour, body)
            elif isinstance(behaviour, CallTool):
                self._call(behaviour, body)
            else:
                self.owner.wait(self.connection, 3_600)
        except ConnectionError:
            self.owner.hung_up.set()

    def do_GET(self) -> None:
        if self.path in self.owner.told:
            self._send_whole(200, json.dumps(self.owner.told[self.path]).encode(), {})
            return
        self.close_connection = True
        if isinstance(self.owner.models, Drip):
            self._drip(self.owner.models)
        elif isinstance(self.owner.models, Refuse):
            self._refuse(self.owner.models)
        elif self.path.partition("?")[0].endswith("/models") and self.owner.models is not None:
            body = json.dumps(
                {"object": "list", "data": [{"id": name, "object": "model"} for name in self.owner.models]}
            ).encode()
            self._send_whole(200, body, {})
        else:
            self._refuse(Refuse(404, "no such path"))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the tests look at `requests`."""

    def _refuse(self, refusal: Refuse) -> None:
        told = refusal.body
        if told is None:
            told = {"error": {"message": refusal.message, "type": "error", "code": refusal.code}}
        headers = dict(refusal.headers)
        if isinstance(told, str):
            body = told.encode()
            headers.setdefault("Content-Type", "text/plain")
        else:
            body = json.dumps(told).encode()
        sent = body[: len(body) // 2] if refusal.broken else body
        self._send_whole(refusal.status, sent, headers, length=len(body))

    def _drip(self, drip: Drip) -> None:
        try:
            self.wfile.write(drip.begin)
            for byte in itertools.cycle(drip.again):
                if not self.owner.wait(self.connection, drip.delay):
                    return
                self.wfile.write(bytes([byte]))
        except ConnectionError:
            self.owner.hung_up.set()

    def _send_whole(
        self, status: int, body: bytes, headers: Mapping[str, str], length: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            **headers,
            "Content-Length": str(length or len(body)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _say(self, say: Say, body: Body) -> None:
        pieces = say.pieces(body) if callable(say.pieces) else say.pieces
        if say.whole or not body.get("stream", False):
            self._send_whole(200, json.dumps(_whole_answer(pieces, say)).encode(), {})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.path.endswith("/messages"):
            self._say_as_anthropic(say, pieces)
            return
        # As providers do: a first event with the role alone, and a comment to keep the connection alive.
        self._send_event(_chunk({"role": "assistant", "content": ""}))
        self._send_chunk(b": keep-alive\n\n")
        for piece in pieces:
            if not self.owner.wait(self.connection, say.delay):
                return
            self._send_event(_chunk({"content": piece}))
        self._end(say)

    def _call(self, call: CallTool, body: Body) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.path.endswith("/messages"):
            if call.said:
                self._send_named(
                    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
                )
                self._send_block(0, {"type": "text_delta", "text": call.said})
                self._send_named({"type": "content_block_stop", "index": 0})
            for index, (name, *pieces) in enumerate(call.pieces(body), 1):
                block = {"type": "tool_use", "id": f"call_{index}", "name": name, "input": {}}
                self._send_named({"type": "content_block_start", "index": index, "content_block": block})
                for piece in pieces:
                    self._send_block(index, {"type": "input_json_delta", "partial_json": piece})
                self._send_named({"type": "content_block_stop", "index": index})
            self._send_named({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
            self._send_named({"type": "message_stop"})
        else:
            if call.said:
                self._send_event(_chunk({"role": "assistant", "content": call.said}))
            for index, (name, *pieces) in enumerate(call.pieces(body)):
                begun = {"index": index, "id": f"call_{index}", "type": "function"}
                self._send_event(_chunk({"tool_calls": [begun | {"function": {"name": name}}]}))
                for piece in pieces:
                    part = {"index": index, "function": {"arguments": piece}}
                    self._send_event(_chunk({"tool_calls": [part]}))
            self._send_event(_chunk({}, "tool_calls"))
            self._send_chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _end(self, say: Say) -> None:
        if say.ending == "cut":
            return
        if say.ending == "silent":
            self.owner.wait(self.connection, 3_600)
            return
        if say.ending == "malformed":
            self._send_chunk(b'data: {"choices": [{"delta"\n\n')
        elif say.ending == "error":
            self._send_event({"error": {"message": say.error, "code": 500}})
        elif say.ending == "complete":
            self._send_event(_chunk({}, say.finish))
            self._send_event({"choices": [], "usage": _usage(say)})
            self._send_chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _say_as_anthropic(self, say: Say, pieces: Sequence[str]) -> None:
        """The events of Anthropic's API: a block of text for each piece, with what it cites."""
        usage = {"input_tokens": say.prompt_tokens, "output_tokens": 1}
        self._send_named({"type": "message_start", "message": {"role": "assistant", "usage": usage}})
        self._send_named({"type": "ping"})
        for index, piece in enumerate(pieces):
            if not self.owner.wait(self.connection, say.delay):
                return
            block = {"type": "text", "text": ""}
            self._send_named({"type": "content_block_start", "index": index, "content_block": block})
            self._send_block(index, {"type": "text_delta", "text": piece})
            cited = say.cites[index] if index < len(say.cites) else -1
            if cited >= 0:
                citation = {"type": "char_location", "document_index": cited, "cited_text": "…"}
                self._send_block(index, {"type": "citations_delta", "citation": citation})
            self._send_named({"type": "content_block_stop", "index": index})
        if say.ending == "cut":
            return
        if say.ending == "silent":
            self.owner.wait(self.connection, 3_600)
            return
        if say.ending == "error":
            error = {"type": "overloaded_error", "message": say.error}
            self._send_named({"type": "error", "error": error})
        elif say.ending == "complete":
            reason = {"stop": "end_turn", "length": "max_tokens"}.get(say.finish, say.finish)
            counted = {"output_tokens": say.answer_tokens}
            self._send_named({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": counted})
            self._send_named({"type": "message_stop"})
        self.wfile.write(b"0\r\n\r\n")

    def _send_block(self, index: int, delta: Mapping[str, object]) -> None:
        self._send_named({"type": "content_block_delta", "index": index, "delta": delta})

    def _send_named(self, event: Mapping[str, object]) -> None:
        self._send_chunk(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def _send_event(self, event: Mapping[str, object]) -> None:
        self._send_chunk(b"data: " + json.dumps(event).encode() + b"\n\n")

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))


def _whole(behaviour: Behaviour) -> Say | CallTool | Refuse | Page | Mute | Drip:
    if isinstance(behaviour, str):
        return Say([behaviour])
    return Say(behaviour) if callable(behaviour) else behaviour


def _chunk(delta: Mapping[str, object], finish: str | None = None) -> dict[str, object]:
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _usage(say: Say) -> dict[str, int]:
    return {"total_tokens": 7, "prompt_tokens": say.prompt_tokens, "completion_tokens": say.answer_tokens}


def _whole_answer(pieces: Sequence[str], say: Say) -> dict[str, object]:
    message = {"role": "assistant", "content": "".join(pieces)}
    choice = {"index": 0, "message": message, "finish_reason": say.finish}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": _usage(say)}


def first_key(body: Body) -> str:
    """What cites the first source of the prompt; the forged key where there is none."""
    found = _KEY.search(str(body["messages"][-1]["content"]))
    return found[1] if found else FORGED_KEY


def numbered_words(count: int) -> list[str]:
    """Pieces of an answer that can be told apart: "word0 ", "word1 ", …"""
    return [f"word{number} " for number in range(count)]


def _cite_first(body: Body) -> Sequence[str]:
    return ["The documents ", "say so ", f"[{first_key(body)}]."]


def _cite_forged(body: Body) -> Sequence[str]:
    return [*_cite_first(body), " This, however, ", "nobody wrote ", f"[{FORGED_KEY}]."]


SCRIPTS: Mapping[str, Behaviour] = {
    "ok": Say(_cite_first, delay=0.1),
    "forged": Say(_cite_forged, delay=0.1),
    "cut": Say(["The documents ", "say that"], delay=0.1, ending="cut"),
    "429": Refuse(429, "slow down", headers={"Retry-After": "1"}),
    "mute": Mute(),
}


def main() -> None:
    """Serves one script until interrupted."""
    parser = argparse.ArgumentParser(description="A stand-in for an OpenAI-compatible provider.")
    parser.add_argument("--port", type=int, default=9999)
    parser.add_argument("--script", choices=SCRIPTS, default="ok")
    given = parser.parse_args()
    with Provider([SCRIPTS[given.script]], port=given.port) as provider:
        print(f"OPENAI_BASE_URL={provider.url} FINPOLICY_CHAT_MODEL={given.script}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
