"""Writes the value of a cell as its number format shows it, with English marks and names.

Formats with conditions, fractions ("# ?/?") or several runs of digits are not followed: they show the value
in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["shown"]

# What a format quotes, and what it says of colours, languages, gaps and fillings.
ASIDE = re.compile(r'"([^"]*)"|\\(.)|[_*].|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]')
SECTION_END = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*\Z)')
DIGITS = re.compile(
    r"(?P<whole>[#0?][#0?,]*|(?=\.[#0?]))(?P<point>\.?)(?P<decimals>[#0?]*)(?P<scale>,*)(?P<power>E[+-]0+)?"
)
UNFOLLOWED = re.compile(r"\[[<>=]|[#0?]/")
GENERAL = re.compile(r"(?i)general|@")
MINUTES = re.compile(r"(?i)(h[^a-z]*)(m{1,2})(?!m)|()(m{1,2})(?=[^a-z]*s)")
DATE_PART = re.compile(r"(?i)y+|m+|n+|d+|h+|s+|am/pm|a/p|\.0+")
DATE_FORMS = {
    "yy": "%y",
    "yyyy": "%Y",
    "m": "%-m",
    "mm": "%m",
    "mmm": "%b",
    "mmmm": "%B",
    "d": "%-d",
    "dd": "%d",
    "ddd": "%a",
    "dddd": "%A",
    "h": "%-H",
    "hh": "%H",
    "n": "%-M",
    "nn": "%M",
    "s": "%-S",
    "ss": "%S",
    "am/pm": "%p",
    "a/p": "%p",
}
# Stands for the day as each country writes it. Shown in the one order that cannot be misread.
AS_IN_COUNTRY = "mm-dd-yy"
LONGEST_FORM = 255
# Beyond these a value has no exact digits.
LARGEST, MOST_DECIMALS = 1e15, 12
QUOTED = "\x01"


def shown(value: object, form: str) -> str:
    """A cell's value as its number format, such as "#,##0.00" or "General", shows it, on one line."""
    form = form[:LONGEST_FORM]
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, form)
    if isinstance(value, date | time):
        return _day(value, form)
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}" + f":{seconds:02}" * ("s" in form.casefold())
    return " ".join(str("" if value is None else value).split())


def _framed(section: str, write: Callable[[str], str]) -> str:
    """What `write` makes of a section without what it quotes, and that in its place."""
    quoted = iter(["".join(groups) for groups in ASIDE.findall(section)])
    written = write(ASIDE.sub(QUOTED, section))
    return " ".join(re.sub(QUOTED, lambda _: next(quoted), written).split())


def _number(value: float, form: str) -> str:
    sections = SECTION_END.split(form)[:3]
    at = 1 if value < 0 else 2 * (value == 0)
    section = sections[at] if at < len(sections) else sections[0]
    sign = "-" * (value < 0 and len(sections) < 2)

    def write(plain: str) -> str:
        runs = list(DIGITS.finditer(plain))
        if len(runs) == 1:
            return f"{plain[: runs[0].start()]}{_digits(abs(value), runs[0])}{plain[runs[0].end() :]}"
        return _general(abs(value)) if runs else GENERAL.sub(_general(abs(value)), plain, count=1)

    return _general(value) if UNFOLLOWED.search(form) else sign + _framed(section, write)


def _digits(value: float, run: re.Match[str]) -> str:
    """The digits of a value that is not negative. run: where its format has them."""
    whole, decimals = run["whole"].rstrip(","), run["decimals"][:MOST_DECIMALS]
    if run["power"] or value >= LARGEST:
        return f"{value:.{len(decimals)}E}"
    thousands = len(run["whole"]) - len(whole) + len(run["scale"])
    exact = Decimal(repr(value)) * 100 ** run.string.count("%") / 1000**thousands
    rounded = exact.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    before, _, after = (f"{rounded:,f}" if "," in whole else f"{rounded:f}").partition(".")
    least = decimals.count("0")
    after = after[:least] + after[least:].rstrip("0")
    before = before.zfill(whole.count("0")) if "0" in whole or before != "0" else ""
    return f"{before}{run['point']}{after}"


def _general(value: float) -> str:
    if value == int(value) and abs(value) < LARGEST:
        return str(int(value))
    return f"{value:.10g}".upper()


def _day(value: date | time, form: str) -> str:
    if form == AS_IN_COUNTRY:
        return value.strftime("%Y-%m-%d")
    form = SECTION_END.split(form)[0]
    halves = "/p" in form.casefold()

    def part(found: re.Match[str]) -> str:
        name = DATE_FORMS.get(found[0].casefold(), "")
        return name.replace("H", "I") if halves else name

    def write(plain: str) -> str:
        minutes = MINUTES.sub(lambda found: f"{found[1] or ''}{'n' * len(found[2] or found[4])}", plain)
        return value.strftime(DATE_PART.sub(part, minutes))

    return _framed(form, write)
