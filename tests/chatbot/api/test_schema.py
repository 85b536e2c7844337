"""The API is as its description says, whatever is sent to it."""

from __future__ import annotations

import pytest

from tests.chatbot.api.conftest import Api
from tests.commands import run_python

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)


@pytest.mark.long
def test_no_request_breaks_it_and_every_status_is_declared(api: Api) -> None:
    done = run_python(
        "-m",
        "schemathesis.cli",
        "run",
        f"{api.url}/api/openapi.json",
        "--phases=coverage,fuzzing",
        f"--checks={','.join(CHECKS)}",
        "--max-examples=10",
        "--seed=1",
        "--warnings=off",
        "--no-color",
    )
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]
