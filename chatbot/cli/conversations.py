"""The commands that speak of conversations."""

from __future__ import annotations

import argparse

from chatbot.cli.exits import DONE
from chatbot.cli.output import emit
from chatbot.settings import Settings

__all__ = ["compress"]


def compress(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.memory.compress_file import Asked, compress_file, result_line, result_text

    asked = Asked(options.file, options.query, options.queries, not options.no_vectors)
    given = {field: getattr(options, field) for field in ("max_tokens", "rho", "gamma", "keep_last", "scoring")}
    for number, result in compress_file(asked, {**given, "compression_ratio": options.ratio}, settings):
        emit(result_line(number, result), result_text(result), as_json=options.json or options.queries is not None)
    return DONE
