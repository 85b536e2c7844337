"""What the sample documents of the invented Republic of Valmora say, figures first and words from them; not how a page is drawn.

One file in spite of its length: it is text and tables, and the four documents draw on the same figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["SAMPLES", "Bars", "Block", "Contents", "Heading", "Items", "Sample", "Scan", "Table", "Text"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. level: 1 or 2, 0 for one that stays out of the contents; new_page: starts a page."""

    text: str
    level: int = 1
    new_page: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; footnote: what stands at the foot of its page under the mark that the text carries."""

    text: str
    footnote: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, bulleted, or with (a), (b) … where lettered."""

    items: tuple[str, ...]
    lettered: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table as printed. words: how many leading columns are words, the others being figures; a row of one cell is a subheading.

    bold: indexes of rows that are totals, negative from the end. widths: shares of the line, worked out where empty.
    """

    caption: str
    unit: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bold: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    words: int = 1
    widths: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart of one series; line: a limit drawn across it."""

    caption: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    line: float


@dataclass(frozen=True, slots=True)
class Contents:
    """The table of contents, or the list of tables."""

    tables: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """Pages that are pictures only. heading: what the contents call them; pages: what each picture shows."""

    heading: Heading
    pages: tuple[tuple[Block, ...], ...]


Block = Heading | Text | Items | Table | Bars | Contents | Scan


@dataclass(frozen=True, slots=True)
class Sample:
    """One document. date: of the PDF's metadata. footer: left, middle, right, with {label} and {pages}. cover: a title page; labels: embed page labels."""

    file: str
    title: str
    subtitle: str
    date: tuple[int, int, int]
    footer: tuple[str, str, str]
    body: tuple[Block, ...]
    front: tuple[Block, ...] = ()
    cover: tuple[str, ...] = ()
    labels: bool = False
    serif: bool = True


def _figure(value: float) -> str:
    """A whole figure with thousands separators, negatives in parentheses, nothing as a dash."""
    return "–" if value == 0 else f"({-value:,.0f})" if value < 0 else f"{value:,.0f}"


def _tenths(value: float) -> str:
    return f"({-value:.1f})" if round(value, 1) < 0 else f"{value:.1f}"


def _row(name: str, values: Iterable[float]) -> tuple[str, ...]:
    return (name, *map(_figure, values))


def _tenths_row(name: str, values: Iterable[float]) -> tuple[str, ...]:
    return (name, *map(_tenths, values))


def _sums(rows: Iterable[Sequence[float]]) -> tuple[float, ...]:
    return tuple(sum(column) for column in zip(*rows, strict=True))


def _growth(new: float, old: float) -> float:
    return 100 * (new / old - 1)


# Figures: crowns million unless said otherwise; three fiscal years, then two that are projected -----------------------------------------------------

YEARS = ("2023-24 outturn", "2024-25 revised", "2025-26 budget")
TARGET_YEARS = ("2024 outturn", "2025 estimate", "2026 budget", "2027 projection", "2028 projection")
REAL_GROWTH = (2.4, 2.1, 2.3, 2.4, 2.3)
DEFLATOR = (3.6, 2.5, 2.4, 2.3, 2.1)
INFLATION = (4.1, 2.9, 2.5, 2.2, 2.0)
UNEMPLOYMENT = (6.3, 6.1, 5.9, 5.7, 5.6)
BOND_YIELD = (3.9, 3.7, 3.6, 3.5, 3.5)
STRUCTURAL = (-3.0, -2.6, -2.4, -2.1, -1.8)
FIRST_GDP = 412_600
FIRST_DEBT = 254_900
STOCK_FLOW = (0, -1_150, -1_400, -1_600, -1_500)
PROJECTED_REVENUE = (146_500, 153_100)
PROJECTED_EXPENDITURE = (156_900, 162_000)

TAXES: dict[str, tuple[float, ...]] = {
    "Income tax of individuals": (38_420, 40_960, 43_310),
    "Corporate income tax": (17_865, 18_240, 19_475),
    "Value added tax": (41_230, 43_015, 45_390),
    "Excise duties": (9_640, 9_885, 10_720),
    "Customs duties": (3_215, 3_140, 3_060),
    "Land and property tax": (4_105, 4_250, 4_480),
    "Other taxes": (2_310, 2_365, 2_450),
    "Less: refunds relating to earlier years": (-1_845, -1_910, -2_020),
}
NON_TAX: dict[str, tuple[float, ...]] = {
    "Fees, licences and charges": (6_120, 6_340, 6_585),
    "Dividends of state enterprises": (3_480, 2_950, 3_125),
    "Grants from abroad": (1_270, 1_140, 985),
    "Other non-tax revenue": (2_040, 2_105, 2_190),
}

