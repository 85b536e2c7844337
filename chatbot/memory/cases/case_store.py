"""Case memory: rated answers that guide later ones, each with its owner; knows files and vectors of cases,
asks no model for an answer.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.cases.case_file import TABLES, CaseFile, question_vectors, unknown_case
from chatbot.memory.cases.case_import import read_cases
from chatbot.memory.cases.case_recall import (
    PageWeight,
    Recalled,
    cosines_of,
    nearest,
    thresholds_of,
    weigh_pages,
)
from chatbot.memory.cases.question_equivalence import asks_the_same
from chatbot.memory.cases.records import (
    GONE,
    LONGEST_QUOTE,
    Case,
    CasePage,
    case_id,
    case_line,
    read_case,
    read_reward,
)
from chatbot.memory.conversations.answer_records import cited_text
from chatbot.memory.import_files import ImportedLines, LineProblem, Progress, holds_words, no_progress
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.models.embedders import Embedder
from chatbot.records import Answer
from chatbot.store.vector_index import Vectors

__all__ = [
    "DAY",
    "KEPT_DAYS",
    "CaseHealth",
    "CaseQuery",
    "CaseRow",
    "Cases",
    "Documents",
    "hidden",
    "is_sound",
]

log = logging.getLogger(__name__)

# Shelves of cases that are kept ready, and bytes of all of them: a thousand cases take 1.5 MB. The one that
# was asked for last always is.
MOST_SHELVES, MOST_BYTES = 50, 500_000_000
SHARED, DELETED = "shared", ".deleted"
# How long a case that was deleted can be restored.
KEPT_DAYS = 7
DAY = 86_400
# Cases that a recall gives.
NEIGHBOURS = 8
# More neighbours than there are.
ALL = 2**31
# Vectors made at a time for cases that came without: one or two seconds of the embedded model, while nobody
# waits.
CATCH_UP = 500
UNSOUND = ("contradicted", "unsupported")


class _All:
    def __contains__(self, digest: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Documents:
    """What cases must know of documents. digest_of(version): SHA-256 of its file, "" where it is gone.
    live(): SHA-256 of the files that answers rest on now.
    """

    digest_of: Callable[[int], str] = lambda version: ""
    live: Callable[[], Container[str]] = _All


@dataclass(frozen=True, slots=True)
class CaseQuery:
    """What a recall asks for. reward: 1 or 0, None for both. least: cosine, None for the embedder's own
    threshold. stale: whether cases too whose documents changed or went."""

    k: int = NEIGHBOURS
    reward: int | None = None
    least: float | None = None
    stale: bool = False


NO_DOCUMENTS = Documents()
NEAREST = CaseQuery()


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case as listed. stale: a document it rests on was changed or removed, so that it is not recalled.
    shared: it is among those that all have.
    """

    case: Case
    stale: bool
    shared: bool


@dataclass(frozen=True, slots=True)
class CaseHealth:
    """How an owner's cases fare. waiting: cases without a vector yet, which are not recalled. shared: of all
    owners; problems: of the owner's, shared_problems: of what is shared, that cannot be read."""

    cases: int
    positive: int
    negative: int
    stale: int
    waiting: int
    shared: int
    problems: tuple[LineProblem, ...]
    shared_problems: tuple[LineProblem, ...] = ()


