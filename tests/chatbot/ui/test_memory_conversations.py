"""The tab of long conversations: which were shortened, by how much each time, and what was kept then;
another's are not seen.
"""

from __future__ import annotations

from tests.chatbot.ui.test_memory_pages import store  # isort: skip

from dataclasses import replace

from streamlit.testing.v1 import AppTest

from chatbot.app.app_context import AppContext
from chatbot.memory.compression.compression_tab import shares_of
from chatbot.memory.compression.sessions import CompressionStats
from chatbot.memory.conversations.conversation_store import Conversations
from chatbot.records import Answer, Compression
from tests.pages import ME, OTHER, click, keys, shown, visit

__all__ = ["store"]
SHORTENED = Compression(24_310, 12_040, 3, {1: (((0, 3),), ((0, 4),))}, whole_from=2)


def talk(conversations: Conversations, conversation: str, owner: str, *, shortened: bool) -> None:
    """Three exchanges, the last of which was answered with the others shortened."""
    conversations.begin(owner, conversation)
    for question in ("One?", "Two?", "Three?"):
        number = conversations.start(conversation, question)
        compression = SHORTENED if shortened and question == "Three?" else None
        answer = Answer(question, question, f"Said of {question}", True, conversation=conversation)
        numbered = replace(answer, exchange=number, compression=compression)
        conversations.finish(conversation, number, numbered, {}, owner=owner)


def tab() -> AppTest:
    app = visit("memory_page.py")
    app.session_state["memory-tab"] = "Long conversations"
    app.run()
    assert not app.exception
    return app


def test_a_conversation_that_was_never_shortened_teaches_what_that_is(
    context: AppContext, store: Conversations
) -> None:
    talk(store, "mine", ME, shortened=False)
    talk(store, "theirs", OTHER, shortened=True)
    app = tab()
    assert "None of your conversations has been shortened yet." in shown(app)
    assert not app.selectbox


def test_each_time_is_charted_and_leads_to_what_was_kept(context: AppContext, store: Conversations) -> None:
    talk(store, "mine", ME, shortened=True)
    talk(store, "plain", ME, shortened=False)
    app = tab()
    assert app.selectbox(key="shortened-conversation").options == ["One?"]
    assert "12,040 (50%) of 24,310 tokens kept, 3 turns shortened" in shown(app)
    assert keys(app, "shortened-") == ["shortened-3"]
    assert "Exchange 1: kept in part" in click(app, "shortened-3")


def test_what_the_chart_shows_adds_up() -> None:
    once = {"timestamp": 0.0, "original_tokens": 2_000, "compressed_tokens": 900, "chunks_compressed": 3}
    stats = CompressionStats(12, 2_345, True, 1, (once,))
    kept, left = shares_of(stats)
    assert kept["part"] == "kept"
    assert kept["tokens"] == 900
    assert left["part"] == "cut"
    assert left["tokens"] == 1_100
    assert kept["answer"] == left["answer"]
