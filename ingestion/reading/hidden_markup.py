"""Takes out of a web page what a browser does not show; runs only in reading processes.

It knows what a page and its own rules hide by their names, and lays nothing out.
"""

from __future__ import annotations

import re
from html import unescape

from ingestion.invisible_characters import one_line

__all__ = ["visible_part"]

# Elements that may leave out their end before another of their kind, and those without one.
ENDS_ITSELF = frozenset("dd dt li option p td th tr".split())
EMPTY = frozenset("area base br col embed hr img input link meta source track wbr".split())
TAGS = re.compile(r"(?s)(<!--.*?(?:-->|\Z)|<[a-zA-Z/][^>]{0,9999}>)")
STYLE = re.compile(r"(?is)<style\b[^>]{0,999}>(.*?)(?:</style|\Z)")
TAG = re.compile(r"<(/?)(\w+)")
HIDES = re.compile(
    r"(?i)display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0(?![.\d])"
    r"|(?:text-indent|left|top)\s*:\s*-\d{4}|[\"'\s]hidden(?=[\s=/>])|^<(?:template|noscript|iframe|object)\b"
)
SELECTOR = re.compile(r"\w*[.#]([\w-]+)")
# The most characters of hidden words that are quoted.
LONGEST_SAID = 80


def visible_part(written: str) -> tuple[str, tuple[str, ...]]:
    """A web page without what it hides, and remarks as in Page."""
    hiding = _hiding("".join(STYLE.findall(written)))
    kept, words = list[str](), list[str]()
    hider, depth = "", 0  # the element that hides what comes, and how many of its name are open
    for part in TAGS.split(written):
        tag = TAG.match(part.casefold())
        is_end, name = (bool(tag[1]), tag[2]) if tag else (False, "")
        if name == hider and name in ENDS_ITSELF and not is_end:
            depth = 0
        if depth:
            if name == hider and name:
                depth += -1 if is_end else 1
            elif not tag:
                words += unescape(part).split()
        elif name and not is_end and name not in EMPTY and _hides(part, hiding):
            hider, depth = name, 1
        else:
            kept.append(part)
    said = one_line(" ".join(words), most=LONGEST_SAID)
    remarks = (f"{len(words):,} words that the web page hides: “{said}”",) if said else ()
    return "".join(kept), remarks


def _hides(tag: str, names: set[str]) -> bool:
    """Whether a tag hides its element, itself or by one of these classes and ids."""
    own = unescape(tag)
    return bool(HIDES.search(own) or names.intersection(re.findall(r"[\w-]+", own)))


def _hiding(style: str) -> set[str]:
    """The classes and ids that a style hides always, "x" of "p.x {display: none}"."""
    found, around = set[str](), 0
    for block in style.split("}"):
        selectors, *rules = block.split("{")
        if not rules:  # the end of what stands around rules, such as "@media print {"
            around = max(0, around - 1)
            continue
        around += len(rules) - 1
        if not around and HIDES.search(rules[-1]):
            names = map(SELECTOR.fullmatch, map(str.strip, selectors.split(",")))
            found.update(name[1] for name in names if name)
    return found
