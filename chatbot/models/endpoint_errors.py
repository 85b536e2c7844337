"""Explains how a model endpoint failed, in one sentence with the fix, whatever the shape of its error."""

from __future__ import annotations

import json
import re
import time
from email.utils import mktime_tz, parsedate_tz
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chatbot.errors import ModelError
from chatbot.models.addresses import (
    MOST_SHOWN_CHARACTERS,
    address_variable,
    client_of,
    endpoint_host,
    endpoint_url,
    key_of,
    key_variable,
    tidied,
)
from chatbot.models.timeouts import explain_limit
from chatbot.settings import Settings
from ingestion.invisible_characters import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "EndpointError",
    "clean_text",
    "endpoint_failures",
    "explain_body",
    "explain_failure",
    "refusal_of",
    "words_of_body",
]

# How the transport reports a server that dies while it answers.
_DIED = "peer closed connection"
# How it says why no connection was made.
_UNKNOWN_NAME = re.compile(r"name is not known|name or service|name resolution|nodename nor servname", re.I)
_UNTRUSTED = re.compile(r"CERTIFICATE_VERIFY_FAILED")
_NO_TLS = re.compile(r"\bSSL\b")
# A reader is waiting: a longer pause is reported, not waited for.
LONGEST_WAIT_SECONDS = 20.0
# Nobody means a longer one.
LONGEST_RETRY_SECONDS = 31 * 86_400.0
# What providers say in words where the status says less. Each was seen in the errors that
# tests/provider_errors.py holds.
_CONTEXT_EXCEEDED = re.compile(
    r"context[ _](?:length|window|size)|(?:prompt|input) is too long|too many (?:input )?tokens"
    r"|exceeds? (?:the )?(?:available |maximum |model'?s? )?context|exceed_context_size",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?)|credit balance is too low|billing_error"
    r"|exceeded your current quota",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|model[ _]not[ _](?:exist|found|load)|(?:model|deployment)\b.{0,80}"
    r"(?:does not exist|not found|is not (?:found|loaded|a valid model))|not a valid model"
    r"|no models? (?:is )?loaded|DeploymentNotFound|No endpoints found",
    re.IGNORECASE,
)
_FILTERED = re.compile(r"content_filter|content management policy|ResponsibleAIPolicy", re.IGNORECASE)
_NOT_VERIFIED = re.compile(r"must be verified", re.IGNORECASE)
_WRONG_PATH = re.compile(
    r"unexpected endpoint|page not found|no such path|resource not found|^not found$|unknown url|invalid url",
    re.IGNORECASE,
)
_LOADING = re.compile(r"loading model", re.IGNORECASE)
# Where an error's words may stand in its body, and the codes beside them.
_WORDS_IN = ("message", "detail", "error", "msg", "error_message")
_CODES_IN = ("code", "type", "status")


