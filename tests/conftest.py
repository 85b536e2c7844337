"""What every test may lean on: a clean environment, a home of its own, and the shared data where they are present."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from chatbot.settings import ENVIRONMENT

ROOT = Path(__file__).resolve().parent.parent
# These machines are noisy: a slow example is no fault, and the same examples are tried in every run.
hypothesis.settings.register_profile("tests", deadline=None, derandomize=True)
hypothesis.settings.load_profile("tests")


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No setting of the developer's reaches a test or a process it starts; what forgets to name a home gets an empty one."""
    kept = {name: os.environ.pop(name) for name in ENVIRONMENT if name in os.environ}
    os.environ["FINPOLICY_HOME"] = str(tmp_path_factory.mktemp("home"))
    yield
    del os.environ["FINPOLICY_HOME"]
    os.environ.update(kept)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of documents and questions beside the checkout; tests that need it are skipped where it is missing."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data (../shared/data beside the checkout) are not here")
    return folder
