"""Offers Memento's functions of case memory by their names, over the embedders and the recall of this house.

Its tokenizer, device and length of text are the embedder's own affair: they are taken, and not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from chatbot.errors import UsageError
from chatbot.memory.cases.case_layer import MOST_NEGATIVE, MOST_POSITIVE
from chatbot.memory.cases.case_store import NEIGHBOURS, question_vectors
from chatbot.memory.cases.records import DEFAULT_FIELDS, LONGEST_LINE, read_reward
from chatbot.memory.import_files import json_in_line, read_whole
from chatbot.memory.items import cosines_of, nearest
from chatbot.models.embedders import Embedder, local_embedder
from chatbot.settings import load_settings
from chatbot.store.vector_index import Vectors

__all__ = ["build_prompt_from_cases", "embed_texts", "extract_pairs", "load_jsonl", "retrieve"]

KEY, VALUE = DEFAULT_FIELDS
# The fields of what a single agent was told and replied, and its prompt.
CONVERSATIONS = (("user_message", "assistant_response"), ("query", "response"))
TALKS = "Similar previous conversations:"
RESPOND = "Based on these examples, respond to the current user message."
# (question, plan, 0-based place among the items)
Pair = tuple[str, str, int]


def load_jsonl(path: str | Path) -> list[dict[str, Any]]:
    """Returns the objects of a file of JSON lines, blank lines left out.

    Raises NotFoundError, and UsageError with the number of a line that is no object.
    """
    data = read_whole(Path(path), Path(path).name, hint="Give a file of JSON lines.")
    return [_item(line, number) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]


def _item(line: bytes, number: int) -> dict[str, Any]:
    item: object = None
    if len(line) <= LONGEST_LINE:
        with suppress(ValueError):
            item = json_in_line(line)
    if not isinstance(item, dict):
        raise UsageError(
            f"Line {number} is no JSON object of at most {LONGEST_LINE:,} bytes.",
            hint='Write one object a line, such as {"question": "…", "plan": "…", "reward": 1}.',
        )
    return item


def extract_pairs(
    items: Sequence[Mapping[str, Any]], key_field: str = KEY, value_field: str = VALUE
) -> list[Pair]:
    """Returns (key, value, place) of the items that have both as texts. place: 0-based."""
    pairs = []
    for place, item in enumerate(items):
        key, value = item.get(key_field), item.get(value_field)
        if isinstance(key, str) and isinstance(value, str) and key.strip() and value.strip():
            pairs.append((key, value, place))
    return pairs


def embed_texts(
    texts: Sequence[str],
    tokenizer: object = None,
    model: Embedder | None = None,
    device: object = None,
    max_length: int = 256,
) -> Vectors:
    """Returns unit rows, shape (texts, dimension).

    model: an Embedder, the embedded one by default. Raises ModelError, and UsageError for any other model.
    """
    if model is not None and not hasattr(model, "embed"):
        raise UsageError(
            f"{type(model).__name__} is no embedder.",
            hint="Pass one of chatbot.models.embedders as model, or none for the embedded one.",
        )
    return question_vectors(model or local_embedder(load_settings()), texts)


def retrieve(
    task: str,
    pairs: Sequence[Pair],
    tokenizer: object = None,
    model: Embedder | None = None,
    top_k: int = NEIGHBOURS,
    max_length: int = 256,
    *,
    device: object = None,
) -> list[dict[str, Any]]:
    """Returns the pairs whose keys are most like a task, best first, at most top_k.

    Each is {"rank": from 1, "score": cosine in [-1, 1], "question", "plan", "line_index"}. Raises ModelError.
    """
    if not pairs or top_k < 1:
        return []
    *rows, vector = embed_texts([*(key for key, _, _ in pairs), task], tokenizer, model, device)
    scores = cosines_of(np.asarray(rows, np.float32), vector)
    places = nearest(scores, -1.0)[:top_k]
    return [
        {
            "rank": rank,
            "score": float(scores[place]),
            "question": pairs[place][0],
            "plan": pairs[place][1],
            "line_index": pairs[place][2],
        }
        for rank, place in enumerate(places, 1)
    ]


def build_prompt_from_cases(
    task_text: str, results: Sequence[Mapping[str, Any]], original_items: Sequence[Mapping[str, Any]]
) -> str:
    """Returns a prompt with the best examples: at most four with reward 1, and two with reward 0.

    Examples that are conversations, such as with user_message and assistant_response, go into the simplified
    prompt for a single agent, and those with reward 0 are left out of it.

    results: of `retrieve`. original_items: of `load_jsonl`; an item without a reward counts as positive.
    Raises ValueError for a reward that is neither.
    """
    positive = [one for one in results if _reward(one, original_items)][:MOST_POSITIVE]
    negative = [one for one in results if not _reward(one, original_items)][:MOST_NEGATIVE]
    if positive and all(_is_conversation(original_items[one["line_index"]]) for one in positive):
        talks = [
            f"Example {number}:\nUser: {one['question']}\nAssistant: {one['plan']}"
            for number, one in enumerate(positive, 1)
        ]
        return "\n\n".join([TALKS, *talks, RESPOND, f"Current user message: {task_text}"])
    parts = []
    for head, examples in (("Positive", positive), ("Negative", negative)):
        if examples:
            parts.append(f"{head} Examples (reward={int(head == 'Positive')}):")
            parts += [
                f"Example {number}:\nQuestion: {one['question']}\nPlan: {one['plan']}"
                for number, one in enumerate(examples, 1)
            ]
    if parts:
        parts.append("Based on the above examples, please provide a plan for the current task.")
    return "\n\n".join([*parts, f"Current task: {task_text}"])


def _is_conversation(item: Mapping[str, Any]) -> bool:
    return any(message in item and response in item for message, response in CONVERSATIONS)


def _reward(result: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> int:
    return read_reward(items[result["line_index"]].get("reward"))
