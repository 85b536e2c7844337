"""Holds the only chatbot of this process, which is opened in the background while the first page is shown."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chatbot.errors import ProjectError
from chatbot.settings import Settings
from ingestion.invisible_characters import visible

if TYPE_CHECKING:
    from pathlib import Path

    from chatbot.app.downloads import Downloads
    from chatbot.app.marked_pages import PageImages
    from chatbot.app.running_comparisons import Comparisons
    from chatbot.app.running_questions import RunningQuestions
    from chatbot.app.store_check import StoreCheck
    from chatbot.memory.signals.live_news import LiveNews
    from chatbot.models.connecting import LocalModels
    from chatbot.service import Chatbot
    from chatbot.store.addition_queue import Additions
    from chatbot.store.library import Library

__all__ = ["AppContext", "AppOpening", "close", "opening", "pick_up"]

log = logging.getLogger(__name__)

# Erasing waits for the batch that is being embedded. After this time, what answers keep of a document is left
# to the next call.
FORGET_SECONDS, FORGET_TICK = 120.0, 0.1
# An opening that failed because of something that passes is retried after this time.
RETRY_SECONDS = 2.0
# Seconds after which a thread that computes lets others compute. By Python's default, 5 ms, a question beside
# a long file that is read takes three times as long.
SWITCH_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class AppContext:
    """What the pages work with once the store is open."""

    settings: Settings
    chatbot: Chatbot
    additions: Additions
    asked: RunningQuestions
    comparisons: Comparisons
    images: PageImages
    check: StoreCheck
    downloads: Downloads
    local_models: LocalModels
    news: LiveNews

    def restore(self, name: str) -> None:
        """Restores a removed document and makes the vectors it still lacks."""
        self.chatbot.restore(name)
        self.additions.wake()

    def erase(self, name: str) -> list[Path]:
        """Gives a document up beyond restoring.

        What is left of it in the store, in answers and in images is erased shortly after. Returns what
        Library.retire does.
        """
        left = self.additions.erase(name)
        self.asked.forget()
        self.comparisons.forget()
        self.images.forget()
        self.downloads.forget()
        threading.Thread(target=self._forget, args=(name,), name="forgetting", daemon=True).start()
        return left

    def _forget(self, name: str) -> None:
        end = time.monotonic() + FORGET_SECONDS
        while name in self.additions.erasing() and time.monotonic() < end:
            time.sleep(FORGET_TICK)
        try:
            self.chatbot.memory.forget_erased()
        except (
            ProjectError
        ) as error:  # as when the server is being stopped; the next answer, or the next start, does it
            log.warning("after erasing a document: %s", error)

    def close(self) -> None:
        """Stops what is on its way and closes the store."""
        self.asked.close()
        self.comparisons.close()
        self.news.close()
        self.check.close()
        self.additions.close()
        self.chatbot.close()


class AppOpening:
    """A chatbot that is being opened in a thread.

    context: None until it is open.
    error: why it could not be opened.
    """

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self.context: AppContext | None = None
        self.error: ProjectError | None = None
        self._failed_at = 0.0
        self._thread = threading.Thread(target=self._open, name="opening", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Waits until it is open or has failed, at most `seconds`."""
        self._thread.join(seconds)

    def is_to_be_retried(self, *, now: bool) -> bool:
        """Tells whether it failed. Without `now`, only what passes counts, and not at once."""
        return self.error is not None and (
            now or (self.error.retryable and time.monotonic() - self._failed_at > RETRY_SECONDS)
        )

    def close(self) -> None:
        """Waits for the opening to end, and closes."""
        self._thread.join()
        if self.context is not None:
            self.context.close()

    def _open(self) -> None:
        try:
            self.context = _open_context(self._settings())
        except ProjectError as error:
            self._failed_at, self.error = time.monotonic(), error
        except Exception:
            log.exception("opening failed")
            self.error = ProjectError("The chatbot could not start.", hint="See the server's log.")


def _open_context(settings: Settings) -> AppContext:
    from chatbot.app.downloads import Downloads
    from chatbot.app.marked_pages import PageImages
    from chatbot.app.running_comparisons import Comparisons
    from chatbot.app.running_questions import RunningQuestions
    from chatbot.app.store_check import StoreCheck
    from chatbot.memory.signals.live_news import LiveNews
    from chatbot.models.connecting import LocalModels
    from chatbot.service import Chatbot
    from chatbot.store.addition_queue import open_additions

    sys.setswitchinterval(SWITCH_SECONDS)
    chatbot = Chatbot(settings)
    try:
        if settings.embeds_here:  # a remote one is only asked when somebody asks a question
            chatbot.search("What is this document about?", k=1)
        additions = open_additions(
            chatbot.library, settings, readers=settings.threads + 1, parts=chatbot.parts
        )
        threading.Thread(
            target=pick_up, args=(chatbot.library, additions), name="picking-up", daemon=True
        ).start()
        images = PageImages(chatbot)
        check = StoreCheck(chatbot.library, lambda _, **how: chatbot.check(**how))
        return AppContext(
            settings,
            chatbot,
            additions,
            RunningQuestions(chatbot, additions.stops, most=settings.waiting_questions),
            Comparisons(chatbot),
            images,
            check,
            Downloads(),
            LocalModels(settings),
            LiveNews(chatbot.signals, chatbot.models.answering, settings),
        )
    except BaseException:
        chatbot.close()
        raise


def pick_up(library: Library, additions: Additions) -> None:
    """Queues what users copied into the folder of documents.

    Nobody waits for it, as large folders take a while to search.
    """
    from chatbot.store.addition_queue import NewFile

    try:
        for one in library.unread(wait=True):
            if one.problem:
                continue
            try:
                with one.path.open("rb") as file:
                    library.try_unread(one)
                    (number,) = additions.enqueue([NewFile(one.name, file)])
            except OSError as error:  # gone meanwhile, or not ours to read
                log.warning("taking %s from the folder of documents: %s", visible(one.name), error.strerror)
                continue
            job = next((job for job in additions.jobs() if job.id == number), None)
            if job is not None and job.phase == "failed" and job.result is not None:
                library.tried(one, job.result)
    except (ProjectError, OSError) as error:  # as when the server is being stopped; the next start goes on
        log.warning("looking for documents that were copied into the folder: %s", error)


_lock = threading.Lock()
_current: list[AppOpening] = []


def opening(settings: Callable[[], Settings], *, again: bool = False) -> AppOpening:
    """Returns the process's one opening, begun at the first call with what `settings` returns.

    One that failed is retried with `again`; and in any case after a moment, if what it lacked may be back, as
    a database that was restarted.
    """
    with _lock:
        if not _current or _current[0].is_to_be_retried(now=again):
            _current[:] = [AppOpening(settings)]
        return _current[0]


def close() -> None:
    """Closes what is open, if anything. The next call of `opening` opens again."""
    with _lock:
        for one in _current:
            one.close()
        _current.clear()
