"""What deploy/ says is what the program knows; and its parts, put together, go on when one of them ends."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from chatbot.settings import ENVIRONMENT
from tests.browser import ROOT
from tests.chatbot.mcp_server.conftest import HELLO
from tests.deployment import PARTS, WELL_SECONDS, Deployment, missing, wait_until
from tests.pdfs import make_pdf
from tests.stores import RULES

DEPLOY = ROOT / "deploy"
QUESTION = "What is the deficit ceiling?"
# Of libpq, object stores and the other images.
FOREIGN = {
    "POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD", "POSTGRES_INITDB_ARGS", "MINIO_ROOT_USER",
    "MINIO_ROOT_PASSWORD", "AWS_ALLOW_HTTP", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION",
    "SITE", "SERVERS",
}  # fmt: skip


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    return loaded


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    if why := missing():
        pytest.skip(why)
    # Postgres runs as another user, who must reach its folder.
    folder = Path(tempfile.mkdtemp(prefix="deployment-"))
    folder.chmod(0o755)
    started = Deployment(folder / "data")
    try:
        started.wait()
        yield started
    finally:
        started.stop()
        shutil.rmtree(folder, ignore_errors=True)


def test_containers_and_processes_are_the_same_parts(compose: dict[str, Any]) -> None:
    processes = re.findall(r"^([\w-]+): bash deploy/part.sh \1$", (DEPLOY / "Procfile").read_text(), re.M)
    assert tuple(processes) == PARTS
    # Processes share a folder of kept copies, and workers are copies of one container.
    assert set(compose["services"]) == {*processes, "objects", "worker"} - {"worker1", "worker2"}
    assert compose["services"]["worker"]["scale"] == 2


def test_images_are_pinned_and_looked_after(compose: dict[str, Any]) -> None:
    volumes = {
        volume.split(":")[0] for one in compose["services"].values() for volume in one.get("volumes", [])
    }
    for name, service in compose["services"].items():
        assert re.fullmatch(r"finpolicy:local|[\w/]+:[\w.-]*\d+[\w.-]*", service["image"]), name
        assert service["restart"] == "always", name
        assert name == "worker" or service["healthcheck"]["test"][0] == "CMD", name
        for other in service.get("depends_on", {}):
            assert other in compose["services"]
    assert {volume for volume in volumes if not volume.startswith(".")} == set(compose["volumes"])
    dockerfile = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert re.search(r"^FROM python:3\.11\.\d+-slim-\w+$", dockerfile, re.M)


def test_settings_are_known_and_secrets_are_in_one_file(compose: dict[str, Any]) -> None:
    example = dict(re.findall(r"^(\w+)=(.+)$", (DEPLOY / "env.example").read_text("utf-8"), re.M))
    given = {name for one in compose["services"].values() for name in one.get("environment", {})}
    assert {*example, *given} - FOREIGN <= set(ENVIRONMENT)
    for name, service in compose["services"].items():
        words = " ".join([*service.get("command", []), *service.get("entrypoint", [])])
        assert not re.search(r"password|secret|token|\$\{", words, re.I), name
        for value in service.get("environment", {}).values():
            assert "PASSWORD" not in str(value) or str(value).startswith("${")
    for file in (".gitignore", ".dockerignore"):
        assert "deploy/.env" in (ROOT / file).read_text("utf-8").split()


@pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no Caddy")
def test_the_proxy_understands_its_file(tmp_path: Path) -> None:
    done = subprocess.run(
        ["caddy", "validate", "--config", DEPLOY / "Caddyfile", "--adapter", "caddyfile"],
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "SITE": "https://localhost:9",
            "SERVERS": "a:1 b:2",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def added(deployment: Deployment, client: httpx.Client, path: Path) -> str:
    """Add a file through the proxy, and wait until both servers have it."""
    client.post("/api/v1/documents", files={"files": (path.name, path.read_bytes())}).raise_for_status()

    def is_ready(number: int) -> bool:
        rows = httpx.get(f"{deployment.server(number)}/api/v1/documents").json()
        return (path.name, "ready") in {(row["name"], row["state"]) for row in rows}

    wait_until(lambda: is_ready(1) and is_ready(2), WELL_SECONDS, deployment.logs)
    return path.name


def asked(client: httpx.Client, **wanted: object) -> dict[str, Any]:
    """The answer to QUESTION; as the proxy says, a question whose server ended is sent again."""
    end = time.monotonic() + WELL_SECONDS
    while True:
        answer = client.post("/api/v1/ask", json={"question": QUESTION, **wanted})
        if answer.status_code == 200 or time.monotonic() > end:
            break
        assert answer.json()["hint"] == "Send it again in a moment.", answer.text
        time.sleep(float(answer.headers["retry-after"]))
    found: dict[str, Any] = answer.raise_for_status().json()
    return found


def test_a_folder_that_postgres_cannot_reach_is_named(tmp_path: Path) -> None:
    if os.geteuid() or missing():
        pytest.skip("Only as root does Postgres run as another user.")
    tmp_path.chmod(0o700)
    part = subprocess.run(
        ["bash", "deploy/part.sh", "postgres"],
        cwd=ROOT,
        env={**os.environ, "DEPLOY_DATA": str(tmp_path / "data"), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert part.returncode == 1
    assert f"cannot reach {tmp_path}/data. Set DEPLOY_DATA to a folder such as" in part.stderr


def test_a_conversation_outlives_its_server(deployment: Deployment, tmp_path: Path) -> None:
    with deployment.client() as client:
        added(deployment, client, make_pdf(tmp_path / "Rules.pdf", RULES))
        first = asked(client, conversation="talk")
        assert first["citations"][0]["document"] == "Rules.pdf"
        for part in ("server1", "server2"):
            gone = deployment.kill(part)
            assert asked(client, conversation="talk")["answer"] == first["answer"]
            wait_until(deployment.well, WELL_SECONDS, deployment.logs)
            assert deployment.process(part) != gone
        said = client.get("/api/v1/conversations/talk/exchanges").json()
        assert [(row["number"], row["state"]) for row in said] == [(n, "complete") for n in (1, 2, 3)]


def test_a_client_that_keeps_no_cookie_is_served_by_all(deployment: Deployment, tmp_path: Path) -> None:
    accepts = {"accept": "application/json"}
    call = {"name": "ask", "arguments": {"question": QUESTION}}

    def posted(client: httpx.Client, where: str, body: object, **params: str) -> httpx.Response:
        client.cookies.clear()
        answer = client.post(where, json=body, headers=accepts, params=params)
        assert answer.is_success, answer.text
        if session := answer.headers.get("mcp-session-id"):
            accepts["mcp-session-id"] = session
        return answer

    with deployment.client() as client:
        added(deployment, client, make_pdf(tmp_path / "Cookies.pdf", RULES))
        ways = [deployment.server(1), deployment.server(2), *[deployment.url] * 6]
        for way in ways:
            posted(client, f"{way}/mcp", HELLO)
        posted(
            client, f"{deployment.server(1)}/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}
        )
        for number, way in enumerate(ways, 2):
            asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            result = posted(client, f"{way}/mcp", asked).json()["result"]
            assert result["structuredContent"]["citations"][0]["verified"]
        page = {"currentUrl": "https://e.org/a", "textContent": "The levy is seven per cent of the invoice."}
        posted(client, f"{deployment.server(1)}/input_webtext", page, session_id="mine")
        for way in ways:
            client.cookies.clear()
            wanted = {"question": "What is the levy?", "session_id": "mine"}
            reply = client.get(f"{way}/get_chat_response", params=wanted).json()["reply"]
            assert "seven per cent" in reply, way


def test_a_link_of_one_server_opens_the_page_at_another(deployment: Deployment, tmp_path: Path) -> None:
    elsewhere = {"sec-fetch-site": "cross-site"}
    with deployment.client() as client:
        added(deployment, client, make_pdf(tmp_path / "Links.pdf", RULES))
        for one, other in ((1, 2), (2, 1)):
            body = {"question": QUESTION}
            answer = client.post(f"{deployment.server(one)}/api/v1/ask", json=body).json()
            link = answer["citations"][0]["url"].replace(deployment.server(one), deployment.server(other))
            assert link.startswith(deployment.server(other))
            page = httpx.get(link, headers=elsewhere, timeout=60)
            assert (page.status_code, page.headers["content-type"]) == (200, "image/png"), page.text
            assert httpx.get(link.replace("mark=", "mark=0"), headers=elsewhere).status_code == 403


@pytest.mark.long
@pytest.mark.parametrize(
    "part",
    [
        "postgres",
        *(pytest.param(part, marks=pytest.mark.long) for part in ("chroma", "worker1", "proxy")),
    ],
)
def test_what_ends_is_started_again_and_all_is_well(
    deployment: Deployment, part: str, tmp_path: Path
) -> None:
    with deployment.client() as client:
        before = added(deployment, client, make_pdf(tmp_path / f"Before {part}.pdf", RULES))
    deployment.kill(part)
    wait_until(deployment.well, WELL_SECONDS, deployment.logs)
    with deployment.client() as client:
        after = added(deployment, client, make_pdf(tmp_path / f"After {part}.pdf", [*RULES, part]))
        names = {row["name"] for row in client.get("/api/v1/documents").json()}
        assert {before, after} <= names
        assert "3.0" in asked(client, documents=[before])["answer"]
