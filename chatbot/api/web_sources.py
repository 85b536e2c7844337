"""Gathers what the web has for a question: pages of the session, the page shown, and a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chatbot.api.chat_schemas import ChatIn
from chatbot.asking.external_texts import ExternalText
from chatbot.errors import ProjectError
from chatbot.models.web_pages import read_page
from chatbot.models.web_search import can_search, search_web
from chatbot.settings import Settings

__all__ = ["WebSources"]

NOT_READ = (
    "The page {address} was not read: send its text to /input_webtext/, or set FINPOLICY_FETCH_PAGES=1."
)
SEARCHED = "The web was searched by {host}. Quoted is what the search reports of the pages."
NOTHING = "The web was searched by {host}, and nothing was found."
OFF = "No web was searched: FINPOLICY_WEB_SEARCH is not set."
NO_TOOL = "No web was searched: the chat model's provider has no search tool that is known here."
FAILED = "No web was searched: {why}"
HOSTS = {"anthropic": "Anthropic's search tool"}


@dataclass(frozen=True, slots=True)
class WebSources:
    """Texts from the web for one question.

    texts: the best first.
    notices: what the reader should know of them.
    footer: goes below each reply; "" or a paragraph.
    """

    texts: Sequence[ExternalText] = ()
    notices: tuple[str, ...] = ()
    footer: str = ""

    def gathered(self, asked: ChatIn, settings: Settings) -> WebSources:
        """Returns these, with the page that the browser shows and what a search finds.

        settings: of the first model that answers.
        """
        shown, said = _shown(asked.current_url, self.texts, settings)
        found, told = _searched(asked.question, settings)
        texts = (*shown, *self.texts, *found)
        return replace(self, texts=texts, notices=(*self.notices, *said, told), footer=f"\n\n{told}")


def _shown(
    address: str, texts: Sequence[ExternalText], settings: Settings
) -> tuple[list[ExternalText], list[str]]:
    """The page that the browser shows, unless it is among the texts, and why it is not there."""
    if not address or any(text.address == address for text in texts):
        return [], []
    if not settings.fetch_pages:
        return [], [NOT_READ.format(address=address)]
    try:
        return [ExternalText(address, *read_page(address, settings))], []
    except ProjectError as error:
        return [], [f"The page {address} was not read: {error.message}"]


def _searched(question: str, settings: Settings) -> tuple[list[ExternalText], str]:
    """What a search of the web reports, and a sentence on it."""
    if not settings.web_search:
        return [], OFF
    if not can_search(settings):
        return [], NO_TOOL
    host = HOSTS.get(settings.provider, "OpenAI's search tool")
    try:
        found = [ExternalText(*page, reported=True) for page in search_web(question, settings)]
    except ProjectError as error:
        return [], FAILED.format(why=error.message)
    return found, (SEARCHED if found else NOTHING).format(host=host)
