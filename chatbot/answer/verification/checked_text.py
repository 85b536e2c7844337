"""Puts together what was found of an answer's statements: its citations, figures and marks as they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from chatbot.answer.verification.proof import Judged, judge
from chatbot.answer.verification.reply import ReadStatement
from chatbot.answer.verification.statements import statements_of
from chatbot.evidence.page import page_of
from chatbot.records import Prompt

__all__ = ["judged_statements"]


def judged_statements(
    text: str, prompt: Prompt, read: Mapping[int, ReadStatement] | None = None
) -> list[Judged]:
    """The statements of a model's answer with what is proven of each.

    text: with whole keys. read: what a reader says of the statements, by number from 1; his pages have the keys
        of the prompt.
    """
    views = {key: page_of(hit) for key, hit in prompt.sources.items()}
    instructing = frozenset(key for key, hit in prompt.sources.items() if hit.instructions)
    statements = statements_of(text, prompt.sources)
    return [
        judge(
            one,
            (read or {}).get(number),
            views,
            question=prompt.question,
            beside=[other for other in statements if other is not one],
            instructing=instructing,
        )
        for number, one in enumerate(statements, 1)
    ]
