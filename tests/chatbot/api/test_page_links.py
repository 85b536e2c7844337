"""Links to cited pages: whoever has one opens that page of that document for a day, and nothing else."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from chatbot.api.answer_lines import shown_answer
from chatbot.api.page_links import DAY, SECRETS, is_link, link_to
from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.store.library import Upload
from tests.chatbot.api.conftest import CEILING, QUESTION, Api
from tests.pdfs import make_pdf

ELSEWHERE = {
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "referer": "https://chat.example.org/",
}


def links_of(api: Api) -> list[str]:
    """What the doors that return links give for one question to somebody with a key."""
    asked = {"model": "extractive", "messages": [{"role": "user", "content": QUESTION}]}
    with api.client("ask") as client:
        completion = client.post("/v1/chat/completions", json=asked).json()
        answer = client.post("/api/v1/ask", json={"question": QUESTION}).json()
    (note,) = completion["choices"][0]["message"]["annotations"]
    return [note["url_citation"]["url"], answer["citations"][0]["url"]]


def opened(link: str, **headers: str) -> httpx.Response:
    return httpx.get(link, headers={**ELSEWHERE, **headers}, timeout=60)


def test_a_reader_without_a_key_opens_a_cited_page_from_another_site(api: Api) -> None:
    for api.open in (True, False):
        for link in links_of(api):
            page = opened(link)
            assert (page.status_code, page.headers["content-type"]) == (200, "image/png"), page.text
            marked = opened(f"{link}&quote=deficit")
            assert marked.headers["x-quote-found"] == "true"


def test_no_other_link_opens_anything(api: Api, tmp_path: Path) -> None:
    api.open = True
    other, later = (
        make_pdf(tmp_path / name, [CEILING, text]) for name, text in [("A.pdf", "a"), ("B.pdf", "b")]
    )
    list(api.context.chatbot.add([Upload(other), Upload(later)]))
    link = links_of(api)[0]
    place, _, marks = link.partition("?")
    until = parse_qs(marks)["until"][0]
    catalog = api.context.chatbot.library.catalog
    own = urlsplit(place).path.split("/")[4]
    ids = [row.id for row in api.context.chatbot.documents()]
    wrong = [
        place,
        *(link.replace(own, one) for one in ids if one != own),
        f"{place.rpartition('/')[0]}/2?{marks}",
        f"{place.rpartition('/')[0]}/01?{marks}",
        link.replace(f"until={until}", f"until={int(until) + 1}"),
        link.replace(f"until={until}", f"until=0{until}"),
        link.replace(f"until={until}", "until=tomorrow"),
        link.replace(f"until={until}", f"until={'9' * 30}"),
        link.replace("mark=", "mark=0"),
        f"{place}?until={until}&mark=%C3%A9",
        link.replace("/pages/", "/original?"),
        f"{place.rpartition('/pages')[0]}/report?{marks}",
    ]
    for one in wrong:
        refused = opened(one)
        assert refused.status_code in (401, 403, 404), one
        assert "png" not in refused.headers["content-type"]
    assert (
        opened(link.replace("mark=", "mark=0")).json()["detail"] == "This link to a page is no longer valid."
    )
    with api.client("read") as client:
        assert client.get(link.replace("mark=", "mark=0")).status_code == 200, "a key needs no link"
    assert is_link(catalog, own, "1", until, parse_qs(marks)["mark"][0])
    document = next(row.name for row in api.context.chatbot.documents() if row.id == own)
    api.context.chatbot.remove(document)
    gone = opened(link)
    assert gone.status_code == 404
    assert "removed" in gone.json()["detail"]
    api.context.chatbot.restore(document)
    assert opened(link).status_code == 200


def test_a_link_ends_after_a_day_and_old_secrets_are_forgotten(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = api.context.chatbot.library.catalog
    now = time.time()
    clock: dict[str, Any] = {"now": now}
    monkeypatch.setattr("chatbot.api.page_links.time.time", lambda: clock["now"])
    given = {name: value[0] for name, value in parse_qs(link_to(catalog, "some", 3)[1:]).items()}
    for seconds, valid in [(1, True), (DAY - 3_601, True), (DAY + 1, False), (9 * DAY, False)]:
        clock["now"] = now + seconds
        link_to(catalog, "some", 3)
        assert is_link(catalog, "some", "3", given["until"], given["mark"]) is valid
    assert len((catalog.meta(SECRETS) or "").split()) <= 2
    clock["now"] = now + 3
    assert not is_link(catalog, "some", "3", given["until"], given["mark"]), "its secret is gone"


def test_links_lead_to_the_public_address(api: Api) -> None:
    public = "https://policy.example.org/docs/"
    chatbot = api.context.chatbot
    behind: Any = SimpleNamespace(settings=replace(api.context.settings, public_url=public), chatbot=chatbot)
    answer = list(chatbot.ask(Ask(QUESTION)))[-1]
    assert isinstance(answer, Answer)
    (citation,) = shown_answer(behind, answer, "http://inside:8501/")["citations"]
    assert citation["url"].startswith(f"{public}api/v1/documents/")
    assert opened(citation["url"].replace(public, f"{api.url}/")).status_code == 200
