"""Compression: the facts that anyone who lets it shorten a conversation relies on, on any conversation
where they speak of any.
"""

import json
import re
import time
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, cycle, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chatbot.memory.compression.compress import (
    Compressed,
    CompressionFocus,
    CompressionOptions,
    Conversation,
    Message,
    compress,
)
from chatbot.memory.compression.messages import Messages, pieces, texts_to_embed
from chatbot.models.tokens import count_tokens
from tests.case_rows import case_rows

FIGURE = "The programme will cost $4.5 million on page 8 of the plan."

# Compresses a conversation of any size.
compress_any = partial(compress, max_tokens=0)


def talk(*contents: str, roles: str = "user assistant") -> list[Message]:
    names = cycle(roles.split())
    turns = zip(names, contents, strict=False)
    return [Message(f"m{at}", role, content) for at, (role, content) in enumerate(turns)]


def chatter(count: int) -> list[str]:
    """Turns about nothing in particular, each of its own words."""
    turn = (
        "Well, that number{0} was a nice chat indeed. Shall we go on with topic{0} then? Yes, let us do so."
    )
    return [turn.format(at) for at in range(count)]


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
ROLES = st.sampled_from(["user", "assistant", "tool", "anyone"])
OF_PARTS = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)
CONTENTS = OF_PARTS | st.text(max_size=60)
TURNS = st.lists(st.tuples(ROLES, CONTENTS), max_size=14)


def numbered(turns: list[tuple[str, str]]) -> list[Message]:
    return [Message(str(at), role, content) for at, (role, content) in enumerate(turns)]


TALKS = TURNS.map(numbered)
OPTIONS = st.builds(
    CompressionOptions,
    max_tokens=st.just(0),
    compression_ratio=st.floats(0.01, 1),
    rho=st.floats(0, 1),
    gamma=st.sampled_from([0.5, 1.0, 2.0]),
    keep_last=st.integers(0, 3),
    scoring=st.sampled_from(["query", "seed"]),
    protect_figures=st.booleans(),
)
QUESTIONS = st.sampled_from(["", "What was the rate?", "Who?"]).map(CompressionFocus)


class Request(NamedTuple):
    """A conversation that is to be compressed for a question."""

    messages: list[Message]
    options: CompressionOptions
    question: CompressionFocus

    @property
    def tail(self) -> int:
        """Where the last messages begin, which stay as they are."""
        count = len(self.messages)
        last = self.options.keep_last if count > 1 else 0
        return max(count - last, 0)

    def compress(self) -> Compressed:
        return Conversation(self.messages).compress(self.question, self.options)


REQUESTS = st.builds(Request, TALKS, OPTIONS, QUESTIONS)


def tokens_of(messages: Iterable[Message]) -> int:
    return sum(count_tokens(message.content) for message in messages)


def ids_of(messages: Iterable[Message]) -> list[str]:
    return [message.id for message in messages]


def without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)


def pieces_kept(message: Message, result: Compressed) -> list[str]:
    cut = pieces(message.content, result.spans[message.id])
    return [text for text, stays in cut if stays]


@pytest.mark.parametrize("scoring", ["query", "seed"])
@pytest.mark.parametrize("roles", ["user assistant", "user"])
def test_with_defaults_the_result_is_never_empty_and_a_figure_of_an_early_turn_survives(
    roles: str, scoring: str
) -> None:
    turns = ["What will it cost?", FIGURE, *chatter(1_000)]
    messages = talk(*turns, roles=roles)
    result = compress(messages, scoring=scoring)
    stats = result.stats
    assert stats.original_tokens > 20_000
    assert stats.compressed
    assert 0.4 < stats.compressed_tokens / stats.original_tokens <= 0.5
    asked = compress(messages, scoring=scoring, query="What does the programme cost?")
    if scoring == "query":
        assert FIGURE in [message.content for message in result.context]
        assert asked.kept["m1"] == 1.0


