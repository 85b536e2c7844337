"""Token counts against tiktoken's published vectors, and cuts that keep their promises on any text."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatbot.models import tokens
from chatbot.models.tokens import count_tokens, cut_to_tokens, encodable, text_of_tokens

CL100K, O200K = "gpt-4", "gpt-4o"

# From tiktoken's tests/test_encoding.py and OpenAI's cookbook "How to count tokens with tiktoken"; compared
# once, with another 160,000 random texts, with tiktoken 0.12 on the same tables (whose SHA-256 are the ones
# that tiktoken itself expects).
VECTORS = [
    (CL100K, "hello world", [15339, 1917]),
    (CL100K, "rer", [38149]),
    (CL100K, "'rer", [2351, 81]),
    (CL100K, "today\n ", [31213, 198, 220]),
    (CL100K, "today\n \n", [31213, 27907]),
    (CL100K, "today\n  \n", [31213, 14211]),
    (CL100K, "👍", [9468, 239, 235]),
    (CL100K, "antidisestablishmentarianism", [519, 85342, 34500, 479, 8997, 2191]),
    (CL100K, "2 + 2 = 4", [17, 489, 220, 17, 284, 220, 19]),
    (CL100K, "お誕生日おめでとう", [33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699]),
    (O200K, "hello world", [24912, 2375]),
    (O200K, "antidisestablishmentarianism", [493, 129901, 376, 160388, 21203, 2367]),
    (O200K, "2 + 2 = 4", [17, 659, 220, 17, 314, 220, 19]),
    (O200K, "お誕生日おめでとう", [8930, 9697, 243, 128225, 8930, 17693, 4344, 48669]),
]

LONG = ("The fiscal deficit for 2018-19 was 3.4 per cent of GDP, £1,234.56 million. " * 20_000)[:1_000_000]


@pytest.mark.parametrize(
    ("model", "text", "ids"), VECTORS, ids=lambda value: None if isinstance(value, list) else repr(value)
)
def test_equals_tiktoken(model: str, text: str, ids: list[int]) -> None:
    assert tokens._tokenizer(tokens._encoding_name(model)).encode(text) == ids
    assert count_tokens(text, model) == len(ids)


@pytest.mark.parametrize(
    ("encoding", "models"),
    [
        (
            "cl100k_base",
            (
                "gpt-4 gpt-4-turbo gpt-4-0613 openai/gpt-4 ft:gpt-4-0613:me gpt-3.5-turbo gpt-35-turbo "
                "text-embedding-3-large GPT-4"
            ),
        ),
        (
            "o200k_base",
            (
                "gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-nano gpt-4.5-preview gpt-5 gpt-5-mini o1 o3-mini "
                "o4-mini chatgpt-4o-latest llama3 openai/gpt-4o"
            ),
        ),
    ],
)
def test_each_model_has_its_vocabulary(encoding: str, models: str) -> None:
    assert {tokens._encoding_name(model) for model in models.split()} == {encoding}
    assert tokens._encoding_name("") == "o200k_base"


@pytest.mark.parametrize("model", [CL100K, O200K])
def test_special_tokens_are_ordinary_text(model: str) -> None:
    assert count_tokens("<|endoftext|>", model) == 7
    assert count_tokens("a <|im_start|>system", model) > 3


def test_lone_surrogates_are_counted_and_kept() -> None:
    broken = "GDP \ud800 rose" * 50
    assert count_tokens(broken) == count_tokens(broken.replace("\ud800", "?"))
    assert broken.startswith(cut_to_tokens(broken, 40))
    assert encodable(broken) == broken.replace("\ud800", "?")


@given(
    st.text() | st.text(alphabet="ab 1\n'.é中👩\u200d\u0301", max_size=200),
    st.integers(0, 60),
    st.sampled_from([CL100K, O200K]),
)
@example("👩\u200d👩\u200d👧" * 20, 7, CL100K)
@example(" " * 300 + "x", 2, O200K)
@example(" ::000Disconnect", 3, CL100K)
def test_a_cut_is_a_verbatim_prefix_within_the_limit(text: str, limit: int, model: str) -> None:
    kept = cut_to_tokens(text, limit, model)
    assert text.startswith(kept)
    assert count_tokens(kept, model) <= limit
    assert kept == text or count_tokens(text, model) > limit


@pytest.mark.timed
def test_a_megabyte_is_fast() -> None:
    count_tokens("the tables are loaded")
    started = time.process_time()
    assert count_tokens(LONG) > 200_000
    cut_to_tokens(LONG, 12_000)
    cut_to_tokens(" " * 1_000_000, 12_000)
    assert time.process_time() - started < 2  # 0.1 s on a quiet machine


def test_tables_are_read_without_the_package_and_only_when_needed() -> None:
    script = (
        "import sys; from chatbot.models.tokens import count_tokens; import chatbot.models.tokens\n"
        "assert 'bpe_openai' not in sys.modules; print(count_tokens('hello world'), 'bpe_openai' in "
        "sys.modules)\n"
        "from bpe_openai import _bindings; "
        "print(_bindings.tokenizer_for_encoding('o200k_base').count('hello world'))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["2", "False", "2"]


@pytest.mark.parametrize(("text", "ids"), [(text, ids) for model, text, ids in VECTORS if model == CL100K])
def test_tokens_become_text_again(text: str, ids: list[int]) -> None:
    assert text_of_tokens(ids) == text


@pytest.mark.parametrize("ids", [[100_256], [-1], [2**70], [9468]])
def test_numbers_that_are_no_text_are_refused(ids: list[int]) -> None:
    with pytest.raises(ValueError, match="token|UTF-8"):
        text_of_tokens(ids)
