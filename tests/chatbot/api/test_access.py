"""Who may call the API, and what everybody gets who may not."""

from __future__ import annotations

import time

import pytest

from chatbot.store.api_keys import open_api_keys
from tests.chatbot.api.conftest import Api

LIST = "/api/v1/documents"


def test_on_this_machine_nobody_needs_a_key(api: Api) -> None:
    with api.client() as client:
        assert [row["name"] for row in client.get(LIST).json()] == ["Rules.pdf"]


def test_where_others_can_call_a_key_is_needed(api: Api) -> None:
    api.open = True
    with api.client() as client:
        refused = client.get(LIST)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert refused.headers["content-type"] == "application/problem+json"
        assert "keys create" in refused.json()["hint"]
        assert "Authorization: Bearer KEY" in refused.json()["hint"]
        assert refused.json()["request_id"] == refused.headers["x-request-id"]
        assert client.get("/api/v1/health").status_code == 200
        assert client.get("/api/v1").json()["description"] == "/api/openapi.json"
        api.open = False
        for wrong in ({"authorization": "Bearer wrong"}, {"authorization": "fpk_x"}, {"x-api-key": "fpk_x"}):
            for api.open in (False, True):
                malformed = client.get(LIST, headers=wrong)
                assert malformed.status_code == 401
                assert "keys begin with fpk_" in malformed.json()["detail"]
    with api.client("read") as client:
        assert client.get(LIST).status_code == 200


def test_somebody_signed_in_needs_no_key(api: Api) -> None:
    api.open, api.owner = True, "oidc-1"
    with api.client() as client:
        assert client.get(LIST).status_code == 200


def test_a_key_may_do_what_its_scope_says(api: Api) -> None:
    question = {"question": "What is the deficit ceiling?"}
    with api.client("read") as client:
        refused = client.post("/api/v1/ask", json=question)
        assert refused.status_code == 403
        assert "needs the scope ask" in refused.json()["detail"]
        assert client.post("/api/v1/search", json={"query": "ceiling"}).status_code == 200
    with api.client("ask") as client:
        assert client.post("/api/v1/ask", json=question).status_code == 200
        assert client.delete(f"{LIST}/Rules.pdf").status_code == 403
    with api.client("manage") as client:
        assert client.delete(f"{LIST}/Nothing.pdf").status_code == 404


def test_keys_that_are_wrong_revoked_or_old_are_refused(api: Api) -> None:
    kept = open_api_keys(api.context.settings)
    text, key = kept.create("short", "read", 1e-9)
    time.sleep(0.01)
    with api.client(authorization=f"Bearer {text}") as client:
        refused = client.get(LIST)
        assert refused.status_code == 401
        assert "expired" in refused.json()["detail"]
        kept.revoke(key.id)
        assert client.get(LIST).status_code == 401
    later, following = kept.create("later", "read")
    assert following.id > key.id, "a new key would get what belongs to the old one"
    kept.close()
    stored = (api.context.settings.store / "api_keys.sqlite3").read_bytes()
    assert later.encode() not in stored


@pytest.mark.parametrize(
    "header",
    [{"sec_fetch_site": "cross-site"}, {"origin": "https://evil.example"}, {"origin": "http://[::1"}],
)
def test_pages_of_other_sites_cannot_call_with_what_the_browser_adds(
    api: Api, header: dict[str, str]
) -> None:
    api.owner = "oidc-1"
    with api.client(**header) as client:
        assert client.get(LIST).status_code == 403
    with api.client("read", **header) as client:
        assert client.get(LIST).status_code == 200, "a key is not added by a browser on its own"


def test_an_unknown_address_is_no_page(api: Api) -> None:
    with api.client() as client:
        found = client.get("/api/nothing")
        assert found.status_code == 404
        assert found.headers["content-type"] == "application/problem+json"
        found = client.get("/v1/nothing")
        assert found.status_code == 404
        assert found.json()["error"]["code"] == "not_found"
        assert client.put(LIST).status_code == 405


def test_what_cannot_be_taken_is_refused_with_the_fix(api: Api) -> None:
    with api.client() as client:
        bad = client.post("/api/v1/ask", content="{", headers={"content-type": "application/json"})
        assert bad.status_code == 422
        bytes_ = client.post("/api/v1/ask", content=b"\xff", headers={"content-type": "application/json"})
        assert bytes_.status_code == 400
        wrong = client.post("/api/v1/ask", json={"question": "Why?", "documnets": []})
        assert wrong.json()["errors"] == ["body.documnets: there is no such field"]
        no_json = client.post("/api/v1/ask", content='{"question": "Why?"}')
        assert "Content-Type: application/json" in no_json.json()["errors"][0]
        no_documents = client.post("/api/v1/compare", json={"question": "Why?", "documents": []})
        assert no_documents.json()["errors"] == ["body.documents: must not be empty"]
        large = client.post("/api/v1/ask", json={"question": "x" * 3_000_000})
        assert large.status_code == 413
        assert "FINPOLICY_MAX_UPLOAD_MB" not in large.json()["hint"]
        missing = client.post("/api/v1/ask", json={"question": "Why?", "documents": ["Nothing.pdf"]})
        assert missing.status_code == 404
        assert "See GET /api/v1/documents." in missing.json()["hint"]
        header = client.get(LIST, headers={"x-request-id": "a b<script>"})
        assert header.headers["x-request-id"] != "a b<script>"
