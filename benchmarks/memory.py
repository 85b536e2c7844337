"""Measures how much of what answers later questions survives the compression of a conversation.

Compression is compared with simpler choices and timed.

    python benchmarks/memory.py [--conversations FILE.jsonl] [--no-vectors]

A line of the file is a conversation: {"speakers": [first, second], "turns": [{"id", "speaker", "text"}],
"questions": [{"question", "evidence": [turn id], "expected"}]}; questions to "abstain" from are left out.
Each conversation is compressed for each question to 50, 25 and 10 % of its tokens, nothing verbatim at its
end, and what counts is the share of the evidence's tokens that is kept. The simpler choices take whole
messages, best first, up to the first that does not fit. Without the file only the times are measured, on made
text. The tables of follow-ups are those of benchmarks/follow_ups.py.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import follow_ups
from benchmarks.intervals import mean_cell
from benchmarks.tables import markdown_table
from chatbot.memory.compression.compress import CompressionFocus, CompressionOptions, Conversation, Message
from chatbot.memory.compression.importance import seed_importance
from chatbot.memory.compression.messages import texts_to_embed
from chatbot.models.embedders import LocalEmbedder
from chatbot.models.tokens import count_tokens
from chatbot.settings import load_settings
from chatbot.store.term_scores import K1, B, inverse_frequency
from ingestion.language.terms import content_terms, terms

__all__ = ["Talk", "bm25", "fill", "load_talks", "report", "share_of"]

DATA = ROOT.parent / "shared" / "data" / "memory_conv_dev.jsonl"
RATIOS = (0.5, 0.25, 0.1)
# Messages of about 24 tokens: 20,000, 80,000 and 500,000 tokens.
LENGTHS = (840, 3_360, 21_000)
# Of the embedded model's vectors.
DIMENSION = 384

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation with questions asked of it. questions: (text, ids of the messages that answer it)."""

    messages: tuple[Message, ...]
    questions: tuple[tuple[str, tuple[str, ...]], ...]


def load_talks(path: Path) -> list[Talk]:
    """The conversations of a file; the first speaker is the user, and each message begins with its
    speaker's name.
    """
    talks = []
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        messages = [_message(turn, row["speakers"][0]) for turn in row["turns"]]
        asked = [
            (one["question"], tuple(one["evidence"]))
            for one in row["questions"]
            if one.get("expected") != "abstain"
        ]
        talks.append(Talk(tuple(messages), tuple(asked)))
    return talks


def _message(turn: Mapping[str, Any], first: str) -> Message:
    return Message(
        turn["id"], "user" if turn["speaker"] == first else "assistant", f"{turn['speaker']}: {turn['text']}"
    )


def share_of(kept: Mapping[str, float], evidence: Sequence[str]) -> float:
    """The mean share kept of the messages that answer a question; one that is not in the conversation
    counts as lost.
    """
    return sum(kept.get(one, 0.0) for one in evidence) / len(evidence)


def fill(scores: Array, tokens: Sequence[int], ratio: float) -> set[int]:
    """The messages that a simpler choice keeps: best first, of equals the earlier, up to the first that
    does not fit.
    """
    left, kept = ratio * sum(tokens), set[int]()
    for at in np.argsort(-scores, kind="stable").tolist():
        if tokens[at] > left:
            break
        left -= tokens[at]
        kept.add(at)
    return kept


def bm25(found: Sequence[Counter[str]], query: str, *, neighbours: float = 0.0) -> Array:
    """BM25 of each message for a query. found: the messages' terms. neighbours: the share of the score of
    those beside it that is added.
    """
    lengths, scores = np.array([some.total() for some in found], float), np.zeros(len(found))
    for term in content_terms(query):
        often = np.array([some[term] for some in found], float)
        if often.any():
            norm = K1 * (1 - B + B * lengths / lengths.mean())
            scores += (
                inverse_frequency(len(found), int((often > 0).sum())) * often * (K1 + 1) / (often + norm)
            )
    around = np.zeros(len(found))
    around[1:] += scores[:-1]
    around[:-1] += scores[1:]
    return scores + neighbours * around


