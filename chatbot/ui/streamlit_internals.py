"""Reaches into Streamlit where it has no documented way, as Streamlit 1.67 is made. No other module does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import cast

from streamlit import runtime
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.file_util import get_static_dir
from streamlit.path_security import is_unsafe_path_pattern
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import StopException, add_script_run_ctx, get_script_run_ctx

__all__ = [
    "FIRST_PAGE",
    "StopException",
    "begin_at_top",
    "draw_from",
    "end_session",
    "is_open",
    "is_unsafe_path_pattern",
    "runs",
    "server_address",
    "signed_claims",
    "this_session",
    "uploaded_files",
]

# The HTML that a browser gets first.
FIRST_PAGE = Path(get_static_dir(), "index.html")


def this_session() -> str:
    """Returns the id of the session whose page is being drawn, "" if none is."""
    context = get_script_run_ctx()
    return context.session_id if context else ""


def runs() -> bool:
    """Tells whether Streamlit's server runs in this process."""
    return runtime.exists()


def is_open(session: str) -> bool:
    """Tells whether a session has a browser."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def end_session(session: str) -> None:
    """Ends a session, with all that it holds."""
    runtime.get_instance().close_session(session)
    uploaded_files().remove_session_files(session)  # also if Streamlit had already forgotten the session


def uploaded_files() -> MemoryUploadedFileManager:
    """Returns where Streamlit keeps the files that sessions have sent."""
    return cast(MemoryUploadedFileManager, runtime.get_instance().uploaded_file_mgr)


def begin_at_top() -> None:
    """Makes a run draw at the top of the page, at the start of the run.

    A run right after that of a fragment inherits the container in which the fragment was drawn.
    """
    context_dg_stack.set(get_default_dg_stack_value())


def draw_from(thread: Thread) -> None:
    """Lets a thread draw on the page that is being drawn."""
    add_script_run_ctx(thread)


def server_address(host: str) -> str:
    """Returns the address under which this host's pages are."""
    from streamlit.web.server.server_util import get_url

    return get_url(host)


def signed_claims(cookies: Mapping[str, str]) -> Mapping[str, object]:
    """Returns the claims of Streamlit's cookie, read as it does for a page's connection.

    Returns {} if there is none, or if this server did not sign it.
    """
    from streamlit.auth_util import get_origin_from_redirect_uri
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
    from streamlit.web.server.starlette.starlette_websocket import (
        _get_signed_cookie_with_chunks,
        _parse_decoded_user_cookie,
    )

    signed = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    origin = get_origin_from_redirect_uri()
    return _parse_decoded_user_cookie(signed, origin) if signed and origin else {}
