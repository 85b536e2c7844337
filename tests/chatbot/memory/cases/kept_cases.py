"""What tests look up in case memory again and again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chatbot.memory.cases.case_store import Cases
from chatbot.memory.cases.records import Case


def kept(cases: Cases, owner: str = "me") -> list[Case]:
    """The owner's cases, the latest first."""
    return [row.case for row in cases.listed(owner)]


def shared(cases: Cases, owner: str = "her") -> list[Case]:
    """The shared cases as the owner sees them, the latest first."""
    return [row.case for row in cases.listed(owner, shared=True)]


def edit(cases: Cases, key: str, **changes: Any) -> Case:
    """Change my case."""
    return cases.edit("me", key, lambda case: replace(case, **changes))