class EndpointError(ModelError):
    """An endpoint failed.

    wait: seconds after which another try makes sense (0: the caller's own pause), None if it does not.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        wait: float | None = None,
        retryable: bool = True,
        kind: str = "",
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable, kind=kind)
        self.wait = wait


def endpoint_failures(settings: Settings) -> tuple[type[Exception], ...]:
    """Returns the errors of a call through the endpoint's client that the endpoint may cause.

    They are to be passed to `explain_failure`. The first call imports the client, which takes a second.
    """
    import httpx2

    if client_of(settings) == "anthropic":
        from anthropic import AnthropicError

        client_error: type[Exception] = AnthropicError
    else:
        from openai import OpenAIError

        client_error = OpenAIError

    # The clients let these through: broken JSON or UTF-8 in a stream, numbers of thousands of digits, JSON
    # nested too deep, a connection lost inside an error's body.
    return (client_error, httpx2.HTTPError, ValueError, RecursionError)


def explain_failure(error: Exception, settings: Settings, *, model_setting: str) -> EndpointError:
    """Explains one of `endpoint_failures` in the project's words, with the setting to check.

    The provider's own words are data: see `clean_text`. Raise the result `from None`, so that no traceback
    shows what was removed.

    model_setting: the name of the setting that chose the model, such as FINPOLICY_CHAT_MODEL.
    """
    if isinstance(error, EndpointError):
        return error
    import httpx2

    host = endpoint_host(settings)
    if isinstance(error, httpx2.TimeoutException) or _is_a(error, "APITimeoutError"):
        cause = error.__cause__ if _is_a(error, "APITimeoutError") else error
        limit = explain_limit(str(cause), settings)
        what, hint = limit or (
            f"took no connection within {settings.timeout:g} s",
            f"Check that the server is running, and that {address_variable(settings)} is right.",
        )
        return EndpointError(f"{host} {what}.", hint=hint, kind="silent")
    if isinstance(error, httpx2.HTTPError) or _is_a(error, "APIConnectionError"):
        return _explain_connection(error.__cause__ or error, settings)
    if _is_a(error, "APIStatusError"):
        return _explain_status(error, settings, model_setting)
    if _is_a(error, "APIError"):
        return explain_body(getattr(error, "body", None) or str(error), settings, model_setting=model_setting)
    return EndpointError(
        f"{host} sent something that is not a model's answer.",
        hint=f"Check {address_variable(settings)}. Addresses usually end in /v1.",
    )


def explain_body(body: object, settings: Settings, *, model_setting: str, status: int = 0) -> EndpointError:
    """Explains an error that came as a body or as an event of a stream, whatever the status said.

    body: its JSON or text. status: of the answer, 0 for an event.
    """
    return _explain(_Failure(status, body, words_of_body(body)), settings, model_setting)


def refusal_of(error: BaseException) -> str:
    """Returns why this program itself refused the address, "" where it did not.

    error: the transport's, whose causes say so in their field `refused_because`.
    """
    cause: BaseException | None = error
    while cause is not None:
        reason = getattr(cause, "refused_because", "")
        if reason:
            return str(reason)
        cause = cause.__cause__
    return ""


def words_of_body(body: object) -> str:
    """Returns the words of an error's body: a plain string, or what stands in one of its fields; "" for none.

    Providers put them at different depths, some as JSON within a string.
    """
    if isinstance(body, str):
        text = body.strip()
        if text.startswith("{") and text.endswith("}"):
            try:
                return words_of_body(json.loads(text)) or text
            except (ValueError, RecursionError):
                return text
        return text
    if isinstance(body, list) and body:
        return words_of_body(body[0])
    if not isinstance(body, dict):
        return ""
    metadata = body.get("metadata")  # OpenRouter's, with the words of the provider behind it
    behind = words_of_body(metadata.get("raw")) if isinstance(metadata, dict) else ""
    for name in _WORDS_IN:
        words = words_of_body(body.get(name))
        if words:
            return f"{words}: {behind}" if behind and behind not in words else words
    return behind


def _codes_of(body: object) -> str:
    """Returns the codes of an error's body, with blanks between them."""
    if not isinstance(body, dict):
        return ""
    codes = [value for name in _CODES_IN if isinstance(value := body.get(name), str)]
    nested = [body.get(name) for name in ("error", "innererror")]
    return " ".join([*codes, *map(_codes_of, nested)]).strip()


