"""Questions and documents through the API."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.memory.conversations.conversation_names import LOCAL
from tests.chatbot.api.conftest import CEILING, QUESTION, RULES, Api, streamed
from tests.pdfs import make_pdf


def test_an_answer_comes_with_its_page(api: Api) -> None:
    with api.client() as client:
        answer = client.post("/api/v1/ask", json={"question": QUESTION, "conversation": "talk"}).json()
    assert answer["answered"]
    (citation,) = answer["citations"]
    assert (citation["document"], citation["page"], citation["verified"]) == (RULES, 1, True)
    assert citation["quote"] in CEILING
    with api.client() as client:
        assert client.get(citation["url"]).content.startswith(b"\x89PNG")
        place = f"/api/v1/documents/{citation['document_id']}"
        assert client.get(place).json()["name"] == RULES
        described = client.get("/api/openapi.json").json()["components"]["schemas"]["AnswerOut"]["properties"]
    assert answer.keys() <= described.keys()
    assert answer["model_error"] is None
    assert answer["exchange"] == 1
    kept = api.context.chatbot.conversations.window("talk", "local")
    assert [exchange.user for exchange in kept] == [QUESTION]


def test_tools_are_asked_for_by_name(api: Api) -> None:
    with api.client() as client:
        answer = client.post("/api/v1/ask", json={"question": QUESTION, "tools": True}).json()
    assert answer["answered"]
    assert any("called by a chat model" in note["text"] for note in answer["notes"])


def test_an_answer_can_be_read_while_it_is_written(api: Api) -> None:
    with api.client() as client:
        text, names, data = streamed(client)
    assert names[0] == "stage"
    assert names[-1] == "answer"
    assert text == data["answer"], "the text as it came is the text as it stays, keys too"


def test_a_file_is_added_removed_and_restored(api: Api, tmp_path: Path) -> None:
    pdf = make_pdf(tmp_path / "Plan.pdf", ["The plan foresees a surplus of two per cent in 2031."])
    with api.client() as client:
        (job,) = client.post("/api/v1/documents", files={"files": ("Plan.pdf", pdf.read_bytes())}).json()
        with client.stream("GET", f"/api/v1/jobs/{job['id']}/events") as progress:
            last = [json.loads(line[6:]) for line in progress.iter_lines() if line.startswith("data: ")][-1]
        assert last["phase"] == "done"
        assert client.get(f"/api/v1/documents/{last['document_id']}").json()["name"] == "Plan.pdf"
        (found,) = [row for row in client.get("/api/v1/documents").json() if row["name"] == "Plan.pdf"]
        place = f"/api/v1/documents/{found['id']}"
        assert client.get(f"{place}/original").content == pdf.read_bytes()
        assert client.get(f"{place}/pages/1").content.startswith(b"\x89PNG")
        late = client.get(f"{place}/pages/2")
        assert (late.status_code, late.json()["hint"]) == (404, "The last page is 1.")
        plain = client.get(f"{place}/pages/1")
        assert "x-quote-found" not in plain.headers
        marked = client.get(f"{place}/pages/1", params={"passage": "a surplus of two per cent"})
        assert marked.headers["x-quote-found"] == "true"
        assert marked.content != plain.content
        unmarked = client.get(f"{place}/pages/1", params={"quote": "a deficit"})
        assert unmarked.headers["x-quote-found"] == "false"
        assert client.delete(place).status_code == 204
        assert client.get(place).json()["state"] == "removed"
        for part in ("pages/1", "report", "original"):
            gone = client.get(f"{place}/{part}")
            assert gone.status_code == 404
            assert gone.json()["hint"] == f"Restore it: POST {place}/restore"
        assert client.post(f"{place}/restore").json()["state"] != "removed"
        assert client.delete(place, params={"purge": True}).status_code == 204
        end = time.monotonic() + 20
        while client.get(place).status_code != 404 and time.monotonic() < end:
            time.sleep(0.05)
        assert client.get(place).status_code == 404


def test_a_caller_whose_questions_wait_is_told_when_to_ask_again(
    served: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert served.context.asked._most == served.context.settings.waiting_questions == 32
    monkeypatch.setattr(served.context.asked, "_most", 1)
    go = threading.Event()

    def wait(*_: object) -> tuple[str, ...]:
        go.wait(30)
        return ()

    with served.client() as client:
        waiting = served.context.asked.ask(Ask(QUESTION, owner=LOCAL), ready=wait)
        told = {"model": "finpolicy", "messages": [{"role": "user", "content": QUESTION}]}
        conversations = len(client.get("/api/v1/conversations").json())
        for address, body in (
            ("/api/v1/ask", {"question": QUESTION}),
            ("/api/v1/ask", {"question": QUESTION, "stream": True, "conversation": "new-one"}),
            ("/v1/chat/completions", told),
        ):
            refused = client.post(address, json=body)
            assert refused.status_code == 429, address
            assert int(refused.headers["retry-after"]) > 0
            assert "1 questions of yours are not answered yet" in refused.text
        assert len(client.get("/api/v1/conversations").json()) == conversations
        go.set()
        waiting.wait_finished(30)
        assert client.post("/api/v1/ask", json={"question": QUESTION}).status_code == 200


def test_a_server_is_ready_when_all_words_are_there(served: Api) -> None:
    library = served.context.chatbot.library
    with served.client() as client:
        assert client.get("/ready").text == "ready\n"
        # Whoever changes the store keeps others from completing its words, as a file that an earlier test
        # erased or added would have them do at any moment.
        with library._changing:
            library.indexes.words_whole = False
            for address in ("/ready", "/api/v1/health"):
                told = client.get(address)
                assert told.status_code == 503
                assert "indexing" in told.text
            answer = client.post("/api/v1/ask", json={"question": QUESTION}).json()
            assert any("building the index of words" in note["text"] for note in answer["notes"])
        library.align_words()
        assert client.get("/api/v1/health").json() == {"status": "ready"}