class Cases:
    """The cases of all owners: a shelf each, named by a hash, and one for what is shared. Safe from
    several threads and processes.
    """

    def __init__(
        self, database: MemoryDatabase, embedder: Embedder, *, documents: Documents = NO_DOCUMENTS
    ) -> None:
        """Raises StoreError where the tables cannot be made."""
        database.prepare(TABLES)
        self._database, self._embedder, self._documents = database, embedder, documents
        self.thresholds = thresholds_of(embedder.fingerprint)
        self._shelves = OrderedDict[str, CaseFile]()
        self._lock = threading.Lock()
        # When what was deleted was looked through last, on the clock that only goes forward.
        self._swept = 0.0

    # --- recalling
    # --------------------------------------------------------------------------------------------------------

    def find(self, owner: str, question: str, wanted: CaseQuery = NEAREST) -> list[Recalled]:
        """As recall, with the question's vector made: the one embedding that it takes. Raises ModelError."""
        return self.recall(owner, question_vectors(self._embedder, [question])[0], wanted)

    def recall(self, owner: str, vector: Vectors, wanted: CaseQuery = NEAREST) -> list[Recalled]:
        """The owner's and the shared cases whose questions are nearest, best first; everything is filtered
        before the first k are taken.

        Embeds nothing: of cases without a vector see `catch_up`. A vector that is not of this embedder, not
        finite or zero finds none. Raises StoreError.
        """
        if vector.shape == (self._embedder.dimension,):
            length = float(np.linalg.norm(vector))
        else:
            length = 0.0
        if not np.isfinite(length) or length == 0:
            return []
        if wanted.least is None:
            least = self.thresholds.similar
        else:
            least = wanted.least
        stale = self._staleness()
        found = list[tuple[float, Case]]()
        own = self._shelf(owner).view()
        for view in (own, self._shared().view()):
            if wanted.reward is None:
                allowed = view.embedded
            else:
                allowed = view.embedded & (view.positive == bool(wanted.reward))
            scores = cosines_of(view.rows, vector / length)
            fresh = (
                at for at in nearest(scores, allowed, least) if wanted.stale or not stale(view.cases[at])
            )
            # Among what is shared, what the owner has judged too is left out, whatever the verdict was; and
            # what was not checked here, for it is anybody's text.
            others = (
                at
                for at in fresh
                if view is own or (view.cases[at].verified and _own_id(view.cases[at]) not in own.ids)
            )
            found += [(float(scores[at]), view.cases[at]) for at in islice(others, wanted.k)]
        found.sort(key=lambda pair: -pair[0])
        return [Recalled(rank, score, case) for rank, (score, case) in enumerate(found[: wanted.k], 1)]

    def of_question(
        self, owner: str, question: str, vector: Vectors, asked_of: Sequence[str] = ()
    ) -> Recalled | None:
        """The newest verdict on this very question to these documents, () for all, in whatever words: a
        verified answer that was rated helpful, or one that its owner rated not helpful after that; None where
        there is none. What was asked of all is an answer of some too, where all that it stands on is theirs.
        """
        near = self.recall(owner, vector, CaseQuery(ALL, least=self.thresholds.same))
        names = frozenset(asked_of)

        def is_asked_of(case: Case) -> bool:
            return names == set(case.asked_of) or (
                not case.asked_of and {page.document for page in case.pages} <= names
            )

        same = [one for one in near if is_asked_of(one.case) and asks_the_same(question, one.case.question)]
        bad = max((one for one in same if not one.case.reward), key=lambda one: one.case.at, default=None)
        good = next(
            (
                one
                for one in same
                if one.case.reward and one.case.verified and (bad is None or one.case.at > bad.case.at)
            ),
            None,
        )
        return good or (bad if bad and not bad.case.by else None)

    def weighed_pages(self, owner: str, vector: Vectors) -> list[PageWeight]:
        """The pages that ratings of similar questions raise or lower, each with the cases that do; made anew
        each time, so that a case that is deleted or turned counts no more."""
        return weigh_pages(self.recall(owner, vector), self.thresholds.similar)

    # --- writing
    # --------------------------------------------------------------------------------------------------------

    def rate(self, owner: str, answer: Answer, reward: object, *, word: str = "") -> Case:
        """Keep the verdict on an answer; it takes the place of an older one on the same question. reward: as
        files have it, 1 or 0. word: what was said with it.

        Raises UsageError where an answer that was refused or failed is called good, StoreError.
        """
        good = _verdict(reward)
        if good and (not answer.answered or answer.error):
            why = (
                "stands in for one that failed"
                if answer.answered
                else "says that the documents do not answer"
            )
            raise UsageError(
                f"This answer {why}; it cannot be an example to follow.",
                hint="Rate it down, or say what is missing.",
            )
        case = Case(
            answer.search_query or answer.question,
            cited_text(answer),
            good,
            word=word.strip(),
            verified=is_sound(answer),
            asked_of=_asked_of(answer),
        )
        # Of a file that is not there any more a page has a name that is nobody's, so that the case is stale.
        cited = (
            CasePage(
                self._documents.digest_of(one.version) or GONE,
                one.document or "",
                one.page,
                one.quote[:LONGEST_QUOTE],
            )
            for one in answer.citations
            if one.version and one.page
        )
        pages = tuple(dict.fromkeys(cited))
        ids = tuple(dict.fromkeys(page.document_id for page in pages))
        old = self.rated(owner, answer)
        # As it is read again, which is what an older one can be compared with.
        new = read_case(case_line(replace(case, document_ids=ids, pages=pages)), 0)
        if old and replace(new, at=old.at, line_index=old.line_index) == old:
            return old
        return self.add(owner, new)

    def rated(self, owner: str, answer: Answer) -> Case | None:
        """The owner's verdict on the question of an answer; None where there is none. Raises StoreError."""
        return (
            self._shelf(owner)
            .view()
            .case(case_id(answer.search_query or answer.question, asked_of=_asked_of(answer)))
        )

    def add(self, owner: str, case: Case) -> Case:
        """Keep a case, now where it has no time. Where its vector cannot be made it waits for one. Raises
        StoreError, UsageError.
        """
        dated = replace(case, at=case.at or round(time.time(), 6), by="", id=_own_id(case), deleted_at=0.0)
        shelf = self._shelf(owner)
        shelf.put([dated])
        _embed(shelf, dated.id)
        self._follow(owner)
        return dated

    def edit(self, owner: str, key: str, change: Callable[[Case], Case]) -> Case:
        """Keep change(case) in its place: of the case as it stands then, whatever others changed of it
        meanwhile. One whose question or answer was changed is not verified any more. Raises NotFoundError,
        StoreError, UsageError."""

        def changed(old: Case) -> Case:
            new = change(old)
            same = (new.question, new.plan) == (old.question, old.plan)
            return replace(new, reward=_verdict(new.reward), verified=old.verified and same, id=_own_id(new))

        shelf = self._shelf(owner)
        new = shelf.change(key, changed)
        _embed(shelf, new.id)
        self._follow(owner)
        return new

    def delete(self, owner: str, key: str) -> None:
        """Take a case out; it can be restored for KEPT_DAYS. Raises NotFoundError, StoreError."""
        self._shelf(owner).move(key, self._deleted(owner), lambda case: replace(case, deleted_at=time.time()))
        self._follow(owner)

    def deleted(self, owner: str) -> list[Case]:
        """What the owner deleted and can restore, the latest first; not what was rated anew since. Raises
        StoreError.
        """
        ids = self._shelf(owner).view().ids
        return sorted(
            (case for case in self._kept(owner) if case.id not in ids), key=lambda case: -case.deleted_at
        )

    def restore(self, owner: str, key: str) -> Case:
        """Bring a deleted case back; it is not shared again. Raises NotFoundError, StoreError, and
        UsageError where its question was rated anew since.
        """
        if not any(case.id == key for case in self._kept(owner)):
            raise NotFoundError(
                f"You deleted no case {key[:40]!r}.",
                hint=f"What was deleted can be restored for {KEPT_DAYS} days.",
            )

        def restored(case: Case) -> Case:
            if key in self._shelf(owner).view().ids:
                raise UsageError("This question was rated anew since.", hint="Delete that rating first.")
            return replace(case, deleted_at=0.0)

        return self._deleted(owner).move(key, self._shelf(owner), restored)

    def share(self, owner: str, key: str) -> Case:
        """Let everybody have a case; it stays the owner's own too, and what is shared follows it from then
        on.

        Raises NotFoundError, StoreError, and UsageError for an answer that was not checked here: what is
        shared stands in everybody's prompts.
        """
        own = self._shelf(owner).view().case(key)
        if own is None:
            raise unknown_case(key)
        if not own.verified:
            raise UsageError(
                "Only an answer whose citations and figures were checked here can be shared.",
                hint="Ask the question, rate the answer, and share that.",
            )
        return self._publish(owner, own)

    def unshare(self, owner: str, key: str) -> None:
        """Take back what this owner shares. Raises NotFoundError, StoreError."""
        if not self._shared().remove(lambda case: case.id == key and case.by == hidden(owner)):
            raise NotFoundError(f"You share no case {key[:40]!r}.", hint="List the shared ones.")

    def import_file(self, owner: str, path: Path, *, progress: Progress = no_progress) -> ImportedLines:
        """Add the cases of a JSONL file in any of the SHAPES, in its order, and make their vectors. What is
        there already stays unless the file's is newer, and is known; of two verdicts on a question in the
        file the newer counts, of equally new ones the later.

        No answer counts as verified, for that was not seen here. Raises NotFoundError, StoreError, and
        ModelError where vectors failed: the cases are kept then.
        """
        shelf = self._shelf(owner)
        found, problems = read_cases(path)
        there = {case.id: case.at for case in shelf.view().cases}
        # A stable order: of equally new ones the later is the last.
        newest = {case.id: case for case in sorted(found, key=lambda case: case.at)}
        new = [
            case
            for case in found
            if newest[case.id] is case and (case.id not in there or case.at > there[case.id])
        ]
        shelf.put(new)
        self._follow(owner)
        shelf.embed(progress=progress)
        return ImportedLines(len(new), len(found) - len(new), problems)

    def forget(self, digests: Collection[str]) -> None:
        """Erase every case of every owner that rests on one of these files (SHA-256), deleted and shared
        ones too. Raises StoreError.
        """
        wanted = frozenset(digests)
        self._erase(self._names() if wanted else [], lambda case: not wanted.isdisjoint(case.document_ids))

    def sweep(self, *, every: float = 0.0) -> None:
        """Erase what was deleted longer ago than KEPT_DAYS; nothing where that was done less than `every`
        seconds ago. Raises StoreError.
        """
        if self._swept and time.monotonic() - self._swept < every:
            return
        self._swept, since = time.monotonic(), time.time() - KEPT_DAYS * DAY
        names = [name for name in self._names() if name.endswith(DELETED)]
        self._erase(names, lambda case: case.deleted_at <= since)

    def catch_up(self, owner: str, *, most: int | None = CATCH_UP) -> int:
        """Make the vectors of cases that have none, which came from elsewhere or while the embedder failed;
        how many are waiting still. most: None for all.

        Raises ModelError, StoreError.
        """
        return sum(shelf.embed(most=most) for shelf in (self._shelf(owner), self._shared()))

    # --- looking
    # --------------------------------------------------------------------------------------------------------

    def listed(self, owner: str, *, search: str = "", shared: bool = False) -> list[CaseRow]:
        """The owner's cases, or those that all have, the latest first. search: only those with each of its
        words in question, answer or word.
        """
        stale = self._staleness()
        if shared:
            shelf = self._shared()
        else:
            shelf = self._shelf(owner)
        cases = [
            case
            for case in shelf.view().cases
            if holds_words(f"{case.question}\n{case.plan}\n{case.word}", search)
        ]
        return [CaseRow(case, stale(case), shared) for case in reversed(cases)]

    def export(self, owner: str) -> Iterator[bytes]:
        """The owner's cases as lines of JSONL, oldest first, one for each question; `import_file` reads
        them.
        """
        return map(case_line, self._shelf(owner).view().cases)

    def health(self, owner: str) -> CaseHealth:
        """How the owner's cases fare. Raises StoreError where they cannot be read at all."""
        stale = self._staleness()
        view = self._shelf(owner).view()
        shared = self._shared().view()
        positive = int(view.positive.sum())
        count = len(view.cases)
        waiting = count - int(view.embedded.sum())
        gone = sum(map(stale, view.cases))
        return CaseHealth(
            count,
            positive,
            count - positive,
            gone,
            waiting,
            len(shared.cases),
            view.problems,
            shared.problems,
        )

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _kept(self, owner: str) -> list[Case]:
        """What was deleted and is not past its time."""
        since = time.time() - KEPT_DAYS * DAY
        return [case for case in self._deleted(owner).view().cases if case.deleted_at > since]

    def _publish(self, owner: str, own: Case) -> Case:
        by = hidden(owner)
        shelf = self._shared()
        shared = replace(own, by=by, id=case_id(own.question, by, own.asked_of))
        shelf.put([shared])
        _embed(shelf, shared.id)
        return shared

    def _follow(self, owner: str) -> None:
        """Let what this owner shares say what the owner's cases say now: one that was rated anew is shared
        anew, one that is gone, or not checked, no more.
        """
        by = hidden(owner)
        view = self._shelf(owner).view()
        gone = set[str]()
        for case in [case for case in self._shared().view().cases if case.by == by]:
            own = view.case(_own_id(case))
            if own is None or not own.verified:
                gone.add(case.id)
            elif replace(case, by="", id=own.id, line_index=own.line_index) != own:
                self._publish(owner, own)
        if gone:
            self._shared().remove(lambda case: case.id in gone)

    def _names(self) -> list[str]:
        return [
            str(name)
            for (name,) in self._database.read("select distinct shelf from rated_answer order by shelf")
        ]

    def _erase(self, names: Sequence[str], is_gone: Callable[[Case], bool]) -> None:
        """Erase cases for good."""
        if [case for name in names for case in self._shelf_at(name).remove(is_gone)]:
            self._database.erased()

    def _shelf(self, owner: str) -> CaseFile:
        return self._shelf_at(hidden(owner))

    def _deleted(self, owner: str) -> CaseFile:
        return self._shelf_at(f"{hidden(owner)}{DELETED}")

    def _shared(self) -> CaseFile:
        return self._shelf_at(SHARED)

    def _shelf_at(self, name: str) -> CaseFile:
        with self._lock:
            shelf = self._shelves.pop(name, None) or CaseFile(
                self._database, name, self._embedder, shared=name == SHARED
            )
            self._shelves[name] = shelf
            held = sum(one.size for one in self._shelves.values())
            while len(self._shelves) > 1 and (len(self._shelves) > MOST_SHELVES or held > MOST_BYTES):
                held -= self._shelves.popitem(last=False)[1].size
            return shelf

    def _staleness(self) -> Callable[[Case], bool]:
        """Whether a case rests on a file that answers no more; what is live is asked once, where a case
        rests on any file.
        """
        live = cache(self._documents.live)
        return lambda case: (
            bool(case.document_ids) and not all(digest in live() for digest in case.document_ids)
        )


