"""Makes questions that a document does not answer from questions that it does answer.

It replaces the entity, the period or the measure. A replacement is used only if the document does not have
it: there is no page with all words of the name, no page with the year, and no page with all words of the
measure or of a synonym.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.questions import Question
from ingestion.language.periods import find_periods

__all__ = [
    "FILING_MEASURES",
    "PUBLIC_MEASURES",
    "Document",
    "make_absent",
    "swap_entity",
    "swap_measure",
    "swap_period",
    "words_of",
]

# Measures of company accounts and of public finances, each with what else it is called.
FILING_MEASURES = (
    ("net interest margin",),
    ("Tier 1 capital ratio", "common equity Tier 1"),
    ("combined ratio", "underwriting ratio"),
    ("value at risk",),
    ("provision for loan losses", "loan loss provision", "allowance for loan losses"),
    ("gross written premiums", "premiums written"),
    ("revenue passenger miles", "passenger kilometres"),
    ("available seat miles",),
    ("proved oil reserves", "barrels of oil equivalent"),
    ("funds from operations",),
    ("average revenue per user", "ARPU"),
    ("assets under management",),
    ("hotel occupancy rate", "RevPAR"),
    ("subscriber churn rate", "churn"),
    ("tolling revenue", "toll revenue"),
    ("net asset value per share",),
    ("solvency ratio",),
    ("customer acquisition cost",),
    ("reinsurance recoverables",),
    ("tonnage shipped", "tonnes shipped"),
)
PUBLIC_MEASURES = (
    ("tax gap",),
    ("lottery proceeds", "lottery revenue"),
    ("carbon tax receipts", "carbon tax revenue"),
    ("unfunded pension liability",),
    ("sovereign wealth fund withdrawals",),
    ("structural balance", "cyclically adjusted balance"),
    ("tobacco excise receipts", "tobacco duty"),
    ("public sector wage bill",),
    ("stamp duty receipts", "stamp duty revenue"),
    ("toll revenue", "tolls"),
    ("sinking fund balance",),
    ("arrears to suppliers",),
    ("defence spending", "defence expenditure", "defense spending"),
    ("inheritance tax receipts", "estate duty"),
    ("property tax receipts", "property tax revenue"),
    ("capital adequacy ratio",),
    ("unemployment benefit spending", "unemployment benefits"),
    ("overdraft at the central bank", "ways and means advances"),
    ("gambling levy receipts", "betting duty"),
    ("fuel duty receipts", "fuel duty"),
)
# What a short question may ask for; the longest that it says is exchanged.
ASKED_MEASURES = """
    total current assets|total current liabilities|net working capital|operating margin|net profit \
margin|net income|gross margin|free cash flow|capital
    expenditure|cost of goods sold|total assets|total revenue|fiscal deficit|policy rate|inflation \
target|direct tax revenue|net tax receipts|development
    spending|overall spending|gdp growth|unemployment rate|pce inflation|core inflation|underlying \
inflation|inflation|debt ratio|debt|revenue
    |capex|cogs|spending
    """
# Names that may stand for each other; a question's own is exchanged for one that its document does not have.
NAMES = {
    "country": """Malaysia India Indonesia Kenya Chile Norway Poland Peru Portugal Vietnam Ghana Uruguay \
