"""The rest of the API: conversations, ratings, audit files, comparisons, memories and metrics."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from chatbot.errors import StoreError
from chatbot.store.kept_copies import Copies
from tests.chatbot.api.conftest import RULES, Api
from tests.commands import run
from tests.pdfs import make_pdf

QUESTION = "What is the deficit ceiling?"


def test_a_conversation_is_kept_and_belongs_to_its_caller(api: Api, tmp_path: Path) -> None:
    place = "/api/v1/conversations/rules"
    with api.client() as client:
        client.post("/api/v1/ask", json={"question": QUESTION, "conversation": "rules"})
        assert [row["id"] for row in client.get("/api/v1/conversations").json()] == ["rules"]
        (said,) = client.get(f"{place}/exchanges").json()
        assert (said["number"], said["question"], said["state"]) == (1, QUESTION, "complete")
        assert client.get(f"{place}/exchanges/1").json()["answer"]["citations"][0]["document"] == RULES
        assert client.get(f"{place}/stats").json()["message_count"] == 2
        assert QUESTION in client.get(f"{place}/export").text
        assert client.patch(place, json={"title": "The rules"}).json()["title"] == "The rules"
        audit = tmp_path / "audit.html"
        audit.write_bytes(client.get(f"{place}/exchanges/1/audit").content)
    checked = run(api.context.settings.home, "verify", audit)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with api.client("manage") as other:
        assert other.get("/api/v1/conversations").json() == []
        for method, path in [("GET", place), ("GET", f"{place}/exchanges"), ("DELETE", place)]:
            assert other.request(method, path).status_code == 404
        assert other.get(f"{place}/exchanges/1/audit").status_code == 404
        asked = other.post("/api/v1/ask", json={"question": QUESTION, "conversation": "rules"}).json()
        assert (asked["conversation"], asked["exchange"]) == ("rules", 1), "each caller has its own"
        assert [row["id"] for row in other.get("/api/v1/conversations").json()] == ["rules"]
        assert other.get(f"{place}/exchanges/1").json()["answer"]["conversation"] == "rules"
        assert other.get(f"{place}/export", params={"form": "json"}).json()["conversation"] == "rules"
        assert other.delete(place).status_code == 204
    with api.client() as client:
        late = client.get(f"{place}/exchanges/9")
        assert (late.status_code, late.json()["hint"]) == (404, "Its last is 1.")
        assert client.put(f"{place}/exchanges/9/rating", json={"helpful": True}).status_code == 404
        assert client.delete(place).status_code == 204
        deleted = client.post("/api/v1/ask", json={"question": QUESTION, "conversation": "rules"})
        assert (deleted.status_code, deleted.json()["detail"]) == (
            404,
            "The conversation 'rules' is deleted.",
        )
        assert f"POST {place}/restore" in deleted.json()["hint"]
        for name in ("two words", "a.b", "user@example.org", "x" * 65):
            wrong = client.post("/api/v1/ask", json={"question": QUESTION, "conversation": name})
            assert wrong.status_code == client.get(f"/api/v1/conversations/{name}").status_code == 422
            assert "letters, digits, - and _" in str(wrong.json()["errors"])
        assert client.get("/api/v1/conversations").json() == []
        assert client.post(f"{place}/restore").json()["deleted_at"] is None


def test_a_rating_is_remembered(api: Api) -> None:
    with api.client("ask") as client:
        client.post("/api/v1/ask", json={"question": QUESTION, "conversation": "rated"})
        place = "/api/v1/conversations/rated/exchanges/1/rating"
        assert client.put(place, json={"helpful": True, "reason": "right"}).status_code == 204
        (case,) = client.get("/api/v1/memories/cases").json()
        assert (case["question"], case["reward"]) == (QUESTION, 1)
        key = f"/api/v1/memories/cases/{case['key']}"
        assert client.delete(key).status_code == 204
        assert client.get("/api/v1/memories/cases").json() == []
        assert client.post(f"{key}/restore").json()["question"] == QUESTION
    with api.client() as client:
        assert client.get("/api/v1/memories/cases").json() == []


def test_advice_is_added_and_removed(api: Api) -> None:
    advice = {"situation": "inflation rises", "recommendation": "shorten duration", "scope": "bonds"}
    with api.client() as client:
        (key,) = client.post("/api/v1/memories/situations", json=advice).json()["keys"]
        (row,) = client.get("/api/v1/memories/situations").json()
        assert (row["situation"], row["recommendations"]) == ("inflation rises", ["shorten duration"])
        assert client.delete(f"/api/v1/memories/situations/{key}").status_code == 204
        assert client.delete("/api/v1/memories/signals/999999").status_code in {404, 503}


def test_documents_are_compared(api: Api, tmp_path: Path) -> None:
    pdf = make_pdf(tmp_path / "Earlier.pdf", ["The deficit ceiling is four per cent of output."])
    with api.client() as client:
        (job,) = client.post("/api/v1/documents", files={"files": ("Earlier.pdf", pdf.read_bytes())}).json()
        api.context.additions.wait(job["id"])
        body = {"question": QUESTION, "documents": [RULES, "Earlier.pdf"]}
        entries = client.post("/api/v1/compare", json=body).json()["entries"]
        assert [(entry["document"], entry["page"]) for entry in entries] == [(RULES, 1), ("Earlier.pdf", 1)]
        one = client.post("/api/v1/compare", json={"question": QUESTION, "documents": [RULES]})
        assert one.status_code == 422
        assert "nothing to compare" in one.json()["detail"]
        assert client.get("/api/v1/key-figures").json()["figures"] == []


def test_each_part_says_whether_it_answers(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    with api.client("read") as client:
        parts = client.get("/api/v1/health/parts").json()["parts"]
        assert [(part["name"], part["place"], part["problem"]) for part in parts] == [
            ("catalog", "SQLite", ""),
            ("conversations", "SQLite", ""),
            ("words", "tantivy", ""),
            ("vectors", "Chroma", ""),
            ("copies", "folder", ""),
            ("news", "SQLite", ""),
        ]
        assert 'finpolicy_part_up{part="copies",place="folder"} 1.0' in client.get("/metrics").text

        def fail(_: Copies, digest: str) -> bool:
            raise StoreError(f"There is no place for {digest[:2]}.")

        monkeypatch.setattr(Copies, "has", fail)
        (copies,) = (
            part for part in client.get("/api/v1/health/parts").json()["parts"] if part["name"] == "copies"
        )
        assert copies["problem"] == "There is no place for 00."
        assert 'finpolicy_part_up{part="copies",place="folder"} 0.0' in client.get("/metrics").text


def test_metrics_and_the_log_hold_no_content(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "chatbot.api"), api.client("read") as client:
        client.get("/api/v1/documents/Secret-Merger.pdf")
        client.request("SECRET", "/api/v1/documents")
        client.post("/api/v1/search", json={"query": "secret words"})
        found = client.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'finpolicy_documents{state="ready"}' in found.text
    line = 'finpolicy_requests_total{method="POST",route="/api/v1/search",status="200"} '
    assert line in found.text
    assert "POST /api/v1/search 200" in caplog.text
    key = api.keys["read"]
    for secret in ("Secret", "secret", "SECRET", key):
        assert secret not in caplog.text
        assert secret not in found.text
