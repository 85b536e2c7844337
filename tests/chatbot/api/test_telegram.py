"""Posts that Telegram pushes become news, if they carry the webhook's secret."""

from __future__ import annotations

import httpx
import pytest

from chatbot.memory.signals.news_sources import News
from tests.chatbot.api.conftest import TELEGRAM_SECRET, Api

UPDATE = {
    "update_id": 1,
    "channel_post": {
        "message_id": 7,
        "date": 1_740_820_000,
        "chat": {"id": -100, "username": "desk"},
        "text": "OPEC cuts oil output.",
    },
}


def push(api: Api, update: object, secret: str) -> httpx.Response:
    with api.client() as client:
        headers = {"x-telegram-bot-api-secret-token": secret}
        return client.post("/api/v1/telegram", json=update, headers=headers)


def test_a_post_is_taken_with_the_secret_alone(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    api.open = True  # no key is needed
    taken = list[News]()
    monkeypatch.setattr(api.context.news, "take", taken.append)
    assert push(api, UPDATE, "wrong").status_code == 401
    assert push(api, UPDATE, "").status_code == 401
    assert not taken
    assert push(api, UPDATE, TELEGRAM_SECRET).json() == {"taken": 1}
    ((item,),) = [news.items for news in taken]
    assert (item.source, item.number, item.text) == ("desk", "7", "OPEC cuts oil output.")
    for nothing in ({"update_id": 2}, {"update_id": 3, "message": {"message_id": 1, "date": 1_740_820_000}}):
        assert push(api, nothing, TELEGRAM_SECRET).json() == {"taken": 0}
    assert push(api, [1], TELEGRAM_SECRET).status_code == 422
