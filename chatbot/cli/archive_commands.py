"""Runs the commands that export all that users made, and import it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from chatbot.cli.exit_codes import DONE, FAILED, open_chatbot
from chatbot.cli.output import emit, progress_bars
from chatbot.cli.served_command import refuse_beside_a_server
from chatbot.errors import ProjectError, StoreError
from chatbot.settings import PROGRAM, Settings
from chatbot.store.api_keys import open_api_keys
from chatbot.store.document_names import listed

if TYPE_CHECKING:
    from chatbot.memory.archive.archive_export import OpenedStore, Tally
    from chatbot.store.catalog import Catalog

__all__ = ["export", "import_archive"]

NOT_EXPORTED = (
    "Not in it: settings of the environment, .env, mcp.json, memories/ and private conversations.\n"
    "The files of the documents are not in it either: copy documents/ too."
)
ABSENT = "files of documents are not here. Add them: they get their names and corrections back."
KEYS = f"The imported API keys work from now on. Check them: {PROGRAM} keys list"


def export(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.memory.archive.archive_export import export_store

    if not (settings.database or any(settings.store.glob("*.sqlite3"))):
        raise StoreError(
            f"There is no store in {settings.store}.",
            hint="Set FINPOLICY_HOME or FINPOLICY_DATABASE_URL to the store that is to be exported.",
        )
    complete = True
    with _opened(settings) as (store, _), progress_bars() as progress:
        try:
            for tally in export_store(store, options.file, progress):
                complete = complete and not tally.skipped
                _tell(tally, "exported", as_json=options.json)
        except OSError as error:
            raise ProjectError(
                f"{options.file} cannot be written: {error.strerror}.", hint="Check the path and the disk."
            ) from error
    print(NOT_EXPORTED, file=sys.stderr)
    return DONE if complete else FAILED


def import_archive(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.memory.archive.archive_file import ArchiveReader
    from chatbot.memory.archive.archive_import import StoreImport

    refuse_beside_a_server("import")
    with closing(ArchiveReader(options.file)) as archive, _opened(settings) as (store, catalog):
        done: dict[str, int] = {}
        with progress_bars() as progress:
            for tally in StoreImport(store, archive, progress).run():
                done[tally.kind] = tally.done
                _tell(tally, "imported", as_json=options.json)
        absent = [digest for digest in catalog.remembered() if catalog.holding(digest) is None]
    if done.get("keys"):
        print(KEYS, file=sys.stderr)
    if absent and done.get("documents"):
        print(f"{len(absent):,} {ABSENT}", file=sys.stderr)
    return DONE


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[OpenedStore, Catalog]]:
    from chatbot.memory.archive.archive_export import OpenedStore

    with open_chatbot(settings) as chatbot, closing(open_api_keys(settings)) as keys:
        if chatbot.set_aside:
            raise StoreError(
                f"The memories could not be read, and were moved to {chatbot.set_aside}.",
                hint="Put a backup in their place, or give the command again to go on without them.",
            )
        catalog, memories = chatbot.library.catalog, chatbot.memories.database
        yield OpenedStore(keys.database, catalog.database, memories, chatbot.signals), catalog


def _tell(tally: Tally, verb: str, *, as_json: bool) -> None:
    skipped = tally.skipped
    line = {"kind": tally.kind, verb: tally.done, "skipped": skipped.total(), "reasons": skipped}
    text = f"{tally.kind}: {tally.done:,} {verb}"
    if verb == "imported":
        line["there"] = tally.there
        text += f", {tally.there:,} already there"
    for reason, count in skipped.items():
        names = [name[:60] for name in tally.called.get(reason, ())]
        text += f"\n  {count:,} skipped, {reason}{': ' if names else ''}{listed(names, count)}"
    emit(line, text, as_json=as_json)
