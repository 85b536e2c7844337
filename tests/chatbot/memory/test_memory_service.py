"""What a question finds remembered and what is kept of its answer, through the whole chatbot: long talks,
going back, faults of the store, privacy.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.errors import ModelError, NotFoundError, StoreError
from chatbot.memory import memory_database
from chatbot.memory.compression import compress as compression
from chatbot.memory.compression import shortening
from chatbot.memory.memory_service import MemoryService
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer, Citation, Event, Exchange, Note, Notice, Prompt, Recall, Token
from chatbot.service import Chatbot
from chatbot.settings import Settings
from tests.fakes import ScriptedModel
from tests.stores import Make

QUESTION = "What is the deficit ceiling?"
DEBT_SERVICE = "What does the debt service come to?"


def ask(chatbot: Chatbot, question: str, talk: str | None, owner: str = "me") -> tuple[Answer, list[Event]]:
    asked = Ask(question, conversation=talk, owner=owner)
    events = list(chatbot.ask(asked))
    answer = events[-1]
    assert isinstance(answer, Answer)
    chatbot.settle(asked)
    return answer, events


def searched(chatbot: Chatbot, question: str, talk: str) -> str:
    """What is searched for the question."""
    answer, _ = ask(chatbot, question, talk)
    return answer.search_query


def prompt_of(answer: Answer) -> Prompt:
    assert answer.prompt is not None
    return answer.prompt


def last_message(answer: Answer) -> str:
    """What the model is asked at last."""
    _, content = prompt_of(answer).messages[-1]
    return content


def kept_answer(chatbot: Chatbot, talk: str) -> Answer:
    """The first answer, as it was kept."""
    kept = chatbot.memory.answer(talk, 1, "me")
    assert kept is not None
    return kept


def tell(chatbot: Chatbot, talk: str, question: str, answer: Answer) -> int:
    """Keep an exchange that nobody asked; its number."""
    number = chatbot.conversations.start(talk, question)
    chatbot.conversations.finish(talk, number, answer, {}, owner="me")
    return number


def talk_on(chatbot: Chatbot, talk: str, exchanges: int, words: int = 20) -> None:
    """Other matters: exchanges of some words each."""
    citation = Citation("S1", "Ports.pdf", 2, None, "ships", True)
    for number in range(exchanges):
        question = f"What of harbour {number}?"
        text = " ".join(f"Harbour {number} handled {place} ships in spring [S1]." for place in range(words))
        answer = Answer("q", question, text, True, citations=(citation,))
        tell(chatbot, talk, question, answer)


def notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def test_sixty_exchanges_past_the_threshold_are_shortened_and_an_early_figure_keeps_its_page(
    make: Make,
) -> None:
    chatbot = make(compression=True)
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    talk_on(chatbot, talk, 59, words=30)
    before = chatbot.memory.stats(talk, "me")
    assert before.message_count == 120
    assert before.token_count > 20_000
    assert not before.compressed
    answer, _ = ask(chatbot, "What was the deficit ceiling that you gave me at the beginning?", talk)
    assert answer.search_query == QUESTION
    assert "3.0 per cent" in answer.text
    for citation in answer.citations:
        assert (citation.document, citation.page) == ("Rules.pdf", 1)
    assert answer.citations
    fact = "The deficit ceiling is 3.0 per cent of output in every year. ⟦Rules.pdf, p. 1⟧"
    assert fact in last_message(answer)
    assert count_tokens(last_message(answer)) < 12_000
    kept = answer.compression
    assert kept is not None
    assert kept.original_tokens == before.token_count > 2.5 * kept.compressed_tokens
    assert 1 in kept.kept
    assert len(kept.kept) < 55
    first, *_ = chatbot.conversations.said(talk, "me")
    _, spans = kept.kept[1]
    words_kept = "".join(first.cited[start:end] for start, end in spans)
    assert words_kept.startswith("The deficit ceiling is 3.0 per cent")
    after = chatbot.memory.stats(talk, "me")
    assert after.compressed
    assert after.compression_count == 1
    shortening = after.compression_history[0]
    assert shortening["original_tokens"] == before.token_count
    assert shortening["compressed_tokens"] == kept.compressed_tokens


class Substitute:
    """A memory that has notes of its own where what it stands on failed."""

    name = "substitutes"

    def recall(self, recall: Recall, n: int) -> list[Note]:
        """As MemoryLayer.recall."""
        recall.tell(Notice("A substitute stands in."))
        return [Note(self.name, "a substitute", "Harbours are open.")]


def test_what_a_memory_tells_reaches_the_user_beside_its_notes(make: Make) -> None:
    chatbot = make()
    memory = MemoryService(
        chatbot.settings,
        chatbot.conversations,
        chatbot.library.catalog,
        chatbot.library.embedder,
        [Substitute()],
    )
    talk = chatbot.conversations.begin("me")
    before = memory.before(Recall(QUESTION, None, talk, "me"))
    assert [note.source for note in before.notes] == ["a substitute"]
    assert before.notices == (Notice("A substitute stands in."),)


def test_shortening_can_be_switched_off_in_a_conversation_and_by_a_setting(make: Make) -> None:
    chatbot = make(compression=True, compression_tokens=1_000)
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, talk, 10)
    answer, _ = ask(chatbot, QUESTION, talk)
    assert answer.compression is not None
    chatbot.conversations.choose(talk, "me", compresses=False, recalls_others=False)
    answer, _ = ask(chatbot, QUESTION, talk)
    assert answer.compression is None
    prompt = prompt_of(answer)
    assert len(prompt.exchanges) == 5
    assert prompt.earlier == ()
    stats = chatbot.memory.stats(talk, "me")
    assert stats.compressed is False
    assert stats.compression_count == 1


def test_of_a_very_long_conversation_the_likeliest_are_weighed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shortening, "MOST_TOKENS", 2_000)
    weighed: list[int] = []
    compress = compression.compress

    def count(messages: Sequence[object], **given: object) -> object:
        weighed.append(len(messages))
        return compress(messages, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(shortening, "compress", count)
    chatbot = make(compression=True, compression_tokens=1_000)
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    talk_on(chatbot, talk, 30, words=30)
    # The second by its words, and more than there is room for.
    lanterns = Answer("q", "q", "Ceiling lanterns glow. " * 1_000, True)
    huge = tell(chatbot, talk, "What of ceiling lanterns?", lanterns)
    talk_on(chatbot, talk, 6, words=1)
    before = chatbot.memory.before(Recall(QUESTION, None, talk, "me"))
    assert before.compression is not None
    assert 1 in before.compression.kept
    assert huge not in before.compression.kept
    assert 4 <= weighed[-1] <= 20
    assert before.compression.chunks_compressed > 40


FACT = "The lighthouse cost 77 million crowns (Ports.pdf, p. 3)."
LONG = Exchange(
    "Tell me of harbours.", " ".join([*(f"Harbour {number} is quiet." for number in range(2_000)), FACT])
)


def test_long_last_exchanges_share_their_part_of_the_prompt_and_it_is_said(make: Make) -> None:
    chatbot = make(context_tokens=2_000)
    short = Exchange("Short?", "Short.")
    before = chatbot.memory.window_alone([short, LONG], "What did the lighthouse cost?", chatbot.settings)
    first, second = before.exchanges
    assert first == short
    assert FACT in second.assistant
    assert second.assistant.endswith("(shortened)")
    assert count_tokens(second.assistant) < 0.21 * 2_000
    assert before.compression is not None
    assert before.compression.original_tokens > before.compression.compressed_tokens
    assert list(before.compression.kept) == [2]
    assert before.compression.chunks_compressed == 1


def test_with_a_context_of_32_000_all_is_sent_up_to_20_000_tokens_and_half_of_what_is_longer(
    make: Make,
) -> None:
    chatbot = make(compression=True, context_tokens=32_000)
    talk = chatbot.conversations.begin("me")
    while chatbot.memory.stats(talk, "me").token_count < 19_000:
        talk_on(chatbot, talk, 1, words=30)
    stats = chatbot.memory.stats(talk, "me")
    assert stats.threshold == 20_000
    said = chatbot.conversations.said(talk, "me")
    before = chatbot.memory.before(Recall(QUESTION, None, talk, "me"))
    assert before.exchanges == tuple(one.exchange for one in said)
    assert before.compression is None
    whole, _ = ask(chatbot, QUESTION, talk)
    assert whole.compression is None
    assert "What of harbour 0?" in last_message(whole)
    talk_on(chatbot, talk, 4, words=30)
    full = chatbot.memory.stats(talk, "me")
    assert full.token_count > 20_000
    assert not full.compressed
    answer, _ = ask(chatbot, QUESTION, talk)
    kept = answer.compression
    assert kept is not None
    assert kept.original_tokens == full.token_count
    assert kept.compressed_tokens == pytest.approx(full.token_count / 2, abs=30)
    after = chatbot.memory.stats(talk, "me")
    assert after.compressed
    assert after.token_count < 0.6 * full.token_count
    assert count_tokens(last_message(answer)) < 32_000


@pytest.mark.parametrize(
    ("context", "pages", "answer", "chosen", "threshold"),
    [
        # Context - rules 800 - pages at 800 - answer, at most what is chosen.
        (12_000, 4, 1_000, 20_000, 7_000),
        (12_000, 4, 1_000, 5_000, 5_000),
        (12_000, 10, 1_000, 20_000, 2_400),
        (32_000, 4, 1_000, 20_000, 20_000),
        (32_000, 4, 16_000, 20_000, 12_000),
        # A fifth of the smallest prompts.
        (1_500, 4, 1_000, 20_000, 300),
    ],
)
def test_the_threshold_is_what_context_pages_and_answer_leave(
    context: int, pages: int, answer: int, chosen: int, threshold: int
) -> None:
    settings = Settings(context_tokens=context, pages=pages, answer_tokens=answer, compression_tokens=chosen)
    assert shortening.threshold_of(settings) == threshold


def test_a_follow_up_leans_on_a_question_whose_answer_was_stopped(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "What is the deficit ceiling in 2024?", talk)
    number = chatbot.conversations.start(talk, "What is the debt anchor in 2024?")
    chatbot.conversations.write(talk, number, "The debt", owner="me", state="stopped")
    assert searched(chatbot, "And in 2030?", talk) == "What is the debt anchor in 2030?"


def test_a_question_of_its_own_is_never_replaced_by_an_earlier_one(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "What was the debt anchor at the end of the year?", talk)
    for question in (
        "What was the debt anchor at the beginning of the year?",
        "Is the debt anchor to be reached earlier than 2030?",
    ):
        assert searched(chatbot, question, talk) == question


def stop_at(kind: type[Event], chatbot: Chatbot, talk: str) -> None:
    """Ask, and hear no more from the first event of that kind on."""
    events = chatbot.ask(Ask(QUESTION, conversation=talk, owner="me"))
    for event in events:
        if isinstance(event, kind):
            break
    events.close()  # type: ignore[attr-defined]


def test_a_notice_wipes_nothing_of_what_had_come(make: Make) -> None:
    chatbot = make(ScriptedModel(["The ceiling is ", "3.0 per cent."], finish="length"))
    talk = chatbot.conversations.begin("me")
    stop_at(Notice, chatbot, talk)
    (said,) = chatbot.conversations.said(talk, "me")
    assert said.assistant == "The ceiling is 3.0 per cent."


def test_a_write_that_fails_on_the_way_loses_no_answer(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")

    def fail(*_: object, **__: object) -> None:
        raise StoreError("locked")

    monkeypatch.setattr(chatbot.conversations, "write", fail)
    answer, events = ask(chatbot, QUESTION, talk)
    assert answer.exchange == 1
    assert notices(events) == []
    (said,) = chatbot.conversations.said(talk, "me")
    assert said.state == "complete"


def test_an_answer_whose_conversation_is_erased_meanwhile_is_given(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "What is the debt anchor?", talk)
    events = chatbot.ask(Ask(QUESTION, conversation=talk, owner="me"))
    next(iter(events))
    chatbot.conversations.erase(talk, "me")
    rest = list(events)
    answer = rest[-1]
    assert isinstance(answer, Answer)
    assert "3.0 per cent" in answer.text
    assert answer.exchange is None
    assert any("has been erased" in text for text in answer.notices)
    assert set(notices(rest)) == set(answer.notices)


def test_what_waits_for_the_end_is_done_though_the_embedder_is_down(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make().close()  # its time is believed by the next start
    chatbot = make(retention_days=30)
    old = chatbot.conversations.begin("me")
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, old, 1)
    make_older = "update conversation set changed_at = changed_at - 31 * 86400 where id = ?"
    with chatbot.conversations._disk.write() as connection:
        connection.execute(make_older, (old,))

    def fail(_: object, *, query: bool = False) -> None:
        raise ModelError("down")

    monkeypatch.setattr(chatbot.library.embedder, "embed", fail)
    ask(chatbot, QUESTION, talk)
    (left,) = chatbot.conversations.listed("me")
    assert left.id == talk


def test_a_question_goes_back_to_an_earlier_topic(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, DEBT_SERVICE, talk)
    talk_on(chatbot, talk, 12, words=1)
    question = "Let's go back to the debt service topic."
    answer, _ = ask(chatbot, question, talk)
    assert answer.search_query == DEBT_SERVICE
    assert "1,577 million" in answer.text
    assert answer.question == question


def summarising_model() -> ScriptedModel:
    def reply(messages: object) -> list[str]:
        if "Summarise" in str(messages):
            return ["They spoke of harbours."]
        return ["The ceiling is 3.0 per cent."]

    return ScriptedModel(reply)


def summaries_asked_of(model: ScriptedModel) -> int:
    return sum("Summarise" in str(messages) for messages, _, _ in model.calls)


def test_old_exchanges_are_summarised_by_the_model_once(make: Make) -> None:
    model = summarising_model()
    chatbot = make(model)
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, talk, 9, words=1)
    ask(chatbot, QUESTION, talk)
    ask(chatbot, QUESTION, talk)
    assert summaries_asked_of(model) == 1
    summary, *_ = chatbot.conversations.summaries(talk, "me")
    written, fact, *_ = summary.text.splitlines()
    assert written == "They spoke of harbours."
    assert fact == "Harbour 0 handled 0 ships in spring (Ports.pdf, p. 2)."
    answer, _ = ask(chatbot, "What of harbour 3?", talk)
    assert "summary" in {note.layer for note in answer.notes}


def test_a_summary_that_fails_loses_nothing(make: Make) -> None:
    chatbot = make(ScriptedModel(["The ceiling is 3.0 per cent."], [ModelError("busy")]))
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, talk, 9, words=1)
    answer, _ = ask(chatbot, QUESTION, talk)
    assert answer.answered
    assert chatbot.conversations.summaries(talk, "me") == []


def test_a_stopped_answer_keeps_what_had_come(make: Make) -> None:
    chatbot = make(ScriptedModel(["The ceiling ", "is ", "3.0 per cent."]))
    talk = chatbot.conversations.begin("me")
    stop_at(Token, chatbot, talk)
    (said,) = chatbot.conversations.said(talk, "me")
    assert (said.state, said.assistant) == ("stopped", "The ceiling ")
    stopped = Exchange(QUESTION, "The ceiling (stopped, unchecked)")
    assert chatbot.memory.window(talk, "me") == (stopped,)


def test_an_error_instead_of_an_answer_is_kept_as_that(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")

    def fail(*_: object) -> object:
        raise ModelError("broken")

    monkeypatch.setattr(chatbot.finder, "pages", fail)
    with pytest.raises(ModelError):
        ask(chatbot, QUESTION, talk)
    (said,) = chatbot.conversations.said(talk, "me")
    assert said.state == "failed"


def test_an_answer_is_given_though_it_cannot_be_kept(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_database, "BUSY_SECONDS", 0.05)
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    holder = sqlite3.connect(tmp_path / "home" / "chroma_db" / "memory.sqlite3", isolation_level=None)
    holder.execute("begin exclusive")
    answer, events = ask(chatbot, QUESTION, talk)
    holder.execute("rollback")
    holder.close()
    assert "3.0 per cent" in answer.text
    assert answer.exchange is None
    assert any("not saved: Another program is using" in text for text in notices(events))
    assert len(chatbot.conversations.said(talk, "me")) == 1
    afterwards, _ = ask(chatbot, QUESTION, talk)
    assert afterwards.exchange == 2


def test_an_answer_is_given_though_the_conversation_cannot_be_read(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    with chatbot.conversations._disk.write() as connection:
        connection.execute("alter table exchange rename to damaged")
    answer, events = ask(chatbot, "What is the debt anchor? Remind me.", talk)
    assert "60 per cent" in answer.text
    told = notices(events)
    assert any(text.startswith("Answered without the earlier conversation: ") for text in told)
    assert any(text.startswith("This exchange was not saved: ") for text in told)


def test_somebody_elses_conversation_is_neither_read_nor_written(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("her")
    ask(chatbot, QUESTION, talk, "her")
    with pytest.raises(NotFoundError):
        ask(chatbot, "And the anchor?", talk, "me")
    assert len(chatbot.conversations.said(talk, "her")) == 1
    assert chatbot.memory.answer(talk, 1, "me") is None
    assert chatbot.memory.stats(talk, "me").message_count == 0


def test_a_kept_answer_leads_to_where_its_file_stands_today(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    first, _ = ask(chatbot, QUESTION, talk)
    version = first.citations[0].version
    assert version is not None
    # As in a store that was built anew: the file has another number, and its number is another file's.
    digest = next(iter(chatbot.library.catalog.hashes_of("Rules.pdf")))
    citations = tuple(replace(one, version=999) for one in first.citations)
    moved = replace(first, citations=citations, considered=())
    chatbot.conversations.finish(talk, 1, moved, {999: digest}, owner="me")
    found = kept_answer(chatbot, talk)
    assert {citation.version for citation in found.citations} == {version}
    chatbot.conversations.finish(talk, 1, first, {version: "0" * 64}, owner="me")
    gone = kept_answer(chatbot, talk)
    assert {citation.version for citation in gone.citations} == {None}


def test_old_conversations_are_erased_at_the_next_start(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    with chatbot.conversations._disk.write() as connection:
        connection.execute("update conversation set changed_at = changed_at - 31 * 86400")
    chatbot.close()
    kept_for_ever = make()
    assert len(kept_for_ever.conversations.listed("me")) == 1
    kept_for_ever.close()
    restarted = make(retention_days=30)
    assert restarted.conversations.listed("me") == []