def hidden(owner: str) -> str:
    """What stands for an owner in names of shelves and in what is shared: 32 hexadecimal digits that do
    not tell who it is.
    """
    return hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()[:32]


def _own_id(case: Case) -> str:
    """The id of a case among its owner's, whoever shares it."""
    return case_id(case.question, asked_of=case.asked_of)


def _verdict(reward: object) -> int:
    try:
        return read_reward(reward)
    except ValueError as error:
        raise UsageError(
            f"The case cannot be kept: {error}.", hint="Give 1 for a good answer, 0 for a bad one."
        ) from None


def _asked_of(answer: Answer) -> tuple[str, ...]:
    """The documents that an answer was asked of, in order, () for all."""
    return tuple(sorted(set(answer.names)))


def is_sound(answer: Answer) -> bool:
    """Whether a citation of an answer is verified and none is doubted, no figure stands against one, and
    no statement rests on nothing.
    """
    doubted = any(one.status in UNSOUND for one in answer.numbers) or any(
        one.status == "unsupported" for one in answer.statements
    )
    return (
        any(one.verified for one in answer.citations)
        and not any(one.doubted for one in answer.citations)
        and not doubted
    )


def _embed(shelf: CaseFile, key: str) -> None:
    try:
        shelf.embed(only=key)
    except ModelError as error:
        log.warning("a case waits for its vector: %s", error)
