"""Runs the command that moves a store between files and servers, and prints what it compared."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from chatbot.cli.output import DONE, FAILED, Lines, printed, progress_bars, say
from chatbot.cli.served_command import refuse_beside_a_server
from chatbot.errors import UsageError
from chatbot.settings import PROGRAM, Settings

__all__ = ["EMBEDDED", "migrate"]

# What stands for files of the home, in place of an address.
EMBEDDED = "embedded"
WIDTHS = (28, 9)


@printed
def migrate(options: Namespace, settings: Settings) -> Lines:
    from chatbot.memory.memory_tables import memory_part
    from chatbot.store.migration.migration_mark import shown_parts
    from chatbot.store.migration.store_migration import StoreMigration

    refuse_beside_a_server("migrate")
    target = _target(options, settings)
    if shown_parts(target) == shown_parts(settings):
        raise UsageError(
            "The store is there already.",
            hint=f"Name where it goes with --to, --chroma or --files: {PROGRAM} migrate --help",
        )
    equal = True
    what, count = WIDTHS
    with progress_bars() as progress:
        migration = StoreMigration(settings, target, [memory_part()], progress)
        for number, compared in enumerate(migration.run()):
            if not (number or options.json):
                print(f"  {'':<{what}} {'before':>{count}} {'after':>{count}}  hash", flush=True)
            equal = equal and compared.equal
            before, after = compared.before, compared.after
            line = {
                "what": compared.what,
                "before": before.count,
                "after": after.count,
                "hash_before": before.digest,
                "hash_after": after.digest,
                "equal": compared.equal,
            }
            mark, hashes = "✓", before.digest[:16]
            if not compared.equal:
                mark, hashes = "✗", f"{hashes} before, {after.digest[:16]} after"
            numbers = f"{before.count:>{count},} {after.count:>{count},}"
            yield line, f"{mark} {compared.what:<{what}} {numbers}  {hashes}"
    if not equal:
        say(
            "The target was used after the migration had ended. Nothing was changed. Use the target only."
            if migration.was_finished
            else "Not everything is equal. Stop all that use the store, and run the same command again."
        )
        return FAILED
    if migration.without_copy:
        lacking = f"{migration.without_copy} of {migration.files} files"
        say(f"What was there is equal, but {lacking} have no kept copy in {shown_parts(target)[2]}.")
        say("Their pages cannot be shown or read again. If the copies are elsewhere, put them there,")
        say("or set FINPOLICY_HOME or FINPOLICY_FILES to where they are and move to an empty place.")
    for note in _next_steps(settings, target, "" if migration.without_copy else "Everything is equal. "):
        say(note)
    return FAILED if migration.without_copy else DONE


def _target(options: Namespace, settings: Settings) -> Settings:
    """The settings with what is named in its new place."""
    named = {"database": options.to, "chroma_url": options.chroma, "files": options.files}
    new: dict[str, Any] = {name: "" if place == EMBEDDED else place for name, place in named.items() if place}
    if new.get("database") and "://" not in options.to and "=" not in options.to:
        new |= {"home": Path(options.to).absolute(), "database": ""}
    if new.get("files") and "://" not in options.files:
        new["files"] = str(Path(options.files).absolute())
    target = replace(settings, **new)
    _check_addresses(settings, target)
    return target


def _check_addresses(settings: Settings, target: Settings) -> None:
    """Raises StoreError, SettingsError for what is no address, before any is shown."""
    from chatbot.store.chroma_server import ChromaServer
    from chatbot.store.postgres_faults import parse_address

    if target.database and target.database != settings.database:
        parse_address(target.database, "--to")
    if target.chroma_url:
        ChromaServer(target.chroma_url)


def _next_steps(settings: Settings, target: Settings, outcome: str) -> list[str]:
    """What to do next. No password is shown."""
    from chatbot.store.migration.migration_mark import shown_parts
    from chatbot.store.postgres_faults import shown_address

    shown = [
        ("FINPOLICY_HOME", str(settings.home), str(target.home)),
        ("FINPOLICY_DATABASE_URL", settings.database, target.database),
        ("FINPOLICY_CHROMA_URL", settings.chroma_url, target.chroma_url),
        ("FINPOLICY_FILES", settings.files, target.files),
    ]
    lines = [f"{outcome}The source is unchanged. Before the server starts again:"]
    for name, before, after in shown:
        if before == after:
            continue
        if not after:
            lines.append(f"  unset {name}")
        elif name == "FINPOLICY_DATABASE_URL":
            lines.append(f"  set {name} to the address that you gave ({shown_address(after)})")
        else:
            lines.append(f"  set {name} to {shown_parts(target)[2] if name == 'FINPOLICY_FILES' else after}")
    if target.database and not target.files and settings.documents == target.documents:
        lines.append(f"The kept copies stay in {target.documents}. All servers and workers must see them:")
        lines.append("  move them with --files to a folder that all see, or to an object store.")
    lines.append(f"Not moved: mcp.json, .env, memories/ and other files of {settings.home}.")
    if not settings.signals_database:
        lines.append("News signals are not moved either: take them along with `export` and `import`.")
    return lines
