"""Plans what becomes of dropped or chosen files by name, size and hash: left out, renamed or asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from chatbot.errors import ProjectError
from chatbot.store.document_names import display_name, free_name
from ingestion.reading.formats import KINDS, is_named_like_a_document

__all__ = ["ChosenFile", "PlannedUpload", "plan"]


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """A file as the browser hands it over.

    path: its name, with its folders if a folder was chosen.
    size: bytes.
    digest: SHA-256.
    """

    path: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class PlannedUpload:
    """What is to become of one file.

    name: what it would be called.
    action: add | leave | ask. "ask" if a document of that name has other pages.
    said: why, or what is to be known, "" for nothing.
    """

    name: str
    action: str = "add"
    said: str = ""


def plan(files: Sequence[ChosenFile], there: Mapping[str, str]) -> list[PlannedUpload]:
    """Returns a plan for each file, in order. there: name -> SHA-256 of the existing documents."""
    planned = [_alone(file) for file in files]
    first: dict[tuple[str, str], int] = {}
    for at, (file, one) in enumerate(zip(files, planned, strict=True)):
        if one.action == "add" and first.setdefault((one.name, file.digest), at) != at:
            planned[at] = replace(
                one, action="leave", said="You chose the same file twice. It is added once."
            )
    planned = _with_own_names(files, planned)
    earlier: dict[str, str] = {}
    found = []
    for file, one in zip(files, planned, strict=True):
        found.append(_beside(file, one, earlier, there) if one.action == "add" else one)
        if one.action == "add":
            earlier.setdefault(file.digest, one.name)
    return found


def _alone(file: ChosenFile) -> PlannedUpload:
    name = file.path
    with suppress(ProjectError):  # an impossible name becomes a failed job, with the reason
        name = display_name(file.path)
    if not is_named_like_a_document(name):
        fix = f"Save or print it as a PDF, then add that. Read are {KINDS}."
        return PlannedUpload(name, "leave", f"Not of a kind that is read, so it was not added. {fix}")
    if file.size:
        return PlannedUpload(name)
    return PlannedUpload(name, "leave", "The file is empty, so it was not added. Download or save it again.")


def _with_own_names(files: Sequence[ChosenFile], planned: Sequence[PlannedUpload]) -> list[PlannedUpload]:
    """Gives different files of one name the name of their folder before it, or a number."""
    counts = Counter(one.name for one in planned if one.action == "add")
    taken = {name for name, count in counts.items() if count == 1}
    found = []
    for file, one in zip(files, planned, strict=True):
        if one.action == "add" and counts[one.name] > 1:
            folder = PurePosixPath(file.path).parent.name
            name = f"{folder} {one.name}" if folder else one.name
            if name in taken:
                name = free_name(name, taken)
            taken.add(name)
            if name != one.name:
                one = PlannedUpload(
                    name, "add", f"Added under this name, because several files are called {one.name}."
                )
        found.append(one)
    return found


def _beside(
    file: ChosenFile, one: PlannedUpload, earlier: Mapping[str, str], there: Mapping[str, str]
) -> PlannedUpload:
    """Compares a file with the existing documents and with the files before it.

    earlier: SHA-256 -> name.
    """
    identity = file.digest
    if there.get(one.name) == identity:
        return replace(one, action="leave", said="Already here, with the same content. Nothing was added.")
    if one.name in there:
        return replace(one, action="ask")
    same = next((name for name, known in there.items() if known == identity), earlier.get(file.digest, ""))
    copy = f"The same file as {same}. It is stored once, under both names." if same else ""
    return replace(one, said=" ".join(filter(None, [one.said, copy])))
