"""Keeps rated answers, called cases, of all owners and recalls those that guide later answers.

It never asks a model for an answer.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from operator import attrgetter
from pathlib import Path

import numpy as np

from chatbot.errors import ModelError, NotFoundError, UsageError
from chatbot.memory.cases.feedback_rerank import PageWeight, weigh_pages
from chatbot.memory.cases.followed_file import FollowedFile
from chatbot.memory.cases.records import (
    DEFAULT_FIELDS,
    GONE,
    LONGEST_QUOTE,
    Case,
    CasePage,
    case_id,
    case_line,
    read_case,
    read_cases,
    read_reward,
    same_question,
)
from chatbot.memory.conversations.answer_records import cited_text
from chatbot.memory.import_files import ImportedLines, LineProblem, Progress, holds_words, no_progress
from chatbot.memory.items import SHARED, Item, Items
from chatbot.memory.memory_database import MemoryDatabase
from chatbot.models.cosine_scale import by_embedder
from chatbot.models.embedders import Embedder
from chatbot.records import DOUBTFUL, Answer
from chatbot.search.fusion import embed_query, mean_vector, worth_searching
from chatbot.search.question_terms import subject_of
from chatbot.store.store_clock import DAY
from chatbot.store.vector_index import Vectors

__all__ = [
    "CASES",
    "DELETED",
    "KEPT_DAYS",
    "NEIGHBOURS",
    "OF_FILE",
    "CaseHealth",
    "CaseRow",
    "Cases",
    "Documents",
    "Recalled",
    "hidden",
    "is_sound",
    "question_vectors",
    "similar_from",
]

log = logging.getLogger(__name__)

# Whose the cases of the operator's file are, and what follows an owner whose the deleted ones are.
OF_FILE, DELETED = "file", ".deleted"
# The sharer of a case of the file that names nobody: it is no real owner, and so not the reader either.
SOMEBODY = "somebody"
# Days for which a deleted case can be restored.
KEPT_DAYS = 7
# Vectors made at a time for cases that have none: one or two seconds of the embedded model, while nobody
# waits; and while somebody waits.
CATCH_UP, AT_ONCE = 500, 8
# Cosine from which a case is worth showing, by the beginning of the fingerprint. Measured with 106
# development questions on policies and filings. MiniLM: the nearest question on another document has a
# median of .50, and 1 in 10 reaches .70; of 20 questions in other words all reach .80. e5: the nearest
# question on another document has .85, and 1 in 20 reaches .91; pairs in other words have .957 to .997.
CALIBRATED = {"minilm-": 0.7, "e5-": 0.92}
# For a model that was not measured: so high that nothing misleads.
UNKNOWN = 0.9
# Cases that a recall returns at most.
NEIGHBOURS = 8
UNSOUND = ("contradicted", "unsupported")


@dataclass(frozen=True, slots=True)
class Recalled:
    """A case that was found.

    rank: from 1.
    score: cosine of the questions, in [-1, 1].
    case: the case.
    """

    rank: int
    score: float
    case: Case


def similar_from(fingerprint: str) -> float:
    """The cosine measured for an embedder, or else a cautious one."""
    return by_embedder(CALIBRATED, fingerprint, UNKNOWN)


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


NO_DOCUMENTS = Documents()


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case as listed. stale: whether a document that it uses was changed or removed, so that it is not
    recalled.
    """

    case: Case
    stale: bool


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
    """

    cases: int
    positive: int
    negative: int
    stale: int
    waiting: int
    shared: int
    problems: tuple[LineProblem, ...]


def question_vectors(embedder: Embedder, questions: Sequence[str]) -> Vectors:
    """Unit rows (n, dimension), each made as for a question that is asked.

    Its subject is embedded; for a long one, the row is the mean over its pieces. Raises ModelError.
    """
    subjects = [subject_of(question) for question in questions]
    rows = np.zeros((len(subjects), embedder.dimension), np.float32)
    short = [at for at, text in enumerate(subjects) if len(embedder.split(text)) <= 1]
    if short:
        rows[short] = embedder.embed([subjects[at] for at in short], query=True)
    for at in set(range(len(subjects))).difference(short):
        rows[at] = mean_vector(worth_searching(embed_query(embedder, subjects[at]).chunks))
    return rows


class CaseKind:
    """Cases as items: the question is embedded, and the payload is the case's line."""

    name, noun = "case", "rated answer"

    def item(self, value: Case) -> Item:
        """See Kind."""
        key = case_id(value.question, value.by, value.asked_of)
        return Item(key, value.question, case_line(value).decode(), value.shared)

    def value(self, item: Item, owner: str) -> Case:
        """See Kind."""
        case = read_case(item.payload.encode())
        return replace(case, by=owner or case.by, id=item.key, shared=bool(item.shared))

    def joined(self, old: Case, new: Case) -> Case:
        """The newer one; it is shared as long as it is checked."""
        return replace(new, shared=old.shared and new.verified) if new.at >= old.at else old

    def vectors(self, embedder: Embedder, texts: Sequence[str]) -> Sequence[Vectors]:
        """See Kind."""
        return list(question_vectors(embedder, texts))


