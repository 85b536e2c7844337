"""Has the tables read that a question's pages lack before it is answered; reads nothing itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait

from chatbot.errors import CancelledError, ProjectError
from chatbot.records import Event, Hit, Notice, Stage
from chatbot.store.library import Library
from ingestion.document import TABLES

__all__ = ["LACKING", "complete_tables", "without_tables"]

# Seconds between two looks at how far it is: each is drawn, which takes a core from the reading, and draws a
# Stop button anew that is being pressed.
LOOK_SECONDS = 0.5
# Said of a document none of whose pages is used, because its tables are not read and could not be.
LACKING = "Nothing is said from {}: its tables are not read yet, and could not be read now. {}"


def without_tables(library: Library, hits: Iterable[Hit]) -> dict[int, str]:
    """version -> document of those of these pages whose tables are still to be read: figures must not be
    taken from them.
    """
    to_come = library.catalog.to_come()
    return {hit.version: hit.document for hit in hits if to_come.get(hit.version, ("", 0))[0] == TABLES}


def complete_tables(
    library: Library, version: int, document: str, stop: Callable[[], bool]
) -> Generator[Event, None, bool]:
    """Have a version's tables read, in this process, with how far it is. False, with the reason, where
    that was stopped or failed.
    """
    stage = [Stage("tables")]
    left = threading.Event()

    def progress(phase: str, done: int, total: int) -> None:
        stage[0] = Stage("tables", done, total)

    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(
            library.complete,
            version,
            images=False,
            progress=progress,
            cancelled=lambda: left.is_set() or stop(),
        )
        try:
            yield stage[0]
            while not wait([reading], LOOK_SECONDS).done:
                yield stage[0]
            reading.result()
        except CancelledError:
            return False
        except ProjectError as error:
            yield Notice(LACKING.format(document, error.message), error.hint)
            return False
        finally:
            left.set()
    yield Stage("searching")
    return True
