"""A client in Docker, which reaches the server under a name that is no address of this machine."""

from __future__ import annotations

import re
from pathlib import Path

import httpx

from tests.browser import Server, store_of_rules
from tests.commands import run

NAME = "host.docker.internal"
QUESTION = "What is the deficit ceiling?"


def test_it_is_served_with_a_key_once_its_name_is_allowed(tmp_path: Path) -> None:
    home = store_of_rules(tmp_path, ["The deficit ceiling is three per cent of output."])
    made = run(home, "keys", "create", "open-webui", "--scope", "ask")
    key = re.search(r"fpk_[\w-]+", made.stdout)
    assert key
    asked = {"model": "finpolicy", "messages": [{"role": "user", "content": QUESTION}]}
    with Server(home, {"STREAMLIT_SERVER_ALLOWED_HOSTS": f"127.0.0.1 {NAME}"}) as server:
        server.client().close()
        headers = {"host": f"{NAME}:{server.port}"}
        with httpx.Client(base_url=f"{server.url}/v1", headers=headers, timeout=60) as client:
            assert client.post("/chat/completions", json=asked).status_code == 401
            client.headers["authorization"] = f"Bearer {key[0]}"
            answer = client.post("/chat/completions", json=asked).raise_for_status().json()
            link = answer["choices"][0]["message"]["annotations"][0]["url_citation"]["url"]
            assert link.startswith(f"http://{NAME}:{server.port}/api/v1/documents/")
            foreign = client.get("/models", headers={"host": "evil.example"})
            assert foreign.status_code == 421
        inside = httpx.get(link.replace(NAME, "127.0.0.1"), timeout=60)
        assert inside.headers["content-type"] == "image/png"
