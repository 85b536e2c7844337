"""Keeps rated answers, called cases, of all owners and recalls those that guide later answers.

It handles files and vectors of cases and never asks a model for an answer.
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
from numpy.typing import NDArray

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.cases.case_file import (
    TABLES,
    CaseFile,
    CaseFileView,
    own_case,
    question_vectors,
    unknown_case,
)
from chatbot.memory.cases.case_import import read_cases
from chatbot.memory.cases.case_recall import (
    PageWeight,
    Recalled,
    thresholds_of,
    weigh_pages,
)
from chatbot.memory.cases.followed_file import FollowedFile
from chatbot.memory.cases.question_equivalence import asks_the_same
from chatbot.memory.cases.records import (
    DEFAULT_FIELDS,
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
from chatbot.memory.nearest import cosines_of, nearest
from chatbot.models.embedders import Embedder
from chatbot.records import DOUBTFUL, Answer
from chatbot.store.vector_index import Vectors

__all__ = [
    "DAY",
    "KEPT_DAYS",
    "NEIGHBOURS",
    "OF_FILE",
    "SHARED",
    "CaseHealth",
    "CaseQuery",
    "CaseRow",
    "Cases",
    "Documents",
    "hidden",
    "is_sound",
]

log = logging.getLogger(__name__)

# Shelves of cases that are kept in memory, and their bytes in total: a thousand cases take 1.5 MB. The shelf
# that was used last always stays.
MOST_SHELVES, MOST_BYTES = 50, 500_000_000
# The shelves of what owners share, and of the operator's file.
SHARED, OF_FILE, DELETED = "shared", "file", ".deleted"
# Days for which a deleted case can be restored.
KEPT_DAYS = 7
DAY = 86_400
# Cases that a recall returns at most.
NEIGHBOURS = 8
# More neighbours than there can be.
ALL = 2**31
# Vectors made at a time for cases that have none: one or two seconds of the embedded model, while nobody
# waits.
CATCH_UP = 500
# And while somebody waits.
AT_ONCE = 8
UNSOUND = ("contradicted", "unsupported")


class _All:
    def __contains__(self, digest: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Documents:
    """What cases need to know of documents.

    digest_of(version): SHA-256 of its file, "" if it is gone.
    live(): SHA-256 of the files that answers use now.
    """

    digest_of: Callable[[int], str] = lambda version: ""
    live: Callable[[], Container[str]] = _All


@dataclass(frozen=True, slots=True)
class CaseQuery:
    """What a recall asks for.

    k: how many cases.
    reward: 1 or 0; None for both.
    least: lowest cosine; None for the embedder's own threshold.
    stale: whether to include cases whose documents changed or are gone.
    """

    k: int = NEIGHBOURS
    reward: int | None = None
    least: float | None = None
    stale: bool = False


NO_DOCUMENTS = Documents()
NEAREST = CaseQuery()


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case as listed.

    case: the case.
    stale: whether a document that it uses was changed or removed, so that it is not recalled.
    shared: whether it is among the cases that everybody has.
    """

    case: Case
    stale: bool
    shared: bool


@dataclass(frozen=True, slots=True)
class CaseHealth:
    """The state of an owner's cases.

    cases: how many there are.
    positive: rated helpful.
    negative: rated not helpful.
    stale: not recalled, because a document was changed or removed.
    waiting: without a vector yet, so that they are not recalled.
    shared: shared cases of all owners.
    problems: the owner's cases that cannot be read.
    shared_problems: shared cases that cannot be read.
    """

    cases: int
    positive: int
    negative: int
    stale: int
    waiting: int
    shared: int
    problems: tuple[LineProblem, ...]
    shared_problems: tuple[LineProblem, ...] = ()


