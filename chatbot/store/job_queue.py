"""Hands jobs to workers through procrastinate, a queue in Postgres; what a job does is not its concern.

Whether a worker is alive, and when a job may begin, is known by the database's clock alone. Loads
procrastinate, so it is imported where a Postgres is used.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import procrastinate
import psycopg
from procrastinate.schema import SchemaManager

from chatbot.errors import StoreError
from chatbot.store.jobs import QUEUE, SILENT_SECONDS
from chatbot.store.postgres_database import CONNECTING
from chatbot.store.postgres_faults import KEEPALIVES, SETTING, as_store_error, parse_address, without_secrets

__all__ = ["JobQueue"]

log = logging.getLogger(__name__)
# Seconds between two signs of life of a worker, two looks for jobs of dead ones, two looks for new jobs, and
# before a worker that failed starts again. To be told of new jobs would take a connection for each queue.
ALIVE_SECONDS, STALLED_SECONDS, LOOK_SECONDS, AGAIN_SECONDS = 3.0, 4.0, 0.25, 1.0
# Long before any clock's now: a job that is handed back may begin at once.
AT_ONCE = datetime(2000, 1, 1, tzinfo=UTC)
TASK = "add"


class JobQueue:
    """The queue of one store, as one process sees it."""

    def __init__(self, address: str) -> None:
        """Makes the queue's tables if they are missing. Raises StoreError."""
        self._address = address
        parts = CONNECTING | parse_address(address, SETTING)
        set_there = "".join(f" -c {name}={value}" for name, value in KEEPALIVES.items())
        options = f"{parts.get('options', '')}{set_there} -c search_path={QUEUE}".strip()
        self._parts = parts | {"options": options, "application_name": QUEUE}
        # Both say of a lost connection, at length, what is said here in one line.
        for name in ("procrastinate", "psycopg.pool"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._make_tables()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        connector = procrastinate.SyncPsycopgConnector(kwargs=self._parts, min_size=0, max_size=1, timeout=10)
        self._sync = procrastinate.App(connector=connector)
        self._sync.open()

    def put(self, number: int, queue: str, lock: str | None = None) -> None:
        """Queues a job, unless it waits there. Those of one lock are worked at one after another.

        Raises StoreError.
        """
        once = f"{queue} {number}"
        try:
            task = self._sync.configure_task(TASK, queue=queue, lock=lock, queueing_lock=once)
            task.defer(number=number)
        except procrastinate.exceptions.AlreadyEnqueued:
            return
        except procrastinate.exceptions.ConnectorException as error:
            raise self._explained(error) from None

    def work(self, attend: Callable[[int, str], None], at_once: Mapping[str, int]) -> None:
        """Starts to work off the queue, until `close`.

        attend(number, queue): works at a job and returns when it is done there; from threads.
        at_once: queue -> how many of its jobs.
        """
        self._thread = threading.Thread(
            target=self._work, args=(attend, at_once), name="additions-queue", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Begins to stop working. What is under way is handed back, for another worker or the next start."""
        self._closing.set()

    def close(self, seconds: float = 10.0) -> None:
        """Stops working, and closes all connections."""
        self.stop()
        if self._thread is not None:
            self._thread.join(seconds)
        self._sync.close()

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _make_tables(self) -> None:
        try:
            with psycopg.connect(**self._parts) as connection:  # type: ignore[arg-type]  # all of them text
                connection.execute("select pg_advisory_xact_lock(hashtextextended(%s, 0))", [QUEUE])
                # to_regclass would not see what another connection has made since this one first asked.
                there = "select 1 from pg_tables where schemaname = %s and tablename = 'procrastinate_jobs'"
                if not connection.execute(there, [QUEUE]).fetchone():
                    connection.execute(f"create schema if not exists {QUEUE}".encode())
                    connection.execute(SchemaManager.get_schema())
        except psycopg.Error as error:
            raise as_store_error(error, self._address) from None

    def _explained(self, error: Exception) -> StoreError:
        if isinstance(error, ExceptionGroup):  # of the workers
            error = error.exceptions[0]
        if isinstance(error.__cause__, psycopg.Error):
            return as_store_error(error.__cause__, self._address)
        return StoreError(
            f"The queue cannot be used: {without_secrets(str(error), self._address)}",
            hint=f"Check the database of {SETTING}.",
            retryable=True,
        )

    def _work(self, attend: Callable[[int, str], None], at_once: Mapping[str, int]) -> None:
        """Works until closed, also after a lost connection."""
        failed = False
        while not self._closing.is_set():
            try:
                asyncio.run(self._run(attend, at_once))
                failed = False
            except Exception as error:
                if not failed and not self._closing.is_set():
                    log.warning("The queue cannot be reached, and is tried again: %s", self._explained(error))
                failed = True
            self._closing.wait(AGAIN_SECONDS)

    async def _run(self, attend: Callable[[int, str], None], at_once: Mapping[str, int]) -> None:
        threads = ThreadPoolExecutor(sum(at_once.values()), thread_name_prefix="additions-job")
        connector = procrastinate.PsycopgConnector(kwargs=self._parts, min_size=1, max_size=2, timeout=10)
        app = procrastinate.App(connector=connector)
        app.task(name=TASK, retry=_HandedBack(), pass_context=True)(partial(_attend, attend, threads))
        try:
            async with app.open_async(), asyncio.TaskGroup() as group:
                workers = [
                    group.create_task(
                        app.run_worker_async(
                            queues=[queue],
                            name=queue,
                            concurrency=count,
                            install_signal_handlers=False,
                            fetch_job_polling_interval=LOOK_SECONDS,
                            listen_notify=False,
                            update_heartbeat_interval=ALIVE_SECONDS,
                            stalled_worker_timeout=SILENT_SECONDS,
                            shutdown_graceful_timeout=0,
                            delete_jobs="always",
                        )
                    )
                    for queue, count in at_once.items()
                ]
                await self._take_over(app, workers)
                for worker in workers:
                    worker.cancel()
        finally:
            threads.shutdown(wait=False)

    async def _take_over(self, app: procrastinate.App, workers: Sequence[asyncio.Task[None]]) -> None:
        """Queues again, now and then, what dead workers had, until the queue is stopped or a worker ends."""
        manager, next_look = app.job_manager, 0.0
        while not (self._closing.is_set() or any(worker.done() for worker in workers)):
            if time.monotonic() >= next_look:
                for job in await manager.get_stalled_jobs(seconds_since_heartbeat=SILENT_SECONDS):
                    try:
                        await manager.retry_job(job, retry_at=AT_ONCE)
                    except procrastinate.exceptions.UniqueViolation:  # it was queued once more
                        await manager.finish_job(job, procrastinate.jobs.Status.ABORTED, delete_job=True)
                next_look = time.monotonic() + STALLED_SECONDS
            await asyncio.sleep(LOOK_SECONDS)


class _HandedBack(procrastinate.BaseRetryStrategy):
    """Whatever ends the work at a job here, another goes on with it."""

    def get_retry_decision(self, *, exception: BaseException, job: object) -> procrastinate.RetryDecision:
        return procrastinate.RetryDecision(retry_at=AT_ONCE)


async def _attend(
    attend: Callable[[int, str], None],
    threads: ThreadPoolExecutor,
    context: procrastinate.JobContext,
    number: int,
) -> None:
    """Works at a job in a thread."""
    await asyncio.get_running_loop().run_in_executor(threads, attend, number, context.job.queue)
