"""Which models the tests find here."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from chatbot.models.multilingual_e5 import MULTILINGUAL_E5

__all__ = ["needs_multilingual"]

needs_multilingual = pytest.mark.skipif(
    find_spec(MULTILINGUAL_E5.package) is None, reason="the embedded model for other languages is not installed (make setup-multilingual)"
)