def simple_choices(talk: Talk) -> Mapping[str, Callable[[str], Array]]:
    """By name, what a simpler choice scores each message for a question, seeded where it is by chance."""
    texts, chance = [message.content for message in talk.messages], random.Random(0)
    found, count = [Counter(terms(text)) for text in texts], len(texts)
    sizes = np.array([count_tokens(text) for text in texts], float)
    importances = []
    for at, text in enumerate(texts):
        answers = at > 0 and "?" in texts[at - 1]
        importances.append(seed_importance(text, at, count, answers=answers))
    seed = np.array(importances)
    return {
        "random": lambda query: np.array([chance.random() for _ in texts]),
        "newest first": lambda query: np.arange(count, dtype=float),
        "longest first": lambda query: sizes,
        "the seed's formula": lambda query: seed,
        "BM25 against the question": lambda query: bm25(found, query),
        "the same with neighbours (½, 1, ½)": lambda query: bm25(found, query, neighbours=0.5),
    }


def measure(talks: Sequence[Talk], *, vectors: bool) -> str:
    """A line a choice: the share of evidence kept at each ratio, over all questions, with its interval."""
    shares: dict[str, dict[float, list[float]]] = {}

    def note(name: str, ratio: float, share: float) -> None:
        shares.setdefault(name, {each: [] for each in RATIOS})[ratio].append(share)

    for talk in talks:
        tokens = [count_tokens(message.content) for message in talk.messages]
        for name, score in simple_choices(talk).items():
            for query, evidence in talk.questions:
                scores = score(query)
                for ratio in RATIOS:
                    note(
                        name,
                        ratio,
                        share_of({talk.messages[at].id: 1.0 for at in fill(scores, tokens, ratio)}, evidence),
                    )
        for name, conversation, ask, options in compressions(talk, vectors=vectors):
            for query, evidence in talk.questions:
                question = ask(query)
                for ratio in RATIOS:
                    got = conversation.compress(
                        question, CompressionOptions(0, ratio, keep_last=0, **options)
                    )
                    note(name, ratio, share_of(got.kept, evidence))
    lines = [[name, *map(mean_cell, by_ratio.values())] for name, by_ratio in shares.items()]
    return markdown_table(["what is kept", *(f"{ratio:.0%}" for ratio in RATIOS)], lines)


def compressions(
    talk: Talk, *, vectors: bool
) -> list[tuple[str, Conversation, Callable[[str], CompressionFocus], dict[str, Any]]]:
    """(name, conversation, question to ask of it, options) of what the product does."""
    plain = Conversation(talk.messages)
    ways: list[tuple[str, Conversation, Callable[[str], CompressionFocus], dict[str, Any]]] = [
        ('compress, scoring "seed"', plain, CompressionFocus, {"scoring": "seed"}),
        ("compress, no question", plain, lambda query: CompressionFocus(), {}),
        ("compress, no question, rho 1", plain, lambda query: CompressionFocus(), {"rho": 1.0}),
        ("compress, question, rho 1", plain, CompressionFocus, {"rho": 1.0}),
        ("compress, question", plain, CompressionFocus, {}),
    ]
    if vectors:
        embedder = LocalEmbedder(load_settings().model_cache)
        known = Conversation(talk.messages, vectors=embedder.embed(texts_to_embed(talk.messages)))
        ways.append(
            (
                "compress, question and vectors",
                known,
                lambda query: CompressionFocus(query, embedder.embed([query])[0]),
                {},
            )
        )
    return ways