# code, project, spent to 31 March 2025, 2025-26, 2026-27, later years
PROJECTS: dict[str, tuple[tuple[str, int, int, int, int], ...]] = {
    "Education and Science": (
        ("E-01 School construction programme", 1_340, 560, 580, 1_160),
        ("E-02 Vocational training centre, Karsk", 75, 118, 62, 0),
        ("E-03 University science campus, Grentham", 310, 225, 240, 185),
        ("E-04 Pre-school places at 40 sites", 90, 165, 170, 80),
        ("E-05 Energy renovation of schools", 45, 95, 110, 220),
        ("E-06 Research data centre", 28, 45, 37, 0),
        ("E-07 Minor works, education", 0, 50, 50, 100),
    ),
    "Health": (
        ("H-01 University Hospital, surgical block", 890, 620, 540, 380),
        ("H-02 Regional hospital, Dunvale", 415, 385, 290, 0),
        ("H-03 Oncology centre, Port Aldane", 120, 240, 310, 175),
        ("H-04 Ambulance fleet renewal", 85, 110, 115, 115),
        ("H-05 Electronic health record", 260, 175, 90, 0),
        ("H-06 Mental health clinics at six sites", 40, 155, 185, 95),
        ("H-07 Laboratory equipment", 60, 85, 60, 0),
        ("H-08 Minor works, health", 0, 90, 90, 180),
    ),
    "Social Protection and Labour": (
        ("S-01 Care homes, eastern region", 130, 190, 165, 60),
        ("S-02 Benefit payment system", 215, 140, 45, 0),
        ("S-03 Employment service centres", 35, 95, 80, 0),
        ("S-04 Accessible housing", 20, 70, 95, 190),
        ("S-05 Minor works, social protection", 0, 45, 45, 90),
    ),
    "Transport and Infrastructure": (
        ("T-01 A4 motorway, Castova to Brennick", 3_240, 1_480, 1_350, 2_130),
        ("T-02 Second Meren rail bridge", 860, 720, 640, 310),
        ("T-03 Electrification of the northern line", 415, 610, 745, 1_880),
        ("T-04 Port Aldane container terminal, phase 2", 1_120, 540, 210, 0),
        ("T-05 Valmora City ring road, eastern arc", 980, 485, 0, 0),
        ("T-06 Broadband in rural districts", 330, 395, 360, 240),
        ("T-07 Renewal of road bridges", 640, 310, 325, 650),
        ("T-08 Safety of level crossings", 95, 140, 150, 210),
        ("T-09 Flood embankments, lower Tresk", 275, 260, 180, 90),
        ("T-10 Air navigation system", 45, 85, 60, 0),
        ("T-11 Minor works, transport", 0, 85, 85, 170),
    ),
    "Interior and Public Safety": (
        ("I-01 Emergency radio network", 180, 165, 120, 0),
        ("I-02 Fire stations at nine sites", 70, 110, 115, 130),
        ("I-03 Modernisation of border crossings", 95, 125, 60, 0),
        ("I-04 Police vehicle renewal", 50, 75, 75, 75),
        ("I-05 Minor works, interior", 0, 60, 60, 120),
    ),
    "Defence": (
        ("D-01 Armoured vehicle replacement", 740, 520, 480, 960),
        ("D-02 Two coastal patrol vessels", 310, 340, 275, 85),
        ("D-03 Air surveillance radar", 125, 180, 145, 0),
        ("D-04 Barracks renewal, Holmsund", 60, 95, 90, 45),
        ("D-05 Cyber operations centre", 38, 85, 57, 0),
        ("D-06 Minor works, defence", 0, 90, 90, 180),
    ),
    "Agriculture and Environment": (
        ("A-01 Wastewater plants, Upper Meren", 150, 110, 85, 0),
        ("A-02 Irrigation renewal", 45, 70, 75, 60),
        ("A-03 Forest fire watch network", 12, 38, 20, 0),
        ("A-04 Landfill remediation", 30, 42, 48, 85),
        ("A-05 Minor works, agriculture", 0, 25, 25, 50),
    ),
    "Justice": (
        ("J-01 Courthouse, Estermark", 64, 48, 22, 0),
        ("J-02 Digital case files", 31, 27, 19, 0),
        ("J-03 Minor works, justice", 0, 15, 15, 30),
    ),
    "Finance and Central Administration": (
        ("F-01 Renewal of the tax administration system", 140, 78, 66, 0),
        ("F-02 Government data centre", 52, 27, 14, 0),
        ("F-03 Minor works, central administration", 0, 15, 15, 30),
    ),
}
CAPITAL_BEFORE: dict[str, tuple[float, float]] = {
    "Education and Science": (1_113, 1_133),
    "Health": (1_763, 1_838),
    "Social Protection and Labour": (470, 490),
    "Transport and Infrastructure": (4_420, 4_370),
    "Interior and Public Safety": (512, 530),
    "Defence": (1_012, 1_160),
    "Agriculture and Environment": (362, 286),
    "Justice": (90, 92),
    "Finance and Central Administration": (100, 106),
}
PROGRAMMES: dict[str, dict[str, tuple[float, ...]]] = {
    "Education and Science": {
        "Pre-school education": (3_212, 3_385, 3_640),
        "Primary and lower secondary schools": (10_468, 10_742, 11_085),
        "Upper secondary and vocational schools": (4_915, 5_040, 5_228),
        "Universities and research": (4_704, 4_806, 4_972),
        "Student support and scholarships": (968, 1_004, 1_117),
    },
    "Health": {
        "Hospital services": (15_330, 15_742, 16_210),
        "Primary and community care": (5_480, 5_765, 6_148),
        "Medicines and medical devices": (4_610, 4_790, 5_022),
        "Public health and prevention": (1_085, 1_020, 1_064),
        "Mental health": (842, 905, 1_096),
    },
    "Social Protection and Labour": {
        "State contribution to the Pension Fund": (15_810, 16_180, 16_770),
        "Family and child benefits": (5_870, 5_955, 6_120),
        "Disability support": (3_415, 3_520, 3_655),
        "Housing and heating allowances": (2_190, 2_015, 1_860),
        "Unemployment and labour market programmes": (1_520, 1_690, 1_745),
        "Recovery of overpaid benefits": (-185, -190, -205),
    },
    "Transport and Infrastructure": {
        "Road maintenance": (3_120, 3_240, 3_395),
        "Railway public service contracts": (2_260, 2_345, 2_480),
        "Ports and inland waterways": (415, 430, 452),
        "Digital infrastructure": (690, 845, 1_018),
        "Repair of flood damage": (3_180, 660, 145),
    },
    "Interior and Public Safety": {
        "Police": (4_215, 4_330, 4_418),
        "Fire and rescue": (1_340, 1_395, 1_452),
        "Border and migration": (905, 960, 998),
        "Civil registration": (318, 305, 297),
    },
    "Defence": {
        "Personnel": (3_310, 3_455, 3_580),
        "Operations and maintenance": (1_725, 1_880, 1_985),
        "International missions": (245, 260, 232),
        "Cyber defence": (188, 265, 343),
    },
    "Agriculture and Environment": {
        "Farm income support": (1_980, 1_765, 1_640),
        "Rural development": (742, 718, 705),
        "Forestry and nature protection": (396, 412, 428),
        "Water and waste": (548, 471, 430),
        "Climate adaptation": (102, 138, 162),
    },
    "Justice": {
        "Courts": (894, 912, 938),
        "Prisons and probation": (742, 760, 779),
        "Legal aid": (131, 139, 152),
        "Prosecution service": (183, 187, 191),
    },
    "Finance and Central Administration": {
        "Tax and customs administration": (1_468, 1_502, 1_541),
        "Treasury and debt office": (212, 216, 221),
        "Official statistics": (248, 236, 268),
        "Parliament, Audit Office and Fiscal Council": (486, 497, 508),
        "Shared information technology": (636, 673, 657),
    },
}
STAFF: dict[str, tuple[float, float, float]] = {
    "Education and Science": (48_210, 48_640, 49_105),
    "Health": (39_480, 40_120, 40_865),
    "Social Protection and Labour": (6_140, 6_085, 5_960),
    "Transport and Infrastructure": (4_325, 4_290, 4_235),
    "Interior and Public Safety": (18_720, 18_860, 18_945),
    "Defence": (14_050, 14_310, 14_620),
    "Agriculture and Environment": (3_180, 3_095, 2_990),
    "Justice": (5_410, 5_425, 5_440),
    "Finance and Central Administration": (7_260, 7_215, 7_190),
}
# population in thousands, general, equalisation and earmarked grant of 2025-26
MUNICIPALITIES: dict[str, tuple[int, int, int, int]] = {
    "Valmora City": (612, 2_096, 0, 1_265),
    "Port Aldane": (284, 1_015, 0, 590),
    "Castova": (231, 842, 118, 476),
    "Brennick": (176, 655, 164, 362),
    "Dunvale": (158, 598, 187, 331),
    "Estermark": (143, 541, 152, 298),
    "Grentham": (121, 468, 171, 254),
    "Holmsund": (104, 409, 96, 217),
    "Karsk": (92, 372, 203, 194),
    "Lindow": (81, 335, 121, 170),
    "Farrow Bay": (67, 281, 84, 143),
    "Tresk Valley": (58, 252, 176, 126),
    "Upper Meren": (44, 205, 158, 98),
    "Northern Isles": (29, 164, 142, 91),
}
DEBT_SERVICE_YEARS = ("2025-26", "2026-27", "2027-28", "2028-29", "2029-30", "2030-31")
DEBT_SERVICE: dict[str, tuple[float, ...]] = {
    "Interest, domestic debt": (7_240, 7_655, 7_930, 8_140, 8_265, 8_310),
    "Interest, external debt": (2_940, 3_065, 3_120, 3_085, 3_010, 2_895),
    "Principal, domestic debt": (14_850, 16_320, 13_940, 18_275, 15_610, 12_480),
    "Principal, external debt": (4_120, 6_540, 3_280, 9_150, 2_760, 5_035),
}
INTEREST_BEFORE = (8_950, 9_640)
MUNICIPAL_BEFORE = (13_280, 13_905)
RESERVE_AGREED = 2_050
RESERVE_DRAWN = (
    ("June 2024", "Storm damage in the Northern Isles", 240),
    ("September 2024", "Compensation for livestock disease", 165),
    ("November 2024", "Additional heating allowances", 180),
    ("December 2024", "Early parliamentary election", 95),
    ("February 2025", "Arbitration award, A4 motorway contract", 120),
)
RESERVE_NEW = 1_900
BETWEEN_FUNDS = (-1_105, -1_160, -1_240)
WAGES = (41_860, 43_120, 44_690)
BENEFITS = (32_650, 33_290, 34_200)
SUBSIDIES = (9_880, 9_520, 9_410)
MEASURES = (
    ("Tax-free allowance of individuals raised from 96,000 to 102,000 crowns", "1 July 2025", -1_120, -1_480),
    ("Tobacco excise raised by 8 per cent", "1 April 2025", 410, 430),
    ("Exemption of holding companies closed", "1 April 2025", 365, 520),
    ("Value added tax on district heating cut from 20 to 8 per cent", "1 October 2025", -285, -560),
    ("Landfill levy raised from 140 to 180 crowns per tonne", "1 April 2025", 95, 105),
    ("Accelerated depreciation for firms with fewer than 50 employees", "1 April 2025", -140, -220),
)
DEBT_PARTS = (
    ("Treasury bills", 18_640),
    ("Fixed-rate domestic bonds", 158_330),
    ("Inflation-linked domestic bonds", 14_905),
    ("Foreign-currency bonds", 47_200),
    ("Loans of multilateral lenders", 24_100),
    ("Other domestic debt", 3_100),
)
# nominal value by quarter of the fiscal year 2026; together the gross financing need
ISSUES: dict[str, tuple[float, ...]] = {
    "Treasury bills, net": (450, 300, -600, -250),
    "Ten-year bonds": (3_600, 2_700, 2_400, 2_730),
    "Fifteen-year bonds": (1_800, 1_500, 1_650, 1_550),
    "Thirty-year bond": (0, 2_200, 0, 1_400),
    "Green bond": (0, 0, 2_500, 0),
    "Foreign-currency bonds and loans": (3_900, 0, 2_900, 0),
}
GUARANTEES = (
    ("Valmora Railways", 6_480, "Low"),
    ("National Grid Company", 5_215, "Low"),
    ("Housing Finance Agency", 4_930, "Moderate"),
    ("Export Credit Fund", 2_140, "Moderate"),
    ("Regional Airports Company", 865, "High"),
)
# per cent of GDP: balance in 2026, 2027 and 2028, debt in 2028
SHOCKS: dict[str, tuple[float, ...]] = {
    "Real GDP growth 1 percentage point lower each year": (-0.4, -0.8, -1.2, 3.9),
    "Interest rates 1 percentage point higher": (-0.1, -0.3, -0.4, 0.9),
    "Crown 10 per cent weaker": (-0.1, -0.2, -0.2, 2.4),
    "Public wages 1 per cent higher": (-0.1, -0.1, -0.1, 0.3),
}
# 31 March 2023, 31 March 2024, of which older than 90 days
ARREARS: dict[str, tuple[float, float, float]] = {
    "Education and Science": (64, 58, 12),
    "Health": (412, 376, 148),
    "Social Protection": (41, 37, 5),
    "Transport": (288, 319, 97),
    "Interior": (29, 33, 8),
    "Defence": (52, 47, 19),
    "Agriculture": (35, 44, 16),
    "Justice": (11, 9, 2),
}
LOSSES = (
    ("Cash shortages", 14, 3),
    ("Stores and equipment lost", 122, 27),
    ("Irrecoverable tax claims", 860, 214),
    ("Irrecoverable benefit claims", 1_435, 58),
    ("Constructive losses on contracts", 6, 71),
)

RECORD = (
    ("2020", "Met", "2.2", "2.1", "3.0"),
    ("2021", "Escape clause: output fell by 4.9 per cent", "2.4", "6.8", "suspended"),
    ("2022", "Escape clause, second year", "5.5", "4.2", "suspended"),
    ("2023", "Met", "3.0", "2.8", "3.0"),
    ("2024", "Not met; excess within the costs of the floods", "2.7", "3.4", "3.0"),
)

CAPITAL = {name: (*CAPITAL_BEFORE[name], sum(project[2] for project in projects)) for name, projects in PROJECTS.items()}
MINISTRY = {name: _sums([*programmes.values(), CAPITAL[name]]) for name, programmes in PROGRAMMES.items()}
MINISTRIES = _sums(MINISTRY.values())
MUNICIPAL = (*MUNICIPAL_BEFORE, sum(sum(grants[1:]) for grants in MUNICIPALITIES.values()))
YEARLY_INTEREST = _sums(list(DEBT_SERVICE.values())[:2])
INTEREST = (*INTEREST_BEFORE, *YEARLY_INTEREST[:3])
RESERVE_LEFT = RESERVE_AGREED - sum(amount for _, _, amount in RESERVE_DRAWN)
RESERVE = (0, RESERVE_LEFT, RESERVE_NEW)
TAX = _sums(TAXES.values())
REVENUE_LINES = _sums([TAX, _sums(NON_TAX.values())])
EXPENDITURE_LINES = _sums([MINISTRIES, MUNICIPAL, INTEREST[:3], RESERVE, BETWEEN_FUNDS])
REVENUE = (*REVENUE_LINES, *PROJECTED_REVENUE)
EXPENDITURE = (*EXPENDITURE_LINES, *PROJECTED_EXPENDITURE)
BALANCE = tuple(taken - spent for taken, spent in zip(REVENUE, EXPENDITURE, strict=True))
PRIMARY_BALANCE = tuple(balance + interest for balance, interest in zip(BALANCE, INTEREST, strict=True))
PRIMARY_SPENDING = tuple(spent - interest for spent, interest in zip(EXPENDITURE, INTEREST, strict=True))
CAPITAL_TOTAL = _sums(CAPITAL.values())
GOODS = tuple(
    total - sum(others)
    for total, *others in zip(
        EXPENDITURE[:3], WAGES, BENEFITS, SUBSIDIES, MUNICIPAL, INTEREST[:3], CAPITAL_TOTAL, RESERVE, BETWEEN_FUNDS, strict=True
    )
)


def _gdp() -> tuple[float, ...]:
    values: list[float] = [FIRST_GDP]
    for growth, prices in list(zip(REAL_GROWTH, DEFLATOR, strict=True))[1:]:
        values.append(round(values[-1] * (1 + growth / 100) * (1 + prices / 100), -2))
    return tuple(values)


def _debt() -> tuple[float, ...]:
    values: list[float] = [FIRST_DEBT]
    for balance, other in list(zip(BALANCE, STOCK_FLOW, strict=True))[1:]:
        values.append(values[-1] - balance + other)
    return tuple(values)


GDP = _gdp()
DEBT = _debt()


def _share(values: Sequence[float]) -> tuple[float, ...]:
    """values as per cent of the GDP of their years."""
    return tuple(100 * value / gdp for value, gdp in zip(values, GDP[: len(values)], strict=True))


DEFICIT_SHARE = tuple(-value for value in _share(BALANCE))
DEBT_SHARE = _share(DEBT)
SPENDING_GROWTH = tuple(_growth(new, old) for new, old in zip(PRIMARY_SPENDING[1:], PRIMARY_SPENDING, strict=False))
POTENTIAL, INFLATION_TARGET = 2.2, 2.5
SPENDING_LIMIT = POTENTIAL + INFLATION_TARGET
FOREIGN_SHARE = 100 * (DEBT_PARTS[3][1] + DEBT_PARTS[4][1]) / DEBT[1]
FOREIGN_ISSUES = ISSUES["Foreign-currency bonds and loans"]
FINANCING_NEED = -BALANCE[2] + DEBT_SERVICE["Principal, domestic debt"][0] + DEBT_SERVICE["Principal, external debt"][0]
GUARANTEED = sum(amount for _, amount, _ in GUARANTEES)
EFFECT = _sums([(first, full) for _, _, first, full in MEASURES])
ARREARS_TOTAL = _sums(ARREARS.values())

# The Fiscal Policy Statement --------------------------------------------------------------------------------------------------------------------------

