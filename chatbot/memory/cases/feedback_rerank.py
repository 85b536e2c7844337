"""Applies ratings to one question: moves pages up or down, and brings a verified answer back.

It reads no file of cases.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.memory.cases.records import Case
from chatbot.memory.conversations.answer_records import page_named
from chatbot.records import Hit, Notice, Prompt
from ingestion.invisible_characters import one_line

__all__ = ["PAGE_BOUND", "REMEMBERED", "FeedbackRerank", "PageWeight", "weigh_pages"]

# The beginning of the notice on a remembered answer. It informs and does not warn.
REMEMBERED = "Remembered: "

# DEPTH: pages that are searched for rated ones. MOST_PAGES: pages that a remembered answer may bring, and up
# to which ratings may add more.
DEPTH, MOST_PAGES = 30, 5
# Characters of the rated question that a notice shows.
QUESTION_CHARACTERS = 80
# The most that ratings add to a page's score: as much as the right period over a column, and a fifth of what
# the best passage brings.
PAGE_BOUND = 0.2
Search = Callable[[tuple[str, ...], int], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class PageWeight:
    """What ratings say of a page for a question.

    document_id: SHA-256 of its file.
    page: physical, 1-based.
    weight: in [-PAGE_BOUND, PAGE_BOUND], added to the page's score.
    cases: the cases it comes from, the most alike first. Without them there is no weight.
    """

    document_id: str
    page: int
    weight: float
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class FeedbackRerank:
    """The ratings that bear on one question.

    weights: what ratings say of a page, by SHA-256 of its file and page.
    digest_of: SHA-256 of a version's file.
    case: the verified answer to this very question.
    is_older(hit, other): whether a page is of an older document of the other's series. No rating puts it
        before the newer one.
    avoid: the text of an answer to this very question that was rated not helpful, "" if there is none.
    """

    weights: Mapping[tuple[str, int], PageWeight] = field(default_factory=dict)
    digest_of: Callable[[int], str] = lambda version: ""
    case: Case | None = None
    is_older: Callable[[Hit, Hit], bool] = lambda hit, other: False
    avoid: str = ""

    @property
    def why(self) -> str:
        """The notice that a reader gets with a remembered answer."""
        at, by = (self.case.at, self.case.by) if self.case else (0.0, "")
        day = time.strftime(" on %d %B %Y", time.localtime(at)) if at else ""
        who, shared = ("someone here", " and shared it") if by else ("you", "")
        return f"{REMEMBERED}{who} rated this answer helpful{day}{shared}. It was checked again."

    def applied(self, hits: Sequence[Hit], search: Search) -> list[Hit]:
        """The hits with their ratings added to their scores, in the new order.

        A rated page passes only those neighbours that its rating carries it past, so that any other order of
        the hits stays. No hit is left out, and raised pages from further down are added. The pages that a
        remembered answer uses come first.

        search(names, k): more pages of these documents, () for all; on the question's subject, as the hits
        are.
        """
        ordered = list(hits)
        if self.weights:
            known = {_place(hit) for hit in hits}
            # From further down, those that ratings raise.
            more = [hit for hit in search((), DEPTH) if self._weight(hit) > 0 and _place(hit) not in known]
            ordered = self._in_order([*hits, *more[: max(0, MOST_PAGES - len(hits))]])
            while ordered and _place(ordered[-1]) not in known:  # an added page that passed nothing
                ordered.pop()
            ordered = [self._weighed(hit) for hit in ordered]
        first = self._pages_of_case(search)
        if not first:
            return ordered
        by_place = {_place(hit): hit for hit in [*first, *ordered]}
        return list(by_place.values())[: max(len(ordered), MOST_PAGES)]

    def told(self, before: Sequence[Hit], after: Sequence[Hit]) -> list[Notice]:
        """Notices on pages that ratings moved, each with the rating that did."""
        ranks = {_place(hit): rank for rank, hit in enumerate(before)}
        kept = [hit for hit in after if _place(hit) in ranks]
        new_ranks = {_place(hit): rank for rank, hit in enumerate(kept)}
        notices = []
        for hit in after:
            # How many ranks it went forward.
            passed = ranks.get(_place(hit), len(ranks)) - new_ranks.get(_place(hit), 0)
            if self._weight(hit) * passed > 0:
                notices.append(Notice(self._reason(hit)))
        return notices

    def text(self, prompt: Prompt) -> str:
        """The remembered answer, with the prompt's keys in place of its pages.

        "" if there is none, or if not every page of it is in the prompt and got its key.
        """
        if self.case is None or not self.case.pages:
            return ""
        keys = {page_named(hit.document, hit.page): key for key, hit in prompt.sources.items()}
        named = {page_named(page.document, page.page) for page in self.case.pages}
        names = sorted(named, key=len, reverse=True)
        if not all(name in keys for name in names):
            return ""
        # The pattern lists the names themselves: a file's name may hold any mark that separates two of them.
        any_name = re.compile("|".join(map(re.escape, names)))
        used = set[str]()

        def keyed(match: re.Match[str]) -> str:
            found = [name_match[0] for name_match in any_name.finditer(match[0])]
            used.update(found)
            return "".join(f"[{keys[name]}]" for name in found)

        pages = rf"\((?:{any_name.pattern})(?:; (?:{any_name.pattern}))*\)"
        text = re.sub(pages, keyed, self.case.plan)
        return text if used == set(names) else ""

    def _pages_of_case(self, search: Search) -> list[Hit]:
        cited = {(page.document, page.page) for page in self.case.pages} if self.case else set()
        names = tuple(sorted({document for document, _ in cited}))
        if not names:
            return []
        found = [hit for hit in search(names, DEPTH) if (hit.document, hit.page) in cited]
        return found[:MOST_PAGES]

    def _in_order(self, hits: list[Hit]) -> list[Hit]:
        """Sort the hits in place, where ratings say so.

        Two neighbours change places at most once: if the first did not score lower before, and does with its
        rating.
        """
        moved = True
        while moved:
            moved = False
            for at in range(len(hits) - 1):
                first = hits[at]
                second = hits[at + 1]
                if self._is_passed(first, second) and not self.is_older(second, first):
                    hits[at : at + 2] = [second, first]
                    moved = True
        return hits

    def _is_passed(self, first: Hit, second: Hit) -> bool:
        """Whether the ratings alone carry the second hit past the first."""
        rated = first.score + self._weight(first) < second.score + self._weight(second)
        return first.score >= second.score and rated

    def _reason(self, hit: Hit) -> str:
        weight = self.weights[self.digest_of(hit.version), hit.page]
        is_raised = weight.weight > 0
        agreeing = (case for case in weight.cases if bool(case.reward) == is_raised)
        case = next(agreeing, weight.cases[0])
        who = "someone here" if case.by else "you"
        verdict, way = ("helpful", "forward") if is_raised else ("not helpful", "back")
        asked = one_line(case.question, QUESTION_CHARACTERS)
        return (
            f"{page_named(hit.document, hit.page)}, was put {way}: {who} rated an answer from it {verdict} "
            f"(“{asked}”)."
        )

    def _weight(self, hit: Hit) -> float:
        found = self.weights.get((self.digest_of(hit.version), hit.page))
        return found.weight if found else 0.0

    def _weighed(self, hit: Hit) -> Hit:
        if weight := self._weight(hit):
            return replace(hit, score=hit.score + weight, scores={**hit.scores, "rated": weight})
        return hit


def _place(hit: Hit) -> tuple[int, int]:
    return hit.version, hit.page


def weigh_pages(found: Iterable[tuple[float, Case]], floor: float) -> list[PageWeight]:
    """The pages that similar cases used, the highest weight first. found: each with its cosine.

    A case counts the more, the more its question is like this one: from 0 at `floor` to PAGE_BOUND for the
    same question. The weights of several cases add up, within the bound.
    """
    sums: dict[tuple[str, int], float] = defaultdict(float)
    cases: dict[tuple[str, int], list[Case]] = defaultdict(list)
    for score, case in found:
        likeness = (score - floor) / max(1 - floor, 1e-6)
        for page in sorted({(page.document_id, page.page) for page in case.pages}):
            sums[page] += likeness if case.reward else -likeness
            cases[page].append(case)
    weights = [
        PageWeight(*page, PAGE_BOUND * max(-1.0, min(1.0, total)), tuple(cases[page]))
        for page, total in sums.items()
        if total
    ]
    return sorted(weights, key=lambda page: (-page.weight, page.document_id, page.page))
