"""Explains how a model endpoint failed, in one sentence with the fix, whatever the shape of its error."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import Any
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
from chatbot.settings import Settings
from ingestion.invisible_characters import one_line

__all__ = [
    "CHAT_MODEL",
    "EndpointError",
    "clean_text",
    "endpoint_failures",
    "explain_body",
    "explain_failure",
    "explaining",
    "refusal_of",
    "status_of",
    "words_of_body",
]

CHAT_MODEL = "FINPOLICY_CHAT_MODEL"
# How the transport reports a server that dies while it answers.
_DIED = "peer closed connection"
# A reader is waiting: a longer pause is reported, not waited for.
LONGEST_WAIT_SECONDS = 20.0
# Nobody means a longer one.
LONGEST_RETRY_SECONDS = 31 * 86_400.0
# Where an error's words may stand in its body, and the codes beside them.
_WORDS_IN = ("message", "detail", "error", "msg", "error_message")
_CODES_IN = ("code", "type", "status")
_CHECK_ADDRESS = "Check {address}. Addresses usually end in /v1."
_IN_ANY_LINE = re.IGNORECASE | re.MULTILINE
_CHECK_SERVER = "Check that the server is running, and that {address} is right."


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What an error comes to: the first that fits by its words or by the status.

    text, hint: see `_explained` for what is filled in.
    words: a pattern for what happened, "" for none: "said:" with the provider's words and its codes, each on
        a line, as tests/provider_errors.py holds them; or what this side noticed, which begins otherwise.
    """

    text: str
    hint: str
    kind: str = ""
    words: str = ""
    statuses: Container[int] = ()
    retryable: bool = False


