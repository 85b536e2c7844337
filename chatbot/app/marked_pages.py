"""Draws pages as images with a passage marked, and keeps the last ones and those a browser will fetch."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass

from chatbot.errors import ProjectError
from chatbot.evidence.page_marks import mark
from chatbot.service import Chatbot
from ingestion.records import BESIDE

__all__ = ["PageImage", "PageImages", "mark"]

# Enough to leaf back and forth. A page takes about 200 kB.
MOST_IMAGES = 32
# Bytes of images that browsers were told to fetch: 32 pages at the highest zoom, about 2 MB each.
MOST_BYTES = 64_000_000
# A page of 210 mm is then 910 pixels wide, which is sharp in a panel of 592 on most screens.
DPI = 110


@dataclass(frozen=True, slots=True)
class PageImage:
    """The image of a page.

    png: the image.
    top: where the marked passage begins, as a share of the image's height; None if nothing is marked.
    beside: whether it is text that belongs to the page and is not shown on it, such as notes.
    """

    png: bytes
    top: float | None
    beside: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, from the file's header (PNG specification, section 11.2.2)."""
        return int.from_bytes(self.png[16:20]), int.from_bytes(self.png[20:24])


class PageImages:
    """The marked pages of a store. Several threads may use it."""

    def __init__(self, chatbot: Chatbot) -> None:
        self._chatbot = chatbot
        self._kept: OrderedDict[tuple[int, int, str, int, float], PageImage] = OrderedDict()
        self._lent: OrderedDict[str, tuple[int, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self,
        version: int,
        page: int,
        quote: str,
        start: int = -1,
        password: str | None = None,
        *,
        zoom: float = 1.0,
    ) -> PageImage:
        """Returns a page with `quote` marked where it stands at `start` of the page's text; "" marks nothing.

        Raises DocumentError, NotFoundError if the version is gone, and EncryptedError if its file needs a
        password. Pages opened with a password are not kept, as users without it must not see them.

        zoom: 1 for DPI dots an inch.
        """
        self._chatbot.library.file(version)
        key = (version, page, quote, start, zoom)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        png, places = self._chatbot.page_image(
            version, page, quote, start, dpi=round(DPI * zoom), password=password
        )
        top = min((place.y0 for place in places if place != BESIDE), default=None)
        image = PageImage(mark(png, places), top, beside=BESIDE in places)
        if password is not None:
            return image
        with self._lock:
            self._kept[key] = image
            while len(self._kept) > MOST_IMAGES:
                self._kept.popitem(last=False)
        return image

    def lend(self, version: int, image: PageImage) -> str:
        """Returns the name under which a browser can fetch a page's image. The oldest are dropped first.

        It cannot be guessed without the image.
        """
        name = hashlib.sha256(image.png).hexdigest()
        with self._lock:
            self._lent[name] = (version, image.png)
            self._lent.move_to_end(name)
            while len(self._lent) > 1 and sum(len(png) for _, png in self._lent.values()) > MOST_BYTES:
                self._lent.popitem(last=False)
        return name

    def lent(self, name: str) -> bytes | None:
        """Returns the image of that name; None if it was never or is no longer offered, or its document is
        gone.
        """
        with self._lock:
            found = self._lent.get(name)
        if found is None:
            return None
        try:
            self._chatbot.library.file(found[0])
        except ProjectError:
            return None
        return found[1]

    def forget(self) -> None:
        """Drops all images, and the processes that have a file open."""
        self._chatbot.readers.end_waiting()
        with self._lock:
            self._kept.clear()
            self._lent.clear()
