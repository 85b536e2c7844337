"""What ratings make of one question: pages rise or fall a little, and a verified answer to the same question comes back; reads no file of cases."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.memory.cases.records import Case
from chatbot.memory.conversations.answer_records import CITED, page_named, pages_named
from chatbot.records import Hit, Prompt

__all__ = ["Rated"]

# Pages that are looked through for one that a rating speaks of, and pages that a remembered answer may bring.
DEPTH, MOST_PAGES = 30, 5
Search = Callable[[tuple[str, ...], int], Sequence[Hit]]


def _no_digest(version: int) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Rated:
    """weights: by SHA-256 and page, what is added to a page's score. digest_of: SHA-256 of a version's file. case: the verified answer to this very question."""

    weights: Mapping[tuple[str, int], float] = field(default_factory=dict)
    digest_of: Callable[[int], str] = _no_digest
    case: Case | None = None

    @property
    def why(self) -> str:
        """What the reader is told of a remembered answer."""
        day = f" on {time.strftime('%d %B %Y', time.localtime(self.case.at))}" if self.case and self.case.at else ""
        return f"Remembered: you rated this answer helpful{day}. It was looked up and checked anew."

    def applied(self, hits: Sequence[Hit], search: Search) -> list[Hit]:
        """The hits with the ratings' part in their scores, in their new order, as many as before; first those pages that a remembered answer stands on.

        search(names, k): more pages, of these documents, () for all.
        """
        if self.weights:
            more = [hit for hit in search((), DEPTH) if self._weight(hit) > 0 and not any(_place(hit) == _place(one) for one in hits)]
            weighed = [self._weighed(hit) for hit in [*hits, *more]]
            hits = sorted(weighed, key=lambda hit: -hit.score)[: max(1, len(hits))] if any(map(self._weight, weighed)) else hits
        return (
            list({_place(hit): hit for hit in [*self._pages_of_case(search), *hits]}.values())[: max(len(hits), MOST_PAGES)]
            if self.case
            else list(hits)
        )

    def text(self, prompt: Prompt) -> str:
        """The remembered answer with the prompt's keys in the place of its pages; "" where there is none, or a page of it is not there."""
        if self.case is None:
            return ""
        keys = {(hit.document, hit.page): key for key, hit in prompt.sources.items()}
        found = {page_named(page.document, page.page): keys.get((page.document, page.page)) for page in self.case.pages}
        missing = not found or None in found.values()

        def keyed(match: re.Match[str]) -> str:
            named = [found.get(page) for page in pages_named(match)]
            return "".join(f"[{key}]" for key in named if key) if all(named) else match[0]

        return "" if missing else CITED.sub(keyed, self.case.plan)

    def _pages_of_case(self, search: Search) -> list[Hit]:
        wanted = {(page.document, page.page) for page in self.case.pages} if self.case else set()
        names = tuple(dict.fromkeys(document for document, _ in wanted))
        return [hit for hit in (search(names, DEPTH) if names else ()) if (hit.document, hit.page) in wanted][:MOST_PAGES]

    def _weight(self, hit: Hit) -> float:
        return self.weights.get((self.digest_of(hit.version), hit.page), 0.0)

    def _weighed(self, hit: Hit) -> Hit:
        weight = self._weight(hit)
        return replace(hit, score=hit.score + weight, scores={**hit.scores, "rated": weight}) if weight else hit


def _place(hit: Hit) -> tuple[int, int]:
    return hit.version, hit.page
