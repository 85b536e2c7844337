"""Measures how fast the search for news signals is, on made events.

It also measures how much it finds of what a comparison with every event finds.

    python benchmarks/signals.py [--events 10000 100000] [--thresholds]

The events are synthetic and labelled as such: unit vectors of 384 numbers around topics, 67 events a topic,
published evenly over a year. Each has one or two signals with a confidence spread over 0 to 1, and assets, of
which one is common (a third of the events) and one rare (a fiftieth). Each kind of search calls the function
search_memory_events with all its filters for three rows, as a recall does; times are those of the call from
this process, warm. --thresholds prints the cosine that the embedded model gives made news and questions about
them, from which its threshold was taken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.tables import markdown_table
from chatbot.memory.signals.news_postgres import make_tables, vector_text
from chatbot.settings import MULTILINGUAL
from tests.embedded_postgres import EmbeddedServer

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

__all__ = ["KINDS", "Kind", "Measured", "fill", "measure", "report", "thresholds"]

SIZES = (10_000, 100_000)
DIMENSION, PER_TOPIC, QUERIES, WANTED = 384, 67, 200, 3
THRESHOLD = 0.4
NOW = datetime(2025, 1, 1, tzinfo=UTC)
YEAR = 365 * 24
# Of the whole deviation from a topic, so that the cosine of two events of one topic is about 0.6, as of news
# on one matter.
SPREAD = 0.8


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of search, beside the threshold. confidence: least. hours: of the window. asset: "" for any."""

    name: str
    confidence: float
    hours: int
    asset: str = ""


