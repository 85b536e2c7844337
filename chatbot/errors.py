"""Defines the errors of the chatbot, on the base class of the reading errors."""

from __future__ import annotations

from ingestion.errors import (
    CancelledError,
    DocumentError,
    EncryptedError,
    MissingProgramError,
    ProjectError,
)

__all__ = [
    "BusyError",
    "CancelledError",
    "DocumentError",
    "EncryptedError",
    "MissingProgramError",
    "ModelError",
    "NotFoundError",
    "ProjectError",
    "QuestionError",
    "SettingsError",
    "StoreError",
    "UsageError",
]


class SettingsError(ProjectError):
    """A setting has a value that cannot be used."""


class StoreError(ProjectError):
    """The store cannot be used: held by another process, damaged, or of a newer version. Exit code 3."""


class UsageError(ProjectError):
    """Arguments that do not fit together. Exit code 2."""


class NotFoundError(ProjectError):
    """A named document or conversation does not exist."""


class QuestionError(ProjectError):
    """A question that cannot be asked: empty or far too long."""


class BusyError(ProjectError):
    """One user has asked for too much at once."""


class ModelError(ProjectError):
    """A chat or embedding endpoint failed. The error is never shown as an answer.

    kind: "key" (refused, or none given) | "model" (not known) | "silent" | "unreachable" | "length" (the
        prompt is too long) | "" for anything else.
    """

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False, kind: str = "") -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.kind = kind