@given(REQUESTS)
def test_every_message_is_accounted_for(request: Request) -> None:
    result = request.compress()
    ids = ids_of(request.messages)
    assert list(result.kept) == ids
    assert list(result.spans) == ids
    in_context = ids_of(result.context)
    for message in request.messages:
        share = result.kept[message.id]
        cut = pieces(message.content, result.spans[message.id])
        assert "".join(text for text, _ in cut) == message.content
        stays = [kept for _, kept in cut]
        assert 0 <= share <= 1
        if all(stays):
            assert share == 1.0
        something_stays = any(stays) or not message.content
        assert (message.id in in_context) == something_stays


@given(REQUESTS)
def test_what_is_kept_is_within_one_sentence_of_the_target(request: Request) -> None:
    result = request.compress()
    said = Messages(request.messages, "")
    head = request.tail
    target = request.options.compression_ratio * sum(said.tokens)
    last = sum(said.tokens[head:])
    assume(target > last)
    # Where a cut stands inside what the tokenizer joins, as between a letter and its accent, a sentence
    # counts a token more or less.
    sentence = max(chain.from_iterable(said.sizes[:head])) + 2
    kept = result.stats.compressed_tokens
    assert target - sentence < kept <= target or kept - last <= sentence > target - last


def test_where_the_last_messages_exceed_the_target_they_are_the_result() -> None:
    long = "word " * 500
    messages = talk("One. Two.", long, long)
    result = compress_any(messages, compression_ratio=0.5)
    assert (result.kept, result.context) == ({"m0": 0.0, "m1": 1.0, "m2": 1.0}, tuple(messages[1:]))


@given(REQUESTS)
def test_what_is_kept_is_verbatim_in_order_and_labelled_by_role(request: Request) -> None:
    result = request.compress()
    kept_ids = ids_of(result.context)
    originals = [message for message in request.messages if message.id in kept_ids]
    assert kept_ids == ids_of(originals)
    for original, message in zip(originals, result.context, strict=True):
        assert message.role == original.role
        kept = "".join(pieces_kept(original, result))
        assert without_blanks(message.content) == without_blanks(kept)
        assert message.content in (original.content, message.content.strip())


def test_figures_stay_with_unit_and_page_and_abbreviations_are_not_split() -> None:
    whole = [
        "Acme Inc. paid $4.5 million [S1]. (page 8)",
        "Mr. Lee of the U.S. office saw p. 7 and Fig. 3.",
        "It was 3.5 per cent. of output.",
    ]
    chinese = "今天很好。"
    report = Message("a", "assistant", " ".join(whole * 20))
    messages = [report, Message("b", "assistant", chinese * 40)]
    sentence = "|".join(map(re.escape, whole))
    for ratio, scoring in product((0.1, 0.3, 0.5, 0.7), ("query", "seed")):
        result = compress_any(messages, compression_ratio=ratio, keep_last=0, scoring=scoring, rho=0.0)
        for text in pieces_kept(report, result):
            assert re.fullmatch(rf"(?:{sentence}|\s)+", text)
        assert 0 < result.kept["b"] < 1
        for message in result.context[1:]:
            count = message.content.count(chinese)
            assert without_blanks(message.content) == chinese * count


def test_special_tokens_are_text_and_counts_are_the_tokenizers() -> None:
    messages = talk("<|endoftext|> stays. " * 20, "What is <|im_start|>? " * 20)
    result = compress_any(messages, keep_last=0, query="<|endoftext|>")
    assert "<|endoftext|>" in result.context[0].content
    assert result.stats.original_tokens == tokens_of(messages)
    assert result.stats.compressed_tokens == tokens_of(result.context)


def test_tokens_are_counted_as_the_named_model_does() -> None:
    chinese = "今天很好。" * 50
    stats = compress_any(talk(chinese, "fine"), model="gpt-4").stats
    assert stats.original_tokens == count_tokens(chinese, "gpt-4") + count_tokens("fine", "gpt-4")


