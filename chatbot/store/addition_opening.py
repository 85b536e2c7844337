"""Opens the queue of additions: an embedded one, or that of all who share a Postgres."""

from __future__ import annotations

import importlib.util

from chatbot.errors import StoreError
from chatbot.settings import Settings
from chatbot.store.addition_queue import Additions
from chatbot.store.library import Library
from chatbot.store.part_checks import PartChecks, StorePart

__all__ = ["open_additions"]

INSTALL_HINT = "Install it: make setup-served, or by pip the extra `served`."


def open_additions(
    library: Library,
    settings: Settings,
    *,
    readers: int,
    leads: bool = True,
    parts: PartChecks | None = None,
) -> Additions:
    """Opens the queue of a server over its store.

    readers: files that are read at a time.
    leads: whether the vectors of a shared store are to be of this process's embedder.
    parts: the checks that a shared queue joins.

    Raises StoreError if a shared queue cannot be used.
    """
    if not settings.database:
        return Additions(library, readers=readers)
    if importlib.util.find_spec("procrastinate") is None:
        raise StoreError("The queue (procrastinate) is not installed.", hint=INSTALL_HINT)
    from chatbot.store.job_queue import JobQueue
    from chatbot.store.shared_additions import EMBEDDER, SharedAdditions

    if leads and library.catalog.meta(EMBEDDER) != library.embedder.fingerprint:
        library.catalog.set_meta(EMBEDDER, library.embedder.fingerprint)
    queue = JobQueue(settings.database)
    try:
        additions = SharedAdditions(library, queue, readers=readers, works=settings.server_adds)
    except BaseException:
        queue.close()
        raise
    if parts is not None:
        parts.add(StorePart("workers", "procrastinate", additions.ping))
    return additions
