"""Holds patterns for the headings and rows of tables in budgets and reports."""

from __future__ import annotations

import re

# What may stand before the words of a heading: "Note 7.", "Table 2.1:", "IV".
NUMBER = (
    r"(?:(?:note|item|table|tableau|tabelle|cuadro|chapter|section|part|schedule|exhibit|annex|appendix"
    r"|statement) )?"
    r"(?:[a-z]?\d[\d.]*[a-z]?|[ivx]+|[a-z])?[.:)-]* ?[-:]? ?"
)
# A row may be numbered.
ROW = r"(?m)^(?:\d{1,3}[.)]? |\([a-z\d]{1,3}\) )?"


def _any(*names: str) -> str:
    """Returns a pattern for any of the names, which are patterns too."""
    return f"(?:{'|'.join(names)})"


def _lines(*names: str) -> tuple[re.Pattern[str], ...]:
    """Returns patterns for rows of figures, each with one of the names among its first words."""
    return tuple(re.compile(rf"{ROW}[^\n\d]{{0,40}}\b(?:{name})[^\n\d]{{0,60}}[\d(-]") for name in names)


_MONEY_IN = r"(?:revenues?|receipts|income|taxes)"
_MONEY_OUT = r"(?:expenditures?|expenses|spending|outlays?|appropriations?|allocations?|disbursements)"
_TABLE_OF = r"(?:summary|estimates?|details?|composition|breakdown|statement|sources)"

