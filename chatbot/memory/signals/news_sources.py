"""Reads news from files: Telegram Desktop exports, Bot API updates, lists of text, link and date, and CSV.

It opens no connection and stores nothing.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from chatbot.errors import QuestionError, UsageError
from chatbot.memory.import_files import MOST_BYTES, read_whole
from chatbot.memory.signals.records import NewsItem
from chatbot.models.tokens import encodable
from chatbot.store.damage import json_in
from ingestion.invisible_characters import one_line
from ingestion.language.periods import YEAR

__all__ = ["LONGEST_TEXT", "News", "item_of", "news_hash", "one_news", "read_news", "time_told"]

# A Telegram message has at most 4,096 characters, a caption 1,024. Longer news are articles, whose beginning
# is enough.
LONGEST_TEXT = 20_000
LONGEST_NAME = 200
MOST_REFUSED = 20
POST = re.compile(
    r"https?://(?:t|telegram)\.me/(?:c/)?(?:s/)?([\w-]{1,64})/(\d{1,12})(?:/(\d{1,12}))?(?:[?#].*)?"
)
TEXT_NAMES = ("text", "content_text", "content", "body", "message", "title")
TIME_NAMES = ("date", "published_at", "published", "datetime", "time", "timestamp", "created_at")
LINK_NAMES = ("link", "url", "href")
SOURCE_NAMES = ("source", "channel", "publisher")
# A date without hyphens, and the earliest seconds since 1970: they have nine digits from 1973 on, and a
# smaller number is no time of any news.
DAY = re.compile(rf"{YEAR}[0-9]{{4}}")
EARLIEST_SECONDS = 100_000_000
NUMBER_NAMES = ("source_message_id", "message_id", "id", "guid")
# Kinds of Bot API update that bring a post; edits come with the number of the post they change.
UPDATES = ("channel_post", "message", "edited_channel_post", "edited_message")
HINT = (
    "Use a Telegram Desktop result.json, Bot API updates, a JSON list or lines of {text, link, date}, or "
    "a CSV with these columns."
)
TIME_HINT = "Write the time as 2026-01-31 or 2026-01-31T09:30."
# How Python keeps bytes that are not UTF-8.
BROKEN = re.compile("[\udc80-\udcff]")
Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class News:
    """What a file holds.

    items: in its order.
    refused: why others could not be read; at most 20 sentences and a count.
    unread: how many could not be read.
    """

    items: tuple[NewsItem, ...]
    refused: tuple[str, ...] = field(default=())
    unread: int = 0


def read_news(file: Path | BinaryIO, name: str = "") -> News:
    """The news of a file or stream. name: what items are said to come from that name no source themselves; by
    default the file's.

    Raises as read_whole, and QuestionError for what is in none of the formats; single items that cannot be
    are refused and named.
    """
    shown, own_name = (str(file), file.stem) if isinstance(file, Path) else ("The input", "stdin")
    data = read_whole(file, shown, hint=HINT)
    text = data.decode("utf-8-sig", "surrogateescape")
    broken, other_encoding = BROKEN.search(text) is not None, f"{shown} is not UTF-8 text."
    if broken and "\0" in text:  # or no text at all
        raise QuestionError(other_encoding, hint=HINT)
    items, refused = list[NewsItem](), list[str]()
    try:
        for number, row in enumerate(_rows(text, shown), 1):
            try:
                # One broken byte costs the item that it stands in.
                if broken and BROKEN.search(json.dumps(row, ensure_ascii=False)):
                    raise ValueError("it is not UTF-8 text")
                items.append(item_of(row, name or own_name))
            except ValueError as error:
                refused.append(f"{shown}, item {number}: {error}")
    except RecursionError as error:
        raise QuestionError(f"{shown} is nested too deep.", hint=HINT) from error
    if broken and not items:
        raise QuestionError(other_encoding, hint=HINT)
    unread = len(refused)
    if unread > MOST_REFUSED:
        refused[MOST_REFUSED:] = [f"{shown}: {unread - MOST_REFUSED} more"]
    return News(tuple(items), tuple(refused), unread)


def one_news(text: str, *, source: str, at: str = "", link: str = "") -> News:
    """A single item as somebody enters it. at: as in a file, "" for now.

    Raises UsageError for a text of no words, and for a time that cannot be read.
    """
    at = at or datetime.now(UTC).isoformat()
    try:
        item = item_of({"text": text, "date": at, "link": link, "source": source}, source)
    except ValueError as error:
        raise UsageError(f"The news cannot be added: {error}.", hint=TIME_HINT) from error
    if not any(map(str.isalnum, item.text)):
        raise UsageError("The news has no text.", hint="Write what happened.")
    return News((item,))


def time_told(text: str) -> datetime:
    """A time as somebody writes it, for UTC where it names no zone. Raises UsageError."""
    try:
        return _time(text)
    except ValueError as error:
        raise UsageError(f"{text[:40]!r} is not a time.", hint=TIME_HINT) from error


def news_hash(text: str) -> str:
    """SHA-256 of the text with its white space normalised: line breaks do not make other news."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()


