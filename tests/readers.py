"""Plays a chat model that reads answers back: it passes the probe, and judges statements as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from chatbot.answer.verification.probe import STATEMENTS
from tests.provider import Body

__all__ = ["data_of", "judgement", "quoting", "reader"]

Verdict = dict[str, Any]
_TRUE = dict(STATEMENTS)


def data_of(body: Body) -> dict[str, Any]:
    """The question, statements and pages of a request to read an answer back."""
    found: dict[str, Any] = json.loads(body["messages"][1]["content"])
    return found


def judgement(verdict: str, **more: object) -> Verdict:
    """What is said of a statement, without its number."""
    empty: Verdict = {"quotes": [], "figures": [], "calculation": None, "difference": ""}
    return {"verdict": verdict, **empty, **more}


def _has_all(text: str, words: Sequence[str]) -> bool:
    return all(quote in text for quote in words)


def quoting(verdict: str, *words: str, **more: object) -> Callable[[str, Sequence[dict[str, str]]], Verdict]:
    """Judges each statement so, with these quotations of the first page that has them all."""

    def judge(statement: str, pages: Sequence[dict[str, str]]) -> Verdict:
        key = next((page for page in pages if _has_all(page["text"], words)), pages[0])["key"]
        return judgement(verdict, quotes=[{"page": key, "text": quote} for quote in words], **more)

    return judge


def reader(
    judge: Callable[[str, Sequence[dict[str, str]]], Verdict], *, probe: bool = True
) -> Callable[[Body], Sequence[str]]:
    """The replies of a reader. judge: gets a statement and the pages. probe: whether the probe is passed."""

    def reply(body: Body) -> Sequence[str]:
        asked = data_of(body)
        parts = []
        for statement in asked["statements"]:
            text = statement["text"]
            if text in _TRUE:
                found = judgement("stated" if _TRUE[text] or not probe else "not_stated", difference="no")
            else:
                found = judge(text, asked["pages"])
            parts.append({"number": statement["number"], **found})
        return [json.dumps({"statements": parts})]

    return reply
