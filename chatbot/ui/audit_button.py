"""Draws the button under an answer that downloads its audit file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.app.running_questions import Given
from chatbot.audit.builder import Occasion, audit_file, audit_kept, file_name
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import PROGRAM
from chatbot.ui import overlay, session
from chatbot.ui.download_links import draw_download

__all__ = ["draw_audit"]

HELP = f"The answer with its pages and checks as one file. Check it with `{PROGRAM} verify`."


def draw_audit(given: Given, context: AppContext) -> None:
    """Draws the button, except below what is not an answer from the documents.

    The file is made when the button is pressed, which disturbs nothing on the page.
    """
    answer = given.answer
    if not answer.from_documents:
        return
    download = Download(_making(given, context.chatbot), file_name(answer.question), "text/html")
    draw_download("Audit file", context.downloads, f"audit-file-{given.number}", download, said=HELP)


def _making(given: Given, chatbot: Chatbot) -> Callable[[], bytes]:
    """Returns the function that makes the file.

    It runs in a thread without a session, so everything it needs of this one is read now.
    """
    answer = given.answer
    passwords = _passwords(given.answer, chatbot)
    if answer.conversation is not None and given.number > 0:
        return partial(
            audit_kept, chatbot, answer.conversation, given.number, session.owner(), passwords=passwords
        )
    return partial(audit_file, chatbot, answer, Occasion(passwords=passwords))


def _passwords(answer: Answer, chatbot: Chatbot) -> dict[str, str]:
    """Returns the passwords that this session was given, by SHA-256 of their files."""
    versions = {hit.version for hit in answer.considered} | {
        citation.version or 0 for citation in answer.citations
    }
    given = {version: password for version in versions if (password := overlay.password_for(version))}
    stored = {version: chatbot.library.catalog.version(version) for version in given}
    return {kept.sha256: given[version] for version, kept in stored.items() if kept is not None}
