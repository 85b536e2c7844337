"""Runs the command that makes, lists and revokes the keys of the API."""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from typing import Any

from chatbot.cli.exit_codes import DONE
from chatbot.cli.output import emit
from chatbot.errors import UsageError
from chatbot.settings import PROGRAM, Settings

__all__ = ["ACTIONS", "keys"]

ACTIONS = ("create", "list", "revoke")


def keys(options: argparse.Namespace, settings: Settings) -> int:
    from chatbot.store.api_keys import open_api_keys

    with closing(open_api_keys(settings)) as kept:
        if options.action == "list":
            for key in kept.listed():
                line = _line(key)
                emit(line, _text(line), as_json=options.json)
        elif options.action == "create":
            text, key = kept.create(_text_given(options, "a name"), options.scope, options.days)
            shown = f"{text}\nThis is shown only once. It may {key.scope}."
            emit({**_line(key), "key": text}, shown, as_json=options.json)
        else:
            key = kept.revoke(_number(_text_given(options, "the number of a key")))
            emit(_line(key), f"Revoked: {key.name}", as_json=options.json)
    return DONE


def _text_given(options: argparse.Namespace, what: str) -> str:
    if not options.text:
        raise UsageError(
            f"`keys {options.action}` needs {what}.",
            hint=f"See {PROGRAM} keys --help and {PROGRAM} keys list.",
        )
    return str(options.text)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise UsageError(f"{text[:20]} is no number of a key.", hint=f"List them: {PROGRAM} keys list")
    return int(text)


def _line(key: Any) -> dict[str, Any]:
    return {
        name: getattr(key, name) for name in ("id", "name", "scope", "created_at", "expires_at", "used_at")
    }


def _text(line: dict[str, Any]) -> str:
    used = f"last used {_day(line['used_at'])}" if line["used_at"] else "never used"
    expires = f", valid until {_day(line['expires_at'])}" if line["expires_at"] else ""
    return f"{line['id']}. {line['name']}: may {line['scope']}, {used}{expires}"


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
