"""Runs the server around the pages: its guard, its only chatbot, and Streamlit's options."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from streamlit.errors import StreamlitAPIException

from chatbot.app import app_context
from chatbot.cli.command_server import CommandServer
from chatbot.cli.served_command import routed_streams
from chatbot.errors import UsageError
from chatbot.settings import PROGRAM, ROOT, Settings, base_path, is_installed
from chatbot.ui import api_host, browser_scripts, index_html, routes
from chatbot.ui.api_host import ApiRoute
from chatbot.ui.click_order import ClickOrder
from chatbot.ui.guard import Guard
from chatbot.ui.network_exposure import opening, warn_if_open
from chatbot.ui.request_heads import bound_heads
from chatbot.ui.sign_in import SignInFailures, may_fetch
from chatbot.ui.stdio_host import serve_beside
from chatbot.ui.streamlit_internals import server_address
from chatbot.ui.uploads import Uploads

__all__ = ["PARTS", "SCRIPT", "options", "run"]

SCRIPT = Path(__file__).with_name("main.py")
# Streamlit's options as used here. A checkout's .streamlit/config.toml is this file.
CONFIG = Path(__file__).with_name("config.toml")
EVERYWHERE = ("0.0.0.0", "::")


@asynccontextmanager
async def _lifespan(_: Any) -> AsyncIterator[None]:
    """Does what `_store_open` does, for a server with pages."""
    _check_path(st.get_option("server.baseUrlPath"))
    warn_if_open()
    async with _store_open():
        yield


@asynccontextmanager
async def _store_open() -> AsyncIterator[None]:
    """Begins to open the store in a thread, and closes it when the server stops.

    Meanwhile commands of other processes are run here too. All MCP calls end with it.
    """
    opening()
    commands = CommandServer(lambda: opening().context, _address(), mcp=serve_beside)
    try:
        with routed_streams():
            yield
    finally:
        await api_host.close_calls()
        await asyncio.to_thread(commands.close)
        await asyncio.to_thread(app_context.close)


@asynccontextmanager
async def _announced(app: Any) -> AsyncIterator[None]:
    """Does the same, and says where the pages are: by now the server listens."""
    async with _lifespan(app):
        print(f"The chat is running at {_address()} (press Ctrl+C to stop).", flush=True)
        yield


@asynccontextmanager
async def _api_announced(_: Any) -> AsyncIterator[None]:
    """Does the same for a server without pages, which gives nothing to callers without a key."""
    async with _store_open():
        print(f"The API is running at {_address()}/api/v1 (press Ctrl+C to stop).", flush=True)
        yield


def _address() -> str:
    address = st.get_option("server.address")
    if address in EVERYWHERE:
        host = "localhost"
    else:
        host = f"[{address}]" if ":" in address else address
    return server_address(host)


def _settings() -> Settings | None:
    """Returns what applies to everybody, once the store is open."""
    context = opening().context
    return context.settings if context is not None else None


_GUARD = Middleware(
    Guard,
    allowed_hosts=lambda: st.get_option("server.allowedHosts"),
    may_enter=may_fetch,
    scripts=[*browser_scripts.SCRIPTS, *index_html.SCRIPTS],
)
# What st.App takes beside the script.
PARTS: Mapping[str, Any] = {
    "lifespan": _lifespan,
    "routes": [ApiRoute(), *routes.ROUTES, *index_html.ROUTES],
    "middleware": [
        _GUARD,
        Middleware(Uploads, settings=_settings),
        Middleware(ClickOrder),
        Middleware(SignInFailures),
    ],
}


def run(home: Path, *, port: int | None = None, address: str | None = None, pages: bool = True) -> None:
    """Serves the pages and the API until Ctrl+C, or an order to end.

    Raises UsageError if the server cannot listen there, or an option is wrong.

    home: an installed copy takes its `.streamlit/`.
    pages: False serves the API alone.
    """
    folder = home if is_installed() else ROOT
    given = options(folder, port=port, address=address)
    _check_place(given["server.address"], given["server.port"])
    _check_path(given.get("server.baseUrlPath") or base_path())
    # Streamlit would take the command for a script and look for its files beside it.
    sys.argv = [""]
    bound_heads()
    try:
        with suppress(KeyboardInterrupt):
            if pages:
                app = st.App(SCRIPT, **{**PARTS, "lifespan": _announced})
            else:
                app = st.App(
                    SCRIPT, lifespan=_api_announced, routes=[ApiRoute(alone=True)], middleware=[_GUARD]
                )
            app.run(config=given)
    except StreamlitAPIException as error:
        raise UsageError(str(error), hint=f"Fix {folder / '.streamlit' / 'config.toml'}.") from error


def options(folder: Path, *, port: int | None = None, address: str | None = None) -> dict[str, Any]:
    """Returns Streamlit's options by their dotted names.

    They are ours, then those of `folder`/.streamlit/config.toml, then the arguments. What Streamlit finds in
    the current or the user's folder overrides none of these. Raises UsageError if that file cannot be read.
    """
    own = folder / ".streamlit" / "config.toml"
    given = {
        # For its own message Streamlit would ask another server for this one's address.
        "logger.hideWelcomeMessage": True,
        "secrets.files": [str(own.with_name("secrets.toml"))],
        **_options_of(CONFIG),
        **(_options_of(own) if own.exists() else {}),
    }
    asked = {"server.port": port, "server.address": address}
    return given | {name: value for name, value in asked.items() if value is not None}


def _options_of(path: Path) -> dict[str, Any]:
    try:
        return _dotted(tomllib.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}.", hint="Fix the file, or move it away.") from error


def _dotted(table: Mapping[str, Any], within: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= _dotted(value, f"{within}{name}.") if isinstance(value, dict) else {f"{within}{name}": value}
    return found


def _check_path(base: str) -> None:
    """Raises UsageError for a path below which everything is to be served: pages and API are at the root."""
    if base.strip("/"):
        raise UsageError(
            f"Nothing can be served below /{base.strip('/')}: server.baseUrlPath is set.",
            hint="Unset STREAMLIT_SERVER_BASE_URL_PATH, and give the chat a host name of its own.",
        )


def _check_place(address: str, port: int) -> None:
    """Raises UsageError if no server can listen there."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                hint = (
                    f"Use the chat already running there, or another port: {PROGRAM} serve --port {port + 1}"
                )
                raise UsageError(f"Port {port} of {address} is already in use.", hint=hint) from error
            hint = "Use a --port above 1023 and an --address of this machine."
            message = f"Nothing can listen on port {port} of {address}: {error.strerror}."
            raise UsageError(message, hint=hint) from error