# Matched at the beginning of a heading.
HIGHLIGHTS = re.compile(
    NUMBER
    + r"(?:(?:consolidated|group|the|historical|our) )*"
    + _any(
        r"selected (?:historical |consolidated |five-year |key )*(?:financial"
        r"|operating)(?: and (?:financial|operating|other))? "
        r"(?:data|information|highlights|statistics)",
        r"(?:(?:two|three|four|five|six|seven|eight|nine|ten|eleven|\d{1,2})[ -]years?|multi-?year"
        r"|historical) "
        r"(?:consolidated |selected |comparative |group )*(?:financial )?"
        r"(?:summary|record|review|highlights|data|overview|performance|statistics|figures|comparison)",
        r"financial (?:highlights|summary|snapshot)",
        r"(?:key|principal|main) (?:financial |performance )*(?:figures|data|indicators|ratios|facts)",
        r"financial ratios",
        r"chiffres[ -]cles",
        r"(?:wichtige |ausgewahlte )?(?:konzern|finanz)?kennzahlen",
        r"principales (?:cifras|indicadores)|cifras clave|datos financieros seleccionados",
        r"principais indicadores|destaques financeiros",
    )
    + r"\b(?P<rest>[^\n]{0,60})"
)
# What follows such words where they speak of a part, or in a sentence.
OTHER_HIGHLIGHTS = re.compile(
    r"quarter|segment|concerning|were|was\b|is\b|for the (?!year|five|period|fiscal|last)|for our"
    r"|pension|index"
)
# Searched in headings.
REVENUE = re.compile(
    r"(?m)\b"
    + _any(
        (
            rf"{_MONEY_IN}\b[^\n.]{{0,30}}\b(?:by|from)\b[^\n.]{{0,30}}(?:source|type|category|categories"
            rf"|tax|fund|class|item|head)"
        ),
        rf"{_TABLE_OF} of [^\n.]{{0,30}}(?:revenues?|receipts)",
        (
            r"(?:revenues?|receipts)(?: and (?:grants|other financing sources|receipts)| summary| estimates?"
            r"| detail| forecasts?| outlook| budget)?$"
        ),
        r"recettes (?:par|fiscales|du budget)",
        r"einnahmen (?:nach|des)|steuereinnahmen",
        r"ingresos (?:por|tributarios)",
        r"receitas? (?:por|tributarias?)",
    )
)
EXPENDITURE = re.compile(
    r"(?m)\b"
    + _any(
        rf"{_MONEY_OUT}\b[^\n.]{{0,30}}\bby\b[^\n.]{{0,30}}"
        r"(?:function|ministr|department|agenc|object|category|categories|classification|sector|portfolio"
        r"|fund|type)",
        rf"{_TABLE_OF} of [^\n.]{{0,30}}{_MONEY_OUT}",
        (
            r"(?:expenditures?|spending|appropriations?|outlays?)(?: summary| estimates?| detail| ceilings"
            r"| budget)?$"
        ),
        r"depenses (?:par|du budget)",
        r"ausgaben (?:nach|des)",
        r"gastos? por|despesas? por",
    )
)
BUDGET = re.compile(
    r"\b"
    + _any(
        (
            r"budget (?:at a glance|in brief|summary|overview|aggregates|outlook|position|estimates|balance"
            r"|highlights)"
        ),
        r"summary of (?:the |all )*(?:budget|fiscal|funds?|general fund)",
        (
            r"(?:fiscal|budget(?:ary)?) (?:position|aggregates|summary|outlook|balance|overview|framework"
            r"|operations|outturn|indicators)"
        ),
        r"(?:fiscal|budget(?:ary)?) (?:developments|consolidation)|revised estimates",
        r"(?:central|general|federal|total) government (?:operations|finances?|budget|fiscal|accounts)",
        r"all funds (?:summary|budget)|general fund (?:summary|budget|overview)|sources and uses",
        r"operating (?:result|balance|statement)",
        (
            r"apercu du budget|equilibre (?:budgetaire|financier)|haushaltsuberblick|resumen del presupuesto"
            r"|resumo do orcamento"
        ),
    )
)
# The whole of a heading.
DEBT = re.compile(
    NUMBER
    + r"(?:(?:schedules?|summary|statement) of )?"
    + r"(?:(?:outstanding|general|long-term|total|public|government|external|domestic|net|bonded|state|the"
    r"|our|short-term|current|notes?|annual|"
    r"future|aggregate|estimated) )*"
    + _any(
        (
            r"debt(?: service| obligations?| outstanding| maturit| schedule| profile| management| portfolio"
            r"| structure)"
        ),
        r"debt(?: stock| position| burden| summary| limit| and | by | to |$|s$)",
        (
            r"indebtedness|borrowings?\b|(?:senior |loans and |bonds? and )*notes payable|bonds (?:payable"
            r"|outstanding)|financial debt"
        ),
        r"maturit(?:y|ies) (?:profile|of|schedule|structure)|redemption (?:schedule|profile)",
        r"loans and borrowings|interest-bearing (?:loans|borrowings|liabilities)",
        r"(?:service de la )?dettes?\b|endettement",
        r"schulden|staatsverschuldung|finanzverbindlichkeiten",
        r"(?:servicio de la )?deuda|(?:servico da )?divida",
    )
    + r"[^\n]{0,70}"
)
# The sentence before a table of what is owed.
DEBT_TABLE = re.compile(
    r"(?:long-term debt|\bdebt|borrowings|indebtedness|notes payable|bonds)\b(?![ -](?:to|and equity"
    r"|securit|instrument|invest))"
    r"[^\n]{0,60}\b(?:consist|compris|follow|maturit|attributable|due\b|by year)|"
    r"maturities of [^\n]{0,30}\bdebt|principal payments [^\n]{0,40}(?:debt|notes|bonds)"
)
# A heading without any of these is not tried.
DEBT_WORDS = tuple(
    "debt borrowing payable maturit bonds loans redemption dette schuld deuda divida verbindlichkeit".split()
)
TARGETS = re.compile(
    r"\b"
    + _any(
        (
            r"(?:fiscal|budget(?:ary)?) (?:rules?|targets?|anchors?|objectives?|strategy|responsibility"
            r"|consolidation|discipline|limits)"
        ),
        r"(?:fiscal|budget(?:ary)?) policy (?:objectives|targets|rules|statement)",
        (
            r"(?:debt|deficit|expenditure|spending|borrowing|balanced?[ -]budget) (?:ceilings?|rules?"
            r"|anchors?|limits?|targets?|brake|policy)"
        ),
        r"medium-term (?:fiscal |budgetary )?(?:objectives?|targets?)|inflation targets?",
        (
            r"financial (?:policy objectives|policies|objectives|targets)|(?:reserves?"
            r"|fund balance) polic(?:y|ies)"
        ),
        (
            r"regles? budgetaires?|schuldenbremse|reglas? fiscal(?:es)?|regras? fisca(?:l|is)"
            r"|metas? fisca(?:l|les|is)"
        ),
    )
    + r"\b"
)
RULE_WORDS = (
    "target",
    "ceiling",
    "anchor",
    "objective",
    "limit",
    "threshold",
    "not exceed",
    "at or below",
    "at least",
    "at most",
    "benchmark",
    "escape clause",
    "rule",
    "maintain",
    "path",
    "compliance",
)
PUBLIC_MONEY = re.compile(
    r"fiscal (?!year)|deficit|surplus|public (?:debt|money|finances)|budget|taxation|price stability"
)
FORECAST = re.compile(
    r"\b"
    + _any(
        r"(?<!rating )outlook(?!s)|forecasts?|projections?|forward estimates|fiscal targets",
        r"(?:macro-?economic|economic|fiscal|budget|planning) (?:assumptions|parameters|prospects)",
        r"medium-term (?:fiscal |budget |expenditure )*(?:framework|plan)",
        r"previsions|perspectives|prognosen?|proyecciones|pronosticos?|projecoes|previsoes",
    )
    + r"\b"
)
# Heads of columns that are yet to come.
AHEAD = re.compile(
    r"\b(?:forecasts?|projections?|projected|proj\b|fcst|estimates?|est\b|outlook|forward|20\d\d ?\(?[efp]\b|"
    r"previsions?|prognosen?|proyeccion(?:es)?|projecao|projecoes)"
)

