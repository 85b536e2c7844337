"""What is read of files of news: every format, and what is refused."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chatbot.errors import NotFoundError, QuestionError, UsageError
from chatbot.memory.signals.news_sources import LONGEST_TEXT, News, one_news, read_news
from chatbot.memory.signals.records import NewsItem
from tests.case_rows import case_rows

AT = datetime(2024, 12, 25, 15, 50, tzinfo=UTC)
STAMP = "2024-12-25T15:50:00+00:00"
LINK = "https://example.org/a"


def read(data: Any) -> News:
    text = data if isinstance(data, str | bytes) else json.dumps(data)
    encoded = text.encode() if isinstance(text, str) else text
    return read_news(io.BytesIO(encoded), "given")


def row(text: str = "News", **fields: object) -> dict[str, object]:
    return {"text": text, "date": STAMP, **fields}


def only(data: Any) -> NewsItem:
    """The one item that is read."""
    (one,) = read(data).items
    return one


def texts_of(found: News) -> list[str]:
    return [one.text for one in found.items]


@pytest.mark.parametrize(
    ("link", "source", "number"),
    case_rows("""
        https://t.me/channel/17         | channel | 17
        https://t.me/c/1234/17          | 1234    | 17
        https://t.me/s/channel/17       | channel | 17
        https://t.me/group/3/17?single  | group   | 17
    """),
)
def test_every_form_of_telegram_links_names_source_and_number(link: str, source: str, number: str) -> None:
    assert only([row(link=link)]) == NewsItem(source, number, "News", AT, link)


def test_telegram_desktops_export_of_one_chat_and_of_all() -> None:
    post = {
        "id": 2,
        "type": "message",
        "date": "2024-12-25T18:50:00",
        "date_unixtime": str(int(AT.timestamp())),
        "text": ["Rate ", {"type": "bold", "text": "21%"}, "."],
    }
    pinned = {"id": 1, "type": "service", "date": "2024-12-25T10:00:00", "action": "pin_message", "text": ""}
    chat = {"name": "Market", "type": "public_channel", "id": 5, "messages": [pinned, post]}
    expected = NewsItem("Market", "2", "Rate 21%.", AT, "")
    assert only(chat) == expected
    assert only({"chats": {"list": [chat]}}) == expected


def test_bot_api_updates_from_a_stream() -> None:
    post = {
        "message_id": 9,
        "date": int(AT.timestamp()),
        "chat": {"id": -100, "title": "Market", "username": "market"},
        "caption": "A picture's words",
    }
    updates = [{"update_id": 1, "channel_post": post}, {"update_id": 2, "poll": {}}]
    expected = NewsItem("market", "9", "A picture's words", AT, "https://t.me/market/9")
    assert only({"ok": True, "result": updates}) == expected
    lines = "\n".join(map(json.dumps, updates))
    assert only(lines) == expected


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_with_any_separator_and_order(separator: str) -> None:
    header = separator.join(["Published_At", "Title", "URL"])
    line = separator.join([STAMP, '"Rates, again"', LINK])
    one = only(f"\ufeff{header}\r\n{line}\r\n")
    assert (one.text, one.at, one.source) == ("Rates, again", AT, "example.org")


DAY = datetime(2024, 1, 31, tzinfo=UTC)
HALF_PAST_NINE = datetime(2024, 1, 31, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("20240131", DAY),
        (20240131, DAY),
        ("1706659200", DAY),
        (1706659200.0, DAY),
        ("20240131T093000", HALF_PAST_NINE),
    ],
)
def test_dates_in_figures(written: object, at: datetime) -> None:
    one = only([row(date=written)])
    assert one.at == at


@pytest.mark.parametrize(
    "written",
    ["2024", 2024, "202401", "20241331", 99_999_999, -1, 0, "1706659200000", 20240131.5, "31012024"],
)
def test_figures_that_are_no_date_are_refused(written: object) -> None:
    found = read([row(date=written)])
    assert found.items == ()
    assert "cannot be read" in found.refused[0]


def test_news_told_by_hand() -> None:
    (one,) = one_news(" Rates rose. ", source="me", at="2024-12-25T15:50", link=LINK).items
    assert (one.text, one.source, one.at, one.link) == ("Rates rose.", "me", AT, LINK)


@pytest.mark.parametrize(("text", "at"), [("!", ""), ("Rates rose.", "soon")])
def test_news_told_by_hand_are_refused_without_words_or_with_no_date(text: str, at: str) -> None:
    with pytest.raises(UsageError):
        one_news(text, source="me", at=at)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"text": "News"}, "no date"),
        (row(date="yesterday"), "cannot be read"),
        (row(date=1e300), "cannot be read"),
        ({"text": {"a": 1}, "date": STAMP}, "wrong type"),
        ({"date": STAMP}, "it has none of"),
        (17, "not an object"),
    ],
)
def test_single_items_are_refused_by_name_and_the_others_stay(wrong: object, why: str) -> None:
    found = read([wrong, row("Good")])
    assert texts_of(found) == ["Good"]
    (refused,) = found.refused
    assert "item 1" in refused
    assert why in refused


def test_a_last_line_that_a_crash_cut_short_is_refused_alone() -> None:
    good, better = json.dumps(row("Good")), json.dumps(row("Better"))
    found = read(f"{good}\n{better}\n{good[:20]}")
    assert texts_of(found) == ["Good", "Better"]
    assert len(found.refused) == 1


@pytest.mark.parametrize(
    "data", ["{", "[{]", b"\xff\xfe\x00", "", "a,b\n1,2\n", "[" * 100_000], ids=lambda data: repr(data[:9])
)
def test_what_is_no_news_at_all_is_named(data: str | bytes) -> None:
    with pytest.raises(QuestionError, match="The input") as named:
        read(data)
    assert named.value.hint


def test_chats_within_chats_end() -> None:
    opening, closing = '{"chats": {"list": [', "]}}"
    found = read(opening * 100 + closing * 100)
    assert found.items == ()
    with pytest.raises(QuestionError, match="nested too deep"):
        read(opening * 400 + closing * 400)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.json"
    with pytest.raises(NotFoundError, match="nowhere.json cannot be read"):
        read_news(missing)


def test_hostile_text_is_kept_harmless() -> None:
    text = "a\0b\ud800 " + "x" * 30_000
    found = only([row(text, link="javascript:alert(1)\n", source="ev\x1bil\u202e")])
    assert "\0" not in found.text
    assert found.text.startswith("ab?")
    assert len(found.text) <= LONGEST_TEXT
    assert found.source == "evil"


def test_the_development_export_is_read_whole(shared: Path) -> None:
    found = read_news(shared / "news" / "telegram_messages_nasonov.json")
    texts = texts_of(found)
    assert len(texts) == 699
    assert len(set(texts)) == 662
    assert found.refused == ()


def in_form(form: str, texts: list[bytes]) -> bytes:
    """A file of these texts."""
    stamp = STAMP.encode()
    if form == "csv":
        lines = [b"text,date", *(b"%b,%b" % (text, stamp) for text in texts)]
        return b"\n".join(lines)
    rows = [b'{"text": "%b", "date": "%b"}' % (text, stamp) for text in texts]
    if form == "lines":
        return b"\n".join(rows)
    return b"[%b]" % b",".join(rows)


@pytest.mark.parametrize("form", ["lines", "list", "csv"])
def test_a_byte_that_is_not_utf8_costs_its_item_alone(form: str) -> None:
    data = in_form(form, [b"First", b"Broken \xff here", "Третья".encode()])
    found = read(data)
    assert texts_of(found) == ["First", "Третья"]
    assert found.refused == ("The input, item 2: it is not UTF-8 text",)


def test_a_file_of_another_encoding_is_refused_whole() -> None:
    russian = "text,date\nЦены,2024-01-01".encode("cp1251")
    wide = json.dumps([row()]).encode("utf-16")
    for data in (russian, wide):
        with pytest.raises(QuestionError, match="not UTF-8"):
            read(data)