CASES = CaseKind()


class Cases:
    """The cases of all owners, each named by a hash. Safe to use from several threads and processes."""

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
        self._items = Items(database, embedder, CASES)
        self._clock, self._embedder, self._documents = database.clock, embedder, documents
        self._fields, self.similar = fields, similar_from(embedder.fingerprint)
        # The file whose cases everybody has, and whether each new one is added to it.
        self._file: FollowedFile | None = None
        self._appends = False
        # When the last sweep ran, by the monotonic clock.
        self._swept = 0.0

    # --- recalling
    # --------------------------------------------------------------------------------------------------------

    def find(self, owner: str, question: str, k: int = NEIGHBOURS, **limits: float) -> list[Recalled]:
        """Like recall, but embeds the question first. Raises ModelError."""
        return self.recall(owner, question_vectors(self._embedder, [question])[0], k, **limits)

    def recall(
        self,
        owner: str,
        vector: Vectors,
        k: int = NEIGHBOURS,
        *,
        reward: float | None = None,
        least: float | None = None,
    ) -> list[Recalled]:
        """The owner's and the shared cases whose questions are nearest, best first.

        All filters apply before the first k are taken. Nothing is embedded: see `catch_up` for cases without
        a vector. A vector that is not of this embedder, not finite or zero finds none. Raises StoreError.

        reward: 1 or 0; None for both. least: lowest cosine; None for the embedder's own threshold.
        """
        length = float(np.linalg.norm(vector)) if vector.shape == (self._embedder.dimension,) else 0.0
        if not np.isfinite(length) or length == 0:
            return []
        found, wanted = list[tuple[float, Case]](), self._may_recall(owner, reward)
        least = self.similar if least is None else least
        for whose in (hidden(owner), SHARED, OF_FILE):
            found += self._items.recall(whose, [vector / length], k, least=least, wanted=wanted)
        found.sort(key=lambda pair: -pair[0])
        return [Recalled(rank, score, case) for rank, (score, case) in enumerate(found[:k], 1)]

    def _may_recall(self, owner: str, reward: float | None = None) -> Callable[[Case], bool]:
        """Whether a case counts for an owner, of those with a reward.

        A case of somebody else is left out if the owner has rated that question too, whatever the verdict;
        and also if it was not checked here, because then it is anybody's text. The file is the operator's.
        """
        self._reload()
        stale, own = self._staleness(), self._own(owner)

        def may_recall(case: Case) -> bool:
            if reward not in (None, case.reward) or stale(case):
                return False
            return not case.by or (_own_id(case) not in own and (case.verified or not case.shared))

        return may_recall

    def of_question(self, owner: str, question: str, asked_of: Sequence[str] = ()) -> Case | None:
        """The newest verdict on this very question to these documents.

        asked_of: names of the documents, () for all. It is a verified answer that was rated helpful, or one
        that its owner rated not helpful after that; None where there is neither. An answer that was asked of
        all documents also counts for some of them, if all its pages are theirs.
        """
        names, wanted = frozenset(asked_of), self._may_recall(owner)
        own = self._own(owner)
        keys = {case_id(question, asked_of=asked) for asked in ((), sorted(names))}
        others = chain.from_iterable(self._items.view(whose).values.values() for whose in (SHARED, OF_FILE))
        same = [own[key] for key in keys & own.keys()]
        same += (case for case in others if same_question(case.question) == same_question(question))
        same = [case for case in same if wanted(case) and _is_asked_of(case, names)]
        good = max((one for one in same if one.reward and one.verified), key=attrgetter("at"), default=None)
        bad = max((one for one in same if not one.reward), key=attrgetter("at"), default=None)
        if good and (bad is None or good.at > bad.at):
            return good
        return None if bad is None or bad.by else bad

    def weighed_pages(self, owner: str, vector: Vectors) -> list[PageWeight]:
        """The pages that ratings of similar questions raise or lower, each with the cases that do.

        It is worked out anew each time, so that a deleted or changed case stops counting at once.
        """
        found = self.recall(owner, vector)
        return weigh_pages(((one.score, one.case) for one in found), self.similar)

    def _own(self, owner: str) -> dict[str, Case]:
        return self._items.view(hidden(owner)).values

    # --- writing
    # --------------------------------------------------------------------------------------------------------

    def rate(self, owner: str, answer: Answer, reward: object, *, word: str = "") -> Case:
        """Store the verdict on an answer in place of an older one on the same question.

        reward: as in files, 1 or 0. word: the user's comment. Raises UsageError if an answer that was refused
        or failed is called good, and StoreError.
        """
        good = _verdict(reward)
        if good and (not answer.answered or answer.error):
            why = "replaces one that failed" if answer.answered else "says that the documents do not answer"
            raise UsageError(
                f"This answer {why}, so it cannot be rated helpful.",
                hint="Rate it down, or say what is missing.",
            )
        pages = self._cited_pages(answer)
        new = Case(
            answer.search_query or answer.question,
            cited_text(answer),
            good,
            document_ids=tuple(dict.fromkeys(page.document_id for page in pages)),
            pages=pages,
            word=word.strip(),
            verified=is_sound(answer),
            asked_of=_asked_of(answer),
        )
        # Written and read again, so that it can be compared with an older one.
        new = read_case(case_line(new))
        old = self.rated(owner, answer)
        if old and replace(new, at=old.at, shared=old.shared) == old:
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
        key = case_id(answer.search_query or answer.question, asked_of=_asked_of(answer))
        return self._own(owner).get(key)

    def add(self, owner: str, case: Case) -> Case:
        """Store a case, dated now if it has no time.

        If its vector cannot be made, the case waits for one. Raises StoreError, UsageError.
        """
        old = self._own(owner).get(_own_id(case))
        # Of two verdicts the newer counts, and a clock that was put back makes none older.
        at = case.at or max(round(time.time(), 6), old.at if old else 0.0)
        dated = replace(case, at=at, by="", id=_own_id(case), deleted_at=0.0, shared=False)
        self._items.put(hidden(owner), [dated])
        return self._settled(owner, dated.id, dated.id)

    def edit(self, owner: str, key: str, change: Callable[[Case], Case]) -> Case:
        """Replace a case by change(case).

        `change` gets the case as it is at that moment, whatever others changed meanwhile. A case whose
        question or answer was changed is no longer verified. Raises NotFoundError, StoreError, UsageError.
        """

        def changed(old: Case) -> Case:
            new = change(old)
            verified = old.verified and (new.question, new.plan) == (old.question, old.plan)
            shared = old.shared and verified
            reward = _verdict(new.reward)
            return replace(new, reward=reward, verified=verified, shared=shared, id=_own_id(new))

        return self._settled(owner, key, self._items.change(hidden(owner), key, changed).id)

    def _settled(self, owner: str, former: str, key: str) -> Case:
        """The case of this key, which has its vector if one can be made, and stands in the followed file.

        former: the key that it had before.
        """
        try:
            self._items.embed(hidden(owner), key)
        except ModelError as error:
            log.warning("a case waits for its vector: %s", error)
        case = self._own(owner)[key]
        self._write(owner, former, case if self._appends or case.shared else None)
        return case

    def delete(self, owner: str, key: str) -> None:
        """Delete a case; it can be restored for KEPT_DAYS. Raises NotFoundError, StoreError."""

        def dated(case: Case) -> Case:
            return replace(case, deleted_at=self._clock.now(), shared=False)

        self._items.change(hidden(owner), key, dated, f"{hidden(owner)}{DELETED}")
        self._write(owner, key, None)

    def deleted(self, owner: str) -> list[Case]:
        """The cases that the owner deleted and can restore, the latest first.

        Cases whose question was rated again since are left out. Raises StoreError.
        """
        own = self._own(owner)
        restorable = [case for case in self._restorable(owner).values() if case.id not in own]
        return sorted(restorable, key=lambda case: -case.deleted_at)

    def _restorable(self, owner: str) -> dict[str, Case]:
        since = self._clock.agreed() - KEPT_DAYS * DAY
        deleted = self._items.view(f"{hidden(owner)}{DELETED}").values
        return {key: case for key, case in deleted.items() if case.deleted_at > since}

    def restore(self, owner: str, key: str) -> Case:
        """Bring a deleted case back; it is not shared again.

        Raises NotFoundError, StoreError, and UsageError if its question was rated again since.
        """
        if key not in self._restorable(owner):
            raise NotFoundError(
                f"You have not deleted a rated answer {key[:40]!r}.",
                hint=f"You can restore deleted answers for {KEPT_DAYS} days.",
            )

        def restored(case: Case) -> Case:
            if key in self._own(owner):
                raise UsageError(
                    "You have rated this question again since.", hint="Delete that rating first."
                )
            return replace(case, deleted_at=0.0)

        self._items.change(f"{hidden(owner)}{DELETED}", key, restored, hidden(owner))
        return self._settled(owner, key, key)

    def share(self, owner: str, key: str) -> Case:
        """Let everybody have a case, as its owner has it from then on.

        Raises NotFoundError, StoreError, and UsageError for an answer that was not checked here, because
        shared cases go into everybody's prompts.
        """

        def shared(case: Case) -> Case:
            if not case.verified:
                raise UsageError(
                    "You can only share an answer that was checked here.",
                    hint="Ask the question, rate the answer, then share it.",
                )
            return replace(case, shared=True)

        self._items.change(hidden(owner), key, shared)
        return self._settled(owner, key, key)

    def unshare(self, owner: str, key: str) -> None:
        """Stop sharing a case of this owner. Raises NotFoundError, StoreError."""

        def private(case: Case) -> Case:
            if not case.shared:
                raise NotFoundError(
                    f"You do not share a rated answer {key[:40]!r}.", hint="List the shared ones to check."
                )
            return replace(case, shared=False)

        self._items.change(hidden(owner), key, private)
        self._settled(owner, key, key)

    def import_file(self, owner: str, path: Path, *, progress: Progress = no_progress) -> ImportedLines:
        """Add the cases of a JSONL file in any of the SHAPES, in its order, and make their vectors.

        A case that is already stored stays, unless the file's is newer, and counts as known. Of two verdicts
        on a question in the file the newer counts; of equally new ones, the later. No answer counts as
        verified, because it was not checked here. Raises NotFoundError, StoreError, and ModelError if the
        vectors fail; the cases are stored then.
        """
        found, problems = read_cases(path, self._fields)
        stored = self._own(owner)
        new = [case for case in found if case.id not in stored or case.at > stored[case.id].at]
        self._items.put(hidden(owner), new)
        self._items.embed(progress=progress)
        added = len({case.id for case in new})
        return ImportedLines(added, len(found) - added, problems)

    # --- the followed file
    # --------------------------------------------------------------------------------------------------------

    def follow_file(self, path: Path | None, *, appends: bool = True) -> tuple[LineProblem, ...]:
        """Gives everybody the cases of a file, None for no file, and makes vectors of the first.

        It is read again when it changes. A file that is not there yet begins with the first case, if its
        folder is there. Returns the lines that cannot be read. Raises NotFoundError, StoreError.

        appends: whether each new case is added to it; otherwise those that are shared.
        """
        self._file, self._appends = None, False
        if path is None:
            return self._read_file(None, CATCH_UP)
        file = FollowedFile(path, self._fields)
        file.is_new()
        begins = not path.exists() and path.parent.is_dir()
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
        self._change_file(lambda old: old.by == by and _own_id(old) == key, case and replace(case, by=by))

    def _change_file(self, is_gone: Callable[[Case], bool], new: Case | None = None) -> None:
        if self._file is None:
            return
        try:
            self._file.remove(is_gone)
            if new is not None:
                self._file.append(new)
        except OSError as error:
            log.warning("MEMORY_JSONL_PATH: a rated answer was not written or erased: %s", error.strerror)
        self._reload()

    def _read_file(self, path: Path | None, most: int) -> tuple[LineProblem, ...]:
        found, problems = read_cases(path, self._fields) if path is not None else ([], ())
        named = [CASES.value(CASES.item(replace(case, by=case.by or SOMEBODY)), "") for case in found]
        wanted, stored = {case.id: case for case in named}, self._items.view(OF_FILE).values
        if wanted != stored:
            self._items.remove(lambda case: wanted.get(case.id) != case, "owner = ?", [OF_FILE])
            self._items.put(OF_FILE, [case for key, case in wanted.items() if stored.get(key) != case])
        try:
            self._items.embed(most=most)
        except ModelError as error:
            log.warning("cases of a file wait for their vectors: %s", error)
        return problems

    # --- erasing and catching up
    # --------------------------------------------------------------------------------------------------------

    def forget(self, digests: Collection[str]) -> None:
        """Erase every case, of any owner, that uses one of these files (SHA-256).

        Deleted and shared cases are erased too. Raises StoreError.
        """
        erased = frozenset(digests)
        if erased:
            self._items.remove(lambda case: not erased.isdisjoint(case.document_ids))
            self._change_file(lambda case: not erased.isdisjoint(case.document_ids))

    def sweep(self, *, every: float = 0.0) -> None:
        """Erase cases that were deleted more than KEPT_DAYS ago.

        Does nothing if it last ran less than `every` seconds ago. Raises StoreError.
        """
        if self._swept and time.monotonic() - self._swept < every:
            return
        self._swept = time.monotonic()
        since = self._clock.agreed() - KEPT_DAYS * DAY
        self._items.remove(lambda case: case.deleted_at <= since, "owner like ?", [f"%{DELETED}"])

    def catch_up(self, *, most: int | None = CATCH_UP) -> int:
        """Make the vectors of cases that have none, and return how many are still waiting.

        Such cases were imported, or stored while the embedder failed. most: how many to make; None for all.
        Raises ModelError, StoreError.
        """
        return self._items.embed(most=most)

    # --- looking
    # --------------------------------------------------------------------------------------------------------

    def listed(self, owner: str, *, search: str = "", shared: bool = False) -> list[CaseRow]:
        """The owner's cases, or the shared ones, the latest first.

        search: only cases that hold each of its words in the question, answer or comment.
        """
        stale = self._staleness()
        view = self._items.view(SHARED if shared else hidden(owner))
        return [
            CaseRow(case, stale(case))
            for case in reversed(view.values.values())
            if holds_words(f"{case.question}\n{case.plan}\n{case.word}", search)
        ]

    def export(self, owner: str) -> Iterator[bytes]:
        """The owner's cases as lines of JSONL, the oldest first, one for each question.

        `import_file` reads them.
        """
        return map(case_line, self._own(owner).values())

    def health(self, owner: str) -> CaseHealth:
        """The state of the owner's cases. Raises StoreError if they cannot be read at all."""
        view = self._items.view(hidden(owner))
        count, positive = len(view.values), sum(case.reward for case in view.values.values())
        return CaseHealth(
            count,
            positive,
            count - positive,
            sum(map(self._staleness(), view.values.values())),
            count - len(set(view.matrix.ordinals.tolist())),
            len(self._items.view(SHARED).values),
            view.problems,
        )

    def _staleness(self) -> Callable[[Case], bool]:
        """A function that tells whether a case uses a file that is no longer live.

        The live files are asked for once, and only if a case uses any file.
        """
        live = cache(self._documents.live)

        return lambda case: not all(digest in live() for digest in case.document_ids)


def hidden(owner: str) -> str:
    """What stands for an owner in rows and files: 32 hexadecimal digits that do not reveal who it is."""
    return hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()[:32]


def _own_id(case: Case) -> str:
    """The id of a case among its owner's cases, whoever shares it."""
    return case_id(case.question, asked_of=case.asked_of)


def _is_asked_of(case: Case, names: frozenset[str]) -> bool:
    """Whether a case answers a question that is asked of the named documents."""
    if names == set(case.asked_of):
        return True
    return not case.asked_of and {page.document for page in case.pages} <= names


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
    doubts = (
        any(number.status in UNSOUND for number in answer.numbers),
        any(one.mark in DOUBTFUL or one.status == "unsupported" for one in answer.statements),
        any(citation.doubted for citation in answer.citations),
    )
    return not any(doubts) and any(citation.verified for citation in answer.citations)
