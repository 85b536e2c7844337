"""Counts the API's requests, and reports them with the state of the store in Prometheus's text form."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from chatbot.app.app_context import AppContext
from chatbot.errors import StoreError

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Seconds. Most requests take milliseconds; a chat model may take minutes.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """What is measured of one API. Nothing in it names a document, a question or a key."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "finpolicy_requests",
            "Requests to the API.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "finpolicy_request_seconds",
            "Seconds until a response was sent in full.",
            ("method", "route"),
            buckets=BUCKETS,
            registry=self._registry,
        )
        gauge = partial(Gauge, registry=self._registry)
        self._going = gauge("finpolicy_requests_in_progress", "Requests that are being answered.")
        self._ready = gauge("finpolicy_ready", "1 if questions can be asked.")
        self._documents = gauge("finpolicy_documents", "Documents in the store.", ("state",))
        self._additions = gauge("finpolicy_additions", "Files that are being added.", ("phase",))
        part = ("part", "place")
        self._part_up = gauge("finpolicy_part_up", "1 if a part of the store answers.", part)
        self._part_seconds = gauge("finpolicy_part_seconds", "Seconds until it answered.", part)

    def began(self) -> None:
        """Notes that a request came."""
        self._going.inc()

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        """Notes that it was answered. route: the address's pattern."""
        self._going.dec()
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self, opened: AppContext | None) -> bytes:
        """Returns all that was measured."""
        self._ready.set(opened is not None and opened.chatbot.ready)
        if opened is not None:
            for part in opened.chatbot.parts.all():
                self._part_up.labels(part.name, part.place).set(not part.problem)
                self._part_seconds.labels(part.name, part.place).set(part.seconds)
            with suppress(StoreError):  # as when the database is down, which its part says
                _count(self._documents, (row.state for row in opened.chatbot.documents()))
                _count(self._additions, (job.phase for job in opened.additions.jobs() if not job.finished))
        return generate_latest(self._registry)


def _count(gauge: Gauge, labels: Iterable[str]) -> None:
    """Sets the gauge to how often each label comes."""
    gauge.clear()
    for label in labels:
        gauge.labels(label).inc()
