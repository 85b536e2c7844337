"""Compression: the facts that anyone who lets it shorten a conversation relies on, on any conversation
where they speak of any.
"""

import json
import math
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chatbot.memory.compression.compress import (
    BEST_RHO,
    Compressed,
    CompressionFocus,
    CompressionOptions,
    Conversation,
    Message,
    compress,
)
from chatbot.memory.compression.messages import Messages, pieces, texts_to_embed
from chatbot.models.tokens import count_tokens

FIGURE = "The programme will cost $4.5 million on page 8 of the plan."


def talk(*contents: str, roles: str = "user assistant") -> list[Message]:
    names = roles.split()
    return [Message(f"m{at}", names[at % len(names)], content) for at, content in enumerate(contents)]


def chatter(count: int) -> list[str]:
    """Turns about nothing in particular, each of its own words."""
    return [
        (
            f"Well, that number{at} was a nice chat indeed. Shall we go on with topic{at} then? Yes, let us "
            f"do so."
        )
        for at in range(count)
    ]


PARTS = [
    "The rate rose. ",
    "Why? ",
    "It was $4.5 million (page 8). ",
    "今天很好。",
    "e.g. this ",
    "\n\n",
    "- item\n",
    "word " * 30,
    "<|endoftext|>",
    "\ud800",
    "é",
    " ",
    "x" * 40,
]
CONTENTS = st.lists(st.sampled_from(PARTS), max_size=12).map("".join) | st.text(max_size=60)
TALKS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool", "anyone"]), CONTENTS), max_size=14
).map(lambda rows: [Message(str(at), role, content) for at, (role, content) in enumerate(rows)])
OPTIONS = st.builds(
    CompressionOptions,
    max_tokens=st.just(0),
    compression_ratio=st.floats(0.01, 1),
    rho=st.none() | st.floats(0, 1),
    gamma=st.sampled_from([0.5, 1.0, 2.0]),
    keep_last=st.integers(0, 3),
    scoring=st.sampled_from(["query", "seed"]),
    protect_figures=st.booleans(),
)
QUESTIONS = st.sampled_from(["", "What was the rate?", "Who?"]).map(CompressionFocus)


def tail(messages: list[Message], options: CompressionOptions) -> int:
    """Where the last messages begin, which stay as they are."""
    return max(len(messages) - (options.keep_last if len(messages) > 1 else 0), 0)


# --- the eight facts
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["query", "seed"])
@pytest.mark.parametrize("roles", ["user assistant", "user"])
def test_with_defaults_the_result_is_never_empty_and_a_figure_of_an_early_turn_survives(
    roles: str, scoring: str
) -> None:
    messages = talk("What will it cost?", FIGURE, *chatter(1_000), roles=roles)
    result = compress(messages, scoring=scoring)
    assert result.stats.original_tokens > 20_000 and result.stats.compressed
    assert 0.4 < result.stats.compressed_tokens / result.stats.original_tokens <= 0.5
    if scoring == "query":
        assert FIGURE in [message.content for message in result.context]
    assert (
        compress(messages, scoring=scoring, query="What does the programme cost?").kept["m1"] == 1.0
        or scoring == "seed"
    )


@given(TALKS, OPTIONS, QUESTIONS)
def test_every_message_is_accounted_for(
    messages: list[Message], options: CompressionOptions, question: CompressionFocus
) -> None:
    result = Conversation(messages).compress(question, options)
    assert list(result.kept) == list(result.spans) == [message.id for message in messages]
    assert all(0 <= share <= 1 for share in result.kept.values())
    for message in messages:
        cut = pieces(message.content, result.spans[message.id])
        assert "".join(text for text, _ in cut) == message.content
        assert (
            result.kept[message.id] == 1.0
            if all(kept for _, kept in cut)
            else any(not kept for _, kept in cut)
        )
        assert (message.id in [one.id for one in result.context]) == (
            any(kept for _, kept in cut) or not message.content
        )


def test_in_a_second_compression_what_was_kept_before_competes_again() -> None:
    messages = talk(*chatter(30), FIGURE, *chatter(30))
    later = [*messages, *(Message(f"n{at}", "user", text) for at, text in enumerate(chatter(200)[60:]))]
    first = compress(messages, max_tokens=0, compression_ratio=0.3)
    second = compress(later, max_tokens=0, compression_ratio=0.1)
    assert set(second.kept) == {message.id for message in later}
    assert first.kept["m30"] == second.kept["m30"] == 1.0
    assert sum(first.kept.values()) > sum(second.kept[message.id] for message in messages)


