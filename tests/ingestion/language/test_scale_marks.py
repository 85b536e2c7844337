"""Lines and heads of units: each currency with each scale, in each order and in brackets or without, and what
looks like one and is none.
"""

from __future__ import annotations

from itertools import product

import pytest

from ingestion.language.numbers import find_figures, scale_marks, stated_mark
from ingestion.tables.captions import is_unit
from tests.case_rows import case_lines, case_rows

CODES = {code: code for code in ("EUR", "USD", "CHF", "NOK", "SEK", "DKK", "PLN", "INR", "AUD")}
OF_SIGNS = dict(pair.split("=") for pair in "€=EUR $=USD US$=USD £=GBP RM=MYR ₹=INR ₦=NGN R$=BRL".split())
CURRENCIES = CODES | OF_SIGNS


def scaled(pairs: str) -> dict[str, float]:
    """How a scale is written -> what it multiplies by."""
    found = [pair.partition("=") for pair in pairs.split("|")]
    return {word: float(scale) for word, _, scale in found}


AFTER = scaled(
    " million=1e6| m=1e6|m=1e6| mn=1e6| mm=1e6| mill.=1e6| mio.=1e6| billion=1e9| bn=1e9|'000=1e3|’000=1e3"
    "| thousand=1e3| thsd.=1e3| Tsd.=1e3|'m=1e6|'bn=1e9"
)
BEFORE = scaled(
    "million =1e6|Mio. =1e6|Mrd. =1e9|Tsd. =1e3|millions of =1e6|thousands of =1e3|milliers d'=1e3"
    "|millones de =1e6|Millionen =1e6"
)
TOUCHING = {"k": 1e3, "T": 1e3, "M": 1e6, "m": 1e6}
FRAMES = ("{}", "({})", "2024 {}", "2024 > {}", "in {}", "(in {})")
LINES = [
    (f"{money}{word}", scale, code)
    for (money, code), (word, scale) in product(CURRENCIES.items(), AFTER.items())
]
LINES += [
    (f"{word}{money}", scale, code)
    for (money, code), (word, scale) in product(CURRENCIES.items(), BEFORE.items())
]
LINES += [
    (f"{word}{money}", scale, code)
    for (money, code), (word, scale) in product(CODES.items(), TOUCHING.items())
]
LINES += [
    (f"{money} in {word}", scale, code)
    for money, code in CURRENCIES.items()
    for word, scale in (("millions", 1e6), ("mm", 1e6), ("thousands", 1e3))
]


@pytest.mark.parametrize("frame", FRAMES)
def test_currency_scale_and_order_are_read_in_any_frame(frame: str) -> None:
    wrong = []
    for line, scale, code in LINES:
        if " in " in line and frame not in ("{}", "({})"):
            continue
        text = frame.format(line)
        mark = stated_mark(text)
        if mark is None or (mark.scale, mark.unit) != (scale, code):
            wrong.append((text, mark))
    assert not wrong


def test_such_a_line_alone_is_a_unit() -> None:
    assert not [line for line, *_ in LINES if not is_unit(line)]


OTHERS = case_rows("""
MSEK              | 1e6 | SEK
kEUR              | 1e3 | EUR
TCHF              | 1e3 | CHF
Rm                | 1e6 | ZAR
R million         | 1e6 | ZAR
N’million         | 1e6 | NGN
R'000             | 1e3 | ZAR
millions of euros | 1e6 | EUR
en milliers d'euros | 1e3 | EUR
millones de euros | 1e6 | EUR
mill. kroner      | 1e6 | crowns
miljoner kronor   | 1e6 | crowns
tkr               | 1e3 | crowns
$000              | 1e3 | USD
£000s             | 1e3 | GBP
₹ lakh            | 1e5 | INR
Rs. crore         | 1e7 | INR
""")


@pytest.mark.parametrize(("text", "scale", "unit"), OTHERS)
def test_forms_of_single_languages(text: str, scale: str, unit: str) -> None:
    (mark,) = scale_marks(text)
    assert (mark.scale, mark.unit) == (float(scale), unit)
    assert is_unit(text)


