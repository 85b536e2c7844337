"""Defines the root of the project's errors, and those of reading a document."""

from __future__ import annotations

from ingestion.invisible_characters import visible

__all__ = [
    "CancelledError",
    "DocumentError",
    "EncryptedError",
    "MissingProgramError",
    "ProjectError",
    "ReaderDiedError",
]


class ProjectError(Exception):
    """Something the user can understand and act on.

    The user interfaces show it in one line; any other exception is a bug and is shown as one.

    message: what is wrong, quoting the offending value, put on one line.
    hint: the fix, in one sentence.
    retryable: whether the same call may succeed later.
    details: where, and in whose words, for those who run the program: only commands and logs show it.
    """

    def __init__(self, message: str, *, hint: str = "", retryable: bool = False, details: str = "") -> None:
        # The message quotes values from anywhere, and goes to logs and terminals.
        self.message, self.details = (" ".join(visible(text).split()) for text in (message, details))
        super().__init__(self.message)
        self.hint = hint
        self.retryable = retryable

    @property
    def whole_message(self) -> str:
        """The message with its details."""
        return f"{self.message.removesuffix('.')} ({self.details})." if self.details else self.message

    def __str__(self) -> str:
        if self.whole_message.endswith((".", "!", "?", "…")) or not self.hint:
            ended = self.whole_message
        else:
            ended = f"{self.whole_message}."
        return f"{ended} {self.hint}".strip()


class DocumentError(ProjectError):
    """A file cannot be read at all; nothing of it was stored."""


class CancelledError(DocumentError):
    """The caller asked to stop; nothing was kept."""


class EncryptedError(DocumentError):
    """The file needs a password that was not given, or the given one is wrong."""


class MissingProgramError(DocumentError):
    """A program that opens such files is not installed; the file waits for it."""


class ReaderDiedError(DocumentError):
    """The reading process was killed or ran out of memory or time; the message names the page it was on."""
