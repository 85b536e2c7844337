"""Tells what a message asks of the chatbot itself, of the conversation, or of a document as a whole.

A naive Bayes classifier over the words of intents.tsv and their pairs, behind a gate: a message that has a
word which none of the intent's wordings has is a question about the documents. Of 144 wordings by another
hand it recognises 141, and of 637 questions about documents, half of them made to look like an intent, it
takes 2 for one (`benchmarks/intents.py`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from chatbot.search.routing import document_parts, named_share
from ingestion.language.terms import STOP_WORDS, terms

__all__ = ["DOCUMENT", "OF_CONVERSATION", "WHOLE", "Intent", "intent_of", "without_document"]

WORDINGS = Path(__file__).with_name("intents.tsv")
# Intents that ask for a document as a whole, or for a part of it.
WHOLE = frozenset(("summary", "outline", "chapter"))
# Intents that the conversation answers, and words for those who take part in it: "Who asked the first
# question?" is about a transcript.
OF_CONVERSATION = frozenset(("first_question", "last_question", "conversation_summary"))
US = frozenset(
    "i we me us my our mine ours you your convers chat session thread discuss dialogu far recap".split()
)
# The class of questions that have no word of a subject and are still asked of the documents: "and the year
# before?"
NONE = "none"
CHAPTER = "chapter"
# What replaces a document's name in a message, and a part named by its number or its title.
DOCUMENT, PART = "xxdocument", "xxpart"
NAMED_IN_A_ROW = re.compile(rf"(?:{DOCUMENT}\W*)+")
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
# "Who audited the statements?" asks for no summary, though a document is called that.
ASKS_ONE_THING = re.compile(r"\W*(?:who|whom|whose|when|where|why|how many|how much)\b", re.IGNORECASE)
ORDERS = re.compile(r"\b(?:summar\w+|outline|overview|recap)\b", re.IGNORECASE)
# A message names a document from this share on of what tells its name from others.
NAMED = 0.5
# Letters and digits of a name count as parts. A part of at least LONG_PART letters is also named by a longer
# word: "Zambian".
PART_OF_NAME = re.compile(r"[^\W\d_]+|\d+")
LONG_PART = 5
# Fewer letters do not stand for words of a name.
SHORTEST_INITIALS = 3
# Messages of more words are questions.
MOST_WORDS = 30
# Intents whose words nobody can list. In any other intent a word of no wording belongs to a subject, whether
# the documents have it or not.
SMALL_TALK = frozenset(("greeting", "thanks"))
# How many wordings are added to those that have a word or pair.
UNSEEN = 0.3
# An intent is known by a feature that this many of its wordings have, and this many times as often as
# questions about documents.
FEWEST_TELLING, MORE_TELLING = 3, 4.0
# A word in the wordings of this many intents may stand in any other: "please", "show".
COMMON_WORD = 3


@dataclass(frozen=True, slots=True)
class Intent:
    """What a message asks for.

    kind: "greeting", "thanks", "help", "prompt", "documents", "first_question", "last_question",
        "conversation_summary", "explain", "summary", "outline" or "chapter".
    document: the one it names, "" for none.
    part: of a chapter, as written: "chapter 2", "Fiscal risks".
    """

    kind: str
    document: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class _Model:
    """The wordings, counted.

    features: intent -> how many of its wordings have each.
    words: intent -> the words of its wordings.
    count: intent -> how many wordings it has.
    telling: intent -> features that its wordings have far more often than questions about documents.
    whole: the wordings.
    """

    features: dict[str, Counter[str]]
    words: dict[str, frozenset[str]]
    count: Counter[str]
    telling: dict[str, frozenset[str]]
    whole: frozenset[tuple[str, ...]]

    def knows(self, kind: str, words: Sequence[str]) -> bool:
        """Whether these words are a wording, or have a feature that the intent is known by."""
        return tuple(words) in self.whole or not self.telling[kind].isdisjoint(_features(words))


def intent_of(
    message: str,
    *,
    documents: Collection[str] = (),
    known: Callable[[str], bool] = lambda term: False,
    heading: Callable[[str], str] = lambda message: "",
) -> Intent | None:
    """The intent of a message, None for a question about the documents.

    documents: names of those in reach. known: whether one of them has a term. heading: the title of a part of
    theirs that a text names, "" for none; asked only of messages that speak of parts.
    """
    if len(message.split()) > MOST_WORDS:
        return None
    named, text = without_document(" ".join(message.replace("’", "'").split()), documents)
    model = _model()
    # A document's parts are looked through only where something is asked of one.
    if model.telling[CHAPTER].isdisjoint(_features(_words(text))):
        heading = _no_heading
    text, part = _without_part(text, heading)
    words = _words(text)
    if not words:
        return None
    kind = _likeliest(model, words, without="" if part else CHAPTER)
    if part and kind in {"summary", "outline", "explain"}:
        kind = CHAPTER
    if kind == NONE:
        return None
    if kind != CHAPTER and not model.knows(kind, words):
        return None
    if kind in WHOLE and not ORDERS.search(message):
        # "What is the budget for 2025 in Zambia?": words of a name that stand apart are those of a subject.
        is_apart = len(NAMED_IN_A_ROW.findall(text)) > 1
        if is_apart or ASKS_ONE_THING.match(message):
            return None
    if kind in OF_CONVERSATION and US.isdisjoint(words):
        return None
    if any(_speaks_of_documents(word, kind, model, known) for word in words):
        return None
    return Intent(kind, named, part)


def _no_heading(message: str) -> str:
    """No title of a part, whatever the message."""
    return ""


def _speaks_of_documents(word: str, kind: str, model: _Model, known: Callable[[str], bool]) -> bool:
    """Whether a word belongs to no intent, and some document has it."""
    if word in model.words[kind] or word in STOP_WORDS or len(word) < 2:
        return False
    if sum(word in words for words in model.words.values()) >= COMMON_WORD:
        return False
    return known(word) or kind not in SMALL_TALK


def _likeliest(model: _Model, words: Sequence[str], *, without: str) -> str:
    """The intent under which the words and their pairs are likeliest; all intents have the same prior.
    without: an intent to leave out.
    """
    found = set(_features(words))

    def likelihood(kind: str) -> float:
        counts = model.features[kind]
        total = model.count[kind] + 2 * UNSEEN
        return sum(math.log((counts[feature] + UNSEEN) / total) for feature in found)

    return max([kind for kind in model.features if kind != without], key=likelihood)


@cache
def _model() -> _Model:
    features: dict[str, Counter[str]] = {}
    words: dict[str, set[str]] = {}
    count = Counter[str]()
    whole = set[tuple[str, ...]]()
    for line in WORDINGS.read_text(encoding="utf-8").splitlines():
        kind, _, wording = line.partition("\t")
        _, text = without_document(wording, ["DOC"])
        text, _ = _without_part(text, _heading_of_wording)
        found = _words(text)
        count[kind] += 1
        whole.add(tuple(found))
        features.setdefault(kind, Counter()).update(set(_features(found)))
        words.setdefault(kind, set()).update(found)
    return _Model(
        features=features,
        words={kind: frozenset(of_kind) for kind, of_kind in words.items()},
        count=count,
        telling={kind: _telling_features(kind, features, count) for kind in features},
        whole=frozenset(whole),
    )


def _heading_of_wording(wording: str) -> str:
    """What stands for the title of a part in intents.tsv, "" where it is not there."""
    return "HEADING" if "HEADING" in wording else ""


def _telling_features(kind: str, features: dict[str, Counter[str]], count: Counter[str]) -> frozenset[str]:
    """What an intent is known by."""
    found = set()
    for feature, often in features[kind].items():
        share = often / count[kind]
        share_of_none = features[NONE][feature] / count[NONE]
        if often >= FEWEST_TELLING and share >= MORE_TELLING * share_of_none:
            found.add(feature)
    return frozenset(found)


def _words(text: str) -> list[str]:
    """The words, stemmed where they carry a subject."""
    plain = re.sub(r"'(?:d|s|re|ve|ll|m)\b", " ", text.casefold())
    plain = re.sub(r"n't\b", " not", plain)
    found = list(map(_stemmed, WORD.findall(plain)))
    # The parts of a document's name are one word.
    return [word for at, word in enumerate(found) if word != DOCUMENT or found[at - 1 : at] != [DOCUMENT]]


def _stemmed(word: str) -> str:
    if word in STOP_WORDS:
        return word
    return next(iter(terms(word)), word)


def _features(words: Sequence[str]) -> Iterator[str]:
    """The words, and their pairs, with marks for the beginning and the end."""
    yield from words
    for word, following in pairwise(["<", *words, ">"]):
        yield f"{word} {following}"


def without_document(message: str, documents: Iterable[str]) -> tuple[str, str]:
    """(the document that a message names, by all of its file's name or by what tells it from others, "" where
    it names several alike or none; the message with a mark in the place of that name).
    """
    spoken = set(map(str.casefold, PART_OF_NAME.findall(message)))
    found: dict[str, tuple[float, int]] = {}
    for name in documents:
        words = _name_words(name)
        share = 1.0 if words <= spoken else named_share(document_parts(name), message)
        if share >= NAMED:
            found[name] = (share, len(words & spoken))
    best = max(found.values(), default=(0.0, 0))
    named = [name for name, match in found.items() if match == best]
    if not named:
        return "", message
    words = frozenset({"pdf"}).union(*map(_name_words, named))
    long_parts = tuple(part for part in words if len(part) >= LONG_PART)

    def marked(match: re.Match[str]) -> str:
        word = match[0].casefold()
        if word in words or word.startswith(long_parts):
            return f" {DOCUMENT} "
        return match[0]

    message = PART_OF_NAME.sub(marked, _without_initials(message, words))
    return named[0] if len(named) == 1 else "", message


def _without_initials(message: str, parts: Collection[str]) -> str:
    """The message with a mark in the place of words whose initials are a part: "Bank of England" for
    "boe".
    """
    found = list(WORD.finditer(message))
    for at, word in enumerate(found):
        if not word[0][0].isupper():
            continue
        for part in parts:
            if len(part) < SHORTEST_INITIALS:
                continue
            run = found[at : at + len(part)]
            if "".join(spelled[0][0] for spelled in run).casefold() == part:
                marked = f"{message[: run[0].start()]}{DOCUMENT}{message[run[-1].end() :]}"
                return _without_initials(marked, parts)
    return message


def _name_words(name: str) -> frozenset[str]:
    parts = PART_OF_NAME.findall(name.rpartition(".")[0])
    return frozenset(map(str.casefold, parts)) or frozenset({name.casefold()})


def _without_part(message: str, heading: Callable[[str], str]) -> tuple[str, str]:
    """(the message with a mark in the place of the part it names, that part as written); (the message, "")
    where it names none.
    """
    numbered = NUMBERED_PART.search(message) or NAMED_PART.search(message)
    if numbered:
        return _marked_part(message, numbered), numbered[0]
    if not KIND_OF_PART.search(message):
        return message, ""
    title = heading(message)
    if not title:
        return message, ""
    found = re.search(re.escape(title), message, re.IGNORECASE)
    if found:
        message = _marked_part(message, found)
    return message, title


def _marked_part(message: str, found: re.Match[str]) -> str:
    return f"{message[: found.start()]}{PART}{message[found.end() :]}"
