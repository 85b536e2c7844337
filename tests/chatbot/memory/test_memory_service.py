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
from chatbot.records import Answer, Citation, Event, Exchange, Note, Notice, Recall, Token
from chatbot.service import Chatbot
from tests.fakes import ScriptedModel
from tests.stores import Make

QUESTION = "What is the deficit ceiling?"


def ask(chatbot: Chatbot, question: str, talk: str | None, owner: str = "me") -> tuple[Answer, list[Event]]:
    asked = Ask(question, conversation=talk, owner=owner)
    events = list(chatbot.ask(asked))
    assert isinstance(events[-1], Answer)
    chatbot.settle(asked)
    return events[-1], events


def talk_on(chatbot: Chatbot, talk: str, exchanges: int, words: int = 20) -> None:
    """Other matters: exchanges of some words each."""
    for number in range(exchanges):
        kept = chatbot.conversations.start(talk, f"What of harbour {number}?")
        text = " ".join(f"Harbour {number} handled {place} ships in spring [S1]." for place in range(words))
        citation = Citation("S1", "Ports.pdf", 2, None, "ships", True)
        chatbot.conversations.finish(
            talk,
            kept,
            Answer("q", f"What of harbour {number}?", text, True, citations=(citation,)),
            {},
            owner="me",
        )


def notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def test_sixty_exchanges_past_the_threshold_are_shortened_and_an_early_figure_keeps_its_page(
    make: Make,
) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    talk_on(chatbot, talk, 59, words=30)
    before = chatbot.memory.stats(talk, "me")
    assert before.message_count == 120 and before.token_count > 20_000 and not before.compressed
    answer, _ = ask(chatbot, "What was the deficit ceiling that you gave me at the beginning?", talk)
    assert answer.search_query == QUESTION
    assert "3.0 per cent" in answer.text and {
        (citation.document, citation.page) for citation in answer.citations
    } == {("Rules.pdf", 1)}
    assert answer.compression is not None and answer.prompt is not None
    assert (
        "The deficit ceiling is 3.0 per cent of output in every year. ⟦Rules.pdf, p. 1⟧"
        in answer.prompt.messages[-1][1]
    )
    kept = answer.compression
    assert kept.original_tokens == before.token_count > 3 * kept.compressed_tokens
    assert 1 in kept.kept and len(kept.kept) < 55
    said = chatbot.conversations.said(talk, "me")[0]
    assert "".join(said.cited[start:end] for start, end in kept.kept[1][1]).startswith(
        "The deficit ceiling is 3.0 per cent"
    )
    assert count_tokens(answer.prompt.messages[-1][1]) < 12_000
    after = chatbot.memory.stats(talk, "me")
    assert (after.compressed, after.compression_count) == (True, 1)
    assert after.compression_history[0]["original_tokens"] == before.token_count
    assert after.compression_history[0]["compressed_tokens"] == kept.compressed_tokens


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
    before = memory.before(Recall(QUESTION, None, chatbot.conversations.begin("me"), "me"))
    assert [note.source for note in before.notes] == ["a substitute"] and before.notices == (
        Notice("A substitute stands in."),
    )


def test_shortening_can_be_switched_off_in_a_conversation_and_by_a_setting(
    make: Make, tmp_path: Path
) -> None:
    chatbot = make(compression_tokens=1_000)
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, talk, 10)
    assert ask(chatbot, QUESTION, talk)[0].compression is not None
    chatbot.conversations.choose(talk, "me", compresses=False, recalls_others=False)
    answer, _ = ask(chatbot, QUESTION, talk)
    assert answer.compression is None
    assert answer.prompt is not None and len(answer.prompt.exchanges) == 5 and answer.prompt.earlier == ()
    assert (
        chatbot.memory.stats(talk, "me").compressed is False
        and chatbot.memory.stats(talk, "me").compression_count == 1
    )


