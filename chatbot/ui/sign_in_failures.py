"""Tells the sign-in page why signing in failed: Streamlit 1.67 leads back to that page without a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qs

from chatbot.ui.guard import App, Message, Receive, Scope, Send

__all__ = ["SignInFailures", "failure_texts"]

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
        f"Try again. {IN_THE_LOG}: often client_secret is wrong in .streamlit/secrets.toml, or a clock.",
    ),
}
OTHER_HINT = (
    f"Try again. {IN_THE_LOG}. If it does not know prompt=select_account, set client_kwargs in "
    ".streamlit/secrets.toml as docs/deploy.md says."
)


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
