"""The API over a real store, served by a real server on a port of this machine."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from chatbot.api.application import build_api
from chatbot.api.host import Host
from chatbot.app.app_context import AppContext
from chatbot.mcp_server.http_door import add_mcp
from chatbot.store.api_keys import open_api_keys
from chatbot.store.library import Upload
from tests.browser import PORTS, is_free
from tests.pages import open_context
from tests.pdfs import make_pdf
from tests.provider import Provider, Say

RULES = "Rules.pdf"
QUESTION = "What is the deficit ceiling?"
TELEGRAM_SECRET = "token-of-the-webhook"
CEILING = "The deficit ceiling is three per cent of output."
NEWS = "https://news.example/bonds"
# What the provider's search tool finds.
_FOUND = "Norland's ten-year bond yield rose to 5.2 per cent on Monday."
_CITED = {"type": "url_citation", "url": NEWS, "title": "Bonds", "start_index": 61, "end_index": 70}
_PART = {"type": "output_text", "text": f"{_FOUND} (source)", "annotations": [_CITED]}
TOLD = {"/v1/responses": {"output": [{"type": "message", "content": [_PART]}]}}


@dataclass
class Api:
    """A server with the API alone.

    open: what it believes of who can reach it.
    owner: whom it believes signed in.
    """

    context: AppContext
    url: str = ""
    open: bool = False
    owner: str = ""
    keys: dict[str, str] = field(default_factory=dict)

    def client(self, scope: str = "", **headers: str) -> httpx.Client:
        """A client with a key of this scope, "" for none. headers: names with _ for -."""
        if scope and scope not in self.keys:
            kept = open_api_keys(self.context.settings)
            self.keys[scope], _ = kept.create(scope, scope)
            kept.close()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if scope:
            given["authorization"] = f"Bearer {self.keys[scope]}"
        return httpx.Client(base_url=self.url, headers=given, timeout=60)


@contextmanager
def serving(folder: Path) -> Iterator[Api]:
    """A server over a new store with one document. The settings are those of the environment."""
    with open_context(folder / "home") as context:
        list(context.chatbot.add([Upload(make_pdf(folder / RULES, [CEILING]))]))
        api = Api(context)
        settings = replace(context.settings, api_rate=0, telegram_secret=TELEGRAM_SECRET)
        host = Host(lambda: context, lambda: api.open, lambda _: api.owner, lambda _: "")
        port = next(filter(is_free, PORTS))
        app = build_api(host, settings)
        door = add_mcp(app)

        @asynccontextmanager
        async def lifespan(_: object) -> AsyncIterator[None]:
            yield
            await door.close()

        app.router.lifespan_context = lifespan
        config = uvicorn.Config(app, port=port, log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        api.url = f"http://127.0.0.1:{port}"
        yield api
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving(tmp_path_factory.mktemp("api")) as api:
        yield api


def streamed(client: httpx.Client, **body: object) -> tuple[str, list[str], dict[str, Any]]:
    """(the text that a reader has in the end, names of the events, the answer) of a streamed question."""
    text, names, data = "", list[str](), dict[str, Any]()
    asked = {"question": QUESTION, "stream": True, **body}
    with client.stream("POST", "/api/v1/ask", json=asked) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        for line in answer.iter_lines():
            if line.startswith("event: "):
                names.append(line.removeprefix("event: "))
            elif line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                if names[-1] == "token":
                    text = data["text"] if data.get("replace") else text + data["text"]
    return text, names, data


@dataclass
class WithModel:
    """A server whose answers a chat model writes.

    pieces: what it says. shaped: what it says to a schema. delay: seconds before each.
    """

    api: Api
    provider: Provider
    pieces: list[str] = field(
        default_factory=lambda: ["The deficit ceiling is ", "three per cent of output [1]."]
    )
    shaped: list[str] = field(default_factory=list)
    delay: float = 0.0


@pytest.fixture(scope="module")
def with_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WithModel]:
    """A server with a stand-in for a chat model, which says what a test puts into it."""
    model: list[WithModel] = []

    def pieces(body: dict[str, Any]) -> Iterator[str]:
        for piece in model[0].shaped if "response_format" in body else model[0].pieces:
            time.sleep(model[0].delay)
            yield piece

    script = [Say(pieces)]  # type: ignore[arg-type]
    with Provider(script, told=TOLD) as provider, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", provider.url)
        patch.setenv("OPENAI_API_KEY", "k")
        patch.setenv("FINPOLICY_PROVIDER", "openai")
        patch.setenv("FINPOLICY_CHAT_MODEL", "stand-in")
        patch.setenv("FINPOLICY_WEB_SEARCH", "1")
        with serving(tmp_path_factory.mktemp("model")) as api:
            model.append(WithModel(api, provider))
            yield model[0]


@pytest.fixture
def api(served: Api) -> Iterator[Api]:
    """The same server for every test of a module, as if nobody had touched it."""
    yield served
    served.open, served.owner = False, ""


def holding(folder: Path, text: str) -> list[str]:
    """The files that hold a text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if text.encode() in path.read_bytes()]


def messages(client: httpx.Client, **parameters: object) -> int:
    found = client.get("/api/get_r2c_stats/", params=parameters).json()  # type: ignore[arg-type]
    count = found["stats"]["message_count"]
    assert isinstance(count, int)
    return count