THOUSANDS = case_rows("""
NOK 1 000                      | 1e3 | NOK
1 000 NOK                      | 1e3 | NOK
Amounts in CHF 1'000           | 1e3 | CHF
in 1.000 €                     | 1e3 | EUR
in EUR 1,000,000               | 1e6 | EUR
Investments (1000 EUR)         | 1e3 | EUR
NOK 1 000 2024 2023            | 1e3 | NOK
The fine (NOK 1 000) was paid. | None | None
A fine of NOK 1 000            | None | None
NOK 1 500                      | None | None
""")


@pytest.mark.parametrize(("text", "scale", "unit"), THOUSANDS)
def test_a_thousand_of_a_currency_is_a_scale_where_no_amount_can_stand(
    text: str, scale: str, unit: str
) -> None:
    mark = stated_mark(text)
    assert (f"{mark.scale:g}", mark.unit) == (f"{float(scale):g}", unit) if mark else scale == "None"


@pytest.mark.parametrize("text", ["Thousand lines", "thousand tonnes", "Million people"])
def test_a_scale_before_one_word_is_that_of_a_name(text: str) -> None:
    assert stated_mark(text) is not None
    assert stated_mark(f"{text} were sold") is None


@pytest.mark.parametrize("text", ["000s", "'000", "(000's)", "(in thousands)", "2024 000s"])
def test_zeros_alone_are_thousands(text: str) -> None:
    mark = stated_mark(text)
    assert mark is not None
    assert (mark.scale, mark.unit) == (1e3, None)


NONE = """
R50
M3
Rm 204
Room m
section 24A
10 mm
(mm)
EUR 5 m
k
T1
M2 growth
Minutes
The mill closed
"""


@pytest.mark.parametrize("text", case_lines(NONE))
def test_what_only_looks_like_a_unit_is_none(text: str) -> None:
    assert stated_mark(text) is None


def test_millimetres_and_mills_scale_no_figure() -> None:
    rain, mills = find_figures("Some 30 mm of rain fell. The 5 mill workers left.")
    assert (rain.scale, mills.scale) == (1.0, 1.0)


# Scale words of a language with currencies that its documents are in.
LANGUAGES = case_rows("""
tys. mln mld                         | 1e3 1e6 1e9  | PLN=zł PLN=PLN EUR=EUR
tis. mil. mld.                       | 1e3 1e6 1e9  | CZK=Kč CZK=CZK EUR=EUR
mii mil. mld.                        | 1e3 1e6 1e9  | RON=lei RON=RON
ezer millió milliárd                 | 1e3 1e6 1e9  | HUF=Ft HUF=HUF
хил. млн. млрд.                      | 1e3 1e6 1e9  | BGN=лв. BGN=BGN
тыс. млн млрд                        | 1e3 1e6 1e9  | RUB=руб. RUB=₽ UAH=грн UAH=₴
tūkst. mln. mlrd.                    | 1e3 1e6 1e9  | EUR=EUR EUR=€
tusen mill. mrd.                     | 1e3 1e6 1e9  | NOK=NOK crowns=kr
t mio. mia.                          | 1e3 1e6 1e9  | DKK=DKK crowns=kr.
Tsd. Mio. Mrd.                       | 1e3 1e6 1e9  | CHF=CHF EUR=€ EUR=EUR
bin milyon milyar                    | 1e3 1e6 1e9  | TRY=TL TRY=₺ TRY=TRY
ribu juta miliar triliun             | 1e3 1e6 1e9 1e12 | IDR=Rp IDR=IDR IDR=Rp.
miles millones mil_millones          | 1e3 1e6 1e9  | DOP=RD$ PEN=S/ PEN=S/. COP=COP BOB=Bs GTQ=Q
mil milhões bilhões                  | 1e3 1e6 1e9  | BRL=R$ BRL=BRL
milliers millions milliards          | 1e3 1e6 1e9  | XOF=FCFA XOF=CFA XAF=XAF EUR=€
nghìn triệu tỷ                       | 1e3 1e6 1e9  | VND=VND VND=đồng
lakh crore lakh_crore                | 1e5 1e7 1e12 | INR=₹ INR=Rs. INR=INR BDT=Tk PKR=PKR
'000 000's 000s | 1e3 1e3 1e3 | OMR=RO KWD=KD BHD=BD QAR=QR SAR=SR JOD=JD AED=Dh. AED=Dhs
thousand mn million bn billion | 1e3 1e6 1e6 1e9 1e9 | OMR=RO KWD=KD BHD=BD QAR=QR SAR=SR JOD=JD AED=AED
'000 million bn trillion | 1e3 1e6 1e9 1e12 | KES=KShs KES=KSh TZS=TShs UGX=UShs GHS=GH₵ GHS=GHS NGN=₦ ETB=Br
'000 million mn billion | 1e3 1e6 1e6 1e9 | MYR=RM PHP=₱ ZAR=R ZMW=K NAD=N$ MWK=MK THB=Baht LKR=LKR BWP=BWP
k m mm bn                            | 1e3 1e6 1e6 1e9 | USD=US$ GBP=£ EUR=€ USD=USD
""")
ORDERS = (
    "{money} {scale}",
    "{scale} {money}",
    "{money}\u00a0{scale}",
    "{money} ({scale})",
    "{scale} ({money})",
)
DECORATIONS = (
    "{}|({})|[{}]|2024 {}|Change > {}|in {}|en {}|em {}|v {}|w {}|(in {})|Figures in {}|"
    "(expressed in {})|Amounts in {} unless otherwise stated"
).split("|")


