"""What every test may lean on: a clean environment, a home of its own, the samples, a browser, the shared
data, and its turn among the workers.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from chatbot.settings import ENVIRONMENT
from tests import forkserver
from tests.turns import note_alone, noted_alone, turn

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
# These machines are noisy: a slow example is no fault, and the same examples are tried in every run.
hypothesis.settings.register_profile("tests", deadline=None, derandomize=True)
hypothesis.settings.load_profile("tests")

# Files of about ten seconds and more, the longest first: begun last, one of them would keep a worker busy
# long after the others are done.
LONGEST = """
    test_browser.py test_browser_accessibility.py test_browser_conversations.py test_bad_input.py
    test_browser_chat.py test_sample_evaluation.py test_browser_sign_in.py test_docs.py test_audit.py
    test_crash.py test_browser_settings.py test_browser_compare.py test_browser_audit.py
    test_browser_memory.py test_browser_documents.py test_nothing_leaves.py test_cli.py test_service.py
    test_library.py test_staged.py test_recognition.py test_hidden_text.py test_forkserver.py test_doctor.py
    test_embedders.py test_model_trial.py test_cases_files.py test_server.py test_situations.py
    test_uploads.py test_migration.py
""".split()
TURNS = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", None)
    config.stash[TURNS] = tempfile.TemporaryDirectory(prefix="turns-")
    forkserver.use(
        Path(given["turns"] if given else config.stash[TURNS].name), given["owner"] if given else os.getpid()
    )


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        forkserver.stop()
    config.stash[TURNS].cleanup()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker where the workers of this run take turns."""
    node.workerinput["turns"] = node.config.stash[TURNS].name
    node.workerinput["owner"] = os.getpid()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With several workers, begin with the longest files and end with what runs alone: before, each such test
    would wait until all have ended what they are at, and the others for it."""
    given = getattr(config, "workerinput", None)
    if given is None:
        return
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(
        key=lambda item: (
            item.get_closest_marker("alone") is not None,
            places.get(item.path.name, len(places)),
        )
    )
    note_alone(
        Path(given["turns"]), (item.nodeid for item in items if item.get_closest_marker("alone") is not None)
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Each worker has whole files, so that what a file's tests share is made once; and one has all that
    runs alone.
    """
    from xdist.scheduler import LoadScopeScheduling

    folder = Path(config.stash[TURNS].name)

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "alone" if nodeid in noted_alone(folder) else nodeid.partition("::")[0]

        def remove_node(self, node: Any) -> str | None:
            """What a dead worker was at has failed and is not tried again, or it would kill one worker
            after another; the rest goes to others.
            """
            units: dict[str, dict[str, bool]] = self.assigned_work.pop(node)
            killer = next(
                (nodeid for unit in units.values() for nodeid, done in unit.items() if not done), None
            )
            for scope, unit in units.items():
                unit.update({killer: True} if killer in unit else {})
                if not all(unit.values()):
                    self.workqueue[scope] = unit
            for other in self.assigned_work:
                self._reschedule(other)
            return killer

        def _reschedule(self, node: Any) -> None:
            """Not to a worker that is just being started in place of a dead one: it gets its share when it
            has collected.
            """
            if node in self.registered_collections:
                super()._reschedule(node)

    return Scheduling(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """With several workers, run what measures time or memory alone. Waiting for its turn counts for no
    test's time limit.
    """
    given = getattr(item.config, "workerinput", None)
    if given is None:
        return (yield)
    alone = item.get_closest_marker("alone") is not None
    if alone or item.get_closest_marker("timed") is not None:
        # What hundreds of tests have left behind is looked through by each collection, and would be counted
        # as the time of what is measured.
        if not gc.get_freeze_count():
            gc.collect()
        gc.freeze()
    with turn(Path(given["turns"]), alone=alone):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No setting of the developer's reaches a test or a process it starts; what forgets to name a home
    gets an empty one.
    """
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
    """The folder of documents and questions beside the checkout; tests that need it are skipped where it
    is missing.
    """
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared data (../shared/data beside the checkout) are not here")
    return folder


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample documents, which no test changes."""
    from documents.make_samples import make_samples

    folder = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one Chromium of a worker; every test opens a context of its own."""
    from tests.browser import open_browser

    with open_browser() as opened:
        yield opened