def test_no_exchange_is_in_neither(make: Make) -> None:
    """Above the threshold each exchange is whole in the prompt, or among what is weighed: whatever of them
    a question is about, it is brought.
    """
    chatbot = make(compression_tokens=1_000, prompt_exchanges=3)
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, talk, 12)
    whole = chatbot.memory.stats(talk, "me").token_count
    for number in range(12):
        before = chatbot.memory.before(Recall(f"Harbour {number}?", None, talk, "me"))
        assert before.compression is not None and before.compression.original_tokens == whole
        brought = [text for _, text in before.earlier] + [exchange.assistant for exchange in before.exchanges]
        assert any(f"Harbour {number} handled" in text for text in brought), number
        assert [exchange.user for exchange in before.exchanges] == [
            f"What of harbour {last}?" for last in (9, 10, 11)
        ]


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
    chatbot = make(compression_tokens=1_000)
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    talk_on(chatbot, talk, 30, words=30)
    huge = chatbot.conversations.start(
        talk, "What of ceiling lanterns?"
    )  # the second by its words, and more than there is room for
    chatbot.conversations.finish(
        talk, huge, Answer("q", "q", "Ceiling lanterns glow. " * 1_000, True), {}, owner="me"
    )
    talk_on(chatbot, talk, 6, words=1)
    before = chatbot.memory.before(Recall(QUESTION, None, talk, "me"))
    assert (
        before.compression is not None
        and 1 in before.compression.kept
        and huge not in before.compression.kept
    )
    assert 4 <= weighed[-1] <= 20
    assert before.compression.chunks_compressed > 40


def test_long_last_exchanges_share_their_part_of_the_prompt(make: Make) -> None:
    chatbot = make(context_tokens=2_000)
    fact = "The lighthouse cost 77 million crowns (Ports.pdf, p. 3)."
    long = " ".join([*(f"Harbour {number} is quiet." for number in range(2_000)), fact])
    fitted = chatbot.memory.fitted(
        [Exchange("Short?", "Short."), Exchange("Tell me of harbours.", long)],
        "What did the lighthouse cost?",
    )
    assert (
        fitted[0] == Exchange("Short?", "Short.")
        and fact in fitted[1].assistant
        and fitted[1].assistant.endswith("(shortened)")
    )
    assert count_tokens(fitted[1].assistant) < 0.36 * 2_000
    asked = Ask(QUESTION, history=(Exchange("Tell me of harbours.", long),))
    answer = next(event for event in chatbot.ask(asked) if isinstance(event, Answer))
    assert answer.prompt is not None and count_tokens(answer.prompt.messages[-1][1]) < 2_000


def test_a_follow_up_leans_on_a_question_whose_answer_was_stopped(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "What is the deficit ceiling in 2024?", talk)
    number = chatbot.conversations.start(talk, "What is the debt anchor in 2024?")
    chatbot.conversations.write(talk, number, "The debt", owner="me", state="stopped")
    assert ask(chatbot, "And in 2030?", talk)[0].search_query == "What is the debt anchor in 2030?"


def test_a_question_of_its_own_is_never_replaced_by_an_earlier_one(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "What was the debt anchor at the end of the year?", talk)
    for question in (
        "What was the debt anchor at the beginning of the year?",
        "Is the debt anchor to be reached earlier than 2030?",
    ):
        assert ask(chatbot, question, talk)[0].search_query == question


def test_a_notice_wipes_nothing_of_what_had_come(make: Make) -> None:
    chatbot = make(ScriptedModel(["The ceiling is ", "3.0 per cent."], finish="length"))
    talk = chatbot.conversations.begin("me")
    events = chatbot.ask(Ask(QUESTION, conversation=talk, owner="me"))
    for event in events:
        if isinstance(event, Notice):
            break
    events.close()  # type: ignore[attr-defined]
    assert chatbot.conversations.said(talk, "me")[0].assistant == "The ceiling is 3.0 per cent."


