"""What ratings make of one question: pages rise or fall a little, and a verified answer to the same
question comes back; reads no file of cases.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.memory.cases.case_recall import PageWeight
from chatbot.memory.cases.records import Case
from chatbot.memory.conversations.answer_records import page_named
from chatbot.records import Hit, Notice, Prompt
from ingestion.invisible_characters import one_line

__all__ = ["REMEMBERED", "FeedbackRerank"]

# How it begins that an answer is a remembered one: good to know, and nothing to be warned of.
REMEMBERED = "Remembered: "

# Pages that are looked through for one that a rating speaks of, and pages that a remembered answer may bring,
# or ratings add to.
DEPTH, MOST_PAGES = 30, 5
# What is told of the question that a rating was given on.
QUESTION_CHARACTERS = 80
Search = Callable[[tuple[str, ...], int], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class FeedbackRerank:
    """weights: by SHA-256 and page, what ratings say of it. digest_of: SHA-256 of a version's file. case: the
    verified answer to this very question. is_older(hit, other): whether a page is of an older document of the
    other's series, which no rating puts before that one. avoid: the text of an answer to this very question
    that was rated not helpful, "" where none was."""

    weights: Mapping[tuple[str, int], PageWeight] = field(default_factory=dict)
    digest_of: Callable[[int], str] = lambda version: ""
    case: Case | None = None
    is_older: Callable[[Hit, Hit], bool] = lambda hit, other: False
    avoid: str = ""

    @property
    def why(self) -> str:
        """What the reader is told of a remembered answer."""
        if self.case and self.case.at:
            day = f" on {time.strftime('%d %B %Y', time.localtime(self.case.at))}"
        else:
            day = ""
        if self.case is not None and self.case.by:
            return (
                f"{REMEMBERED}somebody here rated this answer helpful{day}, and shares it. It was looked up "
                f"and checked anew."
            )
        return f"{REMEMBERED}you rated this answer helpful{day}. It was looked up and checked anew."

    def applied(self, hits: Sequence[Hit], search: Search) -> list[Hit]:
        """The hits with the ratings' part in their scores. A rated page passes those neighbours that its
        rating carries it past, so that any other order that was made of them stays; none is left out, and
        raised ones from further down come in addition. First stand those pages that a remembered answer
        stands on.

        search(names, k): more pages, of these documents, () for all; of what the question is about, as the
        hits are.
        """
        ordered = list(hits)
        if self.weights:
            there = {_place(hit) for hit in hits}
            more = [hit for hit in search((), DEPTH) if self._weight(hit) > 0 and _place(hit) not in there][
                : max(0, MOST_PAGES - len(hits))
            ]
            ordered = self._in_order([*hits, *more])
            while ordered and _place(ordered[-1]) not in there:  # was carried past nothing
                ordered.pop()
            ordered = [self._weighed(hit) for hit in ordered]
        first = self._pages_of_case(search)
        if first:
            return list({_place(hit): hit for hit in [*first, *ordered]}.values())[
                : max(len(ordered), MOST_PAGES)
            ]
        return ordered

    def told(self, before: Sequence[Hit], after: Sequence[Hit]) -> list[Notice]:
        """What the reader is told of pages that stand elsewhere than they would without ratings, and which
        rating it was.
        """
        ranks = {_place(hit): rank for rank, hit in enumerate(before)}
        kept = {_place(hit): rank for rank, hit in enumerate(hit for hit in after if _place(hit) in ranks)}
        notices = []
        for hit in after:
            was = ranks.get(_place(hit), len(ranks))
            now = kept.get(_place(hit), 0)
            weight = self._weight(hit)
            if (weight < 0 and now > was) or (weight > 0 and now < was):
                notices.append(Notice(self._reason(hit)))
        return notices

    def text(self, prompt: Prompt) -> str:
        """The remembered answer with the prompt's keys in the place of its pages; "" where there is none,
        or not every page of it is there and was put so.
        """
        if self.case is None or not self.case.pages:
            return ""
        keys = {page_named(hit.document, hit.page): key for key, hit in prompt.sources.items()}
        names = sorted(
            {page_named(page.document, page.page) for page in self.case.pages}, key=len, reverse=True
        )
        if not all(name in keys for name in names):
            return ""
        # By the names themselves, for those of files may hold any mark that stands between two of them.
        one = re.compile("|".join(map(re.escape, names)))
        used = set[str]()

        def keyed(match: re.Match[str]) -> str:
            named = [found[0] for found in one.finditer(match[0])]
            used.update(named)
            return "".join(f"[{keys[name]}]" for name in named)

        text = re.sub(rf"\((?:{one.pattern})(?:; (?:{one.pattern}))*\)", keyed, self.case.plan)
        if used == set(names):
            return text
        return ""

    def _pages_of_case(self, search: Search) -> list[Hit]:
        if self.case:
            wanted = dict.fromkeys((page.document, page.page) for page in self.case.pages)
        else:
            wanted = {}
        names = tuple(dict.fromkeys(document for document, _ in wanted))
        return [hit for hit in (search(names, DEPTH) if names else ()) if (hit.document, hit.page) in wanted][
            :MOST_PAGES
        ]

    def _in_order(self, hits: list[Hit]) -> list[Hit]:
        """Each pair of neighbours changes places at most once: where the first was not the lower one
        before, and is with its rating.
        """
        moved = True
        while moved:
            moved = False
            for at in range(len(hits) - 1):
                first = hits[at]
                second = hits[at + 1]
                carried = first.score >= second.score and first.score + self._weight(
                    first
                ) < second.score + self._weight(second)
                if carried and not self.is_older(second, first):
                    hits[at : at + 2] = [second, first]
                    moved = True
        return hits

    def _reason(self, hit: Hit) -> str:
        weight = self.weights[self.digest_of(hit.version), hit.page]
        case = next(
            (case for case in weight.cases if bool(case.reward) == (weight.weight > 0)), weight.cases[0]
        )
        who = "somebody here" if case.by else "you"
        if weight.weight > 0:
            verdict, way = ("helpful", "forward")
        else:
            verdict, way = ("not helpful", "back")
        asked = one_line(case.question, QUESTION_CHARACTERS)
        return (
            f"{page_named(hit.document, hit.page)}, was put {way}: {who} rated an answer from it {verdict} "
            f"(“{asked}”)."
        )

    def _weight(self, hit: Hit) -> float:
        found = self.weights.get((self.digest_of(hit.version), hit.page))
        return found.weight if found else 0.0

    def _weighed(self, hit: Hit) -> Hit:
        weight = self._weight(hit)
        if weight:
            return replace(hit, score=hit.score + weight, scores={**hit.scores, "rated": weight})
        return hit


def _place(hit: Hit) -> tuple[int, int]:
    return hit.version, hit.page