Iceland Estonia Slovenia Paraguay Senegal
        Mongolia Bolivia Namibia""",
    "nationality": (
        "Malaysian Indian Indonesian Kenyan Chilean Norwegian Polish Peruvian Portuguese Vietnamese "
        "Ghanaian Uruguayan Icelandic Estonian"
    ),
    "banker": "Powell Yellen Bernanke Lagarde Draghi Carney Kuroda Macklem Ingves Jordan Trichet Duisenberg",
    "central bank": "Fed RBI Bundesbank Riksbank SARB Banxico SNB RBNZ",
    "acronym": "",  # any other name in capitals
}
ACRONYMS = "PROSUR FONDEC TARIMA SEDAPAL KREDIX NORFUND AGROBAN FINAGRO SODRA PETRAN".split()
NOT_NAMES = frozenset(
    (
        "GDP USD CPI PCE PP&E EPS COGS FCF EBITDA ROA DPO TDS TCS ESG FAQ AGM CEO FY AI US USA UK EU RM OPR "
        "AND OR NOT"
    ).split()
)
ACRONYM = re.compile(r"(?<![\w&])[A-Z]{3,7}(?![\w&])")
# Words are taken apart here rather than with the product's own terms, so that the questions stay the same
# when those change.
WORD = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+")
PLURAL = re.compile(r"(?:(?<=x)|(?<=ch)|(?<=sh)|(?<=ss))es$|(?<!s)s$")
YEAR_RANGE = re.compile(r"\b((?:19|20)\d\d)\s?[-/–]\s?(\d\d)\b")
SHORT_YEAR = re.compile(r"\b[fc]y\s?'?(\d\d)\b")
YEAR = re.compile(r"(?P<century>19|20)(?P<year>\d\d)(?!\d)|(?<!\d)(?P<short>\d\d)(?!\d)")
# Years by which a question's periods are moved, the nearest first: the last years before a table's columns
# are the hardest to refuse.
MOVES = [sign * years for years in range(3, 31) for sign in (-1, 1)]
# A question longer than this explains its measure as well, and swapping the name alone would leave the
# explanation.
LONGEST_SWAPPED = 26


@dataclass(frozen=True, slots=True)
class Document:
    """What stands in a document: the words of each page, as `words_of` gives them."""

    pages: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Document:
        """A document by the texts of its pages."""
        return cls(tuple(words_of(text) for text in texts))

    def has(self, words: str) -> bool:
        """Whether all words, however far apart, stand on one page; True for words that say nothing."""
        wanted = words_of(words)
        return any(wanted <= page for page in self.pages)


def words_of(text: str) -> frozenset[str]:
    """The words and numbers of a text, without case, plural and grouping; "2024-25" holds both years,
    "FY24" is 2024.
    """
    text = YEAR_RANGE.sub(lambda found: f"{found[1]} {found[1][:2]}{found[2]}", text.lower())
    text = SHORT_YEAR.sub(r"20\1", text)
    return frozenset(
        word.replace(",", "") if word[0].isdigit() else PLURAL.sub("", word) for word in WORD.findall(text)
    )


def make_absent(questions: Sequence[Question], texts: Mapping[str, Sequence[str]]) -> list[Question]:
    """Questions that their documents do not answer, at most three of each answerable one, in order; the same
    ones every time.

    texts: document -> texts of its pages. Each is asked of its own document; kind: "absent entity", "absent
    period" or "absent measure".
    """
    documents = {name: Document.of(pages) for name, pages in texts.items()}
    companies = list(dict.fromkeys(question.company for question in questions if question.company))
    made = []
    for turn, question in enumerate(questions):
        if not question.answerable or question.document not in documents:
            continue
        document = documents[question.document]
        swapped = {
            "entity": swap_entity(question, document, companies, turn=turn),
            "period": swap_period(question, document),
            "measure": swap_measure(question, document, turn=turn),
        }
        made += [_absent(question, what, text) for what, text in swapped.items() if text]
    return made


def _absent(question: Question, what: str, text: str) -> Question:
    kind = f"absent {what}"
    return replace(
        question,
        id=f"{question.id}-{kind.replace(' ', '-')}",
        text=text,
        names=(question.document,),
        pages=frozenset(),
        values=(),
        answer="",
        kind=kind,
        answerable=False,
    )


def swap_entity(question: Question, document: Document, companies: Sequence[str], *, turn: int = 0) -> str:
    """The question about another company, country, bank or person that its document does not name; ""
    where it names none, or leans on exchanges.
    """
    if question.history:
        return ""
    if question.company:
        named = re.compile(
            r"[\W_]{0,3}".join(map(re.escape, re.findall(r"\w+", question.company)))
            + r"(?: \([^)]{1,60}\))?",
            re.I,
        )
        others = [
            company for company in companies if company != question.company and not document.has(company)
        ]
        return (
            named.sub(_turned(others, turn), question.text) if others and named.search(question.text) else ""
        )
    for found, names in _named(question.text):
        absent = [other for other in names if other != found and not document.has(other)]
        if absent and document.has(found):
            return re.sub(rf"\b{re.escape(found)}\b", _turned(absent, turn), question.text)
    return ""


def _named(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """(a name the text says, names of its kind)."""
    for kind in NAMES.values():
        names = kind.split()
        yield from ((name, names) for name in names if re.search(rf"\b{name}\b", text))
    yield from ((found, ACRONYMS) for found in ACRONYM.findall(text) if found not in NOT_NAMES)


def swap_period(question: Question, document: Document) -> str:
    """The question about years that stand nowhere in its document, all moved alike; "" where it has none
    or no move will do.
    """
    periods = find_periods(question.text)
    years = {year for period in periods for year in (period.start_year, period.end_year)}
    there = frozenset[str]().union(*document.pages)
    for move in MOVES if years else ():
        if not {str(year + move) for year in years} & there:
            return _moved(question.text, [(period.start, period.end) for period in periods], move)
    return ""


def _moved(text: str, spans: Sequence[tuple[int, int]], move: int) -> str:
    """The text with all years within the spans moved."""

    def later(match: re.Match[str]) -> str:
        if match["short"]:
            return f"{(int(match['short']) + move) % 100:02}"
        return str(int(match[0]) + move)

    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], YEAR.sub(later, text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def swap_measure(question: Question, document: Document, *, turn: int = 0) -> str:
    """The question about a measure that its document does not have; "" where none can be exchanged.

    A short question keeps its words around the measure; of one that explains itself at length only entity and
    period are kept.
    """
    measures = [
        names[0]
        for names in (FILING_MEASURES if question.company else PUBLIC_MEASURES)
        if not any(map(document.has, names))
    ]
    if not measures or question.history:
        return ""
    measure = _turned(measures, turn)
    asked = next((name for name in _asked_measures() if re.search(rf"\b{name}\b", question.text, re.I)), "")
    if asked and len(question.text.split()) <= LONGEST_SWAPPED:
        return re.sub(rf"\b{asked}\b", measure, question.text, flags=re.I)
    periods = [period.text for period in find_periods(question.text)]
    if not periods:
        return ""
    return (
        f"What was {question.company}'s {measure} in {periods[0]}?"
        if question.company
        else f"What was the {measure} in {periods[0]}?"
    )


def _asked_measures() -> list[str]:
    """The longest first, white space as it may stand."""
    names = [r"\s".join(name.split()) for name in ASKED_MEASURES.split("|")]
    return sorted(names, key=len, reverse=True)


def _turned(names: Sequence[str], turn: int) -> str:
    """Another one each time, so that no single name decides."""
    return names[turn % len(names)]