_STATEMENT_FRONT: tuple[Block, ...] = (
    Heading("Foreword", new_page=True),
    Text(
        "This Statement sets out how the Government will conduct fiscal policy over the three years to March 2028. It is laid before Parliament "
        "under section 9 of the Public Finance Act, together with the annual budget, and it binds the Government until the next Statement is "
        "published."
    ),
    Text(
        f"The public finances have been repaired faster than was planned. The deficit, which stood at {_tenths(DEFICIT_SHARE[0])} per cent of gross "
        f"domestic product after the floods of the autumn of 2023, is estimated at {_tenths(DEFICIT_SHARE[1])} per cent in the year now ending, and "
        f"the budget brings it to {_tenths(DEFICIT_SHARE[2])} per cent. Public debt has passed its peak. Without further measures it falls below the "
        "anchor of 60 per cent of gross domestic product in the last year covered here, two years ahead of the date that the law allows."
    ),
    Text(
        "The room that this creates is small, and the Government intends to keep it. Interest now takes more of the budget than the courts, the "
        "police and the armed forces together did a decade ago; the population is ageing; and an open economy of our size must expect to be hit "
        "from outside at least once in every parliament. The rules described in Chapter 2 are there for the year in which that happens, and not "
        "only for quiet ones."
    ),
    Text(
        "Two things are new this year. The contingency reserve has, for the first time, an upper as well as a lower limit, so that it can neither "
        "be starved nor be used to carry unallocated spending. And the fiscal risks in Chapter 6 are stated with their size, as the Fiscal Council "
        "asked."
    ),
    Text("The Minister of Finance<br/>Valmora City, March 2025"),
    Heading("Contents", 0, new_page=True),
    Contents(),
    Heading("Tables", 0, new_page=True),
    Contents(tables=True),
    Heading("Key figures and conventions"),
    Text("The figures by which this Statement can be judged are the following; each is explained in the chapter named."),
    Items(
        (
            f"Overall deficit in 2026: {_tenths(DEFICIT_SHARE[2])} per cent of GDP, against a ceiling of 3.0 per cent (Chapter 3).",
            f"Public debt at the end of 2026: {_tenths(DEBT_SHARE[2])} per cent of GDP, against an anchor of 60 per cent (Chapter 3).",
            f"Growth of primary expenditure in 2026: {_tenths(SPENDING_GROWTH[1])} per cent, against a limit of {_tenths(SPENDING_LIMIT)} per cent "
            "(Chapter 3).",
            f"State guarantees outstanding: {_figure(GUARANTEED)} million crowns (Chapter 6).",
        )
    ),
    Text(
        "Years are fiscal years and are named after the year in which they end: “2026” is the year from 1 April 2025 to 31 March 2026, which the "
        "Budget Book calls 2025-26. Money is stated in millions of Valmoran crowns. Negative figures are shown in parentheses. Ratios to gross "
        "domestic product use the forecast of the Ministry of Finance, which the Fiscal Council endorsed in February 2025. Totals may differ from "
        "the sum of their parts because of rounding."
    ),
)

_STATEMENT_ECONOMY: tuple[Block, ...] = (
    Heading("1 Economic context", new_page=True),
    Heading("1.1 Recent developments", 2),
    Text(
        f"The economy grew by {_tenths(REAL_GROWTH[0])} per cent in real terms in 2024, carried by reconstruction and by the recovery of household "
        f"incomes. Growth slowed to an estimated {_tenths(REAL_GROWTH[1])} per cent in 2025 as the repair of flood damage ran out and foreign demand "
        f"for machinery weakened. Consumer price inflation came down from {_tenths(INFLATION[0])} to {_tenths(INFLATION[1])} per cent and is close "
        f"to the target of the National Bank, which is {_tenths(INFLATION_TARGET)} per cent.",
    ),
    Heading("1.2 Outlook", 2),
    Text(
        "The forecast assumes that foreign demand recovers gradually, that the oil price stays near 78 dollars a barrel, and that the exchange rate "
        "keeps its average value of the fourth quarter of 2024.<super>1</super> Private investment is helped by lower interest rates from the "
        "second half of 2026. Unemployment continues to fall, but more slowly, since the population of working age is shrinking by 0.3 per cent a "
        "year.",
        footnote="1  The technical assumptions were closed on 31 January 2025. Later information is discussed in Chapter 6.",
    ),
    Table(
        "Table 1: Macroeconomic assumptions",
        "Per cent, unless stated otherwise",
        ("", *TARGET_YEARS),
        (
            _tenths_row("Real GDP growth", REAL_GROWTH),
            _tenths_row("GDP deflator", DEFLATOR),
            _tenths_row("Consumer price inflation", INFLATION),
            _tenths_row("Unemployment rate", UNEMPLOYMENT),
            _tenths_row("Ten-year bond yield", BOND_YIELD),
            _row("Nominal GDP (crowns million)", GDP),
        ),
        notes=("Source: Ministry of Finance; forecast endorsed by the Fiscal Council on 14 February 2025.",),
    ),
    Heading("1.3 What is uncertain", 2),
    Text(
        "The Fiscal Council considers the forecast for growth plausible and the forecast for inflation slightly low. It points to two dangers: a "
        "longer weakness of export markets, and wage agreements above productivity in the public sector. Both are quantified in Chapter 6. On the "
        "other side, the new container terminal at Port Aldane could raise potential output earlier than assumed."
    ),
)

_STATEMENT_RULES: tuple[Block, ...] = (
    Heading("2 Fiscal rules", new_page=True),
    Text(
        "The Fiscal Responsibility Act lays down four numerical rules. They apply to the central government, including its extra-budgetary funds, "
        "and are tested twice: when the budget is presented, on the plan, and six months after the end of the year, on the outturn."
    ),
    Heading("2.1 Deficit ceiling", 2),
    Text(
        "The overall deficit may not exceed 3.0 per cent of gross domestic product in any fiscal year. The ceiling applies to the deficit on an "
        "accrual basis, after interest, and includes the recapitalisation of state enterprises unless a commercial return is expected."
    ),
    Heading("2.2 Debt anchor", 2),
    Text(
        "Gross public debt is to be brought to, and then kept at or below, 60 per cent of gross domestic product. As long as debt is above the "
        "anchor, the excess must shrink by at least one twentieth a year on average over three years. The anchor must be met at the latest on 31 "
        "March 2030."
    ),
    Heading("2.3 Expenditure growth rule", 2),
    Text(
        "Primary expenditure, net of the effect of discretionary revenue measures, may not grow faster in a year than the ten-year average of "
        f"potential growth plus the inflation target of the National Bank. For 2026 these are {_tenths(POTENTIAL)} and {_tenths(INFLATION_TARGET)} "
        f"per cent, so the limit is {_tenths(SPENDING_LIMIT)} per cent. Spending that is fully financed by grants from abroad is left "
        "out.<super>2</super>",
        footnote="2  The limit is fixed for the year when the Statement is published and is not changed if the estimates are revised later.",
    ),
    Heading("2.4 Contingency reserve rule", 2),
    Text(
        "The budget must contain a contingency reserve of at least 1.0 per cent and at most 2.0 per cent of budgeted primary expenditure. The "
        "reserve may be used only for expenditure that is urgent, unforeseen and unavoidable. A drawing of more than 200 million crowns needs the "
        "prior consent of the Budget Committee of Parliament; smaller ones are reported to it within 30 days. What is left at the end of the year "
        "lapses and may not be carried over."
    ),
    Heading("2.5 Escape clause", 2),
    Text("The application of the deficit ceiling and of the expenditure growth rule may be suspended if at least one of the following is met:"),
    Items(
        (
            "real gross domestic product falls by 2.0 per cent or more in a year, as confirmed by the statistics office;",
            "a natural disaster causes costs to the budget of more than 1.5 per cent of gross domestic product;",
            "Parliament has declared a state of emergency for reasons of national security or public health.",
        ),
        lettered=True,
    ),
    Text(
        "The suspension requires a resolution adopted by three fifths of the members of Parliament, after the Fiscal Council has given its opinion, "
        "for which it has 15 working days. It lasts for one fiscal year and may be extended once, so that it can never exceed two years. The debt "
        "anchor is not suspended. Within three months of the resolution, the Government presents a plan for returning to the rules within four "
        "years. The clause was last used for 2021 and 2022."
    ),
    Heading("2.6 Monitoring and correction", 2),
    Text(
        "The Fiscal Council publishes its assessment of compliance by 31 October each year. If the outturn departs from a rule by more than 0.5 per "
        "cent of gross domestic product, the Government must within two months propose a correction, of which at least half takes effect in the "
        "following fiscal year. If it disagrees with the Council, it must explain why before Parliament (“comply or explain”)."
    ),
    Table(
        "Table 2: The deficit ceiling since 2020",
        "Overall deficit, per cent of GDP",
        ("Year", "Assessment of the Fiscal Council", "Plan", "Outturn", "Ceiling"),
        RECORD,
        words=2,
        widths=(0.1, 0.48, 0.13, 0.13, 0.16),
        notes=("For 2021 and 2022 Parliament had suspended the ceiling under section 2.5.",),
    ),
    Heading("2.7 Municipalities", 2),
    Text(
        "The rules of this chapter do not apply to municipalities. They may borrow for investment only, and their debt may not exceed 70 per cent "
        "of their current revenue; above 50 per cent they need the consent of the Ministry of Finance. The Government does not guarantee municipal "
        "debt and does not take it over."
    ),
)

_TARGET_TABLE = Table(
    "Table 3: Fiscal targets, 2024 to 2028",
    "Per cent of GDP, unless stated otherwise; deficits in parentheses",
    ("", *TARGET_YEARS),
    (
        _tenths_row("Total revenue", _share(REVENUE)),
        _tenths_row("Total expenditure", _share(EXPENDITURE)),
        _tenths_row("  of which: interest", _share(INTEREST)),
        _tenths_row("Overall balance", _share(BALANCE)),
        _tenths_row("Primary balance", _share(PRIMARY_BALANCE)),
        _tenths_row("Structural balance", STRUCTURAL),
        _tenths_row("Public debt, end of year", DEBT_SHARE),
        ("In crowns million",),
        _row("Total revenue", REVENUE),
        _row("Total expenditure", EXPENDITURE),
        _row("Overall balance", BALANCE),
        _row("Public debt, end of year", DEBT),
    ),
    bold=(3, 6, 10, 11),
    notes=("The structural balance is adjusted for the cycle and for one-off items.",),
)

_RESERVE_SHARE = 100 * RESERVE_NEW / PRIMARY_SPENDING[2]

