"""A client that a generator makes of the API's description adds, asks, compares and fetches a page."""

from __future__ import annotations

import importlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.chatbot.api.conftest import QUESTION, RULES, Api
from tests.commands import run_python
from tests.pdfs import make_pdf

# It needs other versions of packages than the tests, so it is fetched into a place of its own.
GENERATOR = "openapi-python-client==0.29.1"
PACKAGE = "finpolicy_client"


@pytest.fixture
def made(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the generated client, by its name within it."""
    with api.client() as client:
        description = tmp_path / "openapi.json"
        description.write_text(client.get("/api/openapi.json").text, "utf-8")
    # It knows bytes by one type only.
    binary = dict.fromkeys(("image/png", "application/pdf"), "application/octet-stream")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"content_type_overrides": binary, "post_hooks": []}), "utf-8")
    tool = ("-m", "uv", "tool", "run", "--quiet", "--from", GENERATOR, "openapi-python-client")
    if run_python(*tool, "--version").returncode:
        pytest.skip(f"{GENERATOR} cannot be fetched")
    given = ("--path", str(description), "--config", str(config), "--output-path", str(tmp_path / "client"))
    done = run_python(*tool, "generate", *given)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout, done.stdout
    monkeypatch.syspath_prepend(str(tmp_path / "client"))
    return lambda name: importlib.import_module(f"{PACKAGE}.{name}")


@pytest.mark.long
def test_a_generated_client_adds_asks_compares_and_fetches_a_page(
    made: Any, api: Api, tmp_path: Path
) -> None:
    models = made("models")
    pdf = make_pdf(tmp_path / "Earlier.pdf", ["The deficit ceiling is four per cent of output."])
    file = made("types").File(io.BytesIO(pdf.read_bytes()), "Earlier.pdf", "application/pdf")
    body = models.BodyDocumentsAdd(files=[file])
    with made("client").Client(base_url=api.url, timeout=60.0) as client:
        (job,) = made("api.documents.documents_add").sync(client=client, body=body)
        api.context.additions.wait(job.id)
        answer = made("api.questions.questions_ask").sync(
            client=client, body=models.AskIn(question=QUESTION, documents=[RULES])
        )
        (citation,) = answer.citations
        assert (citation.document, citation.verified) == (RULES, True)
        found = made("api.comparisons.comparisons_compare").sync(
            client=client, body=models.CompareIn(question=QUESTION, documents=[RULES, "Earlier.pdf"])
        )
        assert [(entry.document, entry.value, entry.value_in) for entry in found.entries] == [
            (RULES, 3, "per cent"),
            ("Earlier.pdf", 4, "per cent"),
        ]
        assert made("api.comparisons.comparisons_key_figures").sync(client=client).figures == []
        page = made("api.documents.documents_page_image").sync(
            citation.document_id, citation.page, client=client, passage=citation.quote
        )
        assert page.payload.read().startswith(b"\x89PNG")
        refused = made("api.documents.documents_document").sync("none", client=client)
        assert refused.status == 404
