"""What a message asks of the chatbot itself, of the conversation, or of a document as a whole; knows how
people word that, and answers nothing.

A naive Bayes classifier over the words of intents.tsv and their pairs, behind a gate: a message that has a
word which none of the intent's wordings has is a question about the documents. Of 144 wordings by another
hand it tells 141, and of 637 questions about documents, half of them made to look like an intent, it takes 2
for one (`benchmarks/intents.py`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from chatbot.search.routing import document_parts, named_share
from ingestion.language.terms import STOP_WORDS, terms

__all__ = ["OF_CONVERSATION", "WHOLE", "Intent", "intent_of"]

WORDINGS = Path(__file__).with_name("intents.tsv")
# Intents that ask for a document as a whole, or for a part of it.
WHOLE = frozenset(("summary", "outline", "chapter"))
# Intents that the conversation answers, and whom they speak of: "Who asked the first question?" is of a
# transcript.
OF_CONVERSATION = frozenset(("first_question", "last_question", "conversation_summary"))
US = frozenset(
    "i we me us my our mine ours you your convers chat session thread discuss dialogu far recap".split()
)
# The class of questions that have no word of a subject and are asked of the documents all the same: "and the
# year before?"
NONE = "none"
CHAPTER = "chapter"
# What stands in a message for a document's name, a part by its number, and a part by its title.
DOCUMENT, PART = "xxdocument", "xxpart"
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|\?")
KINDS_OF_PARTS = (
    r"(?i:chapters?|sections?|parts?|appendix|appendices|annex(?:es)?|notes?|items?|articles?|box|boxes"
    r"|paragraphs?)"
)
NUMBER = (
    r"(?:\d{1,3}(?:\.\d{1,3}){0,3}[A-Za-z]?|[A-Z]|[IVXivx]{1,5}|one|two|three|four|five|six|seven|eight|nine"
    r"|ten)"
)
NUMBERED_PART = re.compile(rf"\b{KINDS_OF_PARTS} (?i:no\.? |number )?{NUMBER}(?![\w.]?\w)")
NAMED_PART = re.compile(
    (
        r"\b(?:(?:introductory|concluding) (?:chapter|section|part|remarks)|introduction|conclusions?"
        r"|(?<=the )executive summary|foreword|preface)\b"
    ),
    re.IGNORECASE,
)
KIND_OF_PART = re.compile(rf"\b{KINDS_OF_PARTS}\b", re.IGNORECASE)
# "Who audited the statements?" asks for no summary, though a document is called so.
ASKS_ONE_THING = re.compile(r"\W*(?:who|whom|whose|when|where|why|how many|how much)\b", re.IGNORECASE)
ORDERS = re.compile(r"\b(?:summar\w+|outline|overview|recap)\b", re.IGNORECASE)
# The share of what tells a document's name from others from which on a message names it.
NAMED = 0.5
# Letters and digits of a name stand apart. A part of so many letters is also named by a longer word:
# "Zambian".
PART_OF_NAME = re.compile(r"[^\W\d_]+|\d+")
LONG_PART = 5
# Letters that stand for words of a name.
SHORTEST_INITIALS = 3
# Messages beyond so many words are questions.
MOST_WORDS = 30
# Intents whose words nobody can list; in any other a word of no wording is of a subject, whether the
# documents have it or not.
SMALL_TALK = frozenset(("greeting", "thanks"))
# Wordings that a word or pair counts as standing in beside those that have it.
UNSEEN = 0.3
# Wordings that have what an intent is known by, and how many times as often as questions about documents.
FEWEST_TELLING, MORE_TELLING = 3, 4.0
# Other intents whose wordings have a word from which on it may stand in any: "please", "show".
COMMON_WORD = 3


@dataclass(frozen=True, slots=True)
class Intent:
    """What a message asks for. kind: "greeting", "thanks", "help", "prompt", "documents", "first_question",
    "last_question", "conversation_summary", "explain", "summary", "outline" or "chapter". document: the one
    it names, "" for none. part: of a chapter, as written: "chapter 2", "Fiscal risks"."""

    kind: str
    document: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class _Model:
    """features: intent -> how many of its wordings have each; words: intent -> those of its wordings; count:
    intent -> of its wordings; telling: intent -> features that its wordings have far more often than
    questions about documents; whole: the wordings."""

    features: dict[str, Counter[str]]
    words: dict[str, frozenset[str]]
    count: Counter[str]
    telling: dict[str, frozenset[str]]
    whole: frozenset[tuple[str, ...]]


def intent_of(
    message: str,
    *,
    documents: Collection[str] = (),
    known: Callable[[str], bool] = lambda term: False,
    heading: Callable[[str], str] = lambda message: "",
) -> Intent | None:
    """The intent of a message, None for a question about the documents.

    documents: names of those in reach. known: whether one of them has a term. heading: the title of a part of
    theirs that a text names, "" for none; asked only of what speaks of parts.
    """
    if len(message.split()) > MOST_WORDS:
        return None
    named, text = _without_document(" ".join(message.replace("’", "'").split()), documents)
    model = _model()
    # A document's parts are looked through only where something is asked of one.
    asks = not model.telling[CHAPTER].isdisjoint(_features(_words(text)))
    text, part = _without_part(text, heading if asks else lambda message: "")
    words = _words(text)
    if not words:
        return None
    kind = _likeliest(model, words, without="" if part else CHAPTER)
    if part and kind in {"summary", "outline", "explain"}:
        kind = CHAPTER
    known_by = (
        kind == CHAPTER or tuple(words) in model.whole or not model.telling[kind].isdisjoint(_features(words))
    )
    if (
        kind == NONE
        or not known_by
        or (kind in WHOLE and ASKS_ONE_THING.match(message) and not ORDERS.search(message))
        or (kind in OF_CONVERSATION and US.isdisjoint(words))
    ):
        return None
    if any(_speaks_of_documents(word, kind, model, known) for word in words):
        return None
    return Intent(kind, named, part)


def _speaks_of_documents(word: str, kind: str, model: _Model, known: Callable[[str], bool]) -> bool:
    """Whether a word is no intent's, and some document has it."""
    if (
        word in model.words[kind]
        or word in STOP_WORDS
        or len(word) < 2
        or sum(word in words for words in model.words.values()) >= COMMON_WORD
    ):
        return False
    return known(word) or kind not in SMALL_TALK