_STATEMENT_TARGETS: tuple[Block, ...] = (
    Heading("3 Fiscal targets", new_page=True),
    Heading("3.1 Path of deficit and debt", 2),
    Text(
        f"The overall deficit is to fall from {_tenths(DEFICIT_SHARE[1])} per cent of GDP in 2025 to {_tenths(DEFICIT_SHARE[2])} per cent in 2026 "
        f"and {_tenths(DEFICIT_SHARE[4])} per cent in 2028. Revenue stays broadly constant in relation to GDP; the improvement comes from "
        f"expenditure, which falls by {_tenths(_share(EXPENDITURE)[1] - _share(EXPENDITURE)[4])} percentage points of GDP between 2025 and 2028 as "
        f"repair work ends and the wage bill grows more slowly than the economy. Debt peaked at {_tenths(max(DEBT_SHARE))} per cent of GDP in 2024 "
        f"and falls to {_tenths(DEBT_SHARE[4])} per cent by the end of 2028."
    ),
    _TARGET_TABLE,
    Heading("3.2 Compliance with the rules", 2),
    Text(
        "Table 4 compares the plan for 2026 with each rule. All four are met. In 2024 the deficit ceiling was exceeded, which the Council regarded "
        "as covered by the costs of the floods without the escape clause having been invoked."
    ),
    Table(
        "Table 4: Compliance of the 2026 budget with the fiscal rules",
        "Per cent",
        ("Rule", "Limit", "Plan for 2026", "Margin", "Met?"),
        (
            ("Deficit ceiling (of GDP)", "3.0", _tenths(DEFICIT_SHARE[2]), _tenths(3.0 - round(DEFICIT_SHARE[2], 1)), "Yes"),
            (
                "Debt anchor (of GDP): yearly reduction of excess",
                "5.0",
                _tenths(100 * (DEBT_SHARE[1] - DEBT_SHARE[2]) / (DEBT_SHARE[1] - 60)),
                _tenths(round(100 * (DEBT_SHARE[1] - DEBT_SHARE[2]) / (DEBT_SHARE[1] - 60), 1) - 5.0),
                "Yes",
            ),
            (
                "Growth of primary expenditure",
                _tenths(SPENDING_LIMIT),
                _tenths(SPENDING_GROWTH[1]),
                _tenths(SPENDING_LIMIT - round(SPENDING_GROWTH[1], 1)),
                "Yes",
            ),
            ("Contingency reserve (of primary expenditure)", "1.0 to 2.0", _tenths(_RESERVE_SHARE), _tenths(round(_RESERVE_SHARE, 1) - 1.0), "Yes"),
        ),
        widths=(0.46, 0.14, 0.16, 0.12, 0.12),
    ),
)

_STATEMENT_REVENUE: tuple[Block, ...] = (
    Heading("4 Revenue policy", new_page=True),
    Heading("4.1 Principles", 2),
    Text(
        f"The Government aims at revenue of about 31 per cent of GDP; it was {_tenths(_share(REVENUE)[0])} per cent in 2024. It prefers broad bases "
        "and low rates, gives at least six months’ notice before a new tax takes effect, and does not introduce new earmarked taxes. Every tax "
        "expenditure lapses after four years unless Parliament renews it on the basis of a published evaluation."
    ),
    Heading("4.2 Rates in force", 2),
    Table(
        "Table 5: Principal tax rates from 1 April 2025",
        "Per cent of the base, unless stated otherwise",
        ("Tax", "Base", "Rate", "Changed last"),
        (
            ("Income tax, basic rate", "Income above the tax-free allowance up to 640,000 crowns a year", "18", "2019"),
            ("Income tax, higher rate", "Income above 640,000 crowns a year", "29", "2022"),
            ("Corporate income tax", "Taxable profit", "19", "2016"),
            ("Value added tax, standard", "Goods and services not named below", "20", "2014"),
            ("Value added tax, reduced", "Food, books, medicines, passenger transport", "8", "2020"),
            ("Capital gains", "Realised gains on securities held under five years", "15", "2022"),
            ("Withholding tax", "Dividends paid to non-residents", "10", "2018"),
            ("Carbon levy", "Crowns per tonne of carbon dioxide", "310", "2024"),
        ),
        words=2,
        widths=(0.25, 0.45, 0.12, 0.18),
        notes=("District heating moves from the standard to the reduced rate of value added tax on 1 October 2025.",),
    ),
    Heading("4.3 Priorities for 2026 to 2028", 2),
    Items(
        (
            "Compliance: the gap between value added tax due and collected, estimated at 9.4 per cent in 2023, is to be brought to 7.5 per cent by "
            "2028 through electronic invoicing, which becomes compulsory between businesses on 1 January 2026.",
            "Environment: the carbon levy rises by 40 crowns per tonne on 1 April of each year from 2026 until it reaches 430 crowns.",
            "Simplicity: 14 of the 61 tax expenditures end without replacement; the revenue, 540 million crowns a year, lowers the tax on labour.",
            "Local revenue: municipalities may set the land tax between 0.2 and 0.8 per cent of the assessed value from 2027.",
        )
    ),
    Text(
        "The Government has decided not to introduce a general wealth tax in the period of this Statement. It will review the treatment of income "
        "from digital platforms together with neighbouring countries and report by the end of 2026."
    ),
)

_STATEMENT_DEBT: tuple[Block, ...] = (
    Heading("5 Debt management strategy", new_page=True),
    Heading("5.1 Objective", 2),
    Text(
        "The debt office meets the financing needs of the State at the lowest cost over the medium term, at a prudent degree of risk, and develops "
        "the domestic market in crowns. It does not take positions on interest or exchange rates."
    ),
    Table(
        "Table 6: Public debt by instrument at 31 March 2025 (estimate)",
        "Crowns million and per cent of total",
        ("Instrument", "Amount", "Share"),
        (
            *((name, _figure(amount), _tenths(100 * amount / DEBT[1])) for name, amount in DEBT_PARTS),
            ("Total public debt", _figure(sum(amount for _, amount in DEBT_PARTS)), "100.0"),
        ),
        bold=(-1,),
        widths=(0.6, 0.2, 0.2),
    ),
    Heading("5.2 Benchmarks", 2),
    Table(
        "Table 7: Strategic benchmarks for the debt portfolio",
        "Per cent of total debt, unless stated otherwise",
        ("Indicator", "Benchmark", "March 2024", "March 2025"),
        (
            ("Debt at fixed rates", "at least 75", "79.6", "81.2"),
            ("Average time to maturity (years)", "at least 6.5", "6.8", "7.1"),
            ("Debt falling due within 12 months", "at most 12", "11.4", "10.8"),
            ("Debt in foreign currency, before swaps", "at most 27", "28.3", _tenths(FOREIGN_SHARE)),
            ("Largest redemption in one month (crowns million)", "at most 9,000", "7,900", "8,250"),
        ),
        widths=(0.46, 0.2, 0.17, 0.17),
    ),
    Text(
        "The benchmarks bind the debt office over a calendar quarter; a breach is reported to the Minister within five working days. The share of "
        f"foreign currency, {_tenths(FOREIGN_SHARE)} per cent, has come back under its benchmark and is to reach 22 per cent in 2028."
    ),
    Heading("5.3 Borrowing plan", 2, new_page=True),
    Text(
        f"The gross financing need of 2026 is {_figure(FINANCING_NEED)} million crowns: the overall deficit of {_figure(-BALANCE[2])} million and "
        f"redemptions of {_figure(FINANCING_NEED + BALANCE[2])} million. Of this, {100 - 100 * sum(FOREIGN_ISSUES) / FINANCING_NEED:.0f} per cent "
        "will be raised in crowns: ten-year and fifteen-year bonds at monthly auctions, and a new thirty-year bond. The first green bond, of "
        f"{_figure(sum(ISSUES['Green bond']))} million crowns, is planned for the autumn of 2025; its proceeds finance the electrification of the "
        "northern railway line. The cash buffer is kept at no less than 45 days of expenditure."
    ),
    Table(
        "Table 8: Issuance calendar for 2026",
        "Crowns million, nominal value",
        ("Instrument", "April to June", "July to Sept.", "Oct. to Dec.", "Jan. to March", "Year"),
        (
            *(_row(name, (*amounts, sum(amounts))) for name, amounts in ISSUES.items()),
            _row("All instruments", (*_sums(ISSUES.values()), sum(map(sum, ISSUES.values())))),
        ),
        bold=(-1,),
        widths=(0.35, 0.13, 0.13, 0.13, 0.13, 0.13),
        notes=("The auction dates of a quarter are published on the last working day of the quarter before.",),
    ),
    Text(
        "Figure 1 shows the path of debt that follows. An issue may be cancelled if the price bid is more than 25 basis points away from the "
        "secondary market; what is not placed is added to the next auction of the same instrument."
    ),
    Bars(
        "Figure 1: Public debt, end of year (per cent of GDP)", ("2024", "2025", "2026", "2027", "2028"), tuple(round(x, 1) for x in DEBT_SHARE), 60.0
    ),
)

_COMBINED = _sums(SHOCKS.values())

_STATEMENT_RISKS: tuple[Block, ...] = (
    Heading("6 Fiscal risks", new_page=True),
    Heading("6.1 Sensitivity to the economy", 2),
    Text(
        "Table 9 shows by how much the balance and the debt would depart from the targets if an assumption turned out less favourable from 1 April "
        "2025 on and policy did not react. The effects are simple sums; in a real shock they would reinforce each other."
    ),
    Table(
        "Table 9: Sensitivity of the fiscal targets",
        "Change in percentage points of GDP against the targets of Table 3",
        ("Shock", "Balance 2026", "Balance 2027", "Balance 2028", "Debt 2028"),
        (*(_tenths_row(name, values) for name, values in SHOCKS.items()), _tenths_row("All four together", _COMBINED)),
        bold=(-1,),
        widths=(0.44, 0.14, 0.14, 0.14, 0.14),
    ),
    Text(
        f"With all four shocks the deficit of 2026 would be {_tenths(round(DEFICIT_SHARE[2], 1) - _COMBINED[0])} per cent of GDP, above the ceiling, "
        f"and debt would stand at {_tenths(round(DEBT_SHARE[4], 1) + _COMBINED[3])} per cent of GDP at the end of 2028."
    ),
    Heading("6.2 State guarantees", 2),
    Text(
        "New guarantees need an act of Parliament and a fee that covers the expected loss. The stock may not exceed 6.0 per cent of gross domestic "
        "product."
    ),
    Table(
        "Table 10: State guarantees outstanding at 31 December 2024",
        "Crowns million",
        ("Beneficiary", "Amount", "Per cent of GDP", "Risk of a call"),
        (
            *((name, _figure(amount), f"{100 * amount / GDP[1]:.2f}", risk) for name, amount, risk in GUARANTEES),
            ("Total", _figure(GUARANTEED), f"{100 * GUARANTEED / GDP[1]:.2f}", ""),
        ),
        bold=(-1,),
        widths=(0.4, 0.2, 0.2, 0.2),
        notes=("GDP of 2025. The risk is assessed by the debt office each year.",),
    ),
    Heading("6.3 Other contingent liabilities", 2, new_page=True),
    Items(
        (
            "<b>Pending litigation.</b> Claims against the State amount to 3,870 million crowns, of which 1,150 million concern the cancelled "
            "licence for the Karsk mine. A loss is considered probable for 310 million.",
            "<b>Deposit insurance.</b> The fund holds 0.9 per cent of covered deposits; its target, 1.2 per cent, is to be reached in 2029.",
            "<b>Public-private partnerships.</b> Minimum-revenue guarantees for two toll roads could cost up to 85 million crowns a year until 2037.",
            "<b>Climate.</b> Storms and floods have cost 0.35 per cent of GDP a year on average since 2010; in 2024 it was 0.9 per cent.",
            "<b>Ageing.</b> On unchanged law, spending on pensions and health rises by 2.6 percentage points of GDP between 2025 and 2050.",
        )
    ),
    Heading("6.4 How risks are managed", 2),
    Text(
        "The contingency reserve covers small shocks; the cash buffer bridges an interruption of market access; a parametric insurance contract "
        "pays up to 1,200 million crowns after a flood of a severity expected once in twenty years. Larger shocks are what the escape clause is for "
        "(section 2.5)."
    ),
    Heading("7 Accountability"),
    Text("The Government reports on this Statement on the following dates."),
    Table(
        "Table 11: Reporting calendar",
        "",
        ("Report", "To whom", "Date"),
        (
            ("Budget execution, monthly", "Published", "25th of the following month"),
            ("Mid-year fiscal report", "Parliament", "15 November"),
            ("Assessment of compliance", "Published by the Fiscal Council", "31 October"),
            ("Annual accounts, audited", "Parliament", "30 September"),
            ("Fiscal Policy Statement", "Parliament", "Second Tuesday of March"),
        ),
        words=3,
        widths=(0.36, 0.34, 0.3),
    ),
    Text(
        "The Ministry publishes the data behind every table in machine-readable form on the day of the report. Errors that change a total by more "
        "than 50 million crowns are corrected within ten working days, with a note on what was wrong."
    ),
)