@pytest.mark.parametrize(
    "text",
    ["word " * 100_000, "x" * 300_000, "The rate rose by 4.5 per cent. " * 15_000],
    ids=["no stop", "no blank", "sentences"],
)
def test_a_lone_oversized_message_is_bounded_at_sentence_level(text: str) -> None:
    stats = compress([Message("only", "user", text)]).stats
    target = stats.original_tokens * 0.5
    assert target - 500 < stats.compressed_tokens <= target
    assert stats.messages_partly == 1


@given(REQUESTS)
def test_stats_describe_what_really_happened(request: Request) -> None:
    messages = request.messages
    result = request.compress()
    stats = result.stats
    assert request.compress().stats == stats
    assert stats.original_tokens == tokens_of(messages)
    assert stats.compressed_tokens == tokens_of(result.context)
    assert stats.compressed == (result.context != tuple(messages))
    assert stats.messages_whole + stats.messages_partly + stats.messages_left_out == len(messages)
    assert stats.messages_left_out == len(messages) - len(result.context)
    assert stats.chunks >= stats.chunks_compressed >= stats.chunks_removed
    assert bool(stats.chunks_compressed) == stats.compressed
    last = messages[request.tail :]
    assert stats.tail_tokens == tokens_of(last)


@given(TALKS, st.integers(0, 2))
def test_up_to_the_threshold_everything_stays_as_it_is(messages: list[Message], more: int) -> None:
    threshold = Conversation(messages).tokens + more
    result = compress(messages, max_tokens=threshold, compression_ratio=0.1)
    assert result.context == tuple(messages)
    assert not result.stats.compressed
    assert set(result.kept.values()) <= {1.0}


@given(REQUESTS)
def test_something_of_a_conversation_stays(request: Request) -> None:
    head = request.messages[: request.tail]
    assume(any(message.content for message in head))
    context = request.compress().context
    assert any(message.content for message in context) or request.options.keep_last


@pytest.mark.parametrize(
    ("query", "kept"), [("Where did the puppy come from?", 1.0), ("Which was the nice chat?", 0.0)]
)
def test_what_is_asked_for_is_kept_before_what_is_not(query: str, kept: float) -> None:
    messages = talk(*chatter(40), "I adopted a puppy called Biscuit from the shelter.", *chatter(40))
    result = compress_any(messages, compression_ratio=0.05, query=query)
    assert result.kept["m40"] == kept


def test_vectors_are_used_where_both_are_given() -> None:
    messages = talk(*chatter(40))
    vectors = np.zeros((40, 2), np.float32)
    vectors[:, 0] = 1
    vectors[5] = (0, 1)
    ask = partial(compress_any, messages, compression_ratio=0.1, query="zebra")
    query_vector = np.array([0, 1], np.float32)
    result = ask(vectors=vectors, query_vector=query_vector)
    assert result.kept["m5"] == 1.0
    without_query = ask(vectors=vectors)
    assert without_query == ask()


@pytest.mark.parametrize(
    ("name", "value"),
    case_rows("""
        compression_ratio | 0
        compression_ratio | 1.1
        compression_ratio | NaN
        rho               | -0.1
        rho               | 1.1
        rho               | NaN
        gamma             | -1
        gamma             | Infinity
        keep_last         | -1
        max_tokens        | -1
        scoring           | "best"
    """),
)
def test_values_out_of_range_are_named(name: str, value: str) -> None:
    wrong: dict[str, Any] = {name: json.loads(value)}
    with pytest.raises(ValueError, match=name):
        compress(talk("One."), **wrong)


def test_ids_stand_once() -> None:
    one = Message("a", "user", "One.")
    two = Message("a", "user", "Two.")
    with pytest.raises(ValueError, match="'a' appears twice"):
        compress([one, two])


def test_vectors_are_as_many_as_messages() -> None:
    vectors = np.zeros((1, 2), np.float32)
    with pytest.raises(ValueError, match="1 vectors for 2 messages"):
        compress(talk("One.", "Two."), vectors=vectors)


