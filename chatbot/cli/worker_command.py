"""Runs the command `worker`: reads documents for servers that share a Postgres, until it is stopped."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from chatbot.cli.exit_codes import DONE
from chatbot.errors import UsageError
from chatbot.settings import Settings

__all__ = ["work"]

# So that an order to end is heard while nothing happens.
LOOK_SECONDS = 1.0


def work(_: argparse.Namespace, settings: Settings) -> int:
    if not settings.database:
        raise UsageError(
            "A worker takes its work from a Postgres, and none is set.",
            hint="Set FINPOLICY_DATABASE_URL, as for the servers.",
        )
    from chatbot.models.embedders import make_embedder
    from chatbot.store.addition_opening import open_additions
    from chatbot.store.library import Library
    from chatbot.store.shared_additions import SharedAdditions

    library = Library(settings, make_embedder(settings))
    try:
        works = replace(settings, server_adds=True)
        additions = open_additions(library, works, readers=settings.threads, leads=False)
        assert isinstance(additions, SharedAdditions)
        print("Working. Stop with Ctrl+C.", file=sys.stderr, flush=True)
        try:
            while not additions.ended.wait(LOOK_SECONDS):
                pass
        finally:
            additions.close()
        if additions.problem is not None:
            raise additions.problem
    finally:
        library.close()
    return DONE
