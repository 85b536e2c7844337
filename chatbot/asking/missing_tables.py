"""Completes the tables that a question's pages lack before it is answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait

from chatbot.errors import CancelledError, ProjectError
from chatbot.records import Event, Hit, Notice, Stage
from chatbot.store.library import Library
from ingestion.document import TABLES

__all__ = ["LACKING", "complete_tables", "without_tables"]

# Seconds between two progress events. Drawing each takes processor time from the reading, and replaces a Stop
# button that may just be pressed.
LOOK_SECONDS = 0.5
# The notice that no page of a document is used, because its tables could not be read.
LACKING = "The answer omits {}: its tables have not been read yet, and reading them now failed. {}"
# The same where reading them takes long.
STILL_READ, CHOOSE_IT = (
    "The answer omits {}: its tables are still being read.",
    "Choose the document, and the question waits for them.",
)


def without_tables(library: Library, hits: Iterable[Hit]) -> dict[int, str]:
    """version -> document of those of these pages whose tables are not read yet.

    Figures must not be taken from such pages.
    """
    to_come = library.catalog.to_come()
    return {hit.version: hit.document for hit in hits if to_come.get(hit.version, ("", 0))[0] == TABLES}


def complete_tables(
    library: Library, version: int, document: str, seconds: float, stop: Callable[[], bool]
) -> Generator[Event, None, bool]:
    """Read a version's tables, in this process, with progress events.

    False, after a notice with the reason, if that failed or takes more than so many seconds; False too if it
    was stopped.
    """
    end = time.monotonic() + seconds
    if seconds <= 0:
        yield Notice(STILL_READ.format(document), CHOOSE_IT)
        return False
    stage = [Stage("tables")]
    left = threading.Event()

    def progress(phase: str, done: int, total: int) -> None:
        stage[0] = Stage("tables", done, total)

    thread = ThreadPoolExecutor(1)
    reading = thread.submit(
        library.complete,
        version,
        images=False,
        awaited=True,
        progress=progress,
        cancelled=lambda: left.is_set() or stop(),
    )
    try:
        yield stage[0]
        while not wait([reading], LOOK_SECONDS).done:
            yield stage[0]
            if time.monotonic() > end:
                yield Notice(STILL_READ.format(document), CHOOSE_IT)
                return False
        reading.result()
    except CancelledError:
        return False
    except ProjectError as error:
        yield Notice(LACKING.format(document, error.message), error.hint)
        return False
    finally:
        left.set()
        thread.shutdown(wait=False)  # what is read already is stored without anybody waiting
    yield Stage("searching")
    return True
