"""Reads the user's file of MCP servers, in the form that assistants have in common."""

from __future__ import annotations

import json
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from chatbot.errors import SettingsError
from ingestion.invisible_characters import one_line

__all__ = ["FILE", "ServerEntry", "read_servers"]

FILE = "mcp.json"
MOST_SERVERS, LONGEST_NAME, MOST_BYTES = 20, 60, 100_000
FORM = 'Write {"mcpServers": {"NAME": {"command": "…", "args": []}}} or {"url": "…"} for a server over HTTP.'


@dataclass(frozen=True, slots=True, config=ConfigDict(strict=True))
class ServerEntry:
    """A server as the file names it.

    command, args, env: how it is started; "" for one over HTTP.
    url, headers: where it is; "" for one that is started.
    """

    name: str
    command: str = ""
    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict, repr=False)


def read_servers(home: Path) -> tuple[ServerEntry, ...]:
    """Returns the servers of `home`/mcp.json, () without that file. Raises SettingsError for a wrong one."""
    path = home / FILE
    try:
        if not path.is_file():
            return ()
        if path.stat().st_size > MOST_BYTES:
            raise SettingsError(f"{FILE} is larger than {MOST_BYTES:,} bytes.", hint=FORM)
        found = json.loads(path.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise SettingsError(
            f"{FILE} is no JSON: in line {error.lineno}, column {error.colno}: {error.msg}.", hint=FORM
        ) from error
    except OSError as error:
        raise SettingsError(f"{FILE} cannot be read: {error.strerror}.", hint=FORM) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{FILE} is no JSON in UTF-8.", hint=FORM) from error
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(servers, dict) or len(servers) > MOST_SERVERS:
        raise SettingsError(f"{FILE} names no servers, or more than {MOST_SERVERS}.", hint=FORM)
    return tuple(_entry(name, given) for name, given in servers.items())


def _entry(name: str, given: Any) -> ServerEntry:
    shown = one_line(name, LONGEST_NAME)
    if not shown or not isinstance(given, dict) or bool(given.get("command")) == bool(given.get("url")):
        raise SettingsError(f"In {FILE}, {shown or 'a server'} is neither started nor at a url.", hint=FORM)
    told = {key: given[key] for key in ("command", "args", "env", "url", "headers") if key in given}
    try:
        return ServerEntry(shown, **told)
    except ValidationError:
        raise SettingsError(f"In {FILE}, {shown} has a value of the wrong kind.", hint=FORM) from None
