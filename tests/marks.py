"""What tests ask of the machine they run on."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from tests.browser import chromium

__all__ = ["in_a_browser"]

in_a_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="there is no Chromium on PATH (apt-get install chromium)"),
]
