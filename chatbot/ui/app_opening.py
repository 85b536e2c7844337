"""Opens the application with what the pages' server knows: who can reach it."""

from __future__ import annotations

from dataclasses import replace

from chatbot.app import app_context
from chatbot.app.app_context import AppOpening
from chatbot.settings import Settings, load_settings
from chatbot.ui.network_exposure import is_open_to_others

__all__ = ["opening"]


def opening(*, again: bool = False) -> AppOpening:
    """See `app_context.opening`."""
    return app_context.opening(_settings, again=again)


def _settings() -> Settings:
    return replace(load_settings(), open_to_others=is_open_to_others())