def test_a_write_that_fails_on_the_way_loses_no_answer(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")

    def fail(*_: object, **__: object) -> None:
        raise StoreError("locked")

    monkeypatch.setattr(chatbot.conversations, "write", fail)
    answer, events = ask(chatbot, QUESTION, talk)
    assert answer.exchange == 1 and notices(events) == []
    assert chatbot.conversations.said(talk, "me")[0].state == "complete"


def test_an_answer_whose_conversation_is_erased_meanwhile_is_given(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "What is the debt anchor?", talk)
    events = chatbot.ask(Ask(QUESTION, conversation=talk, owner="me"))
    next(iter(events))
    chatbot.conversations.erase(talk, "me")
    rest = list(events)
    answer = rest[-1]
    assert isinstance(answer, Answer) and "3.0 per cent" in answer.text and answer.exchange is None
    assert any("erased meanwhile" in text for text in answer.notices) and set(notices(rest)) == set(
        answer.notices
    )


def test_what_waits_for_the_end_is_done_though_the_embedder_is_down(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    chatbot = make(retention_days=30)
    old, talk = chatbot.conversations.begin("me"), chatbot.conversations.begin("me")
    talk_on(chatbot, old, 1)
    with chatbot.conversations._disk.write() as connection:
        connection.execute(
            "update conversation set changed_at = changed_at - 31 * 86400 where id = ?", (old,)
        )

    def fail(_: object, *, query: bool = False) -> None:
        raise ModelError("down")

    monkeypatch.setattr(chatbot.library.embedder, "embed", fail)
    ask(chatbot, QUESTION, talk)
    assert [row.id for row in chatbot.conversations.listed("me")] == [talk]


def test_below_the_threshold_older_exchanges_are_recalled(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    talk_on(chatbot, talk, 6, words=1)
    answer, _ = ask(chatbot, "Is the deficit ceiling 3.0 per cent of output?", talk)
    assert answer.compression is None
    assert [note.layer for note in answer.notes] == ["history"]
    assert (
        answer.prompt is not None
        and "- (history, this conversation, exchange 1, " in answer.prompt.messages[-1][1]
    )
    assert ask(chatbot, "Who sails to Heligoland?", talk)[0].notes == ()


def test_a_question_goes_back_to_an_earlier_topic(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, "What does the debt service come to?", talk)
    talk_on(chatbot, talk, 12, words=1)
    answer, _ = ask(chatbot, "Let's go back to the debt service topic.", talk)
    assert answer.search_query == "What does the debt service come to?" and "1,577 million" in answer.text
    assert answer.question == "Let's go back to the debt service topic."


def test_what_is_gone_back_to_may_stand_in_another_conversation(make: Make) -> None:
    chatbot = make()
    first, second = chatbot.conversations.begin("me"), chatbot.conversations.begin("me")
    ask(chatbot, "What does the debt service come to?", first)
    ask(chatbot, "What is the debt anchor?", second)
    query = "Go back to the service topic"
    assert ask(chatbot, query, second)[0].search_query != "What does the debt service come to?"
    chatbot.conversations.choose(second, "me", compresses=True, recalls_others=True)
    assert ask(chatbot, query, second)[0].search_query == "What does the debt service come to?"


def test_old_exchanges_are_summarised_by_the_model_once(make: Make) -> None:
    def reply(messages: object) -> list[str]:
        return (
            ["They spoke of harbours."] if "Summarise" in str(messages) else ["The ceiling is 3.0 per cent."]
        )

    model = ScriptedModel(reply)
    chatbot = make(model)
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, talk, 9, words=1)
    ask(chatbot, QUESTION, talk)
    ask(chatbot, QUESTION, talk)
    assert sum("Summarise" in str(messages) for messages, _, _ in model.calls) == 1
    assert chatbot.conversations.summaries(talk, "me")[0].text.splitlines()[:2] == [
        "They spoke of harbours.",
        "Harbour 0 handled 0 ships in spring (Ports.pdf, p. 2).",
    ]
    answer, _ = ask(chatbot, "What of harbour 3?", talk)
    assert "summary" in {note.layer for note in answer.notes}
    model_off = ScriptedModel(reply)
    chatbot.close()
    quiet = make(model_off, summary=False)
    other = quiet.conversations.begin("me")
    talk_on(quiet, other, 9, words=1)
    ask(quiet, QUESTION, other)
    assert not any("Summarise" in str(messages) for messages, _, _ in model_off.calls)


def test_a_summary_that_fails_loses_nothing(make: Make) -> None:
    chatbot = make(ScriptedModel(["The ceiling is 3.0 per cent."], [ModelError("busy")]))
    talk = chatbot.conversations.begin("me")
    talk_on(chatbot, talk, 9, words=1)
    answer, _ = ask(chatbot, QUESTION, talk)
    assert answer.answered and chatbot.conversations.summaries(talk, "me") == []


def test_a_stopped_answer_keeps_what_had_come(make: Make) -> None:
    chatbot = make(ScriptedModel(["The ceiling ", "is ", "3.0 per cent."]))
    talk = chatbot.conversations.begin("me")
    events = chatbot.ask(Ask(QUESTION, conversation=talk, owner="me"))
    for event in events:
        if isinstance(event, Token):
            break
    events.close()  # type: ignore[attr-defined]
    (said,) = chatbot.conversations.said(talk, "me")
    assert (said.state, said.assistant) == ("stopped", "The ceiling ")
    assert chatbot.memory.window(talk, "me") == (Exchange(QUESTION, "The ceiling (stopped, unchecked)"),)


def test_an_error_instead_of_an_answer_is_kept_as_that(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")

    def fail(*_: object) -> object:
        raise ModelError("broken")

    monkeypatch.setattr(chatbot.finder, "pages", fail)
    with pytest.raises(ModelError):
        ask(chatbot, QUESTION, talk)
    assert [said.state for said in chatbot.conversations.said(talk, "me")] == ["failed"]


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
    assert "3.0 per cent" in answer.text and answer.exchange is None
    assert [text for text in notices(events) if "not kept: Another program holds" in text]
    assert len(chatbot.conversations.said(talk, "me")) == 1
    assert ask(chatbot, QUESTION, talk)[0].exchange == 2


def test_an_answer_is_given_though_the_conversation_cannot_be_read(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    with chatbot.conversations._disk.write() as connection:
        connection.execute("alter table exchange rename to damaged")
    answer, events = ask(chatbot, "What is the debt anchor? Remind me.", talk)
    assert "60 per cent" in answer.text
    assert [text for text in notices(events) if text.startswith("Answered without the conversation before: ")]
    assert [text for text in notices(events) if text.startswith("This exchange is not kept: ")]


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
    kept = chatbot.memory.answer(talk, 1, "me")
    assert (
        kept is not None and kept.citations == first.citations and kept.understanding == first.understanding
    )
    assert (
        kept.prompt is not None and first.prompt is not None and kept.prompt.messages == first.prompt.messages
    )
    version = first.citations[0].version
    assert version is not None
    # As in a store that was built anew: the file has another number, and its number is another file's.
    digest = next(iter(chatbot.library.catalog.hashes_of("Rules.pdf")))
    moved = replace(
        first, citations=tuple(replace(one, version=999) for one in first.citations), considered=()
    )
    chatbot.conversations.finish(talk, 1, moved, {999: digest}, owner="me")
    found = chatbot.memory.answer(talk, 1, "me")
    assert found is not None and {citation.version for citation in found.citations} == {version}
    chatbot.conversations.finish(talk, 1, first, {version: "0" * 64}, owner="me")
    gone = chatbot.memory.answer(talk, 1, "me")
    assert gone is not None and {citation.version for citation in gone.citations} == {None}


def test_erasing_a_document_takes_its_text_out_of_kept_answers(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("me")
    ask(chatbot, QUESTION, talk)
    chatbot.remove("Rules.pdf")
    kept = chatbot.memory.answer(talk, 1, "me")
    assert kept is not None and kept.prompt is not None and "Parliament" in kept.prompt.messages[-1][1]
    chatbot.restore("Rules.pdf")
    chatbot.remove("Rules.pdf", purge=True)
    kept = chatbot.memory.answer(talk, 1, "me")
    assert (
        kept is not None
        and kept.prompt is not None
        and "reported to Parliament within" not in kept.prompt.messages[-1][1]
    )
    assert all(hit.text == "" for hit in kept.considered)
    assert "3.0 per cent" in kept.text


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
    assert make(retention_days=30).conversations.listed("me") == []
