"""Questions and the browser extension's addresses where a chat model answers."""

from __future__ import annotations

import time

from tests.chatbot.api.conftest import NEWS, QUESTION, WithModel, streamed


def test_several_models_answer_one_question(with_model: WithModel) -> None:
    with with_model.api.client() as client:
        asked = {"question": QUESTION, "models": "stand-in, extractive", "session_id": "both"}
        found = client.get("/get_chat_response/", params=asked).json()
    assert list(found["resp"]) == ["stand-in", "extractive"]
    assert found["answers"]["stand-in"]["citations"][0]["verified"]
    assert found["r2c_stats"]["message_count"] == 2, "the session keeps the first model's answer"
    assert found["errors"] == {}


def test_the_web_is_searched_and_cited_by_address(with_model: WithModel) -> None:
    with_model.pieces = ["Norland's ten-year bond yield rose to 5.2 per cent [1]."]
    with with_model.api.client() as client:
        asked = {"question": "What is Norland's ten-year bond yield?", "session_id": "news"}
        found = client.get("/get_adv_response/", params=asked).json()
    assert NEWS in found["reply"]
    assert "The web was searched by OpenAI's search tool" in found["reply"]
    citation = found["answers"]["stand-in"]["citations"][0]
    assert citation["document"] == NEWS
    assert not citation["verified"], "the page itself was not read"
    assert "search tool" in citation["reason"]


def test_a_stream_has_the_keys_of_the_finished_answer(with_model: WithModel) -> None:
    with with_model.api.client() as client:
        with_model.pieces = ["The deficit ceiling is three per ", "cent of output [1]."]
        text, names, data = streamed(client)
        assert text == "The deficit ceiling is three per cent of output [S1]." == data["answer"]
        with_model.pieces = ["The moon is made of green cheese."]
        text, names, data = streamed(client)
        assert text.startswith("The moon") and data["not_checked"] == 1
        assert names[-1] == "marks" and {"answer", "stage"} <= set(names)


def test_a_chat_model_that_failed_is_named(with_model: WithModel) -> None:
    with with_model.api.client() as client:
        answer = client.post("/api/v1/ask", json={"question": QUESTION, "model": "vllm:absent"}).json()
        assert (answer["model"], answer["answered"]) == ("extractive", True)
        failed = answer["model_error"]
        assert failed["kind"] == "unreachable"
        assert failed["message"] in answer["error"] and failed["hint"]
        asked = {"model": "vllm:absent", "messages": [{"role": "user", "content": QUESTION}]}
        reply = client.post("/v1/chat/completions", json=asked).json()
        assert reply["model"] == "extractive"
        assert reply["finpolicy"] == {"model": "extractive", "answered": True, "model_error": failed}
        stream = client.post("/v1/chat/completions", json={**asked, "stream": True}).text
        assert failed["hint"] in stream


def test_without_a_model_no_model_is_ever_called(with_model: WithModel) -> None:
    """Neither for an answer nor for what is done after it, such as a summary."""
    provider = with_model.provider
    before = len(provider.requests)
    with with_model.api.client("ask") as client:
        for number in range(12):
            asked = {"question": f"{QUESTION} Once more: {number}?", "model": "none", "conversation": "plain"}
            assert client.post("/api/v1/ask", json=asked).json()["model"] == "extractive"
            asked = {"question": QUESTION, "models": "extractive", "session_id": "plain"}
            assert client.get("/get_chat_response/", params=asked).status_code == 200
        assert client.get("/get_adv_response/", params=asked).json()["errors"] == {}
    time.sleep(1.0)  # for what is done when the answer is out
    assert len(provider.requests) == before