GLOSSARY_STATEMENT = (
    ("Accrual basis", "Revenue and expenditure are recorded when the claim or the obligation arises, whenever the cash is paid."),
    ("Contingency reserve", "An appropriation without a purpose fixed in advance, for expenditure that is urgent, unforeseen and unavoidable."),
    ("Debt anchor", "The ratio of gross public debt to gross domestic product towards which policy is steered in the long run."),
    ("Discretionary revenue measure", "A change of revenue that results from a decision on tax law or its administration, not from the economy."),
    ("Fiscal Council", "The independent body that endorses the forecast and assesses whether the fiscal rules are kept."),
    ("Gross financing need", "The overall deficit plus the debt that falls due within the year."),
    ("Overall balance", "Total revenue less total expenditure, including interest. A negative balance is a deficit."),
    ("Potential growth", "The growth of output that the economy can sustain without rising inflation."),
    ("Primary balance", "The overall balance before interest payments."),
    ("Primary expenditure", "Total expenditure less interest on public debt."),
    ("Public debt", "The consolidated gross debt of the central government at nominal value; guarantees are not included."),
    (
        "Stock-flow adjustment",
        "The part of a change in debt that the deficit does not explain, such as privatisation receipts or exchange-rate effects.",
    ),
    ("Structural balance", "The overall balance adjusted for the business cycle and for one-off items."),
    ("Tax expenditure", "Revenue forgone through an exemption, allowance, credit or reduced rate that favours a group or an activity."),
)


def _glossary(title: str, entries: Iterable[tuple[str, str]]) -> tuple[Block, ...]:
    return (Heading(title, new_page=True), *(Text(f"<b>{term}.</b> {meaning}") for term, meaning in entries))


STATEMENT = Sample(
    file="Valmora_Fiscal_Policy_Statement_2025.pdf",
    title="Fiscal Policy Statement 2025",
    subtitle="Targets and rules for the fiscal years 2026 to 2028",
    date=(2025, 3, 11),
    footer=("Ministry of Finance", "", "{label}"),
    cover=("Republic of Valmora", "Ministry of Finance", "Presented to Parliament under section 9 of the Public Finance Act", "11 March 2025"),
    labels=True,
    front=_STATEMENT_FRONT,
    body=(
        *_STATEMENT_ECONOMY,
        *_STATEMENT_RULES,
        *_STATEMENT_TARGETS,
        *_STATEMENT_REVENUE,
        *_STATEMENT_DEBT,
        *_STATEMENT_RISKS,
        *_glossary("Annex A: Glossary", GLOSSARY_STATEMENT),
    ),
)

# The Budget Book --------------------------------------------------------------------------------------------------------------------------------------

_BOOK_FRONT: tuple[Block, ...] = (
    Heading("Contents", 0, new_page=True),
    Contents(),
    Heading("List of tables", 0, new_page=True),
    Contents(tables=True),
    Heading("Reader’s guide", new_page=True),
    Heading("What this book contains", 0),
    Text(
        "The Budget Book explains the budget of the central government of the Republic of Valmora for the fiscal year from 1 April 2025 to 31 March "
        "2026. The appropriations become law with the Budget Act; the explanations in this book do not have the force of law, but Parliament may "
        "refer to them."
    ),
    Items(
        (
            "Sections 1 to 4 show revenue and expenditure as a whole.",
            "Section 5 explains each ministry’s budget by programme.",
            "Sections 6 to 9 cut across ministries: capital projects, debt service, transfers to municipalities, and staff.",
            "The annexes give the use of the contingency reserve, the budget calendar, the auditor’s certificate and a glossary.",
        )
    ),
    Heading("Three columns", 0),
    Text(
        "Most tables have three columns. “Outturn” is what was received or spent in 2023-24 according to the audited accounts. “Revised” is the "
        "budget of 2024-25 with the supplementary budget of November 2024. “Budget” is what Parliament is asked to approve for 2025-26."
    ),
    Heading("Units and signs", 0, new_page=True),
    Text(
        "Unless a table says otherwise, amounts are in millions of crowns. A figure in parentheses is negative: a refund, a recovery, a reduction "
        "or a deficit. A dash means nil. Staff are counted in full-time equivalents as an average over the year, not as persons on a given day."
    ),
    Heading("Where the figures come from", 0),
    Text(
        "Revenue follows the macroeconomic assumptions of the Fiscal Policy Statement of March 2025. Expenditure is stated by ministry (who "
        "spends), by programme (what for) and by economic category (on what). The three views have the same total. Money that one fund of the "
        "central government pays to another is taken out once, in the line “Less: transfers between funds”."
    ),
    Text("Enquiries about this book may be sent to the Budget Directorate, Ministry of Finance, 4 Treasury Square, Valmora City."),
)

_EXPENDITURE_TABLE = Table(
    "Table 4: Expenditure by ministry",
    "Crowns million",
    ("", *YEARS, "Change, per cent"),
    (
        *((*_row(name, values), _tenths(_growth(values[2], values[1]))) for name, values in MINISTRY.items()),
        (*_row("All ministries", MINISTRIES), _tenths(_growth(MINISTRIES[2], MINISTRIES[1]))),
        (*_row("Transfers to municipalities", MUNICIPAL), _tenths(_growth(MUNICIPAL[2], MUNICIPAL[1]))),
        (*_row("Interest on public debt", INTEREST[:3]), _tenths(_growth(INTEREST[2], INTEREST[1]))),
        (*_row("Contingency reserve", RESERVE), _tenths(_growth(RESERVE[2], RESERVE[1]))),
        (*_row("Less: transfers between funds", BETWEEN_FUNDS), _tenths(_growth(BETWEEN_FUNDS[2], BETWEEN_FUNDS[1]))),
        (*_row("Total expenditure", EXPENDITURE[:3]), _tenths(_growth(EXPENDITURE[2], EXPENDITURE[1]))),
    ),
    bold=(9, -1),
    notes=(
        "The change is that of the 2025-26 budget on the 2024-25 revised budget.",
        "Drawings on the contingency reserve are shown under the ministries that spent them.",
    ),
)

_LARGEST = max(MINISTRY, key=lambda name: MINISTRY[name][2])
_FASTEST = max(MINISTRY, key=lambda name: _growth(MINISTRY[name][2], MINISTRY[name][1]))

_BOOK_SUMMARY: tuple[Block, ...] = (
    Heading("1 The budget at a glance", new_page=True),
    Text(
        f"In 2025-26 the central government expects revenue of {_figure(REVENUE[2])} million crowns and plans expenditure of "
        f"{_figure(EXPENDITURE[2])} million. The deficit is {_figure(-BALANCE[2])} million crowns, or {_tenths(DEFICIT_SHARE[2])} per cent of gross "
        f"domestic product, down from {_tenths(DEFICIT_SHARE[1])} per cent in the revised budget of the current year."
    ),
    Table(
        "Table 1: Summary of the budget",
        "Crowns million",
        ("", *YEARS),
        (
            _row("Tax revenue", TAX),
            _row("Non-tax revenue", _sums(NON_TAX.values())),
            _row("Total revenue", REVENUE[:3]),
            _row("Primary expenditure", PRIMARY_SPENDING[:3]),
            _row("Interest on public debt", INTEREST[:3]),
            _row("Total expenditure", EXPENDITURE[:3]),
            _row("Overall balance", BALANCE[:3]),
            _row("Primary balance", PRIMARY_BALANCE[:3]),
            _tenths_row("Overall balance, per cent of GDP", _share(BALANCE[:3])),
        ),
        bold=(2, 5, 6),
    ),
    Heading("1.1 Priorities", 2),
    Items(
        (
            f"Health: {_figure(MINISTRY['Health'][2] - MINISTRY['Health'][1])} million crowns more, with mental health growing fastest.",
            "Infrastructure: the capital programme is the largest since 2012, with the A4 motorway and two railway projects.",
            "Households: a higher tax-free allowance from July and a lower tax on district heating from October.",
            f"Restraint: four ministries have fewer staff than this year; subsidies fall by {_figure(SUBSIDIES[1] - SUBSIDIES[2])} million crowns.",
        )
    ),
    Heading("2 Revenue", new_page=True),
    Text(
        f"Total revenue rises by {_tenths(_growth(REVENUE[2], REVENUE[1]))} per cent. Taxes bring {_figure(TAX[2])} million crowns. Value added tax "
        f"remains the largest single source, with {_tenths(100 * TAXES['Value added tax'][2] / REVENUE[2])} per cent of revenue; the income tax of "
        "individuals follows closely. Customs duties continue to fall as trade agreements take effect, and grants from abroad decline with the end "
        "of the reconstruction programme."
    ),
    Table(
        "Table 2: Revenue by source",
        "Crowns million",
        ("", *YEARS),
        (
            ("Taxes",),
            *(_row(name, values) for name, values in TAXES.items()),
            _row("Total taxes", TAX),
            ("Non-tax revenue",),
            *(_row(name, values) for name, values in NON_TAX.items()),
            _row("Total non-tax revenue", _sums(NON_TAX.values())),
            _row("Total revenue", REVENUE[:3]),
        ),
        bold=(9, 15, 16),
    ),
    Heading("2.1 Collection", 2),
    Text(
        "The tax administration expects a collection rate of 96.8 per cent of assessed taxes, after 96.3 per cent in 2023-24. The dividends of "
        "state enterprises are lower than in 2023-24, when the National Grid Company paid a special dividend of 640 million crowns. Tax debts older "
        "than three years are handed to the central collection unit from July 2025."
    ),
    Heading("3 Tax measures", new_page=True),
    Text(
        "The budget is accompanied by a Tax Amendment Bill. Table 3 lists its measures with their effect on revenue in 2025-26 and in a full year. "
        "A negative effect lowers revenue. The effects are included in the estimates of section 2."
    ),
    Table(
        "Table 3: Effect of tax measures",
        "Crowns million; (…) lowers revenue",
        ("Measure", "In force from", "2025-26", "Full year"),
        (*((name, start, _figure(first), _figure(full)) for name, start, first, full in MEASURES), ("All measures", "", *map(_figure, EFFECT))),
        bold=(-1,),
        words=2,
        widths=(0.52, 0.2, 0.14, 0.14),
    ),
    Text(
        f"Taken together the measures cost {_figure(-EFFECT[0])} million crowns in 2025-26 and {_figure(-EFFECT[1])} million in a full year. The "
        "raised allowance frees some 41,000 persons from income tax altogether. The cut for district heating reaches 380,000 households; suppliers "
        "must show on the bill that it has been passed on."
    ),
    Heading("3.1 Fees", 2),
    Text(
        "Court fees rise by 5 per cent and passport fees from 620 to 680 crowns. The fee for registering a company on line falls from 1,500 to 900 "
        "crowns. The vehicle tax is unchanged."
    ),
    Heading("4 Expenditure", new_page=True),
    Heading("4.1 By ministry", 2),
    Text(
        f"Total expenditure grows by {_tenths(_growth(EXPENDITURE[2], EXPENDITURE[1]))} per cent. {_LARGEST} has the largest budget with "
        f"{_figure(MINISTRY[_LARGEST][2])} million crowns. The fastest growing is {_FASTEST}, with "
        f"{_tenths(_growth(MINISTRY[_FASTEST][2], MINISTRY[_FASTEST][1]))} per cent. Only Agriculture and Environment has less than in the current "
        "year, because the temporary support after the drought ends."
    ),
    _EXPENDITURE_TABLE,
    Heading("4.2 By economic category", 2, new_page=True),
    Text(
        f"Wages and salaries take {_tenths(100 * WAGES[2] / EXPENDITURE[2])} per cent of expenditure. The budget provides for a general pay rise of "
        f"3.2 per cent from 1 September 2025. Capital expenditure rises by {_tenths(_growth(CAPITAL_TOTAL[2], CAPITAL_TOTAL[1]))} per cent."
    ),
    Table(
        "Table 5: Expenditure by economic category",
        "Crowns million",
        ("", *YEARS),
        (
            _row("Wages and salaries", WAGES),
            _row("Goods and services", GOODS),
            _row("Social benefits and pensions", BENEFITS),
            _row("Subsidies", SUBSIDIES),
            _row("Transfers to municipalities", MUNICIPAL),
            _row("Interest on public debt", INTEREST[:3]),
            _row("Capital expenditure", CAPITAL_TOTAL),
            _row("Contingency reserve", RESERVE),
            _row("Less: transfers between funds", BETWEEN_FUNDS),
            _row("Total expenditure", EXPENDITURE[:3]),
        ),
        bold=(-1,),
    ),
    Text(
        "Goods and services are held below the rate of inflation by joint purchasing and by giving up rented offices in the capital; the saving, "
        "215 million crowns, has been taken out of the ministries’ ceilings in proportion to their spending."
    ),
)

