"""Counts tokens of OpenAI's vocabularies exactly, offline."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

__all__ = ["count_tokens", "cut_to_tokens", "encodable", "text_of_tokens"]

# The models that still use cl100k_base. Everything newer (gpt-4o, gpt-4.1, gpt-5, o1 ...) uses o200k_base.
# For models of other families that is an estimate, off by a few per cent for English prose.
_CL100K_MODELS = re.compile(r"gpt-4(?![o.\d])|gpt-3\.?5|text-embedding-")
_CL100K_TOKENS = 100_256
# English prose has four to five characters a token, so the first guess of a cut is near, and few doublings
# follow.
_LIKELY_CHARACTERS_PER_TOKEN = 5


def count_tokens(text: str, model: str = "") -> int:
    """Counts the tokens of `text` as `model` does, 0 or more.

    Special tokens such as <|endoftext|> count as ordinary text. Any string is counted: a lone surrogate
    counts as "?". The result equals tiktoken's `encode_ordinary`; a million characters take about 50 ms.

    model: an OpenAI model name, with or without a provider before a slash. Unknown and empty names use
        o200k_base.
    """
    return int(_tokenizer(_encoding_name(model)).count(encodable(text)))


def cut_to_tokens(text: str, limit: int, model: str = "") -> str:
    """Returns a verbatim prefix of `text` of at most `limit` tokens, never splitting a character.

    A text that fits is returned whole. The time grows with `limit`, not with the length of the text. Raises
    ValueError for a negative limit.

    limit: 0 or more; 0 gives "".
    """
    if limit < 0:
        raise ValueError(f"limit is {limit}; it must be 0 or more")
    if limit == 0:
        return ""
    tokenizer = _tokenizer(_encoding_name(model))
    countable = encodable(text)

    def exceeds(end: int) -> bool:
        return tokenizer.count_till_limit(countable[:end], limit) is None

    if not exceeds(len(text)):  # a prefix may have a token more than the whole: "Disconnec" of "Disconnect"
        return text
    beyond = limit * _LIKELY_CHARACTERS_PER_TOKEN
    while beyond < len(text) and not exceeds(beyond):
        beyond *= 2
    # Counts grow with the length apart from a token here and there, so the search may end a token short, but
    # never one over: what is kept has fitted.
    return text[: bisect_left(range(1, min(beyond, len(text))), True, key=exceeds)]


def text_of_tokens(tokens: Sequence[int]) -> str:
    """Returns the text of tokens of cl100k_base, which clients take for models that they do not know.

    Raises ValueError for a number that is no token, and for bytes that are no text.
    """
    # The decoder reads beyond its table.
    if any(not 0 <= token < _CL100K_TOKENS for token in tokens):
        raise ValueError(f"tokens are numbers from 0 to {_CL100K_TOKENS - 1:,}")
    return str(_tokenizer("cl100k_base").decode(list(tokens)))


def encodable(text: str) -> str:
    """Returns the text with each lone surrogate as "?", so that offsets stay.

    Some PDFs yield lone surrogates, which no request can carry.
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _encoding_name(model: str) -> str:
    bare = model.lower().rpartition("/")[2].removeprefix("ft:")
    if _CL100K_MODELS.match(bare):
        return "cl100k_base"
    return "o200k_base"


@cache
def _tokenizer(encoding: str) -> Any:
    return _bindings().tokenizer_for_encoding(encoding)


@cache
def _bindings() -> ModuleType:
    """Returns the compiled part of bpe-openai alone, which has no public name (as of 0.1.4).

    Its package parses three vocabularies in Python on import (0.9 s and 60 MB that nothing here needs), and
    its public `encode` refuses texts of a million characters or 200,000 tokens.
    """
    package = find_spec("bpe_openai")
    assert package is not None
    compiled = PathFinder.find_spec("_bindings", package.submodule_search_locations)
    assert compiled is not None and compiled.loader is not None
    module = module_from_spec(compiled)
    compiled.loader.exec_module(module)
    return module