class _Failure:
    """An endpoint's error: status, body, words, and what its headers say."""

    def __init__(
        self, status: int, body: object, words: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status, self.words = status, words
        self.all = f"{words} {_codes_of(body)}"
        self.wait = _retry_after(headers or {})

    @property
    def in_brackets(self) -> str:
        """The status for a message, "" for an event of a stream."""
        return f" (status {self.status})" if self.status else ""


def _is_a(error: Exception, name: str) -> bool:
    """Tells whether an error is of a class of this name, in whichever client."""
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _explain_connection(cause: BaseException, settings: Settings) -> EndpointError:
    import httpx2

    reason = refusal_of(cause)
    if reason:
        said = f"{endpoint_host(settings)} is not connected to: {reason.rstrip('.')}."
        hint = f"Check {address_variable(settings)}."
        return EndpointError(said, hint=hint, wait=0, kind="unreachable")
    if isinstance(cause, httpx2.ConnectError):
        message, hint = _explain_no_connection(str(cause), settings)
        return EndpointError(message, hint=hint, wait=0, kind="unreachable")
    # For a dying server the transport's own words say less than these; for a server that does not speak
    # HTTP they quote what it sent.
    died = isinstance(cause, httpx2.RemoteProtocolError) and _DIED in str(cause)
    said = "" if died or not _shows_words(settings) else f": {clean_text(str(cause), settings)}"
    message = f"{endpoint_host(settings)} broke off the connection{said}".rstrip(".") + "."
    hint = f"Check that the server is running, and that {address_variable(settings)} is right."
    return EndpointError(message, hint=hint, wait=0)


def _explain_no_connection(said: str, settings: Settings) -> tuple[str, str]:
    """Returns what keeps a connection from being made, and the fix. said: the transport's words for it."""
    host = endpoint_host(settings)
    variable = address_variable(settings)
    if _UNKNOWN_NAME.search(said):
        return f"No server is called {host}.", f"Look for a typing error in {variable}, or check the network."
    if _UNTRUSTED.search(said):
        return f"{host} has a certificate that this machine does not trust.", f"Check {variable}."
    if _NO_TLS.search(said):
        return f"{host} does not answer by https.", f"Check {variable}; local servers often need http://."
    root = urlsplit(tidied(endpoint_url(settings)))
    return (
        f"Nothing answers at {root.scheme}://{host}.",
        f"Is the server running? If it is, check {variable}.",
    )


def _explain_status(error: Any, settings: Settings, model_setting: str) -> EndpointError:
    body = error.body
    words = words_of_body(body) or error.message
    failure = _Failure(error.status_code, body, words, error.response.headers)
    return _explain(failure, settings, model_setting)


def _explain(failure: _Failure, settings: Settings, model_setting: str) -> EndpointError:
    """Explains by what the provider says first, and then by the status."""
    host = endpoint_host(settings)
    status = failure.in_brackets
    shown = _quoted(failure.words, settings) if failure.words else "."
    if failure.status == 413 or _CONTEXT_EXCEEDED.search(failure.all):
        return EndpointError(
            f"The prompt is too long for the model at {host}{status}{shown}",
            hint="Lower FINPOLICY_CONTEXT_TOKENS.",
            retryable=False,
            kind="length",
        )
    if failure.status == 402 or _NO_CREDIT.search(failure.all):
        return EndpointError(
            f"{host} no longer answers for this account{status}{shown}",
            hint="The account has no credit left. Add some, or use another key.",
            retryable=False,
            kind="credit",
        )
    if _FILTERED.search(failure.all):
        return EndpointError(
            f"{host} withheld the answer (content filter).", hint="Rephrase your question.", retryable=False
        )
    if _NOT_VERIFIED.search(failure.words):
        return EndpointError(
            f"{host} offers this model only to verified organisations{status}{shown}",
            hint="Verify the organisation with the provider, or choose another model.",
            retryable=False,
        )
    if failure.status == 401 and not key_of(settings):
        return EndpointError(
            f"{host} asks for a key, and none is set{status}.",
            hint=f"Set {key_variable(settings)}.",
            retryable=False,
            kind="key",
        )
    if failure.status in {401, 403}:
        return EndpointError(
            f"{host} refused the key{status}{shown}",
            hint=f"Check {key_variable(settings)}.",
            retryable=False,
            kind="key",
        )
    if _WRONG_PATH.search(failure.words) or failure.status == 405:
        return EndpointError(
            f"{host} answers, but not at this address{status}{shown}",
            hint=f"Check {address_variable(settings)}. Addresses usually end in /v1.",
            retryable=False,
            kind="path",
        )
    if failure.status == 404 or (failure.status != 429 and _NO_MODEL.search(failure.all)):
        return _explain_model(failure, settings, model_setting)
    return _explain_rest(failure, settings, model_setting)


def _explain_model(failure: _Failure, settings: Settings, model_setting: str) -> EndpointError:
    host = endpoint_host(settings)
    if model_setting == "FINPOLICY_CHAT_MODEL":
        model = settings.chat_model
    else:
        model = settings.embedding_model
    hint = f"Check {model_setting} and {address_variable(settings)}. Addresses usually end in /v1."
    if "pull" in failure.words and settings.base_url:  # Ollama's own advice
        hint = f"Run `ollama pull {model}`, or choose another model."
    shown = _quoted(failure.words, settings) if failure.words else "."
    return EndpointError(
        f"{host} does not know the model {model!r}{failure.in_brackets}{shown}",
        hint=hint,
        retryable=False,
        kind="model",
    )


def _explain_rest(failure: _Failure, settings: Settings, model_setting: str) -> EndpointError:
    host = endpoint_host(settings)
    status = failure.in_brackets
    shown = _quoted(failure.words, settings) if failure.words else "."
    short_wait = failure.wait if failure.wait <= LONGEST_WAIT_SECONDS else None
    if failure.status == 429:
        message = f"{host} is limiting requests{status}{shown}"
        if short_wait is None:
            return EndpointError(message, hint=f"It asks you to wait {failure.wait:.0f} s.")
        return EndpointError(message, hint="Ask again in a minute.", wait=failure.wait)
    if 300 <= failure.status < 400:
        return EndpointError(
            f"{host} redirects to another address{status}.",
            hint="Set OPENAI_BASE_URL to the address itself.",
            retryable=False,
        )
    if _LOADING.search(failure.words):
        return EndpointError(
            f"{host} is still loading its model{status}.", hint="Ask again in a minute.", wait=short_wait
        )
    if failure.status == 408 or failure.status >= 500:
        hint = "Ask again in a minute; the endpoint's log may say why."
        return EndpointError(f"{host} failed{status}{shown}", hint=hint, wait=short_wait)
    if failure.status == 0:
        return EndpointError(f"{host} reported an error{shown}")
    return EndpointError(
        f"{host} rejected the request{status}{shown}",
        hint=f"Check {model_setting}.",
        retryable=False,
    )


def _shows_words(settings: Settings) -> bool:
    """Tells whether an endpoint's error text is shown.

    Not if a user chose the endpoint: pointed at something that is no model, the server would show users what
        only it can reach.
    """
    return not settings.endpoint_rule


def _quoted(said: str, settings: Settings) -> str:
    """Returns the end of a sentence with the provider's own words, or without them."""
    if _shows_words(settings):
        return f": {clean_text(said, settings)}"
    return "."


def clean_text(text: str, settings: Settings) -> str:
    """Makes another party's text fit to show.

    The result is one line of at most 200 characters, without control or invisible characters, with the key as
    ***.
    """
    line = one_line(text)
    key = key_of(settings)
    return one_line(line.replace(key, "***") if key else line, MOST_SHOWN_CHARACTERS)


def _retry_after(headers: Mapping[str, str]) -> float:
    """Returns the seconds of a Retry-After header, given in seconds or as a date; 0 if none can be meant."""
    text = headers.get("retry-after", "")
    date = parsedate_tz(text)
    try:
        if date:
            seconds = mktime_tz(date) - time.time()
        else:
            seconds = float(text)
    except (ValueError, OverflowError):
        return 0.0
    return seconds if 0 < seconds < LONGEST_RETRY_SECONDS else 0.0