# what each ministry's page says: purpose, what changes, and what it is to achieve
MINISTRY_WORDS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Education and Science": (
        "The ministry finances pre-schools, schools, vocational training, six universities and the research fund.",
        "The right to a pre-school place is extended to children from the age of two on 1 September 2025. Class sizes in the first three school "
        "years are limited to 22. The scholarship for students from low-income families rises from 4,200 to 4,700 crowns a month.",
        (
            "3,100 additional pre-school places by March 2026",
            "Share of early school leavers below 7.0 per cent (2024: 7.8)",
            "64 schools with renewed heating",
        ),
    ),
    "Health": (
        "The ministry finances hospitals, primary care, medicines and public health; it does not run the Health Insurance Fund, which has its own "
        "budget.",
        "Mental health receives the largest relative increase, for six community clinics and a telephone service around the clock. The hospital "
        "budget contains 420 million crowns for shorter waiting times for hip, knee and cataract operations. The ceiling on what patients pay for "
        "prescribed medicines stays at 3,600 crowns a year.",
        (
            "Median waiting time for a planned operation under 90 days (2024: 118)",
            "Vaccination of 75 per cent of persons over 65 against influenza",
            "All hospitals connected to the electronic health record by December 2025",
        ),
    ),
    "Social Protection and Labour": (
        "The ministry is responsible for pensions, family benefits, support for persons with disabilities, housing allowances and the labour market.",
        "The child benefit rises from 1,450 to 1,520 crowns a month. Pensions are indexed by 3.4 per cent on 1 July 2025. Housing and heating "
        "allowances cost less, since energy prices have fallen and the tax on district heating is cut. Benefits paid by mistake are recovered and "
        "shown as a negative item.",
        (
            "Employment rate of persons aged 60 to 64 at 58 per cent (2024: 55.6)",
            "Benefit decisions within 21 days in 95 per cent of cases",
            "Overpayments below 1.2 per cent of benefits paid",
        ),
    ),
    "Transport and Infrastructure": (
        "The ministry builds and maintains national roads, railways, ports and digital networks, through three agencies.",
        "The repair of the damage from the floods of 2023 is nearly complete. The money moves to new projects: the A4 motorway, the second rail "
        "bridge over the Meren and the electrification of the northern line. Public service contracts with Valmora Railways run until 2032 and are "
        "indexed to costs.",
        (
            "Share of national roads in poor condition below 14 per cent (2024: 16.5)",
            "Fast internet for 93 per cent of households",
            "Punctuality of long-distance trains of 88 per cent",
        ),
    ),
    "Interior and Public Safety": (
        "The ministry is in charge of police, fire and rescue, borders, migration and civil registration.",
        "The police receive 120 posts for the investigation of fraud committed on line. Civil registration costs less because most certificates are "
        "now issued electronically. The emergency radio network is extended to the Northern Isles.",
        (
            "Arrival of the fire service within 15 minutes in 92 per cent of calls",
            "Asylum decisions within six months on average (2024: 8.4 months)",
            "80 per cent of certificates issued electronically",
        ),
    ),
    "Defence": (
        "The ministry provides the armed forces, their equipment and bases, and contributions to international missions.",
        f"Defence spending reaches {_tenths(100 * MINISTRY['Defence'][2] / GDP[2])} per cent of gross domestic product. The contribution to the "
        "mission in the Southern Straits ends in December 2025. Cyber defence receives a command of its own with 140 posts.",
        (
            "95 per cent of established posts filled (2024: 91)",
            "First patrol vessel delivered by February 2026",
            "Two reserve battalions at full equipment",
        ),
    ),
    "Agriculture and Environment": (
        "The ministry supports farms and rural areas, looks after forests, water and nature, and prepares the country for a changing climate.",
        "The drought support of 2023 and 2024 ends, which lowers farm income support. The landfill levy is raised and its revenue used for the "
        "remediation of old landfills. Subsidies for diesel used in agriculture are reduced by a third.",
        (
            "Recycling of 52 per cent of municipal waste (2024: 47)",
            "2,400 hectares of forest restored",
            "Emissions from agriculture 3 per cent lower than in 2020",
        ),
    ),
    "Justice": (
        "The ministry provides the courts, the prosecution service, prisons, probation and legal aid; judges are independent in their decisions.",
        "Legal aid is opened to persons with an income of up to 28,000 crowns a month, instead of 25,000. Digital case files reach all regional "
        "courts. The new courthouse in Estermark opens in January 2026.",
        (
            "Civil cases closed within 240 days on average (2024: 265)",
            "Reoffending within two years below 31 per cent",
            "All regional courts with digital files",
        ),
    ),
    "Finance and Central Administration": (
        "The ministry collects taxes and customs, manages the treasury and the debt, and provides services that all ministries use; the chapter "
        "also covers Parliament, the Audit Office and the Fiscal Council, whose budgets the Government passes on unchanged.",
        "The census of 2026 raises the cost of official statistics. Shared information technology costs less, as two data centres are merged. "
        "Electronic invoicing is introduced on 1 January 2026.",
        (
            "Tax returns processed within 20 days (2024: 27)",
            "Cost of collection at most 1.2 per cent of tax revenue",
            "Payment of 98 per cent of invoices within 30 days",
        ),
    ),
}


def _largest_projects(name: str) -> str:
    """A sentence about the projects of the ministry on which most is spent in 2025-26; each is named without its code."""
    *others, last = [
        f"{project[5:]} ({_figure(amount)} million crowns)" for project, _, amount, *_ in sorted(PROJECTS[name], key=lambda row: -row[2])[:3]
    ]
    return (
        f"Of the capital projects, {_figure(CAPITAL[name][2])} million crowns in 2025-26, the largest are: {', '.join(others)} and {last}. All "
        "projects are listed in Table 15."
    )


def _ministry(number: int, name: str) -> tuple[Block, ...]:
    """The page of one ministry: its table is the number-th after the five of the summary."""
    values, words, staff = MINISTRY[name], MINISTRY_WORDS[name], STAFF[name]
    growth = _growth(values[2], values[1])
    direction = "more" if growth > 0 else "less"
    return (
        Heading(f"5.{number} {name}", 2, new_page=number > 1),
        Text(words[0]),
        Text(
            f"The budget for 2025-26 is {_figure(values[2])} million crowns, {_tenths(abs(growth))} per cent {direction} than in the revised budget "
            f"of 2024-25 and {_tenths(100 * values[2] / EXPENDITURE[2])} per cent of total expenditure. The ministry and its agencies have "
            f"{_figure(staff[2])} authorised posts."
        ),
        Table(
            f"Table {5 + number}: {name}, expenditure by programme",
            "Crowns million",
            ("Programme", *YEARS),
            (
                *(_row(programme, amounts) for programme, amounts in PROGRAMMES[name].items()),
                _row("Capital projects", CAPITAL[name]),
                _row("Total", values),
            ),
            bold=(-1,),
        ),
        Heading("What changes", 0),
        Text(words[1]),
        Text(_largest_projects(name)),
        Heading("Performance targets", 0),
        Items(words[2]),
    )


_PROJECT_COSTS = {name: (sum(amounts), *amounts) for projects in PROJECTS.values() for name, *amounts in projects}
_SERVICE_TOTALS = _sums(DEBT_SERVICE.values())
_PEAK = max(range(6), key=lambda year: _SERVICE_TOTALS[year])
_GRANTS = _sums(MUNICIPALITIES.values())