def language_lines() -> list[tuple[str, float, str]]:
    """Each currency of the languages with each of their scales, in each order and decoration."""
    drawn: list[tuple[str, float, str]] = []
    for scales, values, currencies in LANGUAGES:
        pairs = list(zip(scales.split(), map(float, values.split()), strict=True))
        for (word, scale), currency in product(pairs, currencies.split()):
            code, money = currency.split("=")
            for order, decoration in product(ORDERS, DECORATIONS):
                line = order.format(money=money, scale=word.replace("_", " "))
                if order == ORDERS[3] and len(word.strip(".")) == 1:
                    continue  # "USD (m)" numbers an item
                drawn.append((decoration.format(line), scale, code))
    return drawn


def test_scales_of_all_languages_are_read_with_their_currencies() -> None:
    lines = language_lines()
    assert len(lines) > 2000
    wrong = []
    for text, scale, code in lines:
        mark = stated_mark(text)
        if mark is None or (mark.scale, mark.unit) != (scale, code):
            wrong.append((text, scale, code, mark))
    assert not wrong, wrong[:20]


TOLD_APART = case_rows("""
R$ mil               | 1e3  | BRL
mil. lei             | 1e6  | RON
mil Kč               | 1e6  | CZK
mil. EUR             | 1e6  | EUR
em mil euros         | 1e3  | EUR
COP mm               | 1e9  | COP
COP MM               | 1e6  | COP
MMUS$                | 1e6  | USD
MUS$                 | 1e3  | USD
ThUS$                | 1e3  | USD
MUSD                 | 1e6  | USD
eFt                  | 1e3  | HUF
MFt                  | 1e6  | HUF
百万円               | 1e6  | JPY
Dh. 000's            | 1e3  | AED
BİN TL               | 1e3  | TRY
tys. zł 2024 2023    | 1e3  | PLN
RO '000 2024 2023    | 1e3  | OMR
RO Mn 2024 2023      | 1e6  | OMR
Energy costs mln zł  | 1e6  | PLN
miles de millones de pesos | 1e9 | pesos
""")


@pytest.mark.parametrize(("text", "scale", "unit"), TOLD_APART)
def test_what_stands_beside_a_scale_decides_what_it_means(text: str, scale: str, unit: str) -> None:
    mark = stated_mark(text)
    assert mark is not None
    assert (mark.scale, mark.unit) == (float(scale), unit)


OPENINGS = ("Stores in", "He paid", "A clerk at", "Route", "Box", "The balance is", "Dr", "Section")
FRIENDS = "TN|Cr|P|K|TBD|Km|R|BD|the bin|a mill|QR code|SR|MT|five miles".split("|")
ENDINGS = "were closed.|of the town|and Cr.|is full|3|(b) the board|K 204|T. Smith signed".split("|")


def test_prose_gives_no_scale() -> None:
    texts = [" ".join(parts) for parts in product(OPENINGS, FRIENDS, ENDINGS)]
    assert not [(text, marks) for text in texts if (marks := scale_marks(text))]
