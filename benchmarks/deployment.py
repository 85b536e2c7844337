"""Measures all parts of deploy/Procfile together: people, kills, and workers on a core each.

    python benchmarks/deployment.py [--kills 100] [--users 40] [--folder FOLDER] [users kills workers ...]

users    so many people ask at the same moment through the proxy, each three questions in a conversation of
         their own; and what is added through one server is looked for through the other.
kills    one part after another, drawn by chance, is ended with SIGKILL at a moment drawn by chance, while one
         person adds a file after another and another asks; at the end all files and answers are counted.
workers  scanned pages read by two workers, each on a core of its own, beside one.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import markdown_table
from tests.deployment import PARTS, WELL_SECONDS, Deployment, wait_until
from tests.pdfs import make_pdf, make_scan

RULES = (
    "The deficit ceiling of Norland is {} per cent of output.\n\nThe debt anchor is 60 per cent of output."
)
QUESTIONS = (
    "What is the deficit ceiling?",
    "What is the debt anchor?",
    "What is the deficit ceiling of Norland?",
)
# Of people in turn, and pages that workers read.
FOUND, SCANS, SCANNED_PAGES = 10, 8, 6
GIVE_UP_SECONDS, READ_SECONDS = 120.0, 600.0
WORKERS = ("worker1", "worker2")


@dataclass
class Seen:
    """What people met while parts ended.

    added: the names of files that were taken. refused: what was said -> how often. answered: by number.
    """

    added: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    answered: int = 0
    over: threading.Event = field(default_factory=threading.Event)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("what", nargs="*", default=["users", "kills", "workers"])
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--users", type=int, default=40)
    options.add_argument("--folder", type=Path, help="for the files of all parts")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.chmod(0o755)
        if {"users", "kills"} & set(given.what):
            deployment = Deployment(folder / "data")
            try:
                deployment.wait()
                with deployment.client() as client:
                    add(client, make_pdf(folder / "Rules.pdf", [RULES.format(3)]))
                wait_until(lambda: has(deployment, "Rules.pdf"), WELL_SECONDS, deployment.logs)
                if "users" in given.what:
                    print(people(deployment, given.users, folder), flush=True)
                if "kills" in given.what:
                    print(kills(deployment, given.kills, folder), flush=True)
            finally:
                deployment.stop()
        if "workers" in given.what:
            print(workers(folder), flush=True)


# --- people
# ------------------------------------------------------------------------------------------------------------


def people(deployment: Deployment, users: int, folder: Path) -> str:
    """A table of what so many people saw."""
    with ThreadPoolExecutor(users) as threads:
        asked = list(threads.map(lambda user: three_answers(deployment, user), range(users)))
    times = sorted(seconds for found in asked for seconds, _ in found)
    faults = Counter(fault for found in asked for _, fault in found if fault)
    waits = [found_elsewhere(deployment, number, folder) for number in range(FOUND)]
    rows = [
        ("questions of people at the same moment", len(times), f"{len(faults)} faults"),
        (
            "seconds for an answer",
            f"{statistics.median(times):.2f}",
            f"p95 {times[int(0.95 * len(times))]:.2f}",
        ),
        (
            "seconds until another server finds a file",
            f"{statistics.median(waits):.2f}",
            f"most {max(waits):.2f}",
        ),
    ]
    return "\n".join([markdown_table([f"{users} people", "", ""], rows), *map(str, faults.items())])


def three_answers(deployment: Deployment, user: int) -> list[tuple[float, str]]:
    """Seconds and fault, if any, of each answer."""
    found = []
    with deployment.client() as client:
        for question in QUESTIONS:
            begun = time.perf_counter()
            answer = client.post("/api/v1/ask", json={"question": question, "conversation": f"user{user}"})
            fault = "" if answer.status_code == 200 else f"{answer.status_code} {answer.text[:200]}"
            if not fault and not answer.json()["citations"]:
                fault = f"no page for {question}"
            found.append((time.perf_counter() - begun, fault))
    return found


def found_elsewhere(deployment: Deployment, number: int, folder: Path) -> float:
    """Seconds from a file that the first server has ready until the second one finds it."""
    path = make_pdf(
        folder / f"Found {number}.pdf", [f"The levy number {number} on windows is {number} crowns."]
    )
    first, second = (httpx.Client(base_url=deployment.server(one), timeout=60) for one in (1, 2))
    with first, second:
        add(first, path)
        wait_until(lambda: states(first).get(path.name) == "ready", WELL_SECONDS, deployment.logs)

        def is_found() -> bool:
            wanted = {"query": f"levy number {number} on windows", "documents": [path.name]}
            answer = second.post("/api/v1/search", json=wanted)
            return answer.status_code == 200 and path.name in answer.text

        return wait_until(is_found, WELL_SECONDS, deployment.logs)


# --- kills
# ------------------------------------------------------------------------------------------------------------


def kills(deployment: Deployment, count: int, folder: Path) -> str:
    """A table of what became of each part, and of what was being done."""
    seen, draw = Seen(), random.Random(0)
    busy = [
        threading.Thread(target=keep_adding, args=(deployment, folder, seen)),
        threading.Thread(target=keep_asking, args=(deployment, seen)),
    ]
    for thread in busy:
        thread.start()
    took: dict[str, list[float]] = defaultdict(list)
    try:
        for number in range(count):
            part = PARTS[number % len(PARTS)] if number < len(PARTS) else draw.choice(PARTS)
            time.sleep(draw.uniform(0, 2))
            gone = deployment.kill(part)
            begun = time.monotonic()
            wait_until(partial(is_replaced, deployment, part, gone), GIVE_UP_SECONDS, deployment.logs)
            wait_until(deployment.well, GIVE_UP_SECONDS, deployment.logs)
            took[part].append(time.monotonic() - begun)
    finally:
        seen.over.set()
        for thread in busy:
            thread.join()
    lost, twice = counted(deployment, seen)
    rows = [
        (part, len(times), f"{statistics.median(times):.1f}", f"{max(times):.1f}")
        for part, times in sorted(took.items())
    ]
    said = [f"{often} × {text}" for text, often in seen.refused.most_common()]
    end = f"{len(seen.added)} files taken: {lost} lost or half, {twice} twice; {seen.answered} answers."
    return "\n".join([markdown_table(["ended", "times", "well after s", "most"], rows), end, *said])


def is_replaced(deployment: Deployment, part: str, gone: int) -> bool:
    """Whether the runner has started a part again."""
    return deployment.process(part) != gone


def keep_adding(deployment: Deployment, folder: Path, seen: Seen) -> None:
    """Adds one file after another, each until it is taken."""
    number = 0
    while not seen.over.is_set():
        number += 1
        path = make_pdf(folder / f"File {number}.pdf", [RULES.format(number), f"Page two of {number}."])
        while not seen.over.is_set():
            try:
                with deployment.client() as client:
                    add(client, path)
            except (OSError, httpx.HTTPError) as error:
                note(seen, "adding", error)
                time.sleep(1)
            else:
                seen.added.append(path.name)
                break
        time.sleep(0.5)


def keep_asking(deployment: Deployment, seen: Seen) -> None:
    """Asks one question after another in a conversation."""
    while not seen.over.is_set():
        try:
            with deployment.client() as client:
                wanted = {"question": QUESTIONS[0], "conversation": "steady", "documents": ["Rules.pdf"]}
                answer = client.post("/api/v1/ask", json=wanted).raise_for_status().json()
                assert "3 per cent" in answer["answer"], answer
                seen.answered += 1
        except (OSError, httpx.HTTPError) as error:
            note(seen, "asking", error)
            time.sleep(1)
        time.sleep(0.2)


def note(seen: Seen, doing: str, error: Exception) -> None:
    """Keeps what was said to a person."""
    said = str(error)
    if isinstance(error, httpx.HTTPStatusError):
        try:
            said = f"{error.response.status_code} {error.response.json()['detail']}"
        except (ValueError, KeyError):
            said = f"{error.response.status_code} without a sentence: {error.response.text[:100]}"
    seen.refused[f"{doing}: {said}"] += 1


def counted(deployment: Deployment, seen: Seen) -> tuple[int, int]:
    """How many files are lost or half done, and how many are there twice or in two versions."""
    left = len(seen.added)
    while left:  # a busy machine may have many still to do; it gives up where none more is done
        fewer = partial(has_fewer, deployment, seen.added, left)
        wait_until(fewer, GIVE_UP_SECONDS, deployment.logs)
        left = to_come(deployment, *seen.added)
    with deployment.client() as client:
        rows = client.get("/api/v1/documents").json()
    whole = {row["name"] for row in rows if row["pages"] == 2}
    with psycopg.connect(deployment.database) as connection:
        versions = "select 1 from finpolicy_catalog.version group by document having count(*) > 1"
        twice = len(connection.execute(versions).fetchall())
    return len(set(seen.added) - whole), twice


# --- workers
# ------------------------------------------------------------------------------------------------------------


def workers(folder: Path) -> str:
    """A table of one worker beside two, each on one core."""
    rows = [(count, f"{read_rate(folder / f'workers{count}', count):.2f}") for count in (1, 2)]
    return markdown_table(["workers", "scanned pages a second"], rows)


def read_rate(folder: Path, count: int) -> float:
    """Scanned pages that so many workers read in a second, over new stores in `folder`."""
    others = [part for part in PARTS if not part.startswith("worker")]
    deployment = Deployment(folder, [*others, *WORKERS[:count]])
    try:
        deployment.wait()
        for worker, core in zip(WORKERS[:count], sorted(os.sched_getaffinity(0)), strict=False):
            pin(deployment.process(worker), core)
        with deployment.client() as client:
            read(deployment, client, folder, range(-count, 0))  # so that each has loaded what it needs
            begun = time.perf_counter()
            read(deployment, client, folder, range(SCANS))
        return SCANS * SCANNED_PAGES / (time.perf_counter() - begun)
    finally:
        deployment.stop()


def read(deployment: Deployment, client: httpx.Client, folder: Path, numbers: range) -> None:
    """Has the workers read scans, and waits until they have."""
    paths = [make_scan(folder / f"Scan {number}.pdf", circular(number)) for number in numbers]
    for path in paths:
        add(client, path)
    names = [path.name for path in paths]
    # Not more often: the servers' work for it would be taken from the workers.
    wait_until(lambda: has(deployment, *names), READ_SECONDS, deployment.logs, every=1)


def circular(number: int) -> list[str]:
    """The pages of one."""
    return [f"Circular {number}\n\nThe allowance is {page} crowns a day." for page in range(SCANNED_PAGES)]


def pin(process: int, core: int) -> None:
    """Lets a process and all of its threads have one core."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {core})