def _likeliest(model: _Model, words: list[str], *, without: str) -> str:
    """The intent under which the words and their pairs are likeliest, all intents but one alike before."""
    found = set(_features(words))

    def likelihood(kind: str) -> float:
        counts = model.features[kind]
        return sum(
            math.log((counts[feature] + UNSEEN) / (model.count[kind] + 2 * UNSEEN)) for feature in found
        )

    return max((kind for kind in model.features if kind != without), key=likelihood)


@cache
def _model() -> _Model:
    features: dict[str, Counter[str]] = {}
    words: dict[str, set[str]] = {}
    count = Counter[str]()
    whole = set[tuple[str, ...]]()
    for line in WORDINGS.read_text(encoding="utf-8").splitlines():
        kind, _, wording = line.partition("\t")
        found = _words(
            _without_part(
                _without_document(wording, ["DOC"])[1], lambda text: "HEADING" if "HEADING" in text else ""
            )[0]
        )
        count[kind] += 1
        whole.add(tuple(found))
        features.setdefault(kind, Counter()).update(set(_features(found)))
        words.setdefault(kind, set()).update(found)
    return _Model(
        features,
        {kind: frozenset(of) for kind, of in words.items()},
        count,
        {kind: _telling(kind, features, count) for kind in features},
        frozenset(whole),
    )


def _telling(kind: str, features: dict[str, Counter[str]], count: Counter[str]) -> frozenset[str]:
    """What an intent is known by."""

    def share(of: str, feature: str) -> float:
        return features[of][feature] / count[of]

    return frozenset(
        feature
        for feature, often in features[kind].items()
        if often >= FEWEST_TELLING and share(kind, feature) >= MORE_TELLING * share(NONE, feature)
    )


def _words(text: str) -> list[str]:
    """The words, stemmed where they carry a subject."""
    plain = re.sub(r"n't\b", " not", re.sub(r"'(?:d|s|re|ve|ll|m)\b", " ", text.casefold()))
    found = [
        next(iter(terms(word)), word) if word not in STOP_WORDS else word for word in WORD.findall(plain)
    ]
    return [word for at, word in enumerate(found) if word != DOCUMENT or found[at - 1 : at] != [DOCUMENT]]


def _features(words: list[str]) -> Iterator[str]:
    yield from words
    yield from (f"{one} {other}" for one, other in pairwise(["<", *words, ">"]))


def _without_document(message: str, documents: Iterable[str]) -> tuple[str, str]:
    """(the document that a message names, by all of its file's name or by what tells it from others, "" where
    it names several alike or none; the message with a mark in the place of that name)."""
    said = set(map(str.casefold, PART_OF_NAME.findall(message)))
    found: dict[str, tuple[float, int]] = {}
    for name in documents:
        words = _name_words(name)
        if words <= said:
            share = 1.0
        else:
            share = named_share(document_parts(name), message)
        if share >= NAMED:
            found[name] = (share, len(words & said))
    named = [name for name, of in found.items() if of == max(found.values())]
    if not named:
        return "", message
    words = frozenset({"pdf"}).union(*map(_name_words, named))
    message = _without_initials(message, words)

    def marked(match: re.Match[str]) -> str:
        word = match[0].casefold()
        if word in words or any(word.startswith(part) for part in words if len(part) >= LONG_PART):
            return f" {DOCUMENT} "
        return match[0]

    return named[0] if len(named) == 1 else "", PART_OF_NAME.sub(marked, message)


def _without_initials(message: str, parts: Collection[str]) -> str:
    """The message with a mark in the place of words whose initials are a part: "Bank of England" for
    "boe".
    """
    found = list(WORD.finditer(message))
    for at, word in enumerate(found):
        for part in parts:
            run = found[at : at + len(part)]
            if (
                len(part) >= SHORTEST_INITIALS
                and word[0][0].isupper()
                and "".join(one[0][0] for one in run).casefold() == part
            ):
                return _without_initials(
                    f"{message[: run[0].start()]}{DOCUMENT}{message[run[-1].end() :]}", parts
                )
    return message


def _name_words(name: str) -> frozenset[str]:
    return frozenset(map(str.casefold, PART_OF_NAME.findall(name.rpartition(".")[0]))) or frozenset(
        {name.casefold()}
    )


def _without_part(message: str, heading: Callable[[str], str]) -> tuple[str, str]:
    """(the message with a mark in the place of the part it names, that part as written); (the message, "")
    where it names none.
    """
    numbered = NUMBERED_PART.search(message) or NAMED_PART.search(message)
    if numbered:
        return f"{message[: numbered.start()]}{PART}{message[numbered.end() :]}", numbered[0]
    if KIND_OF_PART.search(message):
        title = heading(message)
    else:
        title = ""
    if not title:
        return message, ""
    said = re.search(re.escape(title), message, re.IGNORECASE)
    return (f"{message[: said.start()]}{PART}{message[said.end() :]}" if said else message), title
