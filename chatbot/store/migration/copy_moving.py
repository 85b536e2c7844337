"""Makes the kept copies of one place equal to those of another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from chatbot.errors import StoreError
from chatbot.settings import PROGRAM
from chatbot.store.copy_files import CopyFiles, prepared
from chatbot.store.kept_copies import copy_name, is_copy, is_kept
from chatbot.store.migration.row_values import TableSum, summary_of

__all__ = ["compare_copies", "kept_names", "move_copies"]

Told = Callable[[int], None]


def kept_names(files: CopyFiles) -> list[str]:
    """Returns the names of all copies and of what is beside them, each copy after its names. Raises
    StoreError.
    """
    return sorted(name for name, _, _ in files.listed() if is_kept(name))


def move_copies(
    source: CopyFiles, target: CopyFiles, told: Told, *, former: Collection[str] = frozenset()
) -> None:
    """Copies what the target lacks or has otherwise, and deletes what the source does not have any more.

    former: the SHA-256 of what an earlier attempt may have brought. Other files of the target are somebody
        else's.

    A file becomes visible in the target when it is complete. told: of the files so far. Raises StoreError,
    also for what is no plain file; OSError.
    """
    if strange := sorted(filter(is_kept, source.strange())):
        raise _damaged(strange[0], "is a link, or no plain file")
    names = kept_names(source)
    for name in set(kept_names(target)) - set(names):
        if name.partition(".")[0] in former:
            target.delete(name)
    for done, name in enumerate(names, 1):
        if not (is_copy(name) and target.size(name) == source.size(name)):
            with prepared(target.incoming, source.parts(name)) as file:
                target.put(file, name)
        told(done)


def compare_copies(source: CopyFiles, target: CopyFiles, told: Told) -> tuple[TableSum, TableSum]:
    """Reads all files of both, and sums up their names and SHA-256.

    Raises StoreError, also for a copy with other bytes than those that it is named by; OSError.
    """
    return summary_of(_hashes(source, told)), summary_of(_hashes(target, told))


def _hashes(files: CopyFiles, told: Told) -> Iterator[tuple[str, str]]:
    """Yields (name, SHA-256) of every file."""
    for done, name in enumerate(kept_names(files), 1):
        digest = files.sha256(name)
        if is_copy(name) and name != copy_name(digest):
            raise _damaged(name, "has other bytes than those that it is named by")
        yield name, digest
        told(done)


def _damaged(name: str, how: str) -> StoreError:
    return StoreError(f"The kept file {name} {how}.", hint=f"Run `{PROGRAM} doctor --repair` first.")