_MEANINGS = (
    # The limits that an endpoint met, see `Timeouts.left`. Whoever sent a word is at the right address; a
    # model that reads a prompt has sent none yet.
    _Meaning(
        "{host} sent nothing within {seconds} s.",
        (
            "A model on a CPU may need minutes to read the prompt: lower FINPOLICY_CONTEXT_TOKENS, or raise "
            "FINPOLICY_FIRST_WORD_TIMEOUT (unset, it is five times FINPOLICY_TIMEOUT). If that does not "
            "help, check {address}."
        ),
        "silent",
        r"\Alimit: first",
        retryable=True,
    ),
    _Meaning(
        "{host} sent nothing more for {seconds} s.",
        "Check that it is running, or raise FINPOLICY_TIMEOUT.",
        "silent",
        r"\Alimit: between",
        retryable=True,
    ),
    _Meaning(
        "{host} did not finish within {seconds} s.",
        "Choose a faster model, or raise FINPOLICY_ANSWER_TIMEOUT.",
        "silent",
        r"\Alimit: whole",
        retryable=True,
    ),
    _Meaning(
        "{host} did not complete its answer within {seconds} s.",
        "Check that it is running and {address} is right, or raise FINPOLICY_TIMEOUT.",
        "silent",
        r"\Alimit: piece",
        retryable=True,
    ),
    _Meaning(
        "{host} took no connection within {seconds} s.", _CHECK_SERVER, "silent", r"\Alimit", retryable=True
    ),
    # Why no connection is made, by the transport's words.
    _Meaning(
        "{host} is not connected to{words}", "Check {address}.", "unreachable", r"\Arefused", retryable=True
    ),
    _Meaning(
        "No server is called {host}.",
        "Look for a typing error in {address}, or check the network.",
        "unreachable",
        r"\Aunreachable.*(?:name is not known|name or service|name resolution|nodename nor servname)",
        retryable=True,
    ),
    _Meaning(
        "{host} has a certificate that this machine does not trust.",
        "Check {address}.",
        "unreachable",
        r"\Aunreachable.*CERTIFICATE_VERIFY_FAILED",
        retryable=True,
    ),
    _Meaning(
        "{host} does not answer by https.",
        "Check {address}; local servers often need http://.",
        "unreachable",
        r"\Aunreachable.*\bSSL\b",
        retryable=True,
    ),
    _Meaning(
        "Nothing answers at {scheme}://{host}.",
        "Is the server running? If it is, check {address}.",
        "unreachable",
        r"\Aunreachable",
        retryable=True,
    ),
    _Meaning("{host} broke off the connection{words}", _CHECK_SERVER, "", r"\Abroken", retryable=True),
    _Meaning(
        "{host} sent something that is not a model's answer.",
        _CHECK_ADDRESS,
        "",
        r"\Ano answer",
        retryable=True,
    ),
    _Meaning("{host} asks for a key, and none is set{status}.", "Set {key}.", "key", r"\Ano key"),
    _Meaning(
        "The prompt is too long for the model at {host}{status}{words}",
        "Lower FINPOLICY_CONTEXT_TOKENS.",
        "length",
        r"context[ _](?:length|window|size)|(?:prompt|input) is too long|too many (?:input )?tokens"
        r"|exceeds? (?:the )?(?:available |maximum |model'?s? )?context|exceed_context_size",
        {413},
    ),
    _Meaning(
        "{host} no longer answers for this account{status}{words}",
        "The account has no credit left. Add some, or use another key.",
        "credit",
        r"insufficient[_ ](?:quota|balance|credits?)|credit balance is too low|billing_error"
        r"|exceeded your current quota",
        {402},
    ),
    _Meaning(
        "{host} withheld the answer (content filter).",
        "Rephrase your question.",
        words=r"content_filter|content management policy|ResponsibleAIPolicy",
    ),
    _Meaning(
        "{host} offers this model only to verified organisations{status}{words}",
        "Verify the organisation with the provider, or choose another model.",
        words="must be verified",
    ),
    _Meaning("{host} refused the key{status}{words}", "Check {key}.", "key", statuses={401, 403}),
    _Meaning(
        "{host} is limiting requests{status}{words}", "Ask again in a minute.", statuses={429}, retryable=True
    ),
    _Meaning(
        "{host} answers, but not at this address{status}{words}",
        _CHECK_ADDRESS,
        "path",
        r"unexpected endpoint|page not found|no such path|resource not found|^not found$|unknown url"
        r"|invalid url",
        {405},
    ),
    _Meaning(
        "{host} does not know the model {model!r}{status}{words}",
        "Run `ollama pull {model}`, or choose another model.",
        "model",
        "not found, try pulling",
    ),
    _Meaning(
        "{host} does not know the model {model!r}{status}{words}",
        "Check {setting} and {address}. Addresses usually end in /v1.",
        "model",
        r"model_not_found|model[ _]not[ _](?:exist|found|load)|(?:model|deployment)\b.{0,80}"
        r"(?:does not exist|not found|is not (?:found|loaded|a valid model))|not a valid model"
        r"|no models? (?:is )?loaded|DeploymentNotFound|No endpoints found",
        {404},
    ),
    _Meaning(
        "{host} redirects to another address{status}.",
        "Set OPENAI_BASE_URL to the address itself.",
        statuses=range(300, 400),
    ),
    _Meaning(
        "{host} is still loading its model{status}.",
        "Ask again in a minute.",
        words="loading model",
        retryable=True,
    ),
    _Meaning(
        "{host} failed{status}{words}",
        "Ask again in a minute; the endpoint's log may say why.",
        statuses=(408, *range(500, 1_000)),
        retryable=True,
    ),
    _Meaning("{host} reported an error{words}", "", statuses={0}, retryable=True),
    _Meaning("{host} rejected the request{status}{words}", "Check {setting}.", statuses=range(1_000)),
)


class EndpointError(ModelError):
    """An endpoint failed.

    wait: seconds after which another try makes sense (0: the caller's own pause), None if it does not.
    """

    wait: float | None = None


@contextmanager
def explaining(settings: Settings, model_setting: str = CHAT_MODEL) -> Iterator[None]:
    """Raises what fails in calls through the endpoint's client as an EndpointError, see `explain_failure`."""
    try:
        yield
    except endpoint_failures(settings) as error:
        # No traceback shows what was removed.
        raise explain_failure(error, settings, model_setting=model_setting) from None