def test_a_message_is_embedded_with_the_end_of_the_one_before() -> None:
    long = "x" * 400 + "?"
    end = "x" * 299 + "?"
    first, second, third = texts_to_embed(talk(long, "Yes.", "No."))
    assert first == long
    assert second == f"{end}\nYes."
    assert third == "Yes.\nNo."
    assert texts_to_embed([]) == []


@pytest.mark.timed
@pytest.mark.parametrize("options", [{}, {"scoring": "seed"}, {"rho": 0.5}], ids=str)
def test_time_grows_with_the_conversation_alone(options: dict[str, Any]) -> None:
    def seconds(count: int) -> float:
        messages = talk(*chatter(count))
        started = time.process_time()
        compress_any(messages, query="What about topic7?", **options)
        return time.process_time() - started

    seconds(50)
    long = seconds(4_000)
    # Eight times the conversation; the square of it would be 64.
    assert long < 20 * min(seconds(500) for _ in range(3))


def turns_of(conversation: dict[str, Any]) -> Iterator[Message]:
    """The turns, the first speaker's as the user's."""
    user, *_ = conversation["speakers"]
    for turn in conversation["turns"]:
        speaker = turn["speaker"]
        role = "user" if speaker == user else "assistant"
        yield Message(turn["id"], role, f"{speaker}: {turn['text']}")


def share(conversation: dict[str, Any], ratio: float, *, asked: bool) -> float:
    """Of the messages that answer each question, the share of tokens kept."""
    talked = Conversation(list(turns_of(conversation)))
    options = CompressionOptions(0, ratio, keep_last=0)
    questions = [question for question in conversation["questions"] if question["expected"] != "abstain"]

    def kept(question: dict[str, Any]) -> float:
        focus = CompressionFocus(question["question"] if asked else "")
        result: Compressed = talked.compress(focus, options)
        evidence = question["evidence"]
        return sum(result.kept.get(turn, 0.0) for turn in evidence) / len(evidence)

    return sum(map(kept, questions)) / len(questions)


@pytest.mark.long
@pytest.mark.parametrize(
    ("ratio", "asked", "floor"),
    [(0.5, True, 0.94), (0.25, True, 0.88), (0.1, True, 0.78), (0.5, False, 0.72), (0.1, False, 0.27)],
)
def test_what_answers_later_questions_is_kept(shared: Path, ratio: float, asked: bool, floor: float) -> None:
    lines = (shared / "memory_conv_dev.jsonl").read_text(encoding="utf-8").splitlines()
    talks = map(json.loads, lines)
    shares = [share(conversation, ratio, asked=asked) for conversation in talks]
    assert np.mean(shares) >= floor


def test_by_default_half_is_kept_of_a_conversation_beyond_20_000_tokens() -> None:
    """The seed document's own numbers: nothing happens at 20,000 tokens, and one more halves them."""
    sentence = "Harbour {0} handled ships in spring of that year. "
    contents = ["".join(map(sentence.format, range(at, at + 20))) for at in range(0, 9_000, 100)]
    messages = talk(*contents)
    while tokens_of(messages) > 20_000:
        messages.pop()
    filler = Message("last", "user", "a" + " a" * (20_000 - tokens_of(messages) - 1))
    assert tokens_of([*messages, filler]) == 20_000
    assert not compress([*messages, filler]).stats.compressed
    stats = compress([*messages, Message("last", "user", filler.content + " a")]).stats
    assert stats.compressed
    assert (stats.original_tokens, stats.target_tokens) == (20_001, 10_000)
    longest = max(count_tokens(sentence.format(9_999)), 1)
    assert 10_000 - longest < stats.compressed_tokens <= 10_000


def test_the_defaults_are_the_seed_documents() -> None:
    assert CompressionOptions() == CompressionOptions(20_000, 0.5, 0.5, 1.0, keep_last=2)
