"""The browser extension's addresses where a chat model answers."""

from __future__ import annotations

from chatbot.asking.model_alone import UNCITED
from tests.chatbot.api.conftest import NEWS, WithModel

QUESTION = "What is the deficit ceiling?"


def test_several_models_answer_one_question(with_model: WithModel) -> None:
    with with_model.api.client() as client:
        asked = {"question": QUESTION, "models": "stand-in, extractive", "session_id": "both"}
        found = client.get("/get_chat_response/", params=asked).json()
    assert list(found["resp"]) == ["stand-in", "extractive"]
    assert found["answers"]["stand-in"]["citations"][0]["verified"]
    assert found["r2c_stats"]["message_count"] == 2, "the session keeps the first model's answer"
    assert found["errors"] == {}


def test_without_documents_nothing_is_cited(with_model: WithModel) -> None:
    with with_model.api.client() as client:
        asked = {"question": QUESTION, "use_rag": "false", "session_id": "alone"}
        found = client.get("/get_chat_response/", params=asked).json()
    assert found["answers"]["stand-in"]["citations"] == []
    assert UNCITED in found["notices"]


def test_the_web_is_searched_and_cited_by_address(with_model: WithModel) -> None:
    with_model.pieces = ["Norland's ten-year bond yield rose to 5.2 per cent [1]."]
    with with_model.api.client() as client:
        asked = {"question": "What is Norland's ten-year bond yield?", "session_id": "news"}
        found = client.get("/get_adv_response/", params=asked).json()
    assert NEWS in found["reply"]
    assert "The web was searched by OpenAI's search tool" in found["reply"]
    assert found["answers"]["stand-in"]["citations"][0]["document"] == NEWS
