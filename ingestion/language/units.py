"""Gives patterns for what belongs to a number and stands beside it: blanks, signs, per cent and points."""

from __future__ import annotations

from ingestion.language.scales import SCALE_WORD

__all__ = ["BASIS", "GAP", "MINUS", "PERCENT", "POINTS", "SPACE", "UNIT_AHEAD", "UNIT_TERMS"]

# Every repetition in these fragments, and in the patterns made of them, is bounded or possessive: linear time
# on any text.
SPACE = "[ \\t\u00a0\u2007\u2009\u202f]"
# At most one line break between a number and what belongs to it.
GAP = rf"{SPACE}{{0,3}}+(?:\r?\n{SPACE}{{0,3}}+)?+"
MINUS = "-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
POINTS = r"(?:percentage|percent|per ?cent|%)[\s-]{0,2}points?\b|p?pts?\b|pp\b(?!\.? ?[0-9])|p\.p\."
BASIS = r"basis[\s-]{1,2}points?\b|bps?\b"
PERCENT = r"(?<!\n)%|per\s{0,2}cent\b|percent\b|pct\b"
UNIT_AHEAD = rf"{GAP}(?i:%|per\s{{0,2}}cent|percent|basis|bps?\b|pp\b|(?:{SCALE_WORD})\b)"
# The words among them.
UNIT_TERMS = frozenset("per cent percent percentage point points basis bps pct pp".split())