# --- inside
# ------------------------------------------------------------------------------------------------------------


def add(client: httpx.Client, path: Path) -> None:
    """Sends a file. Raises httpx.HTTPError unless it is taken."""
    client.post("/api/v1/documents", files={"files": (path.name, path.read_bytes())}).raise_for_status()


def states(client: httpx.Client) -> dict[str, str]:
    """Name -> state of the documents that a server shows."""
    return {row["name"]: row["state"] for row in client.get("/api/v1/documents").raise_for_status().json()}


def has_fewer(deployment: Deployment, names: Sequence[str], than: int) -> bool:
    """Whether fewer of these than that are still to come."""
    return to_come(deployment, *names) < than


def has(deployment: Deployment, *names: str) -> bool:
    """Whether both servers have all of these ready."""
    return not to_come(deployment, *names)


def to_come(deployment: Deployment, *names: str) -> int:
    """How many of these one of the servers does not have ready; all where it cannot be asked."""
    counts = [0]
    for number in (1, 2):
        try:
            with httpx.Client(base_url=deployment.server(number), timeout=30) as client:
                found: dict[str, Any] = states(client)
        except (OSError, httpx.HTTPError):
            return len(names)
        counts.append(sum(found.get(name) != "ready" for name in names))
    return max(counts)


if __name__ == "__main__":
    main()
