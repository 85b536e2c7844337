"""The chatbot that the pages show is opened once, and by itself again when what it lacked is back."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from chatbot.app import app_context
from chatbot.settings import load_settings


def test_a_server_that_started_without_its_database_opens_when_it_is_back(
    tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that takes no connections is as one that is starting."""
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FINPOLICY_DATABASE_URL", served)
    name = psycopg.conninfo.conninfo_to_dict(served)["dbname"]
    elsewhere = psycopg.conninfo.make_conninfo(served, dbname="postgres")
    allow = f"alter database {name} allow_connections "
    with psycopg.connect(elsewhere, autocommit=True) as connection:
        connection.execute(allow + "false")
        try:
            failed = app_context.opening(load_settings)
            failed.wait(60)
            assert failed.error is not None
            assert failed.error.retryable
        finally:
            connection.execute(allow + "true")
    try:
        assert app_context.opening(load_settings) is failed  # not at once
        monkeypatch.setattr(app_context, "RETRY_SECONDS", 0.0)
        opened = app_context.opening(load_settings)
        opened.wait(60)
        assert opened.context is not None, opened.error
        assert app_context.opening(load_settings) is opened
    finally:
        app_context.close()
