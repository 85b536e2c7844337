"""Runs the command that verifies audit files, and writes the file of `ask --audit`."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from chatbot.cli.document_commands import read_passwords
from chatbot.cli.output import DONE, FAILED, USAGE, Lines, printed, say
from chatbot.errors import UsageError
from chatbot.models.tokens import encodable
from chatbot.settings import Settings
from chatbot.store.file_permissions import give_to_the_user

if TYPE_CHECKING:
    from chatbot.records import Answer
    from chatbot.service import Chatbot

__all__ = ["verify", "write_audit"]


@printed
def verify(options: Namespace, settings: Settings) -> Lines:
    """Verifies files again and yields a line for each check.

    Returns 0 if all is confirmed, 1 if something does not hold or cannot be checked, and 2 if a file is not
    an audit file.
    """
    from chatbot.audit.record import AuditFileError, read_file
    from chatbot.audit.verifier import CONFIRMED, DocumentSources
    from chatbot.audit.verifier import verify as findings_of

    if options.documents is not None and not options.documents.is_dir():
        raise UsageError(f"{options.documents} is not a folder.", hint="Name the folder with the documents.")
    evidence = DocumentSources(
        settings.documents, options.documents, read_passwords(options.passwords), settings.threads
    )
    code = DONE
    for path in options.files:
        try:
            file = read_file(path)
        except AuditFileError as error:
            say(f"Error: {path}: {error}")
            code = USAGE
            continue
        counted: Counter[str] = Counter()
        for finding in findings_of(file, evidence):
            what, status, detail = finding.what, finding.status, finding.detail
            counted[status] += 1
            line = {"file": str(path), "check": what, "status": status, "detail": detail}
            yield line, f"{status:<17}  {_line(what)}: {_line(detail)}"
        total, confirmed = counted.total(), counted.pop(CONFIRMED, 0)
        if counted:
            code = max(code, FAILED)
        others = "".join(f", {count} {status}" for status, count in sorted(counted.items()))
        say(f"{path.name}: {confirmed} of {total} confirmed{others}.")
    return code


def _line(text: str) -> str:
    return " ".join(encodable(text).split())


def write_audit(chatbot: Chatbot, answer: Answer, path: Path, asked_at: float) -> None:
    """Writes the audit file of an answer just given.

    Raises UsageError if it cannot be written, and DocumentError.
    """
    from chatbot.audit.builder import Occasion, audit_file

    data = audit_file(chatbot, answer, Occasion(asked_at))
    fresh = not path.exists()
    try:
        path.write_bytes(data)
        if fresh:
            give_to_the_user(path)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}.", hint="Name a file in an existing folder."
        ) from error
    say(f"Audit file: {path}")
