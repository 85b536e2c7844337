"""Defines a question with its circumstances, and checks whether it can be asked."""

from __future__ import annotations

from dataclasses import dataclass

from chatbot.asking.external_texts import ExternalText
from chatbot.errors import QuestionError
from chatbot.models.tokens import encodable
from chatbot.records import Exchange
from chatbot.user_settings import Value

__all__ = ["LONGEST_QUESTION", "Ask", "checked"]

# A longer question is a document: it should be added, not asked. 60,000 characters are embedded in 60
# windows, within two seconds.
LONGEST_QUESTION = 60_000


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with its circumstances.

    question: the question.
    names: documents to stay in, () for all.
    history: exchanges to use instead of a conversation's.
    conversation: its id, None to remember nothing.
    owner: whose conversation it is.
    model: the model that answers, as in `chatbot.asking.named_models.model_settings`; "" for the one that
        the owner or the settings chose.
    texts: from outside the store, to answer from beside the documents.
    documents: whether the store's documents are searched. If not, and without texts, the chat model answers
        alone, and nothing is cited.
    tools: whether that model may first call tools of the servers that the user's mcp.json names.
    window_alone: whether the prompt gets the live exchanges alone, without memories and what was before.
    beside: the answer to the same question for another period, whose row is preferred; "" for that of the
        conversation, if the question only names another period.
    compression: settings of the conversation by name that hold for this question, such as
        ("compression_gamma", 2.0).
    strategy: how the pieces of a long question are combined, one of fusion.STRATEGIES; "" for that of the
        settings.
    takes_advice: whether a question that is advice is remembered as such.
    verify: whether a chat model's answer may be read back, if the settings have that.
    proposes: whether the model may name calls of such tools that it would make now that it has read pages.
        They are made only if the user says so.
    calls: calls of that kind which the user has said yes to, as (tool, arguments in JSON).
    """

    question: str
    names: tuple[str, ...] = ()
    conversation: str | None = None
    history: tuple[Exchange, ...] | None = None
    owner: str = "local"
    model: str = ""
    texts: tuple[ExternalText, ...] = ()
    documents: bool = True
    tools: bool = False
    window_alone: bool = False
    beside: str = ""
    compression: tuple[tuple[str, Value], ...] = ()
    strategy: str = ""
    takes_advice: bool = True
    verify: bool = True
    proposes: bool = False
    calls: tuple[tuple[str, str], ...] = ()


def checked(question: str) -> str:
    """The question without surrounding space. Raises QuestionError if it is empty or too long."""
    question = question.strip()
    if not any(map(str.isalnum, question)):
        raise QuestionError("The question is empty.", hint="Ask something about the documents.")
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(
            f"The question has {len(question):,} characters.",
            hint=f"Ask in at most {LONGEST_QUESTION:,}, or add the text as a document.",
        )
    return encodable(question.replace("\x00", " "))
