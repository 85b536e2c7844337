"""The addresses that a browser extension calls, over real HTTP."""

from __future__ import annotations

from tests.chatbot.api.conftest import RULES, Api

QUESTION = "What is the deficit ceiling?"
PAGE = {
    "currentUrl": "https://news.example/acme",
    "textContent": "Acme's quarterly revenue rose to 812 million dollars. It will close its Norland plant.",
}


def test_a_question_is_answered_with_the_names_of_the_extension(api: Api) -> None:
    with api.client() as client:
        for path in ("/get_chat_response/", "/get_chat_response", "/get_mcp_response/"):
            asked = {"question": QUESTION, "models": "extractive", "session_id": path}
            found = client.get(path, params=asked).json()
            assert f"({RULES}, p. 1)" in found["resp"]["extractive"]
            assert found["reply"] == found["resp"]["extractive"]
            assert found["answers"]["extractive"]["citations"][0]["verified"]
            stats = found["r2c_stats"]
            assert (stats["message_count"], stats["compressed"], stats["compression_history"]) == (
                2,
                False,
                [],
            )
        assert "No MCP server is set up" in found["notices"][0]
        again = client.get("/api/get_r2c_stats/", params={"session_id": "/get_chat_response"}).json()
        assert again["stats"]["message_count"] == 2
        assert client.get("/api/get_available_models/").json() == {
            "models": ["extractive"],
            "default": "extractive",
        }


def test_a_page_that_is_sent_is_a_source_of_its_session_alone(api: Api) -> None:
    question = {"question": "Which plant will Acme close?", "session_id": "mine"}
    with api.client() as client:
        added = client.post("/input_webtext/", params={"session_id": "mine"}, json=PAGE).json()
        assert added["texts"] == 1
        found = client.get("/get_adv_response/", params=question).json()
        (answer,) = found["answers"].values()
        assert {citation["document"] for citation in answer["citations"]} == {PAGE["currentUrl"]}
        assert PAGE["currentUrl"] in found["reply"]
        assert "No web was searched" in found["reply"]
        other = client.get("/get_chat_response/", params={**question, "session_id": "other"}).json()
        assert PAGE["currentUrl"] not in other["reply"]
        kept = client.post("/clear_messages/", params={"session_id": "mine", "preserve_web": True}).json()
        assert (kept["messages"], kept["texts"]) == (2, 0)
        assert PAGE["currentUrl"] in client.get("/get_chat_response/", params=question).json()["reply"]
        assert client.get("/clear_messages/", params={"session_id": "mine"}).json()["texts"] == 1
        assert PAGE["currentUrl"] not in client.get("/get_chat_response/", params=question).json()["reply"]


def test_a_conversation_is_shortened_as_the_call_says_and_told_in_whole_tokens(api: Api) -> None:
    asked: dict[str, str | float] = {"max_tokens": 400, "compression_ratio": 0.5, "gamma": 2, "rho": 0.25}
    asked["scoring"] = "seed"
    with api.client() as client:
        for number in range(9):
            asked["question"] = f"{QUESTION} Harbour {number} was built of stone in spring. " * 2
            stats = client.get("/get_chat_response/", params=asked).json()["r2c_stats"]
            if stats["compressed"]:
                break
        assert stats["threshold"] == 400
        (cut,) = stats["compression_history"]
        assert stats["compression_count"] == 1
        assert cut["original_tokens"] > 400
        assert cut["compressed_tokens"] <= cut["original_tokens"] / 2
        assert stats["token_count"] < cut["original_tokens"]
        assert {type(value) for name, value in cut.items() if name != "timestamp"} == {int}
        wrong = client.get("/get_chat_response/", params={**asked, "rho": 1.5})
        assert wrong.status_code == 422


def test_a_session_holds_three_pages(api: Api) -> None:
    with api.client() as client:
        for number in range(5):
            page = {**PAGE, "currentUrl": f"https://news.example/{number}", "session_id": "three"}
            added = client.post("/input_webtext", json=page).json()
        assert added["texts"] == 3


def test_nobody_reads_the_session_of_another(api: Api) -> None:
    asked = {"question": QUESTION, "session_id": "shared"}
    stats = {"session_id": "shared"}
    with api.client("ask") as one, api.client("manage") as other:
        one.get("/get_chat_response/", params=asked)
        one.post("/input_webtext/", json={**PAGE, "session_id": "shared"})
        assert one.get("/api/get_r2c_stats/", params=stats).json()["stats"]["message_count"] == 2
        assert other.get("/api/get_r2c_stats/", params=stats).json()["stats"]["message_count"] == 0
        acme = {"question": "Which plant will Acme close?", "session_id": "shared"}
        assert PAGE["currentUrl"] not in other.get("/get_chat_response/", params=acme).json()["reply"]


def test_what_cannot_be_answered_names_the_fix(api: Api) -> None:
    with api.client() as client:
        unknown = client.get("/get_chat_response/", params={"question": QUESTION, "models": "gpt-9"})
        assert unknown.status_code == 422
        assert "PROVIDER:MODEL" in unknown.json()["hint"]
        assert "anthropic" in unknown.json()["hint"], "the providers are named"
        alone = client.get("/get_chat_response/", params={"question": QUESTION, "use_rag": "false"})
        assert alone.status_code == 422
        assert "FINPOLICY_CHAT_MODEL" in alone.json()["hint"]
        assert client.get("/get_chat_response/").status_code == 422
        wrong = client.get("/get_chat_response/", params={"question": QUESTION, "rho": 3})
        assert wrong.json()["errors"] == ["query.rho: must be at most 1.0"]
        unread = client.post("/input_webtext/", json={"currentUrl": "https://news.example/a"})
        assert unread.status_code == 422
        assert "FINPOLICY_FETCH_PAGES" in unread.json()["hint"]
        place = {**PAGE, "currentUrl": "https://e.org/ (Rules.pdf, page 1)"}
        assert client.post("/input_webtext/", json=place).status_code == 422, "it would pass for a page"
        script = client.post("/input_webtext/", json={**PAGE, "currentUrl": "javascript:alert(1)"})
        assert script.status_code == 422
