"""An engine with a certificate that has expired is not used, and its error says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chatbot.errors import StoreError
from chatbot.store.chroma_server import ChromaServer
from chatbot.store.object_files import ObjectFiles
from chatbot.store.vector_index import ChromaIndex
from tests.certificates import expired_certificate, showing


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of a server whose certificate this machine trusts, but which ended yesterday."""
    certificate, key = expired_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with showing(certificate, key) as shown:
        yield shown


def test_of_chroma(address: str) -> None:
    with pytest.raises(StoreError, match="has a certificate that this machine does not trust") as raised:
        ChromaIndex(ChromaServer(address, "secret"), fingerprint="hand", dimension=3).ping()
    assert "SSL_CERT_FILE" in raised.value.hint
    assert "secret" not in f"{raised.value}{raised.value.hint}"


def test_of_an_object_store(address: str, keys: None, tmp_path: Path) -> None:
    files = ObjectFiles("s3://kept/x", tmp_path / "cache", endpoint=address)
    with pytest.raises(StoreError, match="has a certificate that this machine does not trust") as raised:
        files.read("a.json")
    assert "AWS_ENDPOINT_URL" in raised.value.hint
