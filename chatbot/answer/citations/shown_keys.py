"""Shows the keys of an answer in short, and puts whole keys into a shown one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.mark_lines import statement_spans
from chatbot.records import Prompt, Statement

__all__ = ["short_key", "with_key", "with_short_keys", "with_whole_keys", "without_added"]


def short_key(key: str) -> str:
    """A key as it is shown: "S1" of "S1-7f3a"."""
    return key.partition("-")[0]


def with_short_keys(text: str, prompt: Prompt) -> str:
    """A text as it is shown: "[S1]" for each key that was given. A bracket with none stays as written."""

    def shown(mark: re.Match[str]) -> str:
        keys = ANY_KEY.findall(mark[0])
        if prompt.sources.keys().isdisjoint(keys):
            return mark[0]
        return "".join(f"[{short_key(key) if key in prompt.sources else key}]" for key in keys)

    return KEYS_IN_BRACKETS.sub(shown, text)


def with_whole_keys(text: str, prompt: Prompt) -> str:
    """A shown answer whose keys are all known, as it was before: "[S1]" becomes "[S1-7f3a]"."""
    whole = {short_key(key): key for key in prompt.sources}

    def whole_key(key: re.Match[str]) -> str:
        return whole.get(key[0], key[0])

    return KEYS_IN_BRACKETS.sub(lambda mark: ANY_KEY.sub(whole_key, mark[0]), text)


def with_key(text: str, key: str) -> str:
    """A text with the key that was added to it, "" for none; in a table row within its last cell."""
    if not key:
        return text
    if text.endswith("|"):
        return f"{text[:-1]}[{key}] |"
    return f"{text} [{key}]"


def without_added(text: str, statements: Sequence[Statement], prompt: Prompt) -> str:
    """An answer as the model wrote it, without the keys that the check added.

    text, statements: with whole keys.
    """
    pieces: list[str] = []
    position = 0
    for start, end, statement in statement_spans(text, statements):
        if statement.status == "cited_by_check":
            pieces += [text[position:start], _without_key(statement.text, prompt)]
            position = end
    return "".join([*pieces, text[position:]])


def _without_key(text: str, prompt: Prompt) -> str:
    """Undoes `with_key`."""
    for key in prompt.sources:
        if text.endswith(f"[{key}] |"):
            return f"{text[: -len(key) - 4]}|"
        if text.endswith(f" [{key}]"):
            return text[: -len(key) - 3]
    return text
