"""The addresses beside the pages: each gives what a page made it for, and nothing to who guesses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from chatbot.app import downloads
from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download, Downloads
from chatbot.errors import StoreError
from chatbot.ui.guard import OWNER_COOKIE
from chatbot.ui.page_parts import is_session
from chatbot.ui.routes import ROUTES, image_address, original_address, stop_address


@pytest.fixture
def client() -> Iterator[TestClient]:
    server = Starlette(routes=list(ROUTES))
    with TestClient(server) as opened:
        yield opened


def offer(context: AppContext, page: str, kind: str, download: Download) -> str:
    """The address at which a page offers it."""
    mark = context.downloads.offer(page, kind, download, is_there=is_session)
    return f"download/{mark}"


def status(client: TestClient, address: str) -> int:
    return client.get(address).status_code


def test_a_page_image_is_given_as_often_as_asked(context: AppContext, client: TestClient) -> None:
    (version,) = context.chatbot.library.scope([])
    image = context.images.get(version, 1, "deficit ceiling")
    address = image_address(context, version, image)
    for _ in range(2):
        given = client.get(address)
        assert given.status_code == 200
        assert given.content == image.png
        assert given.headers["content-type"] == "image/png"
        assert given.headers["cache-control"] == "private, no-store"
    assert status(client, f"image/{'0' * 64}.png") == 404


def test_a_file_is_given_for_the_address_that_a_page_made(context: AppContext, client: TestClient) -> None:
    library = context.chatbot.library
    (version,) = library.scope([])
    address = original_address(version, "Rules.pdf", 1)
    copy = library.file(version)
    assert client.get(address).content == copy.read_bytes()
    marked = address.split("/")[1]
    number, mark = marked.split("-")
    wrong = [f"{version + 1}-{mark}", number, f"{number}-", f"{number}-{mark[:-1]}", f"{number}-{'é' * 8}"]
    wrong.append(stop_address(version, "").split("/")[1])
    for guess in wrong:
        assert status(client, f"original/{guess}/Rules.pdf") == 404


def test_a_file_is_made_when_it_is_asked_for_at_an_address_that_stays(
    context: AppContext, client: TestClient
) -> None:
    said: list[str] = []

    def list_of(text: str) -> Download:
        def make() -> bytes:
            said.append(text)
            return text.encode()

        return Download(make, 'naïve "list".csv', "text/csv")

    address = offer(context, "mine", "csv", list_of("drawn once"))
    again = offer(context, "mine", "csv", list_of("drawn again"))
    assert again == address
    assert said == []
    given = client.get(address)
    assert given.status_code == 200
    assert given.text == "drawn again"
    assert said == ["drawn again"]
    assert given.headers["content-disposition"] == "attachment; filename*=UTF-8''na%C3%AFve%20%22list%22.csv"
    theirs = Download(bytes, "x", "text/csv")
    assert offer(context, "theirs", "csv", theirs) != address
    context.downloads.forget()
    assert status(client, address) == 404


def test_what_is_somebodys_own_is_given_to_their_browser_alone(
    context: AppContext, client: TestClient
) -> None:
    me, other = "a" * 22, "b" * 22
    download = Download(lambda: b"mine", "x", "text/csv", me)
    address = offer(context, "mine", "audit", download)
    stopping = stop_address(7, me)
    for cookies in ({}, {OWNER_COOKIE: other}):
        client.cookies = cookies
        assert status(client, address) == 404
        assert client.post(stopping).status_code == 404
    client.cookies = {OWNER_COOKIE: me}
    assert status(client, address) == 200
    assert client.post(stopping).status_code == 204


def test_a_file_that_cannot_be_made_says_why(context: AppContext, client: TestClient) -> None:
    def make() -> bytes:
        raise StoreError("The disk is full.", hint="Free some space.")

    failing = Download(make, "x.csv", "text/csv")
    address = offer(context, "mine", "csv", failing)
    given = client.get(address)
    assert given.status_code == 409
    assert "The disk is full." in given.text


def test_few_files_are_offered_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MOST_OFFERS", 2)
    offers, download = Downloads(), Download(bytes, "x", "text/csv")
    first, second, third = (
        offers.offer("mine", key, download, is_there=is_session) for key in ("one", "two", "three")
    )
    assert offers.offered(first, is_there=is_session) is None
    assert offers.offered(second, is_there=is_session) is not None
    assert offers.offered(third, is_there=is_session) is not None


def test_no_question_is_stopped_by_a_guess(context: AppContext, client: TestClient) -> None:
    address = stop_address(7, "")
    assert client.post(address).status_code == 204
    assert client.post("stop/7-0").status_code == 404
    assert status(client, address) == 405


def test_the_server_says_when_it_is_ready(context: AppContext, client: TestClient) -> None:
    ready = client.get("ready")
    assert ready.status_code == 200
    assert ready.text == "ready\n"