def _rows(text: str, shown: str) -> Iterator[object]:
    """What may be items, by the look of the whole."""
    if not text.lstrip().startswith(("{", "[")):
        return _table(text, shown)
    try:
        return _unfold(json_in(text))
    except ValueError as error:
        # Objects a line; the line a crash cut short is refused like any other broken one.
        read = [_line(line) for line in text.split("\n") if line.strip()]
        if len(read) < 2 or not any(read):
            raise QuestionError(f"{shown} is not JSON: {error}.", hint=HINT) from error
        return _unfold(read)


def _line(line: str) -> object:
    with suppress(ValueError):
        return json_in(line)
    return None


def _unfold(whole: Any) -> Iterator[object]:
    """The items of an export of one chat or of all, of Bot API updates, of a list, or the one item itself."""
    match whole:
        case list():
            for item in whole:
                yield from _unfold(item) if isinstance(item, dict) else (item,)
        case {"messages": list(posts)}:
            channel = whole.get("name") or whole.get("id")
            for post in posts:
                if not isinstance(post, dict):
                    yield post
                elif post.get("type", "message") == "message":  # others tell who joined or what was pinned
                    yield {"chat_name": channel, **post}
        case {"chats": {"list": list(inner)}} | {"result": list(inner)}:
            for item in inner:
                yield from _unfold(item)
        case {"update_id": _}:
            yield from (_update(whole[kind]) for kind in UPDATES if isinstance(whole.get(kind), dict))
        case _:
            yield whole


def _update(message: dict[str, object]) -> dict[str, object]:
    """A message of the Bot API with the field names of an item."""
    chat, number = message.get("chat"), message.get("message_id")
    if not isinstance(chat, dict):
        chat = {}
    user = chat.get("username")
    return {
        "text": message.get("text") or message.get("caption") or "",
        "date": message.get("date"),
        "link": f"https://t.me/{user}/{number}" if isinstance(user, str) and user else "",
        "chat_name": user or chat.get("title") or chat.get("id"),
        "id": number,
    }


def _table(text: str, shown: str) -> Iterator[object]:
    separator = max(",;\t", key=text[:4_096].split("\n")[0].count)
    csv.field_size_limit(MOST_BYTES)
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)
        rows.fieldnames = names = [str(name).strip().casefold() for name in rows.fieldnames or ()]
        if set(names).isdisjoint(TEXT_NAMES):
            told = ", ".join(names)[:LONGEST_NAME] or "it is empty"
            raise QuestionError(f"{shown} has no text column: {told}.", hint=HINT)
        yield from rows
    except csv.Error as error:
        raise QuestionError(f"{shown} is not a CSV: {error}.", hint=HINT) from error


def item_of(row: object, name: str) -> NewsItem:
    """The item of a row of any of these formats. name: its source if it names none.

    Raises ValueError with what is wrong with it.
    """
    if not isinstance(row, dict):
        raise ValueError("it is not an object")
    if row.keys().isdisjoint(TEXT_NAMES):
        raise ValueError(f"it has none of {', '.join(TEXT_NAMES)}")
    text = _text(_first(row, TEXT_NAMES, ""))
    at = _time(_first(row, ("date_unixtime", *TIME_NAMES), None))
    link = _word(row, LINK_NAMES)
    if post := POST.fullmatch(link):
        source, number = post[1], post[3] or post[2]
    else:
        source, number = _word(row, ("chat_name", *SOURCE_NAMES)) or _host(link), _word(row, NUMBER_NAMES)
    if not (number and source):
        # Only its text, place and time tell it from others, so that it is known when it is told again. A
        # number without a source is from its file alone, and means another item in the next file.
        identity = f"{number}\0{link}\0{at.isoformat()}\0{text}"
        number = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:32]
    source = (source or name)[:LONGEST_NAME]
    return NewsItem(source, number[:LONGEST_NAME], text, at, link[: 10 * LONGEST_NAME])


def _first(row: Fields, names: Iterable[str], default: object) -> object:
    """The first of these fields that is not empty."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), default)


def _text(value: object) -> str:
    """The text of a post: plain, or a list of plain and formatted pieces, as Telegram Desktop has it."""
    if isinstance(value, list):
        pieces = (one.get("text", "") if isinstance(one, dict) else one for one in value)
        value = "".join(one for one in pieces if isinstance(one, str))
    if not isinstance(value, str):
        raise ValueError(f"its text has the wrong type ({type(value).__name__})")
    return encodable(value.replace("\0", "")).strip()[:LONGEST_TEXT]


def _word(row: Fields, names: Iterable[str]) -> str:
    """The first of these fields that has a text or a whole number, on one line."""
    for value in map(row.get, names):
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return one_line(encodable(str(value)))
    return ""


def _host(link: str) -> str:
    """The host of a web address, "" for anything else."""
    with suppress(ValueError):
        return urlsplit(link).hostname or ""
    return ""


def _time(value: object) -> datetime:
    """When the news was published; a time without a zone is taken for UTC.

    News without a time are refused, because they would count as fresh for ever.
    """
    if isinstance(value, bool) or value is None:
        raise ValueError("it has no date")
    written = str(value).strip()
    is_number = isinstance(value, int | float) or (written.isascii() and written.isdigit())
    try:
        if DAY.fullmatch(written) or not is_number:
            at = datetime.fromisoformat(written)
            return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
        # A smaller number is a year or a number of another kind; NaN fails too.
        if float(written) >= EARLIEST_SECONDS:
            return datetime.fromtimestamp(float(written), UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise ValueError(f"its date cannot be read: {str(value)[:40]!r}")
