"""Checks and shortens document names, which are display text only, never paths."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath

from chatbot.errors import DocumentError
from ingestion.prompt_injection.obfuscation import LOOK_ALIKES

__all__ = [
    "LONGEST_NAME",
    "MOST_NAMED",
    "display_name",
    "free_name",
    "is_name",
    "known_as",
    "listed",
    "looks_like",
    "told_apart",
    "with_names",
    "with_titles",
]

INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co"})
WORD, LATIN = re.compile(r"[^\W\d_]+"), re.compile("[A-Za-z]")
# The number of documents that a sentence names.
MOST_NAMED = 3

# Longer names cannot be file names on any common system, and break every table that shows them.
LONGEST_NAME = 200
# The most characters of a name behind a title that two documents have.
LONGEST_BEHIND = 40
# What a title may begin with that a request says of any document: "this document", "the budget report".
POINTING = frozenset("the this that these those my our a an".split())


def display_name(given: str) -> str:
    """Returns the name a document is kept under.

    It is the last part of a path, with control and bidirectional characters made visible, and in words of
    Latin letters those of other alphabets that look like them. A name longer than LONGEST_NAME characters
    loses its middle, in whose place a hash of it all stands. Raises DocumentError for an empty name.
    """
    name = re.split(r"[\\/]", unicodedata.normalize("NFC", given))[-1].strip()
    name = WORD.sub(_one_alphabet, "".join(_visible(letter) for letter in name))
    if not name or set(name) <= {"."}:
        raise DocumentError(
            f"{given[:80]!r} cannot be used as a document name.", hint="Choose a name with --name."
        )
    if len(name) > LONGEST_NAME:
        hashed = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:10]
        end = f"…{hashed}{PurePath(name).suffix[:20]}"
        return name[: LONGEST_NAME - len(end)] + end
    return name


def is_name(text: str) -> bool:
    """Tells whether a document may be called this: it is no path, not too long, and all of it is seen."""
    strange = any(letter in "/\\" or unicodedata.category(letter) in INVISIBLE for letter in text)
    return 0 < len(text) <= LONGEST_NAME and not strange


def known_as(given: str) -> str:
    """Returns the name a document would be kept under, for looking it up. An impossible name is left as it
    is.
    """
    try:
        return display_name(given)
    except DocumentError:
        return given


def free_name(name: str, taken: Collection[str]) -> str:
    """Returns "Budget.pdf" as "Budget (2).pdf", or with the next free number."""
    path = PurePath(name)
    number = 2
    while f"{path.stem} ({number}){path.suffix}" in taken:
        number += 1
    return f"{path.stem} ({number}){path.suffix}"


def looks_like(name: str, others: Iterable[str]) -> str:
    """Returns another name that looks the same, but has other letters; "" for none."""
    look, plain, ascii_only = _look(name), name.casefold(), name.isascii()
    for other in others:
        if not (ascii_only and other.isascii()) and other.casefold() != plain and _look(other) == look:
            return other
    return ""


def _look(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().translate(LOOK_ALIKES)


def _visible(letter: str) -> str:
    return _coded(letter) if unicodedata.category(letter) in INVISIBLE else letter


def _coded(letter: str) -> str:
    return f"‹U+{ord(letter):04X}›"


def _one_alphabet(match: re.Match[str]) -> str:
    word = match[0]
    if word.isascii() or not LATIN.search(word):
        return word
    return "".join(_coded(letter) if ord(letter.lower()) in LOOK_ALIKES else letter for letter in word)


def listed(names: Sequence[str], count: int = 0) -> str:
    """Lists the first of some names, and says how many more there are. count: of all, where only
    the first are given.
    """
    count = count or len(names)
    if names and count > MOST_NAMED:
        more = f" and {count - MOST_NAMED:,} more"
    else:
        more = ""
    return ", ".join(names[:MOST_NAMED]) + more


def told_apart(titles: Mapping[str, str], periods: Mapping[str, str]) -> dict[str, str]:
    """Returns name -> title, no two of them alike.

    Where documents have one title, their periods are put behind it, or else their names.

    titles, periods: by the documents' names; "" for no period.
    """
    shown = dict(titles)
    alike = _alike(shown)
    for name in alike:
        if periods[name] and periods[name] not in shown[name]:
            shown[name] = f"{shown[name]} {periods[name]}"
    for name in alike & _alike(shown):
        shown[name] = f"{titles[name]} ({_shortened(name)})"
    for name in _alike(shown):
        shown[name] = name
    return shown


def with_names(text: str, titles: Mapping[str, str]) -> str:
    """Returns a text with the documents' names in place of their whole titles.

    titles: by name. A title of one word stays, for it may be any word, and so does one that begins like "the
    document". A text that names a file is left as it is: no document's title may stand in for another's name.
    """
    plain = _plain(text)
    if any(_plain(name) in plain or _is_named(_plain(name.removesuffix(".pdf")), plain) for name in titles):
        return text
    named: dict[str, str] = {}
    for name, title in sorted(titles.items(), key=lambda row: -len(row[1])):
        first = _plain(title.partition(" ")[0])
        if " " in title and title != name and first not in POINTING and first in plain:
            words = r"\s+".join(map(re.escape, re.split(r"\s+", title)))
            apostrophes = re.sub("['’]", "['’]", words)
            named.setdefault(apostrophes, name)
    if not named:
        return text
    # In one go, so that no title is looked for in a name that was put in.
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(f'({title})' for title in named)})(?!\w)", re.IGNORECASE)
    names = list(named.values())
    return pattern.sub(lambda found: names[(found.lastindex or 1) - 1], text)


def with_titles(text: str, titles: Mapping[str, str]) -> str:
    """Returns a text with the documents' titles in place of their names.

    titles: by name. Both are of unknown origin, to be escaped where they are shown.
    """
    names = sorted((name for name in titles if name in text), key=len, reverse=True)
    if not names:
        return text
    # In one go, so that no name is looked for in a title that was put in.
    return re.sub("|".join(map(re.escape, names)), lambda found: titles[found[0]], text)


def _is_named(stem: str, text: str) -> bool:
    """Whether a text has a file's name without its ending; a name that is one word may be any word."""
    return not stem.isalpha() and re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", text) is not None


def _plain(text: str) -> str:
    """A text in small letters, without apostrophes."""
    return re.sub("['’]", "", text).casefold()


def _alike(titles: Mapping[str, str]) -> set[str]:
    """Returns the names of documents whose titles others have too."""
    counts = Counter(map(_plain, titles.values()))
    return {name for name, title in titles.items() if counts[_plain(title)] > 1}


def _shortened(name: str) -> str:
    if len(name) <= LONGEST_BEHIND:
        return name
    half = LONGEST_BEHIND // 2
    return f"{name[: half - 1]}…{name[-half:]}"
