"""Asks documents questions from Python: own PDFs in, answers out whose every statement names its page.

What is listed here, in `finpolicy.results` and `finpolicy.compat`, and the retrievers follow semantic
versioning from version 1.0 on; `chatbot` and `ingestion` are internal. Nothing is loaded before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chatbot
from chatbot.errors import (
    BusyError,
    DocumentError,
    EncryptedError,
    ModelError,
    NotFoundError,
    ProjectError,
    SettingsError,
    StoreError,
    UsageError,
)

if TYPE_CHECKING:
    from finpolicy.policy import FinPolicy

__all__ = [
    "BusyError",
    "DocumentError",
    "EncryptedError",
    "FinPolicy",
    "ModelError",
    "NotFoundError",
    "ProjectError",
    "SettingsError",
    "StoreError",
    "UsageError",
    "__version__",
]

__version__ = chatbot.__version__


def __getattr__(name: str) -> Any:
    if name != "FinPolicy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from finpolicy.policy import FinPolicy

    return FinPolicy
