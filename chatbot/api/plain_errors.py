"""Says in plain words what is wrong with a part of a request. The part's content is never repeated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chatbot.memory.conversations.conversation_names import NAME

__all__ = ["plain_errors"]

# Parts of a message about wrong input that could repeat a whole document.
MOST_ERRORS, LONGEST_PLACE = 10, 100
# By pydantic's name of the error, with what it gives to fill in.
WORDS: Mapping[str, str] = {
    "missing": "is missing",
    "extra_forbidden": "there is no such field",
    "json_invalid": "is not valid JSON: {error}",
    "model_attributes_type": "send a JSON object, with the header Content-Type: application/json",
    "model_type": "send a JSON object",
    "dict_type": "send a JSON object, with the header Content-Type: application/json",
    "list_type": "must be a list",
    "string_type": "must be a text",
    "too_short": "needs at least {min_length}",
    "too_long": "may have at most {max_length}",
    "string_too_long": "may have at most {max_length} characters",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "string_pattern_mismatch": "must match {pattern}",
}
# A place of these ends in a name of the request's, whatever that is.
OF_A_FIELD = ("missing", "extra_forbidden")
# Between the fields, pydantic names what it tried: types, classes, and its functions with brackets.
NAME_OF_FIELD = re.compile(r"[a-z_$][A-Za-z0-9_]*")
TRIED = frozenset("str int float bool bytes list dict tuple set none any".split())
EMPTY = "must not be empty"
CONVERSATION = "must be up to 64 letters, digits, - and _"


def plain_errors(errors: Sequence[Any]) -> list[str]:
    """Returns "place: what is wrong" for the first errors of pydantic's."""
    found = []
    for one in errors[:MOST_ERRORS]:
        *within, last = one["loc"]
        named = one["type"] in OF_A_FIELD or within[:1] == ["header"]
        place = [*filter(_is_field, within), *([last] if named or _is_field(last) else [])]
        shown = ".".join(str(part)[:50] for part in place)[:LONGEST_PLACE]
        found.append(f"{shown}: {_words(one['type'], one.get('ctx', {})) or one['msg']}")
    return list(dict.fromkeys(found))


def _is_field(part: object) -> bool:
    """Whether a part of a place is one of the request, not the name of what was tried there."""
    return not isinstance(part, str) or (NAME_OF_FIELD.fullmatch(part) is not None and part not in TRIED)


def _words(kind: str, given: Mapping[str, Any]) -> str:
    if given.get("min_length") == 1:
        return EMPTY
    if given.get("pattern") == NAME:
        return CONVERSATION
    return WORDS.get(kind, "").format(**given)
