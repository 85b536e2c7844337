"""The addresses beside the pages: each gives what a page made it for, and nothing to who guesses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from chatbot.errors import StoreError
from chatbot.ui import downloads
from chatbot.ui.app_context import AppContext
from chatbot.ui.downloads import Download, Downloads
from chatbot.ui.guard import OWNER_COOKIE
from chatbot.ui.routes import ROUTES, image_address, original_address, stop_address


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=list(ROUTES))) as opened:
        yield opened


def test_a_page_image_is_given_as_often_as_asked(context: AppContext, client: TestClient) -> None:
    (version,) = context.chatbot.library.scope([])
    image = context.images.get(version, 1, "deficit ceiling")
    address = image_address(context, version, image)
    for _ in range(2):
        given = client.get(address)
        assert (given.status_code, given.content, given.headers["content-type"]) == (
            200,
            image.png,
            "image/png",
        )
        assert given.headers["cache-control"] == "private, no-store"
    assert client.get(f"image/{'0' * 64}.png").status_code == 404


def test_a_file_is_given_for_the_address_that_a_page_made(context: AppContext, client: TestClient) -> None:
    (version,) = context.chatbot.library.scope([])
    address = original_address(version, "Rules.pdf", 1)
    assert client.get(address).content == context.chatbot.library.file(version).read_bytes()
    marked = address.split("/")[1]
    number, mark = marked.split("-")
    for wrong in (
        f"{version + 1}-{mark}",
        number,
        f"{number}-",
        f"{number}-{mark[:-1]}",
        f"{number}-{'é' * 8}",
        stop_address(version, "").split("/")[1],
    ):
        assert client.get(f"original/{wrong}/Rules.pdf").status_code == 404


def test_a_file_is_made_when_it_is_asked_for_at_an_address_that_stays(
    context: AppContext, client: TestClient
) -> None:
    said: list[str] = []

    def offer(text: str) -> str:
        def make() -> bytes:
            said.append(text)
            return text.encode()

        return context.downloads.offer("mine", "csv", Download(make, 'naïve "list".csv', "text/csv"))

    address = f"download/{offer('drawn once')}"
    assert address == f"download/{offer('drawn again')}" and said == []
    given = client.get(address)
    assert (given.status_code, given.text, said) == (200, "drawn again", ["drawn again"])
    assert given.headers["content-disposition"] == "attachment; filename*=UTF-8''na%C3%AFve%20%22list%22.csv"
    assert context.downloads.offer("theirs", "csv", Download(bytes, "x", "text/csv")) not in address
    context.downloads.forget()
    assert client.get(address).status_code == 404


def test_what_is_somebodys_own_is_given_to_their_browser_alone(
    context: AppContext, client: TestClient
) -> None:
    download = Download(lambda: b"mine", "x", "text/csv", "a" * 22)
    address = f"download/{context.downloads.offer('mine', 'audit', download)}"
    stopping = stop_address(7, "a" * 22)
    for cookies, given in (({}, 404), ({OWNER_COOKIE: "b" * 22}, 404), ({OWNER_COOKIE: "a" * 22}, 200)):
        client.cookies = cookies
        assert client.get(address).status_code == given
        assert client.post(stopping).status_code == (204 if given == 200 else 404)


def test_a_file_that_cannot_be_made_says_why(context: AppContext, client: TestClient) -> None:
    def make() -> bytes:
        raise StoreError("The disk is full.", hint="Free some space.")

    given = client.get(
        f"download/{context.downloads.offer('mine', 'csv', Download(make, 'x.csv', 'text/csv'))}"
    )
    assert (given.status_code, "The disk is full." in given.text) == (409, True)


def test_few_files_are_offered_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MOST_OFFERS", 2)
    offers, download = Downloads(), Download(bytes, "x", "text/csv")
    marks = [offers.offer("mine", key, download) for key in ("one", "two", "three")]
    assert [offers.offered(mark) is None for mark in marks] == [True, False, False]


def test_no_question_is_stopped_by_a_guess(context: AppContext, client: TestClient) -> None:
    assert client.post(stop_address(7, "")).status_code == 204
    assert client.post("stop/7-0").status_code == 404
    assert client.get(stop_address(7, "")).status_code == 405


def test_the_server_says_when_it_is_ready(context: AppContext, client: TestClient) -> None:
    assert (client.get("ready").status_code, client.get("ready").text) == (200, "ready\n")
