"""Signs users in by OpenID Connect, through Streamlit: the sign-in page, the current user, signing out.

The page says why signing in failed: Streamlit 1.67 leads back to it without a word.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import parse_qs

import streamlit as st

from chatbot.ui.guard import App, Message, Receive, Scope, Send
from chatbot.ui.network_exposure import signs_in
from chatbot.ui.page_parts import draw_notice, draw_quiet
from chatbot.ui.safe_text import paragraphs_html, plain_markdown, short
from chatbot.ui.streamlit_internals import signed_claims

__all__ = [
    "SignInFailures",
    "draw_sign_in",
    "draw_signed_in",
    "failure_texts",
    "may_enter",
    "may_fetch",
    "owner_of",
    "owner_of_cookies",
    "signed_in_owner",
]

log = logging.getLogger(__name__)

# What a signed-in owner begins with. No browser's mark does, so a cookie can never claim to be one.
SIGNED_IN = "oidc-"
# Hexadecimal digits of the SHA-256: 160 bits.
DIGITS = 40
NEEDED = {"client_id", "client_secret", "server_metadata_url"}
NOT_SET_UP = (
    "Sign-in is not set up correctly, so nobody can sign in.",
    (
        "If you run this server, look in its log for what is wrong in .streamlit/secrets.toml. See "
        "docs/deploy.md for what belongs there."
    ),
)
CALLBACK = "/oauth2callback"
USER_COOKIE = b"_streamlit_user="
# The parameter of the page's address that has the provider's error code, or UNFINISHED.
PARAMETER = "sign-in-failed"
UNFINISHED = "unfinished"
# Codes of OAuth and OpenID Connect. What else a provider says could be anybody's text: it is in the log.
CODE = re.compile(r"[a-z_]{1,40}")
IN_THE_LOG = "If you run this server, look in its log for what the provider said"
TEXTS = {
    "access_denied": (
        "The provider did not let you in.",
        "Try another account, or ask whoever gives you accounts there.",
    ),
    UNFINISHED: (
        "The provider let you in, but its reply could not be used.",
        f"Try again. {IN_THE_LOG}: often client_secret is wrong in .streamlit/secrets.toml, or a clock is.",
    ),
}
OTHER_HINT = (
    f"Try again. {IN_THE_LOG}. If it does not know prompt=select_account, set client_kwargs in "
    ".streamlit/secrets.toml as docs/deploy.md says."
)


def owner_of(issuer: str, subject: str) -> str:
    """Returns a person's owner id, the same on every browser.

    It is the same for the same subject of the same issuer, and for no other.
    """
    named = json.dumps([issuer, subject])  # unlike a line of both, it tells where one ends
    return SIGNED_IN + hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def signed_in_owner() -> str:
    """Returns the owner who is signed in in this session, "" for nobody."""
    return _owner_named(st.user.to_dict())


def _owner_named(claims: Mapping[str, object]) -> str:
    issuer = claims.get("iss")
    subject = claims.get("sub")
    if (
        claims.get("is_logged_in") is not True
        or not isinstance(issuer, str)
        or not isinstance(subject, str)
        or not (issuer and subject)
    ):
        return ""
    return owner_of(issuer, subject)


def may_enter() -> bool:
    """Tells whether this session may see the pages: somebody is signed in, or nobody needs to be."""
    return not signs_in() or bool(signed_in_owner())


def may_fetch(cookies: Mapping[str, str]) -> bool:
    """Tells whether a request with these cookies comes from a signed-in user, or nobody needs to sign in.

    For requests other than a page's own connection.
    """
    return not signs_in() or bool(owner_of_cookies(cookies))


def owner_of_cookies(cookies: Mapping[str, str]) -> str:
    """Returns the owner whom these cookies sign in, "" for nobody."""
    return _owner_named(signed_claims(cookies))


def draw_sign_in() -> None:
    """Draws the page that asks to sign in."""
    st.title("Sign in", anchor=False)
    st.html(paragraphs_html("Sign in to see the documents and your conversations."))
    if failed := failure_texts(st.query_params.to_dict()):
        draw_notice(*failed)
    providers = _providers()
    if not providers:
        draw_notice(*NOT_SET_UP)
    for name in providers:
        label = f"Sign in with {name}" if name else "Sign in"
        if st.button(plain_markdown(label), key=f"sign-in-{name}", type="primary", icon=":material/login:"):
            _try(partial(st.login, name or None))


def draw_signed_in() -> None:
    """Draws who is signed in, and the way out, in the sidebar. Draws nothing if nobody needs to sign in."""
    if not signs_in():
        return
    claims = st.user.to_dict()
    name = next((str(claims[claim]) for claim in ("name", "email", "sub") if claims.get(claim)), "")
    with st.container(key="signed-in", gap=None):
        draw_quiet(f"Signed in as {short(name)}")
        if st.button("Sign out", key="sign-out", type="tertiary", icon=":material/logout:"):
            _try(st.logout)


def _providers() -> list[str]:
    """Returns the names of the configured providers, "" for one without a name; [] if none is complete."""
    try:
        section = st.secrets["auth"].to_dict()
    except (FileNotFoundError, KeyError, AttributeError, ValueError, OSError):
        return []
    unnamed = [""] if section.keys() >= NEEDED else []
    return unnamed + sorted(
        name for name, one in section.items() if isinstance(one, Mapping) and one.keys() >= NEEDED
    )


def _try(step: Callable[[], None]) -> None:
    from streamlit.errors import StreamlitAuthError

    try:
        step()
    except StreamlitAuthError as error:  # its package is missing, or something in secrets.toml
        log.error("signing in: %s", error)
        draw_notice(*NOT_SET_UP)


# --- failures
# ------------------------------------------------------------------------------------------------------------


def failure_texts(parameters: Mapping[str, str]) -> tuple[str, str] | None:
    """Returns what went wrong and what to do about it; None if nothing did.

    parameters: of the page's address, by name.
    """
    code = parameters.get(PARAMETER, "")
    if not CODE.fullmatch(code):
        return None
    return TEXTS.get(code, (f"The provider refused to sign you in: {code}.", OTHER_HINT))


class SignInFailures:
    """ASGI middleware before Streamlit."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        code = _code(scope)
        if not code:
            await self._app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and not _signs_in(message):
                message["headers"] = [
                    (name, value + f"?{PARAMETER}={code}".encode() if name.lower() == b"location" else value)
                    for name, value in message["headers"]
                ]
            await send(message)

        await self._app(scope, receive, told)


def _code(scope: Scope) -> str:
    """Returns what to say if nobody is signed in by this request; "" if it is not the end of signing in."""
    if scope["type"] != "http" or not scope["path"].endswith(CALLBACK):
        return ""
    given = parse_qs(scope["query_string"].decode("latin-1"))
    if "error" in given:
        code = given["error"][0]
        return code if CODE.fullmatch(code) else "unknown_error"
    return UNFINISHED if "code" in given else ""


def _signs_in(message: Message) -> bool:
    return any(
        name.lower() == b"set-cookie" and value.startswith(USER_COOKIE) and b"Max-Age=0" not in value
        for name, value in message["headers"]
    )