def made_talk(count: int) -> list[Message]:
    """A conversation of that many messages of made words, the same each time."""
    chance = random.Random(0)
    parts = product(("ra", "ti", "so", "lu"), "bdgkmnprst", ("ent", "ing", "o", "al", "er"))
    words = list(map("".join, parts))
    ends = (". ", ". ", "? ", "! ", " in 2021. ")

    def sentence() -> str:
        chosen = chance.choices(words, k=chance.randint(3, 7))
        return " ".join(chosen).capitalize() + chance.choice(ends)

    def said() -> str:
        return sentence() + sentence()

    return [Message(str(at), "user" if at % 2 else "assistant", said()) for at in range(count)]


def measure_times() -> str:
    """A line a length: milliseconds to read and compress once, tokens a second, and milliseconds for one
    more question; best of three.
    """
    lines = []
    for count in LENGTHS:
        messages = made_talk(count)
        given = np.random.default_rng(0).standard_normal((len(messages), DIMENSION)).astype(np.float32)
        for name, options, vectors in (
            ("question", CompressionOptions(0), None),
            ("question, vectors given", CompressionOptions(0), given),
            ("question, rho 1", CompressionOptions(0, rho=1.0), None),
            ("seed", CompressionOptions(0, scoring="seed"), None),
        ):
            first, more = zip(*(_seconds(messages, options, vectors) for _ in range(3)), strict=True)
            tokens = Conversation(messages).tokens
            milliseconds = [f"{1000 * min(seconds):.0f}" for seconds in (first, more)]
            rate = f"{tokens / min(first):,.0f}"
            lines.append([f"{tokens:,}", name, milliseconds[0], rate, milliseconds[1]])
    return markdown_table(["tokens", "scoring", "ms", "tokens a second", "ms for one more question"], lines)


def _seconds(
    messages: Sequence[Message], options: CompressionOptions, vectors: NDArray[np.float32] | None
) -> tuple[float, float]:
    of_query = None if vectors is None else vectors[0]
    started = time.perf_counter()
    conversation = Conversation(messages, vectors=vectors)
    conversation.compress(CompressionFocus("What of rabent and tidal?", of_query), options)
    between = time.perf_counter()
    conversation.compress(CompressionFocus("When was soking?", of_query), options)
    return between - started, time.perf_counter() - between


def measure_cold() -> str:
    """How long the vectors of a conversation of the first length take, where none was stored as its
    messages came.
    """
    embedder, texts = LocalEmbedder(load_settings().model_cache), texts_to_embed(made_talk(LENGTHS[0]))
    embedder.embed(texts[:1])
    started = time.perf_counter()
    embedder.embed(texts)
    return (
        f"Cold, with the vectors of {len(texts):,} messages to be made first: "
        f"{time.perf_counter() - started:.1f} s more, on one thread."
    )


def report(conversations: Path = DATA, *, vectors: bool = True) -> None:
    """Print the tables; of a file that is not there, that it is not."""
    if conversations.exists():
        talks = load_talks(conversations)
        messages, asked = (
            sum(len(talk.messages) for talk in talks),
            sum(len(talk.questions) for talk in talks),
        )
        print(
            f"Share of evidence kept, {len(talks)} conversations, {messages:,} messages, {asked} "
            f"questions:\n\n{measure(talks, vectors=vectors)}\n"
        )
    else:
        print(f"Evidence kept: skipped, there is no {conversations.name} beside the checkout.\n")
    print(f"Time on one thread, made text, to half of the tokens:\n\n{measure_times()}\n")
    if vectors:
        print(f"{measure_cold()}\n")
    follow_ups.report()


def main() -> int:
    """Print the report; 2 where a file is named that is not there."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("--conversations", type=Path, default=DATA, help=f"default {DATA.name}")
    options.add_argument("--no-vectors", action="store_true", help="leave the embedded model out")
    given = options.parse_args()
    report(given.conversations, vectors=not given.no_vectors)
    return 0 if given.conversations.exists() or given.conversations == DATA else 2


if __name__ == "__main__":
    raise SystemExit(main())
