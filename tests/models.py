"""Which models the tests find here."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from chatbot.models.embedded_models import MULTILINGUAL_E5
from chatbot.models.onnx_encoder import EncoderSpec, model_folder
from chatbot.settings import load_settings

__all__ = ["needs_multilingual", "source_of"]

needs_multilingual = pytest.mark.skipif(
    find_spec(MULTILINGUAL_E5.package) is None,
    reason="the embedded model for other languages is not installed (make setup-multilingual)",
)


def source_of(spec: EncoderSpec) -> Path:
    """The folder of a model's files."""
    return model_folder(spec, load_settings().model_cache)