@given(TALKS, OPTIONS, QUESTIONS)
def test_what_is_kept_is_within_one_sentence_of_the_target(
    messages: list[Message], options: CompressionOptions, question: CompressionFocus
) -> None:
    conversation, said = Conversation(messages), Messages(messages, "")
    result, head = conversation.compress(question, options), tail(messages, options)
    target, last = options.compression_ratio * conversation.tokens, sum(said.tokens[head:])
    assume(target > last)
    # Where a cut stands inside what the tokenizer joins, as between a letter and its accent, a sentence
    # counts a token more or less.
    sentence = max([size for sizes in said.sizes[:head] for size in sizes]) + 2
    kept = result.stats.compressed_tokens
    assert target - sentence < kept <= target or kept - last <= sentence > target - last


def test_where_the_last_messages_exceed_the_target_they_are_the_result() -> None:
    messages = talk("One. Two.", "word " * 500, "word " * 500)
    result = compress(messages, max_tokens=0, compression_ratio=0.5)
    assert result.kept == {"m0": 0.0, "m1": 1.0, "m2": 1.0}
    assert result.context == tuple(messages[1:])


@given(TALKS, OPTIONS, QUESTIONS)
def test_what_is_kept_is_verbatim_in_order_and_labelled_by_role(
    messages: list[Message], options: CompressionOptions, question: CompressionFocus
) -> None:
    result = Conversation(messages).compress(question, options)
    roles, contents = (
        {message.id: message.role for message in messages},
        {message.id: message.content for message in messages},
    )
    kept_ids = [message.id for message in result.context]
    assert kept_ids == [message.id for message in messages if message.id in kept_ids]
    assert all(roles[message.id] == message.role for message in result.context)
    for message in result.context:
        kept = "".join(
            text for text, stays in pieces(contents[message.id], result.spans[message.id]) if stays
        )
        assert re.sub(r"\s", "", message.content) == re.sub(r"\s", "", kept)
        assert message.content == contents[message.id] or message.content == message.content.strip()


def test_figures_stay_with_unit_and_page_and_abbreviations_are_not_split() -> None:
    whole = [
        "Acme Inc. paid $4.5 million [S1]. (page 8)",
        "Mr. Lee of the U.S. office saw p. 7 and Fig. 3.",
        "It was 3.5 per cent. of output.",
    ]
    messages = [Message("a", "assistant", " ".join(whole * 20)), Message("b", "assistant", "今天很好。" * 40)]
    for ratio in (0.1, 0.3, 0.5, 0.7):
        for scoring in ("query", "seed"):
            result = compress(
                messages, max_tokens=0, compression_ratio=ratio, keep_last=0, scoring=scoring, rho=0.0
            )
            for text in (
                text
                for message in messages[:1]
                for text, stays in pieces(message.content, result.spans["a"])
                if stays
            ):
                assert re.fullmatch("(?:" + "|".join(map(re.escape, whole)) + r"|\s)+", text)
            assert 0 < result.kept["b"] < 1 and all(
                one.content.count("今天很好。") * 5 == len(re.sub(r"\s", "", one.content))
                for one in result.context[1:]
            )


def test_special_tokens_are_text_and_counts_are_the_tokenizers() -> None:
    messages = talk("<|endoftext|> stays. " * 20, "What is <|im_start|>? " * 20)
    result = compress(messages, max_tokens=0, keep_last=0, query="<|endoftext|>")
    assert "<|endoftext|>" in result.context[0].content
    assert result.stats.original_tokens == sum(count_tokens(message.content) for message in messages)
    assert result.stats.compressed_tokens == sum(count_tokens(message.content) for message in result.context)
    older = compress(talk("今天很好。" * 50, "fine"), max_tokens=0, model="gpt-4")
    assert older.stats.original_tokens == count_tokens("今天很好。" * 50, "gpt-4") + count_tokens(
        "fine", "gpt-4"
    )


