"""Knows the words that make digits an amount (currencies, units, months) as tables and pattern fragments; finds nothing itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingestion.language.scales import SCALE_WORD

__all__ = [
    "BASIS",
    "CODES",
    "CURRENCY",
    "CURRENCY_WORD",
    "CURRENCY_WORDS",
    "GAP",
    "LETTERS",
    "MINUS",
    "MONEY",
    "MONTH",
    "NO_YEAR",
    "PERCENT",
    "POINTS",
    "SPACE",
    "SYMBOLS",
    "UNIT_AHEAD",
    "YEAR",
    "either",
]


SYMBOLS = {
    "US$": "USD", "U.S.$": "USD", "AU$": "AUD", "A$": "AUD", "CA$": "CAD", "C$": "CAD", "S$": "SGD", "HK$": "HKD", "NZ$": "NZD", "NT$": "TWD",
    "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₨": "INR", "`": "INR", "₩": "KRW", "₱": "PHP", "₦": "NGN", "₫": "VND",
    "฿": "THB", "₪": "ILS", "₺": "TRY", "₴": "UAH", "₽": "RUB", "RM": "MYR", "Rs.": "INR", "Rs": "INR", "rs.": "INR", "KSh": "KES",
    "TSh": "TZS", "USh": "UGX", "Rp": "IDR", "Tk": "BDT", "GH¢": "GHS",
    "GH₵": "GHS", "Kč": "CZK",
}  # fmt: skip   # the backtick is how fonts with a rupee glyph in its place come out of a PDF
# Letters that are a currency only where they touch an amount: "R50.3 billion", "N1,200", "R560 a month"; "R50" alone is a name.
LETTERS = {"R": "ZAR", "N": "NGN", "K": "ZMW"}
CODES = (
    "USD EUR GBP JPY CNY RMB INR MYR AUD CAD NZD SGD HKD TWD CHF SEK NOK DKK ISK CZK PLN HUF RON BGN BRL MXN ZAR KRW IDR PHP THB VND TRY RUB UAH "
    "SAR AED QAR EGP TZS UGX NGN KES GHS PKR BDT LKR NPR ZMW ILS CLP COP PEN ARS SDR XDR"
).split()
CURRENCY_WORDS = {
    "dollar": "USD", "rupee": "INR", "ringgit": "MYR", "euro": "EUR", "pound": "GBP", "yen": "JPY", "yuan": "CNY", "renminbi": "CNY", "baht": "THB",
    "crown": "crowns", "koruna": "CZK", "kroner": "crowns", "kronor": "crowns", "franc": "CHF", "rand": "ZAR", "rupiah": "IDR", "naira": "NGN",
    "ruble": "RUB", "rouble": "RUB", "peso": "pesos", "shilling": "shillings", "lira": "TRY",
    "kwacha": "ZMW",
}  # fmt: skip
MONEY = frozenset(SYMBOLS.values()) | frozenset(CODES) | frozenset(CURRENCY_WORDS.values())


def either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


# Every repetition in these fragments, and in the patterns made of them, is bounded or possessive: linear time on any text.
SPACE = "[ \\t\u00a0\u2007\u2009\u202f]"
GAP = rf"{SPACE}{{0,3}}+(?:\r?\n{SPACE}{{0,3}}+)?+"  # at most one line break between a number and what belongs to it
MINUS = "-\u2010\u2011\u2012\u2013\u2212"
CURRENCY = rf"(?:(?<![A-Za-z])(?:{either([*(s for s in SYMBOLS if s[0].isalpha()), *CODES])})|{either(s for s in SYMBOLS if not s[0].isalpha())})"
_NATION = r"(?:US|U\.S\.|Australian|Canadian|Hong Kong|Singapore|New Zealand|Indian|Malaysian|Czech|Danish|Norwegian|Swedish|Swiss)"
CURRENCY_WORD = rf"(?:{_NATION} )?(?P<money_word>{either(CURRENCY_WORDS)})(?:e?s)?"
POINTS = r"(?:percentage|percent|per ?cent|%)[\s-]{0,2}points?\b|ppts?\b|pp\b(?!\.? ?[0-9])|p\.p\."
BASIS = r"basis[\s-]{1,2}points?\b|bps?\b"
PERCENT = r"(?<!\n)%|per\s{0,2}cent\b|percent\b|pct\b"
UNIT_AHEAD = rf"{GAP}(?i:%|per\s{{0,2}}cent|percent|basis|bps?\b|pp\b|(?:{SCALE_WORD})\b)"
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
    r"(?![a-z])"
)
YEAR = "(?:19|20)[0-9]{2}"
# What follows four digits that are no year; "2022 Percent" and "2020 % Change" are heads of columns.
NO_YEAR = rf"%|{SPACE}{{0,3}}+(?:basis|bps?\b|(?i:{SCALE_WORD})\b|(?:{either(CODES)})\b)"