# The first of the sources are taxes: a company has few of them and a government most.
TAXES = 6
SOURCES = _lines(
    (
        r"(?:personal |individual |corporate |company )*income tax|taxes? on income|impots? sur le revenu"
        r"|einkommensteuer|impuesto sobre la renta"
    ),
    r"corporat(?:e|ion) (?:income |profit )?tax|company tax|impots? sur les societes|korperschaftsteuer",
    (
        r"value[ -]added tax|vat|gst|goods and services tax|tva|umsatzsteuer|mehrwertsteuer|iva"
        r"|sales (?:and use )?tax(?:es)?"
    ),
    r"excises?|fuel tax|stamp|utility (?:users? )?tax|franchise (?:fees?|tax)",
    r"customs|import dut|trade taxes|international trade|droits de douane",
    r"property tax(?:es)?|land tax|rates|ad valorem|real estate tax|taxe fonciere|grundsteuer",
    r"licen[cs]es|permits",
    r"fees|charges for services|service charges|user charges",
    r"fines|forfeit|penalties",
    r"grants|intergovernmental|state aid|federal aid|transfers in|shared revenue",
    r"dividends?|interest|investment (?:income|earnings)|royalt|use of money",
    r"non-?tax revenue|other (?:taxes|revenue|receipts)|miscellaneous",
)
TOTAL_REVENUE = re.compile(
    ROW + r"[^\n\d]{0,30}total (?:[a-z-]+ ){0,4}?(?:revenues?|receipts|taxes|income|sources)|"
    r"^[^\n\d]{0,20}(?:total des recettes|gesamteinnahmen|ingresos totales|receita total)"
)
PURPOSES = _lines(
    r"education|schools|enseignement|bildung|educacion|educacao",
    r"health|sante|gesundheit|salud|saude",
    r"defen[cs]e|militar",
    r"social (?:protection|security|services|welfare|benefits)|pensions?|welfare|human services",
    r"transport|infrastructure|roads|highways|streets",
    r"public (?:safety|order)|police|sheriff|interior",
    r"fire\b|emergency",
    r"public works|utilities|sanitation",
    r"justice|judicia|courts?",
    r"agriculture|environment|natural resources",
    r"general (?:government|public services|administration)|administration|finance\b|city manager",
    r"parks|recreation",
    r"librar|culture",
    r"housing|community development|planning",
    r"wages|salar|personnel|compensation of employees|employee|personalausgaben",
    r"goods and services|supplies|materials|services and|operating expenses|operations",
    r"subsid",
    r"transfers|grants",
    r"interest|debt service",
    r"capital (?:expenditures?|outlays?|projects?|improvement|spending)|investment|contingency",
)
TOTAL_SPENDING = re.compile(
    ROW + r"[^\n\d]{0,30}total (?:[a-z-]+ ){0,4}?(?:expenditures?|expenses|spending|outlays?|appropriations?"
    r"|uses|disbursements|payments)|"
    r"^[^\n\d]{0,20}(?:total des depenses|gesamtausgaben|gastos? total|despesa total)"
)
BALANCE = re.compile(
    ROW + r"[^\n\d]{0,40}\b(?:deficit|surplus|overall balance|fiscal balance|primary balance|net lending"
    r"|operating (?:result|balance)|budget balance|"
    r"borrowing requirement|balance)\b[^\n]{0,60}\d"
)
SPENDING = re.compile(
    ROW
    + r"[^\n\d]{0,40}\b(?:expenditures?|expenses|outlays?|spending|payments|appropriations?)\b[^\n]{0,60}\d"
)
INCOME = re.compile(ROW + r"[^\n\d]{0,40}\b(?:revenues?|receipts|income)\b[^\n]{0,60}\d")
# The same in sentences.
SAID = tuple(
    map(
        re.compile,
        (
            r"\b(?:receipts|revenue)",
            r"\b(?:expenditure|spending|outlays)",
            r"\b(?:deficit|surplus|balance) (?:is|of|was|will|stands)",
        ),
    )
)
OWED = tuple(
    re.compile(word)
    for word in (
        r"\bprincipal\b",
        r"\binterest\b",
        r"\bmaturit|\bmatur(?:e|es|ing)\b",
        r"\bdue (?:in |20\d\d|\w+ 20\d\d)",
        r"\bthereafter\b|\bafter 20\d\d|years? [12]\b",
        (
            r"\b(?:senior|treasury|medium-term)? ?notes\b|\bbonds?\b|\bdebentures?\b|\bbills\b|\bloans?\b"
            r"|emprunts|anleihen|bonos"
        ),
        r"\bredemptions?|\brepa(?:id|yment)|\bamorti[sz]ation",
        r"total (?:[a-z-]+ ){0,3}?(?:debt|borrowings)|outstanding",
    )
)