KINDS = (
    Kind("the defaults: 7 days", 0.6, 168),
    Kind("7 days, a common asset", 0.6, 168, "common"),
    Kind("7 days, a rare asset", 0.6, 168, "rare"),
    Kind("90 days", 0.6, 90 * 24),
    Kind("90 days, a common asset", 0.6, 90 * 24, "common"),
    Kind("a year", 0.6, YEAR),
    Kind("a year, a common asset", 0.6, YEAR, "common"),
    Kind("a year, a rare asset", 0.6, YEAR, "rare"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one kind of search. recall: share of exactly found events found. p50, p95: milliseconds. rows:
    mean found.
    """

    kind: Kind
    recall: float
    p50: float
    p95: float
    rows: float


def vectors(number: int, topics: int, seed: int) -> NDArray[np.float32]:
    """Unit rows around topics, which are the same for every seed."""
    centres = np.random.default_rng(0).normal(size=(topics, DIMENSION)).astype(np.float32)
    random = np.random.default_rng(seed)
    rows = centres[random.integers(topics, size=number)] + SPREAD * random.normal(
        size=(number, DIMENSION)
    ).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def fill(connection: Connection, events: int) -> float:
    """Make the tables and the events; seconds it took, the index included."""
    from pgvector.psycopg import register_vector

    started = time.perf_counter()
    with connection.transaction():
        make_tables(connection, "synthetic", DIMENSION)
        # Filled first and indexed after: an index that grows row by row takes four times as long.
        connection.execute("DROP INDEX news_events_embedding")
    register_vector(connection)
    random = np.random.default_rng(3)
    columns = "source, source_message_id, content_text, content_hash, published_at, embedding, found_by"
    with connection.cursor().copy(f"COPY news_events ({columns}) FROM STDIN WITH (FORMAT BINARY)") as copy:
        copy.set_types(["text", "text", "text", "text", "timestamptz", "vector", "text"])
        for number, vector in enumerate(vectors(events, max(1, events // PER_TOPIC), 1)):
            at = NOW - timedelta(hours=float(random.uniform(0, YEAR)))
            copy.write_row(
                ("synthetic", str(number), f"made event {number}", str(number), at, vector, "vector")
            )
    for analyser, share in (("first", 1), ("second", 2)):
        connection.execute(
            """INSERT INTO ai_signals (news_event_id, summary, assets, action, confidence, analyser)
            SELECT id, 'made', ARRAY[CASE mod(id, 3) WHEN 0 THEN 'Common' ELSE 'other' END, CASE mod(id,
            50) WHEN 0 THEN 'Rare' ELSE 'a' END],
            'observe', random(), %s FROM news_events WHERE mod(id, %s) = 0""",
            [analyser, share],
        )
    connection.execute("SET maintenance_work_mem = '512MB'")
    with connection.transaction():
        make_tables(connection, "synthetic", DIMENSION)
    connection.execute("ANALYZE")
    return time.perf_counter() - started


def measure(connection: Connection, events: int, kind: Kind, *, queries: int = QUERIES) -> Measured:
    """Search for as many made questions, each near a topic, and compare with what comparing every event
    finds.
    """
    asked = [vector_text(one) for one in vectors(queries + 5, max(1, events // PER_TOPIC), 2)]
    found, times = [], []
    for text in asked:
        started = time.perf_counter()
        rows = connection.execute(
            "SELECT news_event_id FROM search_memory_events(%s, %s, %s, %s, %s, %s, %s)", _given(text, kind)
        ).fetchall()
        times.append((time.perf_counter() - started) * 1_000)
        found.append([row[0] for row in rows])
    shares = []
    for text, got in zip(asked[5:], found[5:], strict=True):
        right = _exact(connection, text, kind)
        if right:
            shares.append(len(set(right) & set(got)) / len(right))
    p50, p95 = np.percentile(times[5:], [50, 95])
    recall = float(np.mean(shares)) if shares else 1.0
    mean_rows = float(np.mean([len(one) for one in found[5:]]))
    return Measured(kind, recall, float(p50), float(p95), mean_rows)


def report(sizes: tuple[int, ...] = SIZES) -> None:
    """Print a table for each number of events."""
    for events in sizes:
        with _server() as connection:
            seconds = fill(connection, events)
            print(
                f"{events:,} synthetic events of {DIMENSION} numbers, filled and indexed in "
                f"{seconds:.0f} s; {QUERIES} questions a row, threshold {THRESHOLD}:\n"
            )
            rows = [measure(connection, events, kind) for kind in KINDS]
            heads = ["Search", "Recall against exact", "p50 ms", "p95 ms", "Rows"]
            print(
                markdown_table(
                    heads,
                    [
                        [
                            one.kind.name,
                            f"{one.recall:.3f}",
                            f"{one.p50:.1f}",
                            f"{one.p95:.1f}",
                            f"{one.rows:.1f}",
                        ]
                        for one in rows
                    ],
                ),
                "\n",
            )


def _given(text: str, kind: Kind) -> list[Any]:
    return [text, THRESHOLD, WANTED, kind.confidence, kind.hours, [kind.asset] if kind.asset else None, NOW]


def _exact(connection: Connection, text: str, kind: Kind) -> list[int]:
    with connection.transaction():
        connection.execute("SET LOCAL enable_indexscan = off")
        rows = connection.execute(
            """SELECT e.id FROM news_events e WHERE e.published_at BETWEEN %s AND %s AND 1 - (e.embedding <=>
                %s::vector) >= %s
            AND EXISTS (SELECT FROM ai_signals s WHERE s.news_event_id = e.id AND s.confidence >= %s AND (%s
            = '' OR s.assets_folded @> ARRAY[upper(%s)]))
            ORDER BY (e.embedding <=> %s::vector) + 0 LIMIT %s""",
            [
                NOW - timedelta(hours=kind.hours),
                NOW,
                text,
                THRESHOLD,
                kind.confidence,
                kind.asset,
                kind.asset,
                text,
                WANTED,
            ],
        ).fetchall()
    return [int(row[0]) for row in rows]


@contextmanager
def _server() -> Iterator[Connection]:
    import psycopg

    with tempfile.TemporaryDirectory(prefix="signals-") as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(Path(folder) / "server")
        try:
            with psycopg.connect(server.address(), autocommit=True, prepare_threshold=None) as connection:
                yield connection
        finally:
            server.stop()


NEWS = """\
The European Central Bank lowered its deposit rate by 25 basis points to 3.0%, citing slowing \
inflation in the euro area.
Bitcoin rose above 100,000 dollars for the first time as spot ETFs recorded record inflows.
A large crypto exchange said hackers stole 230 million dollars from one of its wallets and halted withdrawals.
Brent crude fell 3% after OPEC+ agreed to raise output from January.
Gold reached a record as investors sought safety ahead of the US election.
The US Securities and Exchange Commission sued a token issuer over unregistered offerings.
US consumer prices rose 2.7% in November, slightly above forecasts.
Moody's cut France's sovereign rating to Aa3, pointing to weak public finances.
The Reserve Bank of India kept the repo rate at 6.5% and cut the cash reserve ratio by 50 basis points.
Apple reported quarterly revenue of 94.9 billion dollars, up 6% on the year.
China announced a fiscal package of 10 trillion yuan to refinance local government debt.
The yen weakened past 155 per dollar after the Bank of Japan signalled patience.
The UK budget raised employer national insurance contributions by 1.2 percentage points.
Germany's coalition collapsed over next year's budget, raising the prospect of early elections.
""".splitlines()
# Question: which of the news it is about, from 0.
ABOUT = {
    "What did the ECB decide on interest rates?": 0,
    "Has the European Central Bank cut rates?": 0,
    "How is bitcoin doing?": 1,
    "bitcoin price record": 1,
    "Was a crypto exchange hacked?": 2,
    "What happened to oil prices?": 3,
    "OPEC output decision": 3,
    "Why is gold rising?": 4,
    "SEC lawsuit against crypto": 5,
    "What is US inflation?": 6,
    "Was France downgraded?": 7,
    "What is the RBI repo rate?": 8,
    "monetary policy in India": 8,
    "Apple earnings": 9,
    "Chinese stimulus": 10,
    "local government debt in China": 10,
    "dollar yen exchange rate": 11,
    "tax changes in the UK budget": 12,
    "German government crisis": 13,
}
POLICY = """What is the deficit ceiling?
Which ministry supervises state-owned enterprises?
What were total liabilities in fiscal year 2018?
How is depreciation of equipment computed?
Who audits the accounts?
What is the procurement threshold for open tenders?
What does the report say about pension obligations?
Explain the revenue recognition policy.
What is the debt service coverage ratio?
When must the budget be submitted to parliament?
What are the reserve requirements under the fiscal rule?
What is net income attributable to shareholders?
How are grants to provinces allocated?""".splitlines()


# Least cosines that are tried, by the embedding model.
LEAST = {"": (0.3, 0.34, 0.37, 0.4, 0.45, 0.5), MULTILINGUAL: (0.8, 0.81, 0.82, 0.83, 0.84, 0.85)}


def thresholds() -> str:
    """What each least cosine finds with the embedded model that the settings name: of the questions' own
    news, of other news, and for questions on policies.
    """
    from chatbot.models.embedders import local_embedder
    from chatbot.settings import load_settings

    settings = load_settings()
    embedder = local_embedder(settings)
    told = embedder.embed(NEWS)
    likeness = embedder.embed(list(ABOUT), query=True) @ told.T
    policy = (embedder.embed(POLICY, query=True) @ told.T).max(axis=1)
    own = np.zeros_like(likeness, bool)
    own[np.arange(len(ABOUT)), list(ABOUT.values())] = True
    rows = []
    for least in LEAST[settings.embedding_model]:
        shares = [(values >= least).mean() for values in (likeness[own], likeness[~own], policy)]
        rows.append([f"{least:.2f}", *(f"{share:.0%}" for share in shares)])
    heads = ["Least cosine", "Own news found", "Other news", "Policy questions with any"]
    return markdown_table(heads, rows)


def main() -> int:
    """Print the report."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--events", type=int, nargs="+", default=list(SIZES), help="numbers of made events")
    options.add_argument("--thresholds", action="store_true", help="only the embedded model's cosines")
    given = options.parse_args()
    if given.thresholds:
        print(thresholds())
    else:
        report(tuple(given.events))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