@pytest.mark.parametrize(
    "text",
    ["word " * 100_000, "x" * 300_000, "The rate rose by 4.5 per cent. " * 15_000],
    ids=["no stop", "no blank", "sentences"],
)
def test_a_lone_oversized_message_is_bounded_at_sentence_level(text: str) -> None:
    result = compress([Message("only", "user", text)])
    target = result.stats.original_tokens * 0.5
    assert target - 500 < result.stats.compressed_tokens <= target
    assert result.stats.messages_partly == 1


@given(TALKS, OPTIONS, QUESTIONS)
def test_stats_describe_what_really_happened(
    messages: list[Message], options: CompressionOptions, question: CompressionFocus
) -> None:
    result, stats = (
        Conversation(messages).compress(question, options),
        Conversation(messages).compress(question, options).stats,
    )
    assert stats == result.stats
    assert stats.original_tokens == sum(count_tokens(message.content) for message in messages)
    assert stats.compressed_tokens == sum(count_tokens(message.content) for message in result.context)
    assert stats.compressed == (result.context != tuple(messages))
    assert stats.messages_whole + stats.messages_partly + stats.messages_left_out == len(messages)
    assert stats.messages_left_out == len(messages) - len(result.context)
    assert stats.chunks >= stats.chunks_compressed >= stats.chunks_removed
    assert bool(stats.chunks_compressed) == stats.compressed
    assert stats.tail_tokens == sum(
        count_tokens(message.content) for message in messages[tail(messages, options) :]
    )


# --- when, and for what
# ---------------------------------------------------------------------------------------------------------


@given(TALKS, st.integers(0, 2))
def test_up_to_the_threshold_everything_stays_as_it_is(messages: list[Message], more: int) -> None:
    tokens = Conversation(messages).tokens
    result = compress(messages, max_tokens=tokens + more, compression_ratio=0.1)
    assert result.context == tuple(messages) and not result.stats.compressed
    assert set(result.kept.values()) <= {1.0}


def test_an_empty_message_costs_nothing_and_stays() -> None:
    result = compress(talk("", *chatter(30), ""), max_tokens=0, compression_ratio=0.1, keep_last=0)
    assert (result.kept["m0"], result.kept["m31"]) == (1.0, 1.0)
    assert compress([]).context == () and compress(talk("", "")).kept == {"m0": 1.0, "m1": 1.0}


@given(TALKS, OPTIONS, QUESTIONS)
def test_something_of_a_conversation_stays(
    messages: list[Message], options: CompressionOptions, question: CompressionFocus
) -> None:
    assume(any(message.content for message in messages[: tail(messages, options)]))
    assert (
        any(message.content for message in Conversation(messages).compress(question, options).context)
        or options.keep_last
    )


def test_what_is_asked_for_is_kept_before_what_is_not() -> None:
    messages = talk(*chatter(40), "I adopted a puppy called Biscuit from the shelter.", *chatter(40))
    assert (
        compress(messages, max_tokens=0, compression_ratio=0.05, query="Where did the puppy come from?").kept[
            "m40"
        ]
        == 1.0
    )
    assert (
        compress(messages, max_tokens=0, compression_ratio=0.05, query="Which was the nice chat?").kept["m40"]
        == 0.0
    )


def test_vectors_are_used_where_both_are_given() -> None:
    messages, vectors = talk(*chatter(40)), np.zeros((40, 2), np.float32)
    vectors[:, 0], vectors[5] = 1, (0, 1)
    asked = {"max_tokens": 0, "compression_ratio": 0.1, "query": "zebra"}
    query_vector = np.array([0, 1], np.float32)
    result = compress(messages, vectors=vectors, query_vector=query_vector, **asked)  # type: ignore[arg-type]
    assert result.kept["m5"] == 1.0
    without_query = compress(messages, vectors=vectors, **asked)  # type: ignore[arg-type]
    assert without_query == compress(messages, **asked)  # type: ignore[arg-type]


def test_of_a_chunk_the_sentence_of_a_figure_with_its_page_goes_last() -> None:
    plain = "Growth in Northumberland was notable, said Councillor Abernathy of Berwick. " * 3
    messages = [Message("a", "assistant", plain + "It was 4 [S1]. " + plain)]
    result = compress(messages, max_tokens=0, compression_ratio=0.2, query="Who is Abernathy?")
    assert "It was 4 [S1]." in result.context[0].content
    assert (
        "It was 4 [S1]."
        not in compress(
            messages, max_tokens=0, compression_ratio=0.2, query="Who is Abernathy?", protect_figures=False
        )
        .context[0]
        .content
    )