def endpoint_failures(settings: Settings) -> tuple[type[Exception], ...]:
    """Returns the errors of a call through the endpoint's client that the endpoint may cause.

    The first call imports the client, which takes a second.
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

    The provider's own words are data: see `clean_text`.

    model_setting: the name of the setting that chose the model, such as FINPOLICY_CHAT_MODEL.
    """
    import httpx2

    said: Any = error
    cause = error if isinstance(error, httpx2.HTTPError) else error.__cause__ or error
    if isinstance(cause, httpx2.TimeoutException):
        limit = str(cause)
        known = {"first": settings.first_word_seconds, "whole": settings.answer_timeout}
        return _explained(f"limit: {limit}", settings, seconds=f"{known.get(limit, settings.timeout):g}")
    if isinstance(cause, httpx2.HTTPError | OSError):
        return _explain_connection(cause, settings)
    if hasattr(error, "body"):  # of an error that came as an answer, of both clients
        body, status = said.body if words_of_body(said.body) else said.message, status_of(error)
        wait = _retry_after(said.response.headers) if status else 0.0
        return explain_body(body, settings, model_setting=model_setting, status=status, wait=wait)
    return _explained("no answer", settings)


def explain_body(
    body: object, settings: Settings, *, model_setting: str, status: int = 0, wait: float = 0.0
) -> EndpointError:
    """Explains an error that came as a body or as an event of a stream, whatever the status said.

    body: its JSON or text. status: of the answer, 0 for an event. wait: seconds that it asks for.
    """
    words = words_of_body(body)
    happened = f"said:\n{words}\n{_codes_of(body)}"
    if status == 401 and not key_of(settings):
        happened = "no key"
    model = settings.chat_model if model_setting == CHAT_MODEL else settings.embedding_model
    filled = {"status": f" (status {status})" if status else "", "setting": model_setting, "model": model}
    filled["words"] = _shown(words, settings)
    return _explained(happened, settings, status, wait if status else None, **filled)


def _explained(
    happened: str, settings: Settings, code: int = -1, wait: float | None = None, **filled: str
) -> EndpointError:
    """Explains what happened by the first meaning that fits; the last one always does.

    code: the status of an answer, 0 of an event. wait: see EndpointError.
    filled: what `settings` do not tell.
    """
    for meaning in _MEANINGS:
        pattern = meaning.words
        if code in meaning.statuses or (pattern and re.search(pattern, happened, _IN_ANY_LINE)):
            break
    known = {
        "host": endpoint_host(settings),
        "address": address_variable(settings),
        "key": key_variable(settings),
        "scheme": urlsplit(tidied(endpoint_url(settings))).scheme,
        "status": "",
        **filled,
    }
    message, hint = meaning.text.format(**known), meaning.hint.format(**known)
    error = EndpointError(message, hint=hint, retryable=meaning.retryable, kind=meaning.kind)
    if meaning.retryable and wait and wait > LONGEST_WAIT_SECONDS:
        error.hint = f"It asks you to wait {wait:.0f} s."
    elif meaning.retryable:
        error.wait = wait
    return error


def status_of(error: Exception) -> int:
    """Returns the status of an endpoint's refusal, 0 for another failure."""
    return int(getattr(error, "status_code", 0))


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


def _explain_connection(cause: BaseException, settings: Settings) -> EndpointError:
    import httpx2

    said = str(cause)
    happened, words = f"broken: {said}", _shown(said.rstrip("."), settings) + "."
    if reason := refusal_of(cause):
        happened, words = "refused", f": {reason}"
    elif isinstance(cause, httpx2.ConnectError):
        happened = f"unreachable: {said}"
    elif _DIED in said:
        # The transport's own words say less of a dying server than ours; of one that does not speak HTTP they
        # quote what it sent.
        words = "."
    return _explained(happened, settings, wait=0, words=words)


def _shown(words: str, settings: Settings) -> str:
    """Returns an endpoint's words as they stand in a message.

    If a user chose the endpoint they are left out: pointed at something that is no model, the server would
    show users what only it can reach.
    """
    return "." if settings.endpoint_rule or not words else f": {clean_text(words, settings)}"


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