_BOOK_CROSS: tuple[Block, ...] = (
    Heading("6 Capital projects", new_page=True),
    Text(
        f"The capital programme contains {len(_PROJECT_COSTS)} projects and groups of projects. Their total cost is "
        f"{_figure(sum(costs[0] for costs in _PROJECT_COSTS.values()))} million crowns, of which {_figure(CAPITAL_TOTAL[2])} million falls in "
        "2025-26. A project enters the table only after an appraisal by the Public Investment Office; above 500 million crowns a cost-benefit "
        "analysis is published."
    ),
    Table(
        "Table 15: Capital projects",
        "Crowns million",
        ("Project", "Total cost", "Spent to March 2025", "2025-26", "2026-27", "Later years"),
        (
            *(_row(name, costs) for name, costs in _PROJECT_COSTS.items()),
            _row("All projects", _sums(_PROJECT_COSTS.values())),
        ),
        bold=(-1,),
        widths=(0.42, 0.11, 0.14, 0.11, 0.11, 0.11),
    ),
    Text(
        "Projects whose total cost has risen by more than 10 per cent since approval: T-01 (by 14 per cent, ground conditions) and H-02 (by 11 per "
        "cent, construction prices). The ring road of Valmora City, T-05, opens to traffic in November 2025."
    ),
    Heading("7 Debt service", new_page=True),
    Text(
        f"Debt service in 2025-26 is {_figure(_SERVICE_TOTALS[0])} million crowns, of which {_figure(YEARLY_INTEREST[0])} million is interest and "
        f"counts as expenditure; the repayment of principal is financed by new borrowing. The highest burden falls in {DEBT_SERVICE_YEARS[_PEAK]}, "
        f"with {_figure(_SERVICE_TOTALS[_PEAK])} million crowns, when a foreign-currency bond of 6,000 million issued in 2018 matures."
    ),
    Table(
        "Table 16: Debt service schedule",
        "Crowns million",
        ("", *DEBT_SERVICE_YEARS),
        (
            *(_row(name, values) for name, values in list(DEBT_SERVICE.items())[:2]),
            _row("Total interest", YEARLY_INTEREST),
            *(_row(name, values) for name, values in list(DEBT_SERVICE.items())[2:]),
            _row("Total principal", _sums(list(DEBT_SERVICE.values())[2:])),
            _row("Total debt service", _SERVICE_TOTALS),
        ),
        bold=(2, 5, 6),
        notes=("Existing debt and the borrowing planned in the Fiscal Policy Statement; exchange rates of 31 December 2024.",),
        widths=(0.28, 0.12, 0.12, 0.12, 0.12, 0.12, 0.12),
    ),
    Heading("7.1 Interest rates", 2),
    Text(
        f"The average rate on the stock of debt is {_tenths(100 * INTEREST[2] / DEBT[1])} per cent. A rise of market rates by one percentage point "
        "on 1 April 2025 would add 390 million crowns to interest in 2025-26, because most debt is at fixed rates, and about 1,900 million a year "
        "after three years."
    ),
    Heading("8 Transfers to municipalities", new_page=True),
    Text(
        f"The 14 municipalities receive {_figure(MUNICIPAL[2])} million crowns, {_tenths(_growth(MUNICIPAL[2], MUNICIPAL[1]))} per cent more than in "
        "2024-25. The general grant is paid per inhabitant, with a supplement for sparsely settled areas. The equalisation grant goes to "
        "municipalities whose tax base per inhabitant is below 90 per cent of the average. Earmarked grants are tied to schools, social care and "
        "local roads."
    ),
    Table(
        "Table 17: Transfers to municipalities, 2025-26",
        "Crowns million, unless stated otherwise",
        ("Municipality", "Population (thousand)", "General grant", "Equalisation grant", "Earmarked grants", "Total", "Crowns per inhabitant"),
        (
            *(_row(name, (people, *grants, sum(grants), 1000 * sum(grants) / people)) for name, (people, *grants) in MUNICIPALITIES.items()),
            _row("All municipalities", (*_GRANTS, sum(_GRANTS[1:]), 1000 * sum(_GRANTS[1:]) / _GRANTS[0])),
        ),
        bold=(-1,),
        widths=(0.22, 0.13, 0.13, 0.13, 0.13, 0.12, 0.14),
    ),
    Text(
        "The general and the equalisation grant are paid in twelve equal parts on the 10th of each month; earmarked grants on the basis of "
        "quarterly reports. A municipality whose debt exceeds 70 per cent of its current revenue must agree a recovery plan with the Ministry of "
        "Finance before it may borrow. At the end of 2024 this applied to Karsk and Upper Meren."
    ),
    Heading("9 Staff", new_page=True),
    Text(
        f"The budget authorises {_figure(sum(values[2] for values in STAFF.values()))} posts in full-time equivalents, "
        f"{_figure(sum(values[2] - values[1] for values in STAFF.values()))} more than in 2024-25. Additional posts go to schools, hospitals, the "
        "police, the courts and the armed forces; the other ministries give up posts as they become vacant."
    ),
    Table(
        "Table 18: Authorised staff by ministry",
        "Full-time equivalents",
        ("", "2023-24 actual", "2024-25 authorised", "2025-26 authorised", "Change"),
        (
            *(_row(name, (*values, values[2] - values[1])) for name, values in STAFF.items()),
            _row("Total", (*_sums(STAFF.values()), sum(values[2] - values[1] for values in STAFF.values()))),
        ),
        bold=(-1,),
    ),
    Heading("9.1 Vacancies and pay", 2),
    Text(
        "On 31 December 2024, 4.6 per cent of authorised posts were vacant; in the prosecution service it was 9.1 per cent. Overtime in hospitals "
        "cost 312 million crowns in 2023-24. The lowest pay grade rises to 21,800 crowns a month on 1 September 2025."
    ),
    Heading("Annex A: Use of the contingency reserve in 2024-25", new_page=True),
    Text(
        f"The budget of 2024-25 contained a contingency reserve of {_figure(RESERVE_AGREED)} million crowns. By 28 February 2025, "
        f"{_figure(RESERVE_AGREED - RESERVE_LEFT)} million had been drawn, so that {_figure(RESERVE_LEFT)} million remained."
    ),
    Table(
        "Table 19: Drawings on the contingency reserve, 2024-25",
        "Crowns million",
        ("Date", "Purpose", "Amount"),
        (
            ("April 2024", "Reserve approved by Parliament", _figure(RESERVE_AGREED)),
            *((date, purpose, _figure(-amount)) for date, purpose, amount in RESERVE_DRAWN),
            ("28 February 2025", "Balance", _figure(RESERVE_LEFT)),
        ),
        bold=(0, -1),
        words=2,
        widths=(0.25, 0.55, 0.2),
    ),
    Text(
        "The drawing for the Northern Isles exceeded 200 million crowns and was therefore approved in advance by the Budget Committee, on 18 June "
        f"2024. For 2025-26 the reserve is set at {_figure(RESERVE_NEW)} million crowns, or {_tenths(_RESERVE_SHARE)} per cent of primary "
        "expenditure."
    ),
    Heading("Annex B: Budget calendar", new_page=True),
    Text("The budget for 2026-27 will be prepared as follows. Dates in brackets may move by up to one week."),
    Table(
        "Table 20: Calendar for the budget of 2026-27",
        "",
        ("Step", "Who", "Date"),
        (
            ("Budget circular and ceilings", "Ministry of Finance", "2 June 2025"),
            ("Requests, with performance reports", "Ministries", "15 August 2025"),
            ("Bilateral hearings", "Budget Directorate", "1 to 26 September 2025"),
            ("Mid-year report and forecast", "Ministry of Finance", "15 November 2025"),
            ("Opinion on the forecast", "Fiscal Council", "(9 February 2026)"),
            ("Budget to Parliament", "Government", "10 March 2026"),
            ("Vote", "Parliament", "(27 March 2026)"),
        ),
        words=3,
        widths=(0.44, 0.28, 0.28),
    ),
    Text(
        "If Parliament has not voted by 31 March, the Government may spend each month one twelfth of the appropriations of the previous year, "
        "without new projects, until the Budget Act is in force, but for no longer than four months."
    ),
)

_CHANGE = ARREARS_TOTAL[1] - ARREARS_TOTAL[0]

SCANNED = Scan(
    Heading("Annex C: Auditor’s certificate and statement of arrears"),
    (
        (
            Heading("Annex C: Auditor’s certificate and statement of arrears", 0),
            Heading("C.1 Certificate of the Audit Office", 0),
            Text("To the Speaker of the Parliament of the Republic of Valmora"),
            Text(
                "We have audited the accounts of the central government for the fiscal year 2023-24, which ended on 31 March 2024. In our opinion "
                "the accounts give a true and fair view, except for the matters set out below."
            ),
            Text(
                "Basis for the qualified opinion. A balance of 86 million crowns in suspense account 4410 could not be reconciled with the records "
                "of the Treasury. The inventory of the Medical Stores in Brennick was not counted at the end of the year; it is carried at 142 "
                "million crowns."
            ),
            Text(
                "Materiality. We planned and carried out the audit with a materiality of 1,400 million crowns, about one per cent of expenditure. "
                "Errors of 23 million crowns or more are reported to Parliament one by one."
            ),
            Text(
                "Other matter. Of the 37 recommendations in our last report, 25 have been carried out, 9 are in progress and 3 have been rejected "
                "by the ministries concerned."
            ),
            Text("Valmora City, 26 September 2024"),
            Text("Audit Office of the Republic of Valmora"),
        ),
        (
            Heading("C.2 Statement of arrears", 0),
            Text(
                f"Arrears are invoices that were not paid within 45 days of receipt. On 31 March 2024 they amounted to {_figure(ARREARS_TOTAL[1])} "
                f"million crowns, {_figure(abs(_CHANGE))} million {'less' if _CHANGE < 0 else 'more'} than a year before. Invoices older than 90 "
                f"days came to {_figure(ARREARS_TOTAL[2])} million."
            ),
            Table(
                "Table C.1: Arrears by ministry",
                "Crowns million",
                ("Ministry", "31 March 2023", "31 March 2024", "Change", "Over 90 days"),
                (
                    *(_row(name, (before, now, now - before, old)) for name, (before, now, old) in ARREARS.items()),
                    _row("Total", (ARREARS_TOTAL[0], ARREARS_TOTAL[1], _CHANGE, ARREARS_TOTAL[2])),
                ),
                bold=(-1,),
            ),
            Text(
                "Health accounts for the largest part. Interest for late payment of 19 million crowns was charged by suppliers, most of it to "
                "hospitals. The Ministry of Finance has undertaken to reduce the total to less than 600 million crowns by March 2026."
            ),
        ),
        (
            Heading("C.3 Losses and claims written off", 0),
            Text("The following losses and irrecoverable claims were written off in 2023-24 with the consent of the Minister of Finance."),
            Table(
                "Table C.2: Losses and write-offs, 2023-24",
                "Number of cases and crowns million",
                ("Kind", "Cases", "Amount"),
                (
                    *(_row(name, (cases, amount)) for name, cases, amount in LOSSES),
                    _row("Total", _sums([(cases, amount) for _, cases, amount in LOSSES])),
                ),
                bold=(-1,),
                widths=(0.56, 0.22, 0.22),
            ),
            Text(
                "Four cases exceeded 20 million crowns. The largest, 38 million, is the abandoned signalling contract for the northern line. Two "
                "cases of suspected fraud have been referred to the prosecution service."
            ),
        ),
    ),
)

GLOSSARY_BOOK = (
    ("Appropriation", "The authority given by Parliament to spend up to an amount for a stated purpose."),
    ("Arrears", "Obligations that remain unpaid more than 45 days after the invoice was received."),
    ("Ceiling", "The most that a ministry may request, fixed in the budget circular."),
    ("Earmarked grant", "A transfer that a municipality may use only for the purpose for which it was given."),
    ("Economic category", "The grouping of expenditure by what is bought or paid: wages, goods, benefits, interest and so on."),
    ("Equalisation grant", "A transfer that makes up part of the difference between a municipality’s tax base and the average."),
    ("Extra-budgetary fund", "A fund set up by law outside the budget, such as the Pension Fund, whose accounts are annexed to those of the State."),
    ("Full-time equivalent", "The working time of one person employed full time for a year; two half-time posts count as one."),
    ("Outturn", "Revenue received or expenditure made, as shown in the audited accounts."),
    ("Programme", "A group of activities with a common objective and its own appropriation."),
    ("Revised budget", "The budget as changed by supplementary budgets during the year."),
    ("Supplementary budget", "An act by which Parliament changes the budget during the year."),
    ("Suspense account", "An account in which amounts are held until it is known where they belong."),
    (
        "Virement",
        "The transfer of an appropriation from one programme to another within a ministry, of at most 5 per cent without the consent of Parliament.",
    ),
)

BOOK = Sample(
    file="Valmora_Budget_Book_2025-26.pdf",
    title="Budget Book 2025-26",
    subtitle="Revenue and expenditure of the central government",
    date=(2025, 3, 11),
    footer=("", "{label}", ""),
    cover=("Republic of Valmora", "Ministry of Finance · Budget Directorate", "Fiscal year from 1 April 2025 to 31 March 2026", "March 2025"),
    serif=False,
    front=_BOOK_FRONT,
    body=(
        *_BOOK_SUMMARY,
        Heading("5 Ministries", new_page=True),
        *(block for number, name in enumerate(MINISTRY, start=1) for block in _ministry(number, name)),
        *_BOOK_CROSS,
        SCANNED,
        *_glossary("Annex D: Glossary", GLOSSARY_BOOK),
    ),
)

# The two Procurement Policies -------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Terms:
    """What differs between the policies. direct, open: thresholds in crowns."""

    direct: int
    open: int
    quotations: str
    days: int
    standstill: int
    retention: str
    security: str
    advance: int
    debarment: str
    complaint: int
    decision: int
    variation: int


