"""What is read of files of news: every format, and what is refused."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from chatbot.errors import NotFoundError, QuestionError, UsageError
from chatbot.memory.signals.news_sources import LONGEST_TEXT, News, news_hash, one_news, read_news
from chatbot.memory.signals.records import NewsItem

AT = datetime(2024, 12, 25, 15, 50, tzinfo=UTC)
STAMP = "2024-12-25T15:50:00+00:00"


def read(data: Any) -> News:
    text = data if isinstance(data, str | bytes) else json.dumps(data)
    return read_news(io.BytesIO(text.encode() if isinstance(text, str) else text), "given")


def test_lists_of_text_link_and_date_take_the_number_from_the_link() -> None:
    read_items = read([{"text": "News", "link": "https://t.me/channel/17", "date": STAMP}]).items
    assert read_items == (NewsItem("channel", "17", "News", AT, "https://t.me/channel/17"),)


@pytest.mark.parametrize(
    ("link", "source", "number"),
    [
        ("https://t.me/c/1234/17", "1234", "17"),
        ("https://t.me/s/channel/17", "channel", "17"),
        ("https://t.me/group/3/17?single", "group", "17"),
    ],
)
def test_every_form_of_telegram_links(link: str, source: str, number: str) -> None:
    one = read([{"text": "News", "link": link, "date": STAMP}]).items[0]
    assert (one.source, one.number) == (source, number)


def test_telegram_desktops_export_of_one_chat_and_of_all() -> None:
    text = ["Rate ", {"type": "bold", "text": "21%"}, "."]
    post = {
        "id": 2,
        "type": "message",
        "date": "2024-12-25T18:50:00",
        "date_unixtime": str(int(AT.timestamp())),
        "text": text,
    }
    pinned = {"id": 1, "type": "service", "date": "2024-12-25T10:00:00", "action": "pin_message", "text": ""}
    chat = {"name": "Market", "type": "public_channel", "id": 5, "messages": [pinned, post]}
    wanted = (NewsItem("Market", "2", "Rate 21%.", AT, ""),)
    assert read(chat).items == wanted
    assert read({"chats": {"list": [chat]}}).items == wanted


def test_bot_api_updates_from_a_stream() -> None:
    post = {
        "message_id": 9,
        "date": int(AT.timestamp()),
        "chat": {"id": -100, "title": "Market", "username": "market"},
        "caption": "A picture's words",
    }
    result = [{"update_id": 1, "channel_post": post}, {"update_id": 2, "poll": {}}]
    updates = {"ok": True, "result": result}
    assert read(updates).items == (NewsItem("market", "9", "A picture's words", AT, "https://t.me/market/9"),)
    lines = "\n".join(json.dumps(one) for one in result)
    assert read(lines).items == read(updates).items


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_with_any_separator_and_order(separator: str) -> None:
    text = (
        separator.join(["Published_At", "Title", "URL"])
        + "\r\n"
        + separator.join([STAMP, '"Rates, again"', "https://example.org/a"])
        + "\r\n"
    )
    one = read("\ufeff" + text).items[0]
    assert (one.text, one.at, one.source) == ("Rates, again", AT, "example.org")


def test_numbers_that_only_their_file_gave_are_not_those_of_the_next_file() -> None:
    def rows(*texts: str) -> list[dict[str, object]]:
        return [{"id": 1, "text": text, "date": STAMP} for text in texts]

    january = read(rows("January.", "More.")).items
    february = read(rows("February.")).items
    again = read(rows("January.", "More.")).items
    assert len({one.number for one in (*january, *february)}) == 3 and january == again
    assert [one.source for one in january] == ["given"] * 2
    sourced = read([{"id": 1, "text": "January.", "date": STAMP, "source": "agency"}]).items[0]
    assert (sourced.source, sourced.number) == ("agency", "1")
    unnamed = read({"messages": [{"id": 1, "type": "message", "text": "January.", "date": STAMP}]}).items[0]
    assert (unnamed.source, len(unnamed.number)) == ("given", 32)


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("20240131", datetime(2024, 1, 31, tzinfo=UTC)),
        (20240131, datetime(2024, 1, 31, tzinfo=UTC)),
        ("1706659200", datetime(2024, 1, 31, tzinfo=UTC)),
        (1706659200.0, datetime(2024, 1, 31, tzinfo=UTC)),
        ("20240131T093000", datetime(2024, 1, 31, 9, 30, tzinfo=UTC)),
    ],
)
def test_dates_in_figures(written: object, at: datetime) -> None:
    assert read([{"text": "News", "date": written}]).items[0].at == at


@pytest.mark.parametrize(
    "written",
    ["2024", 2024, "202401", "20241331", 99_999_999, -1, 0, "1706659200000", 20240131.5, "31012024"],
)
def test_figures_that_are_no_date_are_refused(written: object) -> None:
    found = read([{"text": "News", "date": written}])
    assert found.items == () and "cannot be read" in found.refused[0]


def test_news_told_by_hand() -> None:
    (one,) = one_news(" Rates rose. ", source="me", at="2024-12-25T15:50", link="https://example.org/a").items
    assert (one.text, one.source, one.at, one.link) == ("Rates rose.", "me", AT, "https://example.org/a")
    (now,) = one_news("Rates rose.", source="me").items
    assert abs((datetime.now(UTC) - now.at).total_seconds()) < 60
    for text, at in (("!", ""), ("Rates rose.", "soon")):
        with pytest.raises(UsageError):
            one_news(text, source="me", at=at)


def test_what_has_no_number_has_the_same_one_each_time() -> None:
    row = {"text": "News", "date": STAMP, "link": "https://example.org/a"}
    first, second = read([row]).items[0], read([row, {**row, "text": "Other"}]).items
    assert second[0] == first and second[1].number != first.number


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"text": "News"}, "no date"),
        ({"text": "News", "date": "yesterday"}, "cannot be read"),
        ({"text": "News", "date": 1e300}, "cannot be read"),
        ({"text": {"a": 1}, "date": STAMP}, "wrong kind"),
        ({"date": STAMP}, "it has none of"),
        (17, "not an object"),
    ],
)
def test_single_items_are_refused_by_name_and_the_others_stay(row: object, why: str) -> None:
    found = read([row, {"text": "Good", "date": STAMP}])
    assert [one.text for one in found.items] == ["Good"]
    assert len(found.refused) == 1 and "item 1" in found.refused[0] and why in found.refused[0]


def test_a_last_line_that_a_crash_cut_short_is_refused_alone() -> None:
    line = json.dumps({"text": "Good", "date": STAMP})
    found = read(f"{line}\n{line.replace('Good', 'Better')}\n{line[:20]}")
    assert [one.text for one in found.items] == ["Good", "Better"] and len(found.refused) == 1


@pytest.mark.parametrize(
    "data", ["{", "[{]", b"\xff\xfe\x00", "", "a,b\n1,2\n", "[" * 100_000], ids=lambda data: repr(data[:9])
)
def test_what_is_no_news_at_all_is_named(data: str | bytes) -> None:
    with pytest.raises(QuestionError, match="The input") as named:
        read(data)
    assert named.value.hint


def test_chats_within_chats_end() -> None:
    assert read('{"chats": {"list": [' * 100 + "]}}" * 100).items == ()
    with pytest.raises(QuestionError, match="nested too deep"):
        read('{"chats": {"list": [' * 400 + "]}}" * 400)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere.json cannot be read"):
        read_news(tmp_path / "nowhere.json")


def test_hostile_text_is_kept_harmless() -> None:
    found = read(
        [
            {
                "text": "a\0b\ud800 " + "x" * 30_000,
                "date": STAMP,
                "link": "javascript:alert(1)\n",
                "source": "ev\x1bil\u202e",
            }
        ]
    ).items[0]
    assert "\0" not in found.text and found.text.startswith("ab?") and len(found.text) <= LONGEST_TEXT
    assert found.source == "evil"


def test_the_same_news_with_other_line_breaks_is_the_same() -> None:
    assert news_hash("One\n two") == news_hash(" One two ") != news_hash("One three")


def test_the_development_export_is_read_whole(shared: Path) -> None:
    found = read_news(shared / "news" / "telegram_messages_nasonov.json")
    assert (len(found.items), len({one.text for one in found.items}), found.refused) == (699, 662, ())


@pytest.mark.parametrize("form", ["lines", "list", "csv"])
def test_a_byte_that_is_not_utf8_costs_its_item_alone(form: str) -> None:
    texts = [b"First", b"Broken \xff here", "Третья".encode()]
    stamp = STAMP.encode()
    if form == "csv":
        data = b"\n".join([b"text,date", *(b"%b,%b" % (text, stamp) for text in texts)])
    else:
        rows = [b'{"text": "%b", "date": "%b"}' % (text, stamp) for text in texts]
        data = b"\n".join(rows) if form == "lines" else b"[%b]" % b",".join(rows)
    found = read(data)
    assert [item.text for item in found.items] == ["First", "Третья"]
    assert found.refused == ("The input, item 2: it is not UTF-8 text",)


def test_a_file_of_another_encoding_is_refused_whole() -> None:
    for data in (
        "text,date\nЦены,2024-01-01".encode("cp1251"),
        json.dumps([{"text": "News", "date": STAMP}]).encode("utf-16"),
    ):
        with pytest.raises(QuestionError, match="not UTF-8"):
            read(data)
