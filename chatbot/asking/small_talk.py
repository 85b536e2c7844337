"""Words replies that need no document: greetings, help, lists of documents and of what was said before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS
from chatbot.records import GUIDE, Answer, DocumentRow, Exchange, Understanding

__all__ = ["about_conversation", "about_documents", "guided", "small_talk"]

WHAT_WORKS = """Ask in your own words. What works well:
• a figure: “What was total revenue in 2023?”, “How much did spending on health grow?”
• a calculation: margins, growth, shares, differences between rows you name
• a reason, a list, a yes or no: “Why was the rate raised?”, “Which risks are named?”
• a whole document: “Summarise NAME”, “Which chapters does it have?”, “Main points of chapter 2”
• this conversation: “What did I ask first?”, “Summarise our conversation”
Every answer shows the page it comes from. If the documents do not answer, it says so."""
NO_PROMPT = """Nothing is hidden. Without a chat model there is no prompt: fixed rules choose sentences and \
rows from the pages.
With a chat model, the whole prompt of each answer is under “Details”."""
# In a summary of the conversation: characters of a question and of an answer's beginning, and how many
# exchanges.
LONGEST_QUESTION = 160
LONGEST_ANSWER = 220
MOST_EXCHANGES = 20
MOST_DOCUMENTS = 30


def small_talk(kind: str, documents: Sequence[DocumentRow]) -> str:
    """The reply to a greeting, to thanks, to a question for help or for the prompt."""
    if kind == "thanks":
        return "You're welcome. Ask me anything else."
    if kind == "prompt":
        return NO_PROMPT
    here = (
        "There are no documents yet. Add some on the Documents page, or attach one to a question."
        if not documents
        else f"{_count(documents)} here."
    )
    if kind == "greeting":
        return f"Hello. I answer questions about your documents and show the page for each statement. {here}"
    return (
        "I am a program that answers questions about your documents and shows the page for each "
        f"statement. {here}\n\n{WHAT_WORKS}"
    )


def about_documents(documents: Sequence[DocumentRow], titles: Mapping[str, str]) -> str:
    """Which documents there are, with what they say of themselves. titles: by name."""
    if not documents:
        return "There are no documents yet. Add some on the Documents page, or attach one to a question."
    lines = [f"• {_described(row, titles.get(row.name, row.name))}" for row in documents[:MOST_DOCUMENTS]]
    more = (
        f"\n… and {len(documents) - MOST_DOCUMENTS:,} more on the Documents page."
        if len(documents) > MOST_DOCUMENTS
        else ""
    )
    return f"{_count(documents)} here:\n" + "\n".join(lines) + more


def about_conversation(kind: str, said: Sequence[Exchange]) -> str:
    """What was asked first or last, or each question with the beginning of its answer.

    said: the exchanges before, oldest first, without small talk.
    """
    if not said:
        return "You have not asked anything in this conversation yet."
    if kind == "first_question":
        return f"Your first question was: “{_short(said[0].user, LONGEST_QUESTION)}”"
    latest = list(enumerate(said, 1))[-MOST_EXCHANGES:]
    questions = [f"{number}. {_short(exchange.user, LONGEST_QUESTION)}" for number, exchange in latest]
    if kind == "last_question":
        last = f"Your last question was: “{_short(said[-1].user, LONGEST_QUESTION)}”"
        if len(questions) == 1:
            return last
        return f"{last}\n\nAll your questions so far:\n" + "\n".join(questions)
    if len(said) > MOST_EXCHANGES:
        heading = f"The last {MOST_EXCHANGES} of {len(said)} questions, each with the start of its answer:"
    else:
        heading = "Your questions so far, each with the start of its answer:"
    lines = [heading]
    for question, (_, exchange) in zip(questions, latest, strict=True):
        lines.append(question)
        lines.append(f"    {_short(exchange.assistant, LONGEST_ANSWER)}")
    return "\n".join(lines)


def _count(documents: Sequence[DocumentRow]) -> str:
    if len(documents) == 1:
        return "There is one document"
    return f"There are {len(documents):,} documents"


def _described(row: DocumentRow, title: str) -> str:
    pages = "one page" if row.pages == 1 else f"{row.pages:,} pages"
    named = row.name if title == row.name else f"{row.name}: {title}"
    return f"{named} ({', '.join(filter(None, (row.period, row.status, pages)))})"


def _short(text: str, most: int) -> str:
    """The first paragraph on one line; a long one is cut after the last whole word that has room."""
    line = " ".join(KEYS_IN_BRACKETS.sub("", text).strip().partition("\n\n")[0].split())
    if len(line) <= most:
        return line
    return f"{line[: most + 1].rpartition(' ')[0] or line[:most]} …"


def guided(kind: str, question: str, text: str) -> Answer:
    """An answer that no page gives. kind: the form of its question."""
    understanding = Understanding(question, question, kind)
    return Answer(question, question, text, True, model=GUIDE, understanding=understanding)