TERMS_2019 = _Terms(20_000, 250_000, "three", 30, 10, "six", "2 per cent", 20, "up to two years", 7, 20, 20)
TERMS_2024 = _Terms(30_000, 400_000, "four", 35, 14, "ten", "1.5 per cent", 15, "up to five years", 10, 15, 15)


def _methods(terms: _Terms) -> tuple[Block, ...]:
    return (
        Heading("3 Methods and thresholds"),
        Text(
            "The method follows from the estimated value of the whole contract, without value added tax and including all options. A contract may "
            "not be split to stay below a threshold."
        ),
        Table(
            "Table 1: Procurement methods",
            "Estimated value in crowns, without value added tax",
            ("Method", "Estimated value", "Minimum competition"),
            (
                ("Direct purchase", f"up to {terms.direct:,}", "one supplier; the price is compared with the market"),
                ("Request for quotations", f"above {terms.direct:,} up to {terms.open:,}", f"{terms.quotations} written quotations"),
                ("Open tender", f"above {terms.open:,}", "public notice; every supplier may submit a tender"),
                ("Single source", "any", "only on the grounds of section 3.2"),
            ),
            words=3,
            widths=(0.25, 0.33, 0.42),
        ),
        Heading("3.1 Time limits", 2),
        Text(
            f"In an open tender, suppliers have at least {terms.days} days from the publication of the notice. Between the notice of award and the "
            f"signature of the contract at least {terms.standstill} days must pass (standstill period)."
        ),
        Heading("3.2 Single source", 2),
        Items(
            (
                "the goods or services can be supplied by one supplier only, for technical reasons or because of exclusive rights;",
                "an open tender has been held without any suitable tender, and its terms are not changed in substance;",
                "extreme urgency, which the entity could neither foresee nor cause, makes the time limits impossible to keep.",
            ),
            lettered=True,
        ),
    )


def _contracts(terms: _Terms) -> tuple[Block, ...]:
    return (
        Heading("5 Contracts"),
        Items(
            (
                f"<b>Tender security.</b> It may be required above the open tender threshold and is at most {terms.security} of the estimated value.",
                f"<b>Advance payment.</b> At most {terms.advance} per cent of the contract price, against a bank guarantee of the same amount.",
                f"<b>Variations.</b> Changes that add more than {terms.variation} per cent to the contract price require a new procedure.",
                "<b>Payment.</b> Invoices are paid within 30 days of receipt; interest for late payment is due without reminder.",
            )
        ),
    )


def _integrity(terms: _Terms) -> tuple[Block, ...]:
    return (
        Heading("6 Integrity and records"),
        Text(
            "Everyone who takes part in a procedure signs a declaration of interests. Whoever has an interest in a supplier, or had one in the "
            "three preceding years, withdraws. Gifts from suppliers are refused whatever their value."
        ),
        Text(
            "A supplier that has given false information or has been convicted of fraud or corruption is excluded from procedures for "
            f"{terms.debarment}. The Ministry of Finance keeps the list of excluded suppliers and publishes it."
        ),
        Text(
            f"The file of each procedure is kept for {terms.retention} years after the end of the contract, and shown to the Audit Office on request."
        ),
        Heading("7 Complaints"),
        Text(
            f"A supplier may complain to the Review Board within {terms.complaint} working days of learning of the decision. The Board decides "
            f"within {terms.decision} working days. Until then the contract may not be signed. The fee for a complaint is 2,000 crowns and is "
            "returned if the complaint succeeds."
        ),
    )


PROCUREMENT_2019 = Sample(
    file="Valmora_Procurement_Policy_2019.pdf",
    title="Procurement Policy",
    subtitle="Ministry of Finance of the Republic of Valmora · in force from 1 April 2019",
    date=(2019, 2, 18),
    footer=("MF-PD 02/2019", "", "Page {label} of {pages}"),
    body=(
        Heading("1 Purpose and scope"),
        Text(
            "This policy lays down how ministries, agencies and state enterprises that receive more than half of their income from the budget buy "
            "goods, services and works. It carries out Part IV of the Public Finance Act. It does not apply to employment contracts, to the "
            "purchase of land, or to loans raised by the debt office."
        ),
        Text("The policy is in force from 1 April 2019. It will be reviewed after five years."),
        Heading("2 Principles"),
        Items(
            (
                "Value for money: the best combination of price and quality over the life of what is bought, not the lowest price.",
                "Competition: as many suppliers as is reasonable are given the chance to offer.",
                "Equal treatment: the same information and the same conditions for all.",
                "Transparency: decisions are recorded with their reasons, and awards above the open tender threshold are published in the Official "
                "Gazette.",
                "Accountability: the head of the entity answers for procurement; the task can be delegated, the responsibility cannot.",
            )
        ),
        *_methods(TERMS_2019),
        Heading("4 Evaluation and award"),
        Text(
            "Tenders are opened in public by a committee of at least three persons. The notice states the award criteria and their weights; the "
            "price has a weight of at least 60 per cent. Tenders from domestic suppliers are given a preference of 5 per cent of the price. Tenders "
            "may be submitted on paper or by e-mail."
        ),
        Text("A tender that is unusually low is rejected only after the supplier has been asked to explain it."),
        *_contracts(TERMS_2019),
        *_integrity(TERMS_2019),
        Heading("8 Roles"),
        Table(
            "Table 2: Who approves",
            "Contract value in crowns, without value added tax",
            ("Contract value", "Approves the award", "Signs the contract"),
            (
                ("up to 250,000", "Head of procurement", "Head of procurement"),
                ("above 250,000 up to 2,000,000", "Tender committee", "Head of the entity"),
                ("above 2,000,000 up to 20,000,000", "Head of the entity", "Head of the entity"),
                ("above 20,000,000", "Minister responsible", "Minister responsible"),
            ),
            words=3,
            widths=(0.4, 0.3, 0.3),
        ),
        Heading("9 Reporting"),
        Text(
            "Each entity reports by 30 June on the contracts of the past fiscal year: number, value, method, and the suppliers who received more "
            "than 1,000,000 crowns in total. The Ministry of Finance publishes a summary by 30 September."
        ),
        Text("Questions on the interpretation of this policy are decided by the Procurement Directorate of the Ministry of Finance."),
        *_glossary(
            "Annex: Definitions",
            (
                ("Entity", "A ministry, agency or enterprise to which this policy applies."),
                ("Estimated value", "The total that the entity expects to pay over the whole term, including options and renewals."),
                ("Framework agreement", "An agreement that fixes the conditions of later orders for up to three years."),
                ("Standstill period", "The time between the notice of award and the signature, in which a complaint can be made."),
                ("Works", "Building, civil engineering, repair and demolition."),
            ),
        ),
    ),
)

PROCUREMENT_2024 = Sample(
    file="Valmora_Procurement_Policy_2024.pdf",
    title="Procurement Policy 2024",
    subtitle="Ministry of Finance of the Republic of Valmora · in force from 1 July 2024",
    date=(2024, 5, 6),
    footer=("", "Page {label}", ""),
    serif=False,
    body=(
        Heading("1 Purpose and scope"),
        Text(
            "This policy lays down how ministries, agencies and state enterprises buy goods, services and works with public money. It carries out "
            "Part IV of the Public Finance Act. It does not apply to employment contracts, to the purchase of land, or to loans raised by the debt "
            "office."
        ),
        Text(
            "This policy supersedes the Procurement Policy of 2019, which ceases to have effect on 30 June 2024. Procedures for which a notice was "
            "published before 1 July 2024 are completed under the earlier policy. This policy will be reviewed by 30 June 2028."
        ),
        Heading("2 Principles"),
        Items(
            (
                "Value for money over the life of what is bought, including the cost of use and disposal.",
                "Competition that is open to small firms: contracts are divided into lots where this is practicable, or the reason is recorded.",
                "Equal treatment of suppliers wherever they are established.",
                "Transparency by default: notices, awards, contracts and changes above the open tender threshold are published on the e-procurement "
                "portal.",
                "Sustainability: effects on climate and environment are part of what is evaluated.",
                "Accountability: the head of the entity answers for procurement; the task can be delegated, the responsibility cannot.",
            )
        ),
        *_methods(TERMS_2024),
        Heading("4 Evaluation and award"),
        Text(
            "Tenders are submitted through the e-procurement portal only; tenders on paper or by e-mail are not accepted. They are opened "
            "electronically by a committee of at least three persons, one of whom comes from another entity."
        ),
        Text(
            "The notice states the award criteria and their weights. The price has a weight of at least 50 per cent, and environmental criteria of "
            "at least 15 per cent in tenders for vehicles, buildings and energy. There is no preference for domestic suppliers."
        ),
        Text(
            "A tender that is unusually low is rejected only after the supplier has been asked to explain it and has had five working days to answer."
        ),
        *_contracts(TERMS_2024),
        *_integrity(TERMS_2024),
        Heading("8 Electronic procurement"),
        Text(
            "The e-procurement portal is run by the Ministry of Finance. Its use is free for suppliers. All procedures above the direct purchase "
            "threshold are carried out on it from the notice to the last payment. If the portal is out of order for more than four hours on the "
            "last day, the time limit is extended by two working days."
        ),
        Heading("9 Roles"),
        Table(
            "Table 2: Who approves",
            "Contract value in crowns, without value added tax",
            ("Contract value", "Approves the award", "Signs the contract"),
            (
                ("up to 400,000", "Head of procurement", "Head of procurement"),
                ("above 400,000 up to 3,000,000", "Tender committee", "Head of the entity"),
                ("above 3,000,000 up to 30,000,000", "Head of the entity", "Head of the entity"),
                ("above 30,000,000", "Minister responsible", "Minister responsible"),
            ),
            words=3,
            widths=(0.4, 0.3, 0.3),
        ),
        Heading("10 Reporting and indicators", new_page=True),
        Text(
            "The portal produces the statistics; entities no longer report on paper. The Ministry of Finance publishes each quarter, for every "
            "entity with more than 20 procedures a year:"
        ),
        Items(
            (
                "the share of the value awarded by open tender (target: at least 80 per cent);",
                "the share of tenders with only one bidder (target: at most 20 per cent);",
                "the median number of days from notice to award (target: at most 75);",
                "the share of contracts awarded to firms with fewer than 50 employees (target: at least 45 per cent);",
                "the number of complaints and how many succeeded.",
            )
        ),
        Text("An entity that misses two targets in four successive quarters agrees a plan for improvement with the Procurement Directorate."),
        Heading("11 Training"),
        Text(
            "Members of tender committees complete the course of the Academy of Public Administration within twelve months of their appointment and "
            "repeat it every three years. From 1 January 2026 nobody may chair a committee without the certificate."
        ),
        *_glossary(
            "Annex: Definitions",
            (
                ("Entity", "A ministry, agency or enterprise to which this policy applies."),
                ("Estimated value", "The total that the entity expects to pay over the whole term, including options and renewals."),
                ("Framework agreement", "An agreement that fixes the conditions of later orders for up to four years."),
                ("Life-cycle cost", "The cost of buying, using, maintaining and disposing of what is bought."),
                ("Lot", "A part of a contract for which a supplier can submit a tender separately."),
                ("Standstill period", "The time between the notice of award and the signature, in which a complaint can be made."),
                ("Works", "Building, civil engineering, repair and demolition."),
            ),
        ),
    ),
)

SAMPLES = (STATEMENT, BOOK, PROCUREMENT_2019, PROCUREMENT_2024)
