"""One caller's long work leaves room for others."""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from chatbot.api import caller, comparison_routes
from chatbot.api.caller import REQUESTS_AT_ONCE
from tests.chatbot.api.conftest import QUESTION, RULES, Api
from tests.shared_servers import until

BODY = {"question": QUESTION, "documents": [RULES], "years": ["2023", "2024"]}


def sought(client: httpx.Client) -> int:
    return client.post("/api/v1/search", json={"query": QUESTION}).status_code


def drawn(client: httpx.Client) -> int:
    (row,) = [row for row in client.get("/api/v1/documents").json() if row["name"] == RULES]
    return client.get(f"/api/v1/documents/{row['id']}/pages/1").status_code


def exported(client: httpx.Client) -> int:
    asked = {"question": QUESTION, "model": "none", "conversation": "kept"}
    client.post("/api/v1/ask", json=asked).raise_for_status()
    return client.get("/api/v1/conversations/kept/export").status_code


@pytest.mark.parametrize(
    ("module", "work", "ask"),
    [
        ("service.Chatbot", "find", sought),
        ("service.Chatbot", "page_image", drawn),
        ("memory.conversations.export", "export_conversation", exported),
    ],
    ids=["search", "page", "export"],
)
def test_what_takes_long_leaves_threads_to_others(
    api: Api, monkeypatch: pytest.MonkeyPatch, module: str, work: str, ask: Callable[[httpx.Client], int]
) -> None:
    begun, go = list[str](), threading.Event()
    place: Any = pkgutil.resolve_name(f"chatbot.{module.replace('.Chatbot', ':Chatbot')}")
    does = getattr(place, work)

    def slow(*given: Any, **more: Any) -> Any:
        begun.append(work)
        go.wait(30)
        return does(*given, **more)

    monkeypatch.setattr(place, work, slow)
    with api.client("ask") as one, api.client("manage") as other, ThreadPoolExecutor(20) as threads:
        mine = [threads.submit(ask, one) for _ in range(REQUESTS_AT_ONCE + 2)]
        until(lambda: len(begun) == REQUESTS_AT_ONCE)
        yours = threads.submit(ask, other)
        until(lambda: len(begun) == REQUESTS_AT_ONCE + 1)
        go.set()
        assert [done.result() for done in (*mine, yours)] == [200] * (REQUESTS_AT_ONCE + 3)


def test_comparisons_of_a_caller_wait_while_others_are_answered(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = list[str](), threading.Event()

    def compared(chatbot: object, comparison: object, owner: str, **_: Any) -> list[object]:
        begun.append(owner)
        go.wait(30)
        return []

    monkeypatch.setattr(comparison_routes, "compared_lines", compared)
    monkeypatch.setattr(caller, "MOST_WAITING", REQUESTS_AT_ONCE + 2)

    def compare(client: httpx.Client) -> int:
        return client.post("/api/v1/compare", json=BODY).status_code

    with api.client("ask") as one, api.client("manage") as other, ThreadPoolExecutor(20) as threads:
        mine = [threads.submit(compare, one) for _ in range(REQUESTS_AT_ONCE + 2)]
        until(lambda: len(begun) == REQUESTS_AT_ONCE)
        yours = threads.submit(compare, other)
        until(lambda: len(set(begun)) == 2)
        until(lambda: one.post("/api/v1/compare", json=BODY, timeout=5).status_code == 429)
        assert len(begun) == REQUESTS_AT_ONCE + 1
        go.set()
        assert [done.result() for done in (*mine, yours)] == [200] * (REQUESTS_AT_ONCE + 3)
        assert compare(one) == 200