class Cases:
    """The cases of all owners: one shelf for each owner, named by a hash, and one for what is shared.

    Safe to use from several threads and processes.
    """

    def __init__(
        self,
        database: MemoryDatabase,
        embedder: Embedder,
        *,
        documents: Documents = NO_DOCUMENTS,
        fields: tuple[str, str] = DEFAULT_FIELDS,
    ) -> None:
        """Raises StoreError where the tables cannot be made.

        fields: of question and answer in files, tried before those in use.
        """
        database.prepare(TABLES)
        self._clock = database.clock
        self._database, self._embedder, self._documents = database, embedder, documents
        self._fields = fields
        self.thresholds = thresholds_of(embedder.fingerprint)
        self._shelves = OrderedDict[str, CaseFile]()
        self._lock = threading.Lock()
        # The file whose cases everybody has.
        self._file: FollowedFile | None = None
        self._appends = False
        # When the last sweep ran, by the monotonic clock.
        self._swept = 0.0

    # --- recalling
    # --------------------------------------------------------------------------------------------------------

    def find(self, owner: str, question: str, wanted: CaseQuery = NEAREST) -> list[Recalled]:
        """Like recall, but embeds the question first. Raises ModelError."""
        vector = question_vectors(self._embedder, [question])[0]
        return self.recall(owner, vector, wanted)

    def recall(self, owner: str, vector: Vectors, wanted: CaseQuery = NEAREST) -> list[Recalled]:
        """The owner's and the shared cases whose questions are nearest, best first.

        All filters apply before the first k are taken. Nothing is embedded: see `catch_up` for cases without
        a vector. A vector that is not of this embedder, not finite or zero finds none. Raises StoreError.
        """
        length = 0.0
        if vector.shape == (self._embedder.dimension,):
            length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0:
            return []
        self._reload()
        least = self.thresholds.similar if wanted.least is None else wanted.least
        stale = self._staleness()
        found = list[tuple[float, Case]]()
        own = self._shelf(owner).view()
        shared = self._shared().view()
        of_file = self._shelf_at(OF_FILE).view()

        def may_recall(case: Case, *, is_own: bool) -> bool:
            if not wanted.stale and stale(case):
                return False
            if is_own:
                return True
            # A shared case is left out if the owner has rated that question too, whatever the verdict; and
            # also if it was not checked here, because then it is anybody's text. The file is the operator's.
            return (case.verified or view is of_file) and _own_id(case) not in own.ids

        for view in (own, shared, of_file):
            scores = cosines_of(view.rows, vector / length)
            places = (
                at
                for at in nearest(scores, _allowed(view, wanted.reward), least)
                if may_recall(view.cases[at], is_own=view is own)
            )
            found += [(float(scores[at]), view.cases[at]) for at in islice(places, wanted.k)]
        found.sort(key=lambda pair: -pair[0])
        return [Recalled(rank, score, case) for rank, (score, case) in enumerate(found[: wanted.k], 1)]

    def of_question(
        self, owner: str, question: str, vector: Vectors, asked_of: Sequence[str] = ()
    ) -> Recalled | None:
        """The newest verdict on this very question to these documents, in whatever words.

        asked_of: names of the documents, () for all. It is a verified answer that was rated helpful, or one
        that its owner rated not helpful after that; None where there is neither. An answer that was asked of
        all documents also counts for some of them, if all its pages are theirs.
        """
        near = self.recall(owner, vector, CaseQuery(ALL, least=self.thresholds.same))
        names = frozenset(asked_of)
        same = [
            found
            for found in near
            if _is_asked_of(found.case, names) and asks_the_same(question, found.case.question)
        ]
        rated_bad = [found for found in same if not found.case.reward]
        bad = max(rated_bad, key=lambda found: found.case.at, default=None)
        for found in same:
            case = found.case
            if case.reward and case.verified and (bad is None or case.at > bad.case.at):
                return found
        if bad is None or bad.case.by:
            return None
        return bad

    def weighed_pages(self, owner: str, vector: Vectors) -> list[PageWeight]:
        """The pages that ratings of similar questions raise or lower, each with the cases that do.

        It is worked out anew each time, so that a deleted or changed case stops counting at once.
        """
        return weigh_pages(self.recall(owner, vector), self.thresholds.similar)

    # --- writing
    # --------------------------------------------------------------------------------------------------------

    def rate(self, owner: str, answer: Answer, reward: object, *, word: str = "") -> Case:
        """Store the verdict on an answer in place of an older one on the same question.

        reward: as in files, 1 or 0. word: the user's comment. Raises UsageError if an answer that was refused
        or failed is called good, and StoreError.
        """
        good = _verdict(reward)
        if good and (not answer.answered or answer.error):
            if answer.answered:
                why = "replaces one that failed"
            else:
                why = "says that the documents do not answer"
            raise UsageError(
                f"This answer {why}, so it cannot be rated helpful.",
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
        pages = self._cited_pages(answer)
        ids = tuple(dict.fromkeys(page.document_id for page in pages))
        old = self.rated(owner, answer)
        # Written and read again, so that it can be compared with an older one.
        new = read_case(case_line(replace(case, document_ids=ids, pages=pages)), 0)
        if old and replace(new, at=old.at, line_index=old.line_index) == old:
            return old
        return self.add(owner, new)

    def _cited_pages(self, answer: Answer) -> tuple[CasePage, ...]:
        """The pages that an answer cites, each once.

        A page of a file that is gone gets a digest that no file has, so that the case is stale.
        """
        pages = []
        for citation in answer.citations:
            if citation.version and citation.page:
                digest = self._documents.digest_of(citation.version) or GONE
                quote = citation.quote[:LONGEST_QUOTE]
                pages.append(CasePage(digest, citation.document or "", citation.page, quote))
        return tuple(dict.fromkeys(pages))

    def rated(self, owner: str, answer: Answer) -> Case | None:
        """The owner's verdict on the question of an answer, or None. Raises StoreError."""
        view = self._shelf(owner).view()
        question = answer.search_query or answer.question
        return view.case(case_id(question, asked_of=_asked_of(answer)))

    def add(self, owner: str, case: Case) -> Case:
        """Store a case, dated now if it has no time.

        If its vector cannot be made, the case waits for one. Raises StoreError, UsageError.
        """
        at = case.at or round(time.time(), 6)
        dated = replace(case, at=at, by="", id=_own_id(case), deleted_at=0.0)
        shelf = self._shelf(owner)
        shelf.put([dated])
        _embed(shelf, dated.id)
        self._follow(owner)
        if self._appends:
            self._write(owner, dated.id, dated)
        return dated

    def edit(self, owner: str, key: str, change: Callable[[Case], Case]) -> Case:
        """Replace a case by change(case).

        `change` gets the case as it is at that moment, whatever others changed meanwhile. A case whose
        question or answer was changed is no longer verified. Raises NotFoundError, StoreError, UsageError.
        """

        def changed(old: Case) -> Case:
            new = change(old)
            is_same = (new.question, new.plan) == (old.question, old.plan)
            verified = old.verified and is_same
            return replace(new, reward=_verdict(new.reward), verified=verified, id=_own_id(new))

        shelf = self._shelf(owner)
        new = shelf.change(key, changed)
        _embed(shelf, new.id)
        self._follow(owner)
        if self._appends:
            self._write(owner, key, new)
        return new

    def delete(self, owner: str, key: str) -> None:
        """Delete a case; it can be restored for KEPT_DAYS. Raises NotFoundError, StoreError."""

        def dated(case: Case) -> Case:
            return replace(case, deleted_at=self._clock.now())

        self._shelf(owner).move(key, self._deleted(owner), dated)
        self._follow(owner)
        self._write(owner, key, None)

    def deleted(self, owner: str) -> list[Case]:
        """The cases that the owner deleted and can restore, the latest first.

        Cases whose question was rated again since are left out. Raises StoreError.
        """
        ids = self._shelf(owner).view().ids
        restorable = [case for case in self._kept(owner) if case.id not in ids]
        return sorted(restorable, key=lambda case: -case.deleted_at)

    def restore(self, owner: str, key: str) -> Case:
        """Bring a deleted case back; it is not shared again.

        Raises NotFoundError, StoreError, and UsageError if its question was rated again since.
        """
        if not any(case.id == key for case in self._kept(owner)):
            raise NotFoundError(
                f"You have not deleted a rated answer {key[:40]!r}.",
                hint=f"You can restore deleted answers for {KEPT_DAYS} days.",
            )

        def restored(case: Case) -> Case:
            if key in self._shelf(owner).view().ids:
                raise UsageError(
                    "You have rated this question again since.", hint="Delete that rating first."
                )
            return replace(case, deleted_at=0.0)

        case = self._deleted(owner).move(key, self._shelf(owner), restored)
        if self._appends:
            self._write(owner, key, case)
        return case

    def share(self, owner: str, key: str) -> Case:
        """Let everybody have a case.

        It also stays the owner's own, and the shared case follows it from then on. Raises NotFoundError,
        StoreError, and UsageError for an answer that was not checked here, because shared cases go into
        everybody's prompts.
        """
        own = self._shelf(owner).view().case(key)
        if own is None:
            raise unknown_case(key)
        if not own.verified:
            raise UsageError(
                "You can only share an answer that was checked here.",
                hint="Ask the question, rate the answer, then share it.",
            )
        self._write(owner, key, own)
        return self._publish(owner, own)

    def unshare(self, owner: str, key: str) -> None:
        """Stop sharing a case of this owner. Raises NotFoundError, StoreError."""
        by = hidden(owner)
        if not self._shared().remove(lambda case: case.id == key and case.by == by):
            raise NotFoundError(
                f"You do not share a rated answer {key[:40]!r}.", hint="List the shared ones to check."
            )
        if not self._appends:
            self._write_gone(lambda case: case.by == by and case_id(case.question, by, case.asked_of) == key)

    def import_file(self, owner: str, path: Path, *, progress: Progress = no_progress) -> ImportedLines:
        """Add the cases of a JSONL file in any of the SHAPES, in its order, and make their vectors.

        A case that is already stored stays, unless the file's is newer, and counts as known. Of two verdicts
        on a question in the file the newer counts; of equally new ones, the later. No answer counts as
        verified, because it was not checked here. Raises NotFoundError, StoreError, and ModelError if the
        vectors fail; the cases are stored then.
        """
        shelf = self._shelf(owner)
        found, problems = read_cases(path, self._fields)
        stored_at = {case.id: case.at for case in shelf.view().cases}
        # The sort is stable: of equally new cases the later comes last.
        newest = {case.id: case for case in sorted(found, key=lambda case: case.at)}
        new = []
        for case in found:
            is_unknown = case.id not in stored_at or case.at > stored_at[case.id]
            if is_unknown and newest[case.id] is case:
                new.append(case)
        shelf.put(new)
        self._follow(owner)
        shelf.embed(progress=progress)
        return ImportedLines(len(new), len(found) - len(new), problems)

    def follow_file(self, path: Path | None, *, appends: bool = True) -> tuple[LineProblem, ...]:
        """Gives everybody the cases of a file, None for no file, and makes vectors of the first.

        It is read again when it changes. A file that is not there yet begins with the first case, if its
        folder is there. Returns the lines that cannot be read. Raises NotFoundError, StoreError.

        appends: whether each new case is added to it; otherwise those that are shared.
        """
        self._file, self._appends = None, False
        if path is None:
            self._read_file(None, CATCH_UP)
            return ()
        file = FollowedFile(path, self._fields)
        begins = not path.exists() and path.parent.is_dir()
        file.is_new()
        problems = self._read_file(None if begins else path, CATCH_UP)
        self._file, self._appends = file, appends
        return problems

    def _reload(self) -> None:
        """Read the followed file again if it has changed. A few vectors are made, the rest by `catch_up`."""
        if self._file is None or not self._file.is_new():
            return
        try:
            problems = self._read_file(self._file.path, AT_ONCE)
        except NotFoundError as error:
            log.warning("MEMORY_JSONL_PATH: %s", error)
            return
        if problems:
            log.warning("MEMORY_JSONL_PATH: %d lines cannot be read", len(problems))

    def _write(self, owner: str, key: str, case: Case | None) -> None:
        """Put a case into the followed file, in place of the owner's case with an id; None to take it out."""
        by = hidden(owner)
        self._write_gone(lambda old: old.by == by and _own_id(old) == key)
        if self._file is not None and case is not None:
            try:
                self._file.append(replace(case, by=by))
            except OSError as error:
                log.warning("MEMORY_JSONL_PATH: a rated answer was not written: %s", error.strerror)
        self._reload()

    def _write_gone(self, is_gone: Callable[[Case], bool]) -> None:
        if self._file is not None:
            try:
                self._file.remove(is_gone)
            except OSError as error:
                log.warning("MEMORY_JSONL_PATH: a rated answer was not erased: %s", error.strerror)

    def _read_file(self, path: Path | None, most: int) -> tuple[LineProblem, ...]:
        shelf = self._shelf_at(OF_FILE)
        found, problems = read_cases(path, self._fields) if path is not None else ([], ())
        newest = {case.id: own_case(case, shared=True) for case in found}
        wanted = {case.id: case for case in newest.values()}
        known = {case.id: replace(case, line_index=-1) for case in shelf.view().cases}
        if known.keys() - wanted.keys():
            shelf.remove(lambda case: case.id not in wanted)
        new = [case for key, case in wanted.items() if known.get(key) != _as_stored(case)]
        if new:
            shelf.put(new)
        try:
            shelf.embed(most=most)
        except ModelError as error:
            log.warning("cases of a file wait for their vectors: %s", error)
        return problems

    def forget(self, digests: Collection[str]) -> None:
        """Erase every case, of any owner, that uses one of these files (SHA-256).

        Deleted and shared cases are erased too. Raises StoreError.
        """
        erased = frozenset(digests)
        names = self._names() if erased else []
        self._erase(names, lambda case: not erased.isdisjoint(case.document_ids))
        if erased:
            self._write_gone(lambda case: not erased.isdisjoint(case.document_ids))

    def sweep(self, *, every: float = 0.0) -> None:
        """Erase cases that were deleted more than KEPT_DAYS ago.

        Does nothing if it last ran less than `every` seconds ago. Raises StoreError.
        """
        if self._swept and time.monotonic() - self._swept < every:
            return
        self._swept = time.monotonic()
        since = self._clock.agreed() - KEPT_DAYS * DAY
        names = [name for name in self._names() if name.endswith(DELETED)]
        self._erase(names, lambda case: case.deleted_at <= since)

    def catch_up(self, owner: str, *, most: int | None = CATCH_UP) -> int:
        """Make the vectors of cases that have none, and return how many are still waiting.

        Such cases were imported, or stored while the embedder failed. most: how many to make; None for all.
        Raises ModelError, StoreError.
        """
        return sum(
            shelf.embed(most=most) for shelf in (self._shelf(owner), self._shared(), self._shelf_at(OF_FILE))
        )

    # --- looking
    # --------------------------------------------------------------------------------------------------------

    def listed(self, owner: str, *, search: str = "", shared: bool = False) -> list[CaseRow]:
        """The owner's cases, or the shared ones, the latest first.

        search: only cases that hold each of its words in the question, answer or comment.
        """
        stale = self._staleness()
        if shared:
            shelf = self._shared()
        else:
            shelf = self._shelf(owner)
        return [
            CaseRow(case, stale(case), shared)
            for case in reversed(shelf.view().cases)
            if holds_words(f"{case.question}\n{case.plan}\n{case.word}", search)
        ]

    def export(self, owner: str) -> Iterator[bytes]:
        """The owner's cases as lines of JSONL, the oldest first, one for each question.

        `import_file` reads them.
        """
        return map(case_line, self._shelf(owner).view().cases)

    def health(self, owner: str) -> CaseHealth:
        """The state of the owner's cases. Raises StoreError if they cannot be read at all."""
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
        """The deleted cases that can still be restored."""
        since = self._clock.agreed() - KEPT_DAYS * DAY
        return [case for case in self._deleted(owner).view().cases if case.deleted_at > since]

    def _publish(self, owner: str, own: Case) -> Case:
        by = hidden(owner)
        shelf = self._shared()
        shared_id = case_id(own.question, by, own.asked_of)
        shared = replace(own, by=by, id=shared_id)
        shelf.put([shared])
        _embed(shelf, shared.id)
        return shared

    def _follow(self, owner: str) -> None:
        """Bring what this owner shares up to date with the owner's cases.

        A case that was rated again is shared again; one that is gone or not verified is shared no more.
        """
        by = hidden(owner)
        view = self._shelf(owner).view()
        gone = set[str]()
        shared = [case for case in self._shared().view().cases if case.by == by]
        for case in shared:
            own = view.case(_own_id(case))
            if own is None or not own.verified:
                gone.add(case.id)
                continue
            as_own = replace(case, by="", id=own.id, line_index=own.line_index)
            if as_own != own:
                self._publish(owner, own)
        if gone:
            self._shared().remove(lambda case: case.id in gone)

    def _names(self) -> list[str]:
        rows = self._database.read("select distinct shelf from rated_answer order by shelf")
        return [str(name) for (name,) in rows]

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
            shelf = self._shelves.pop(name, None)
            if shelf is None:
                shelf = CaseFile(self._database, name, self._embedder, shared=name in (SHARED, OF_FILE))
            self._shelves[name] = shelf
            held = sum(ready.size for ready in self._shelves.values())
            while len(self._shelves) > 1:
                if len(self._shelves) <= MOST_SHELVES and held <= MOST_BYTES:
                    break
                _, oldest = self._shelves.popitem(last=False)
                held -= oldest.size
            return shelf

    def _staleness(self) -> Callable[[Case], bool]:
        """A function that tells whether a case uses a file that is no longer live.

        The live files are asked for once, and only if a case uses any file.
        """
        live = cache(self._documents.live)

        return lambda case: not all(digest in live() for digest in case.document_ids)


def hidden(owner: str) -> str:
    """What stands for an owner in names of shelves and in shared cases.

    It is 32 hexadecimal digits that do not reveal who the owner is.
    """
    return hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()[:32]


def _as_stored(case: Case) -> Case:
    return replace(read_case(case_line(case), -1), by=case.by, id=case.id)


def _own_id(case: Case) -> str:
    """The id of a case among its owner's cases, whoever shares it."""
    return case_id(case.question, asked_of=case.asked_of)


def _allowed(view: CaseFileView, reward: int | None) -> NDArray[np.bool_]:
    """Which cases of a shelf have a vector and this reward; None for both rewards."""
    if reward is None:
        return view.embedded
    allowed: NDArray[np.bool_] = view.embedded & (view.positive == bool(reward))
    return allowed


def _is_asked_of(case: Case, names: frozenset[str]) -> bool:
    """Whether a case answers a question that is asked of the named documents."""
    if names == set(case.asked_of):
        return True
    if case.asked_of:
        return False
    return {page.document for page in case.pages} <= names


def _verdict(reward: object) -> int:
    try:
        return read_reward(reward)
    except ValueError as error:
        raise UsageError(
            f"The rating cannot be saved: {error}.", hint="Give 1 for a good answer, 0 for a bad one."
        ) from None


def _asked_of(answer: Answer) -> tuple[str, ...]:
    """The documents that an answer was asked of, in order; () for all."""
    return tuple(sorted(set(answer.names)))


def is_sound(answer: Answer) -> bool:
    """Whether an answer holds up.

    At least one of its citations is verified, and no citation, figure or statement is doubted.
    """
    if any(number.status in UNSOUND for number in answer.numbers):
        return False
    if any(one.mark in DOUBTFUL or one.status == "unsupported" for one in answer.statements):
        return False
    if any(citation.doubted for citation in answer.citations):
        return False
    return any(citation.verified for citation in answer.citations)


def _embed(shelf: CaseFile, key: str) -> None:
    try:
        shelf.embed(only=key)
    except ModelError as error:
        log.warning("a case waits for its vector: %s", error)