def test_one_role_throughout_is_several_chunks_to_the_seeds_scoring() -> None:
    stats = compress(talk(*chatter(200), roles="user"), max_tokens=0, scoring="seed").stats
    assert stats.chunks > 5 and 0 < stats.chunks_removed < stats.chunks


def test_a_pasted_text_does_not_drive_everything_else_out() -> None:
    messages = talk("word " * 20_000, *chatter(10), "Thanks.", "Bye.")
    result = compress(messages, max_tokens=0, scoring="seed")
    assert all(result.kept[f"m{at}"] > 0.2 for at in range(1, 11)) and 0.4 < result.kept["m0"] < 0.6


@pytest.mark.parametrize(
    "wrong",
    [
        *({"compression_ratio": wrong} for wrong in (0, 1.1, math.nan)),
        *({"rho": wrong} for wrong in (-0.1, 1.1, math.nan)),
        *({"gamma": wrong} for wrong in (-1, math.inf)),
        *({"keep_last": -1}, {"max_tokens": -1}, {"scoring": "best"}),
    ],
    ids=str,
)
def test_values_out_of_range_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        compress(talk("One."), **wrong)


def test_ids_stand_once_and_vectors_are_as_many_as_messages() -> None:
    with pytest.raises(ValueError, match="'a' stands twice"):
        compress([Message("a", "user", "One."), Message("a", "user", "Two.")])
    with pytest.raises(ValueError, match="1 vectors for 2 messages"):
        compress(talk("One.", "Two."), vectors=np.zeros((1, 2), np.float32))


def test_a_message_is_embedded_with_the_end_of_the_one_before() -> None:
    assert texts_to_embed(talk("x" * 400 + "?", "Yes.", "No.")) == [
        "x" * 400 + "?",
        "x" * 299 + "?\nYes.",
        "Yes.\nNo.",
    ]
    assert texts_to_embed([]) == []


# --- how long it takes, and how well it chooses
# ---------------------------------------------------------------------------------


@pytest.mark.timed
@pytest.mark.parametrize("options", [{}, {"scoring": "seed"}, {"rho": 0.5}], ids=str)
def test_time_grows_with_the_conversation_alone(options: dict[str, Any]) -> None:
    def seconds(count: int) -> float:
        messages = talk(*chatter(count))
        started = time.process_time()
        compress(messages, max_tokens=0, query="What about topic7?", **options)
        return time.process_time() - started

    seconds(50)
    # Eight times the conversation; the square of it would be 64.
    assert seconds(4_000) < 20 * min(seconds(500) for _ in range(3))


def share(conversation: dict[str, Any], ratio: float, *, asked: bool) -> float:
    """Of the messages that answer each question, the share of tokens kept."""
    turns = [
        Message(
            turn["id"],
            "user" if turn["speaker"] == conversation["speakers"][0] else "assistant",
            f"{turn['speaker']}: {turn['text']}",
        )
        for turn in conversation["turns"]
    ]
    talked, options = Conversation(turns), CompressionOptions(0, ratio, keep_last=0)
    questions = [question for question in conversation["questions"] if question["expected"] != "abstain"]

    def kept(question: dict[str, Any]) -> float:
        result: Compressed = talked.compress(CompressionFocus(question["question"] if asked else ""), options)
        return sum(result.kept.get(turn, 0.0) for turn in question["evidence"]) / len(question["evidence"])

    return sum(map(kept, questions)) / len(questions)


@pytest.mark.parametrize(
    ("ratio", "asked", "floor"),
    [(0.5, True, 0.95), (0.25, True, 0.89), (0.1, True, 0.8), (0.5, False, 0.72), (0.1, False, 0.27)],
)
def test_what_answers_later_questions_is_kept(shared: Path, ratio: float, asked: bool, floor: float) -> None:
    talks = [
        json.loads(line)
        for line in (shared / "memory_conv_dev.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert np.mean([share(conversation, ratio, asked=asked) for conversation in talks]) >= floor


def test_the_best_rho_is_known_for_each_scoring() -> None:
    assert [CompressionOptions(scoring=scoring).chunk_share for scoring in BEST_RHO] == [1.0, 0.5]
    assert CompressionOptions(rho=0.0).chunk_share == 0.0
