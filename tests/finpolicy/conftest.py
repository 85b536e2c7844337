"""A store with one document, open in this process and behind a server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from finpolicy import FinPolicy
from tests.chatbot.api.conftest import Api, serving
from tests.pdfs import make_pdf
from tests.stores import RULES

NAME = "Rules.pdf"


def run_apart(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns; in a thread, since tests with a browser keep a loop in theirs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.fixture(scope="session")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of two pages."""
    return make_pdf(tmp_path_factory.mktemp("rules") / NAME, RULES)


@pytest.fixture(scope="module")
def here(rules: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FinPolicy]:
    """A store of this process."""
    with FinPolicy(tmp_path_factory.mktemp("here")) as policy:
        policy.add(rules)
        yield policy


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server over another store."""
    with serving(tmp_path_factory.mktemp("server")) as api:
        yield api


@pytest.fixture(scope="module")
def there(server: Api, rules: Path) -> Iterator[FinPolicy]:
    """The store of the server."""
    with FinPolicy(server.url) as policy:
        policy.add(rules)
        yield policy


@pytest.fixture(params=["here", "there"])
def policy(request: pytest.FixtureRequest) -> FinPolicy:
    """Each of the two."""
    found: FinPolicy = request.getfixturevalue(request.param)
    return found
