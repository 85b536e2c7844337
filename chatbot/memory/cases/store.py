"""Case memory: rated answers that guide later ones, each with its owner; knows files and vectors of cases, asks no model for an answer."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.cases.recall import PageWeight, Recalled, cosines_of, nearest, same_matter, thresholds_of, weigh_pages
from chatbot.memory.cases.records import LONGEST_QUOTE, Case, CasePage, case_id, case_line, read_reward
from chatbot.memory.cases.rows import NEAREST, NO_DOCUMENTS, CaseHealth, CaseRow, Documents, Imported, Wanted
from chatbot.memory.cases.shelf import Shelf, ShelfView, read_cases
from chatbot.memory.cases.vectors import question_vectors
from chatbot.memory.conversations.answer_records import cited_text
from chatbot.records import Answer
from chatbot.store.embedders import Embedder

__all__ = ["CaseHealth", "CaseRow", "Cases", "Documents", "Imported", "Wanted"]

log = logging.getLogger(__name__)

# Owners whose cases are kept ready: a thousand cases take 1.5 MB.
MOST_SHELVES = 50
SHARED = "shared.jsonl"
# Vectors made at a time for cases that came without: one or two seconds of the embedded model, while nobody waits.
CATCH_UP = 500
# In the place of the SHA-256 of a file that was erased before the answer was rated.
GONE = "gone"
UNSOUND = ("contradicted", "unsupported")
Vector = NDArray[np.float32]


class Cases:
    """The cases of all owners in a folder: a file each, named by a hash, and one for what is shared. Safe from several threads and processes."""

    def __init__(self, folder: Path, embedder: Embedder, *, documents: Documents = NO_DOCUMENTS) -> None:
        self._folder, self._embedder, self._documents = folder, embedder, documents
        self.thresholds = thresholds_of(embedder.fingerprint)
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()
        self._lock = threading.Lock()

    # --- recalling ----------------------------------------------------------------------------------------------------------

    def find(self, owner: str, question: str, wanted: Wanted = NEAREST) -> list[Recalled]:
        """As recall, with the question's vector made: the one embedding that it takes. Raises ModelError."""
        return self.recall(owner, question_vectors(self._embedder, [question])[0], wanted)

    def recall(self, owner: str, vector: Vector, wanted: Wanted = NEAREST) -> list[Recalled]:
        """The owner's and the shared cases whose questions are nearest, best first; everything is filtered before the first k are taken.

        Embeds nothing: of cases without a vector see `catch_up`. A vector that is not of this embedder, not finite or zero finds none. Raises StoreError.
        """
        length = float(np.linalg.norm(vector)) if vector.shape == (self._embedder.dimension,) else 0.0
        if not np.isfinite(length) or length == 0:
            return []
        least = self.thresholds.similar if wanted.least is None else wanted.least
        stale, found = self._staleness(), list[tuple[float, Case]]()
        for view in self._views(owner):
            allowed = view.embedded if wanted.reward is None else view.embedded & (view.positive == bool(wanted.reward))
            scores = cosines_of(view.rows, vector / length)
            fresh = (at for at in nearest(scores, allowed, least) if wanted.stale or not stale(view.cases[at]))
            # Among what is shared, what the owner has judged too is left out, whatever the verdict was.
            others = (at for at in fresh if not (view.cases[at].by and self._has(owner, view.cases[at].question)))
            found += [(float(scores[at]), view.cases[at]) for at in islice(others, wanted.k)]
        found.sort(key=lambda pair: -pair[0])
        return [Recalled(rank, score, case) for rank, (score, case) in enumerate(found[: wanted.k], 1)]

    def of_question(self, owner: str, question: str, vector: Vector) -> Recalled | None:
        """The verified answer that was rated helpful for this very question, in whatever words; None where there is none, or a newer verdict on it is bad."""
        near = self.recall(owner, vector, Wanted(least=self.thresholds.same))
        same = [one for one in near if same_matter(question, one.case.question)]
        bad_at = max((one.case.at for one in same if not one.case.reward), default=-1.0)
        return next((one for one in same if one.case.reward and one.case.verified and one.case.at > bad_at), None)

    def page_weights(self, owner: str, vector: Vector) -> dict[tuple[str, int], float]:
        """(SHA-256 of a document, page) -> what ratings of similar questions add to its score, in [-PAGE_BOUND, PAGE_BOUND]. `weighed_pages` says why."""
        return {(one.document_id, one.page): one.weight for one in self.weighed_pages(owner, vector)}

    def weighed_pages(self, owner: str, vector: Vector) -> list[PageWeight]:
        """The pages that ratings of similar questions raise or lower, each with the cases that do; made anew each time, so that a case that is deleted or turned
        counts no more."""
        return weigh_pages(self.recall(owner, vector), self.thresholds.similar)

    # --- writing ------------------------------------------------------------------------------------------------------------

    def rate(self, owner: str, answer: Answer, reward: object, *, word: str = "") -> Case:
        """Keep the verdict on an answer; it takes the place of an older one on the same question. reward: as files have it, 1 or 0. word: what was said with it.

        Raises UsageError where an answer that was refused or failed is called good, StoreError.
        """
        good = _verdict(reward)
        if good and (not answer.answered or answer.error):
            why = "stands in for one that failed" if answer.answered else "says that the documents do not answer"
            raise UsageError(f"This answer {why}; it cannot be an example to follow.", hint="Rate it down, or say what is missing.")
        case = Case(answer.search_query or answer.question, cited_text(answer), good, word=word.strip(), verified=_is_sound(answer))
        pages = tuple(dict.fromkeys(self._pages(answer)))
        ids = tuple(dict.fromkeys(page.document_id for page in pages))
        old = self.rated(owner, answer)
        new = replace(case, document_ids=ids, pages=pages)
        return old if old is not None and replace(new, at=old.at, line_index=old.line_index, id=old.id) == old else self.add(owner, new)

    def rated(self, owner: str, answer: Answer) -> Case | None:
        """The owner's verdict on the question of an answer; None where there is none. Raises StoreError."""
        view = self._shelf(owner).view()
        at = view.ids.get(case_id(answer.search_query or answer.question))
        return None if at is None else view.cases[at]

    def _pages(self, answer: Answer) -> Iterator[CasePage]:
        """The pages that an answer cites; of a file that is not there any more under a name that is nobody's, so that the case is stale."""
        for one in answer.citations:
            if one.version and one.page:
                yield CasePage(self._documents.digest_of(one.version) or GONE, one.document or "", one.page, one.quote[:LONGEST_QUOTE])

    def add(self, owner: str, case: Case) -> Case:
        """Keep a case, now where it has no time. Where its vector cannot be made it waits for one. Raises StoreError, UsageError."""
        dated = replace(case, at=case.at or round(time.time(), 6), by="", id=case_id(case.question))
        shelf = self._shelf(owner)
        shelf.append([dated])
        _embed(shelf, dated.id)
        return dated

    def edit(self, owner: str, key: str, change: Callable[[Case], Case]) -> Case:
        """Keep change(case) in its place. One whose question or answer was changed is not verified any more. Raises NotFoundError, StoreError, UsageError."""
        old = self._own(owner, key)
        new = change(old)
        same = (new.question, new.plan) == (old.question, old.plan)
        new = replace(new, reward=_verdict(new.reward), verified=old.verified and same, id=case_id(new.question))
        shelf = self._shelf(owner)
        shelf.replace({key: new}, {new.id} - {key})
        _embed(shelf, new.id)
        return new

    def delete(self, owner: str, key: str) -> None:
        """Erase a case and all older verdicts on its question. Raises NotFoundError, StoreError."""
        self._own(owner, key)
        self._shelf(owner).replace({}, {key})

    def share(self, owner: str, key: str) -> Case:
        """Let everybody have a case; it stays the owner's own too. Raises NotFoundError, StoreError."""
        own, shelf = self._own(owner, key), self._shelf_at(SHARED)
        shared = replace(own, by=_hidden(owner), id=case_id(own.question, _hidden(owner)))
        shelf.append([shared])
        _embed(shelf, shared.id)
        return shared

    def unshare(self, owner: str, key: str) -> None:
        """Take back what this owner shares. Raises NotFoundError, StoreError."""
        shelf = self._shelf_at(SHARED)
        if not any(case.id == key and case.by == _hidden(owner) for case in shelf.view().cases):
            raise NotFoundError(f"You share no case {key[:40]!r}.", hint="List the shared ones.")
        shelf.replace({}, {key})

    def import_file(self, owner: str, path: Path, *, progress: Callable[[int, int], None] = lambda done, total: None) -> Imported:
        """Add the cases of a JSONL file in any of the SHAPES, in its order, and make their vectors. What is there already stays unless the file's is newer.

        No answer counts as verified, for that was not seen here. Raises NotFoundError, StoreError, and ModelError where vectors failed: the cases are kept then.
        """
        shelf = self._shelf(owner)
        found, problems = read_cases(path)
        there = {case.id: case.at for case in shelf.view().cases}
        new = [case for case in found if case.id not in there or case.at > there[case.id]]
        shelf.append(new)
        shelf.embed(progress=progress)
        return Imported(len(new), len(found) - len(new), tuple(problems))

    def catch_up(self, owner: str, *, most: int = CATCH_UP) -> int:
        """Make the vectors of cases that have none, which came from elsewhere or while the embedder failed; how many are waiting still. Raises ModelError,
        StoreError."""
        return sum(shelf.embed(most=most) for shelf in (self._shelf(owner), self._shelf_at(SHARED)))

    # --- looking ------------------------------------------------------------------------------------------------------------

    def listed(self, owner: str, *, search: str = "", shared: bool = False) -> list[CaseRow]:
        """The owner's cases, or those that all have, the latest first. search: only those with each of its words in question, answer or word."""
        words = search.casefold().split()
        stale = self._staleness()
        shelf = self._shelf_at(SHARED) if shared else self._shelf(owner)
        cases = [case for case in shelf.view().cases if all(word in f"{case.question}\n{case.plan}\n{case.word}".casefold() for word in words)]
        return [CaseRow(case, stale(case), shared) for case in reversed(cases)]

    def export(self, owner: str) -> Iterator[bytes]:
        """The owner's cases as lines of JSONL, oldest first, one for each question; `import_file` reads them."""
        return map(case_line, self._shelf(owner).view().cases)

    def health(self, owner: str) -> CaseHealth:
        """How the owner's cases fare. Raises StoreError where they cannot be read at all."""
        shelf, stale = self._shelf(owner), self._staleness()
        view = shelf.view()
        positive, count = int(view.positive.sum()), len(view.cases)
        waiting = count - int(view.embedded.sum())
        return CaseHealth(
            shelf.path,
            count,
            positive,
            count - positive,
            sum(map(stale, view.cases)),
            view.superseded,
            waiting,
            len(self._shelf_at(SHARED).view().cases),
            view.problems,
        )

    # --- inside -------------------------------------------------------------------------------------------------------------

    def _own(self, owner: str, key: str) -> Case:
        view = self._shelf(owner).view()
        if key not in view.ids:
            raise NotFoundError(f"You have no case {key[:40]!r}.", hint="List them; it may have been deleted.")
        return view.cases[view.ids[key]]

    def _has(self, owner: str, question: str) -> bool:
        return case_id(question) in self._shelf(owner).view().ids

    def _views(self, owner: str) -> list[ShelfView]:
        return [self._shelf(owner).view(), self._shelf_at(SHARED).view()]

    def _shelf(self, owner: str) -> Shelf:
        return self._shelf_at(f"{_hidden(owner)}.jsonl")

    def _shelf_at(self, name: str) -> Shelf:
        with self._lock:
            shelf = self._shelves.pop(name, None) or Shelf(self._folder / name, self._embedder)
            self._shelves[name] = shelf
            while len(self._shelves) > MOST_SHELVES:
                self._shelves.popitem(last=False)
            return shelf

    def _staleness(self) -> Callable[[Case], bool]:
        """Whether a case rests on a file that answers no more; each file is asked of once."""
        is_live = cache(self._documents.is_live)
        return lambda case: not all(map(is_live, case.document_ids))


def _hidden(owner: str) -> str:
    """What stands for an owner in names of files and in what is shared: 32 hexadecimal digits that do not tell who it is."""
    return hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()[:32]


def _verdict(reward: object) -> int:
    try:
        return read_reward(reward)
    except ValueError as error:
        raise UsageError(f"The case cannot be kept: {error}.", hint="Give 1 for a good answer, 0 for a bad one.") from None


def _is_sound(answer: Answer) -> bool:
    """Whether each citation of an answer was found, and no figure stands against one."""
    return bool(answer.citations) and all(one.verified for one in answer.citations) and not any(one.status in UNSOUND for one in answer.numbers)


def _embed(shelf: Shelf, key: str) -> None:
    try:
        shelf.embed(only=key)
    except ModelError as error:
        log.warning("a case waits for its vector: %s", error)
