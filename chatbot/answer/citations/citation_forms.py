"""Reads a chat model's citations, in whatever form it writes them, as the keys that were given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import PurePath

from chatbot.answer.citations.citation_keys import ANY_KEY, escape_keys
from chatbot.records import Hit, Prompt

__all__ = ["read_citations", "with_inert_keys"]

_NUMBER = rf"(?:{ANY_KEY.pattern.removesuffix('?')}|S?[1-9][0-9]?(?![0-9]))"
_CALLED = (
    r"(?:see )?(?:excerpts?|sources?|documents?|passages?|ref(?:erence)?s?\.?|citations?)[ :]{0,2}(?:no\. ?"
    r"|#)?"
)
_NUMBERS = rf"{_NUMBER}(?: ?(?:[,;&–-]|and) ?(?:{_CALLED})?{_NUMBER}){{0,9}}"
_WHERE = r"(?:†[^\]】\n]{0,40}|,? (?:pages?|pp?\.) ?[0-9]{1,4})?"
# "[1]", "[1, 2]", "[1-3]", "[S1]", "[^1]", "[Source 1]", "[1, p. 7]", "【1†source】", "[1](#1)". In round
# brackets only by its letter or what it is called: "(S1)", "(excerpt 1)".
_FORMS = re.compile(
    rf"[\[【]\^?(?:{_CALLED})?(?P<square>{_NUMBERS}){_WHERE}[\]】](?:\([^()\s]{{1,200}}\))?|"
    rf"\((?:{_CALLED}(?P<called>{_NUMBERS})|(?P<lettered>S[1-9][0-9]?"
    rf"(?: ?[,;&] ?S[1-9][0-9]?){{0,9}})){_WHERE}\)",
    re.IGNORECASE,
)
# "(report.pdf, page 23)", "[Report, p. 23]".
_PAGE = re.compile(
    r"[(\[](?:(?P<name>[^()\[\]\n]{1,200}?),? )?(?:page"
    r"|pg?\.) ?(?P<page>[0-9]{1,4})(?:,? printed page [^()\[\]\n]{1,20})?[)\]]",
    re.IGNORECASE,
)
_RANGE = re.compile(r"S?([0-9]{1,2}) ?[–-] ?S?([0-9]{1,2})", re.IGNORECASE)
_KEY = re.compile(rf"{ANY_KEY.pattern.removesuffix('?')}|S?([0-9]+)", re.IGNORECASE)
_LIST_OF_SOURCES = re.compile(r"[\W_]*(?:sources?|references?|citations?|excerpts used)[\W_]*", re.IGNORECASE)


def read_citations(text: str, prompt: Prompt) -> str:
    """The text with each citation as whole keys in brackets.

    "[1]", "(S1)" and "(report.pdf, page 23)" become "[S1-7f3a]". A number that was not given becomes a key
    that was not: "[S9]". What may be anything else, such as "(1)" or "[2024]", stays. A list of sources at
    the end is removed.
    """
    keys = {key.partition("-")[0][1:]: key for key in prompt.sources}

    def whole_key(number: str) -> str:
        return number if "-" in number else keys.get(number, f"S{number}")

    def of_numbers(found: re.Match[str]) -> str:
        written = found["square"] or found["called"] or found["lettered"]
        read = map(whole_key, _numbers(written, len(keys)))
        return f"[{'; '.join(read)}]"

    def of_page(found: re.Match[str]) -> str:
        name = found["name"] or ""
        page = found["page"]
        sources = prompt.sources.items()
        named = [key for key, hit in sources if str(hit.page) == page and _names(name, hit)]
        if len(named) == 1:
            return f"[{named[0]}]"
        return found[0]

    return _PAGE.sub(of_page, _FORMS.sub(of_numbers, _without_list(text, prompt)))


def with_inert_keys(text: str) -> str:
    """A text of equal length in which nothing can be read as a citation.

    Brackets around what could be one become ⟦ and ⟧.
    """
    for form in (_FORMS, _PAGE):
        text = form.sub(lambda found: f"⟦{found[0][1:-1]}⟧", text)
    return escape_keys(text)


def _numbers(written: str, given: int) -> Iterator[str]:
    """The numbers that are written.

    Those of a range are given too, as far as there are so many sources, and whole keys as they are.
    """
    if between := _RANGE.fullmatch(written):
        first = int(between[1])
        last = int(between[2])
        if first < last <= given:
            return map(str, range(first, last + 1))
    return (key[0] if "-" in key[0] else key[1] for key in _KEY.finditer(written))


def _names(name: str, hit: Hit) -> bool:
    """Whether a name is a document's, with or without its ending; an empty one is any document's."""
    return name.strip(" *_`“”\"'").casefold() in {"", hit.document.casefold(), _stem(hit)}


def _stem(hit: Hit) -> str:
    """The document's name without its ending, in small letters."""
    return PurePath(hit.document).stem.casefold()


def _without_list(text: str, prompt: Prompt) -> str:
    """The text without the list of its sources that some models add.

    It says nothing and would be taken for statements.
    """
    names = {_stem(hit) for hit in prompt.sources.values()}
    lines = text.rstrip().split("\n")
    at = len(lines)
    while at and _is_blank_or_names(lines[at - 1], names):
        at -= 1
    listed = 0 < at < len(lines) and _LIST_OF_SOURCES.fullmatch(lines[at - 1])
    if listed and at > 1:
        return "\n".join(lines[: at - 1]).rstrip()
    return text


def _is_blank_or_names(line: str, names: Collection[str]) -> bool:
    """Whether a line is blank or has one of some names."""
    return not line.strip() or any(name in line.casefold() for name in names)
