"""Holds patterns for the titles and rows of primary statements."""

from __future__ import annotations

import re
from typing import NamedTuple

from ingestion.language.currencies import CURRENCY_TERMS
from ingestion.language.months import MONTH_NAME
from ingestion.language.scales import SCALE_TERMS

__all__ = ["FORBIDDEN", "PERMITTED", "STATEMENTS", "STEM", "PrimaryStatement"]


class PrimaryStatement(NamedTuple):
    """The patterns for one primary statement.

    title: what it is called.
    rows: what its rows begin with, a pattern for each item that such a statement reports.
    bottom: the rows of which every such statement has at least one.
    fewest: the fewest rows of different kinds of a statement with a title.
    figures: the fewest lines that end in a figure. An extract has fewer.
    """

    title: re.Pattern[str]
    rows: tuple[re.Pattern[str], ...]
    bottom: re.Pattern[str]
    fewest: int
    figures: int


def _title(*names: str) -> re.Pattern[str]:
    """Returns a pattern for a title in which every space is optional.

    Spaces are not reliable if the letters of a title are set apart.
    """
    return re.compile(rf"(?:\b|consolidated)(?:{'|'.join(names)})".replace(" ", " ?"))


def _row(names: str) -> re.Pattern[str]:
    """Returns a pattern for names at the beginning of a label."""
    return re.compile(rf"(?m)^(?:{names})")


def _rows(*names: str) -> tuple[re.Pattern[str], ...]:
    """Returns a pattern for each kind of row."""
    return tuple(map(_row, names))


# A line without any of these names no statement.
STEM = re.compile(
    "statement|balance ?sheet|stateofaffairs|bilan|compte de|etat d|tableau d|bilanz|rechnung|balance "
    "general|estado|cuenta de|balanco|demonstrac|"
    "profit and loss"
)
# Words beside a title that make it something else: a note, an extract, a schedule, a list.
FORBIDDEN = frozenset(
    """
        notes note analysis reconciliation reconciliations impact effect effects selected summary
        summarised summarized components component supplemental supplementary overview schedule parent
        parent-only registrant combining consolidating pro proforma index report reports see segment
        segments guarantor guarantors nonguarantor discussion data review information classification
        caption location items item's details detail adjustments off off-balance budgetary nonmajor
        non-major highlights ratios unconsolidated policies explanation related accompanying quarterly
        annexe anexo
    """.split()
)
# Words in small letters that a title may have around it.
PERMITTED = frozenset(
    """
        of the and for as at in to on a an by or with from year years ended ending end period periods
        month months week weeks quarter fiscal financial consolidated condensed interim unaudited audited
        (unaudited) continued continuing statement statements group company company's combined its per
        share or other loss losses income comprehensive changes equity deficit accumulated retained
        earnings net position assets fund balances funds expenditure expenditures expenses revenues gains
        performance cash flows results operations surplus activities reserves shareholders' stockholders'
        proprietary except millones amounts basic primary government-wide sector general government whole
        consolide consolidee consolides consolidado consolidada consolidados consolidadas consolidated.
        konzern konzerns der des de du la le les el los del do da das dos zum fur au und et y e inc. plc
    """.split()
).union(SCALE_TERMS, CURRENCY_TERMS)

INCOME = PrimaryStatement(
    _title(
        r"statements? of (?:consolidated |net |combined )?(?:income|operations|earnings|losses|loss"
        r"|profit|results|activities|operating results|"
        r"financial performance|"
        r"financial activities|comprehensive net expenditure|revenues?\b|performance|income and expenditure)",
        r"(?:income|earnings|operating|operations) statements?",
        r"profit (?:and|&|or) loss (?:accounts?|statements?)",
        r"compte de resultat",
        r"compte de profits et pertes",
        r"etat des resultats",
        r"gewinn- und verlustrechnung",
        r"erfolgsrechnung",
        r"estados? de resultados?",
        r"cuentas? de (?:perdidas y ganancias|resultados)",
        r"demonstrac(?:ao|oes) d[oe]s? resultados?(?! abrangente)",
    ),
    _rows(
        r"(?:total |net )?(?:net )?(?:operating )?(?:revenues?|sales|turnover|income from)"
        r"|net product sales|chiffre d'affaires|produits|"
        r"umsatzerlose|ingresos|ventas|receitas?",
        r"(?:total )?costs? (?:of|and)|cost of|cout des|materialaufwand|costo de|custo d",
        r"gross (?:profit|margin|surplus)|marge brute|bruttoergebnis|utilidad bruta|lucro bruto",
        r"selling|(?:sales and )?marketing|research and|general and admin|administrative"
        r"|distribution costs|personnel|employee|personalaufwand|"
        r"wages|salaries|benefits",
        r"depreciation|amorti[sz]ation|impairment|abschreibungen|amortizacion|depreciacao",
        r"(?:total )?operating (?:income|profit|loss|earnings|result|expen|costs)|(?:income|earnings"
        r"|loss|profit) from operations|"
        r"resultat operationnel|betriebsergebnis",
        (
            r"interest|finance (?:costs|income|expense)|other (?:income|expense|\(?gains)|net financ"
            r"|charges financieres|finanzergebnis"
        ),
        (
            r"(?:income|earnings|profit|loss|\(loss\)|surplus)[^\n]{0,50}before|profit before|resultat avant"
            r"|ergebnis vor|resultado antes"
        ),
        (
            r"(?:provision|benefit)[^\n]{0,20} for|income tax|(?:corporation )?tax(?:ation| expense)"
            r"|impots? sur|ertragsteuern|impuesto sobre"
        ),
        r"(?:consolidated )?net (?:income|earnings|loss|profit|\(loss\))|profit (?:for|attributable)"
        r"|(?:\(?loss\)? )?for the (?:year|period)|"
        r"profit/|resultat net|"
        r"jahresuberschuss|resultado (?:del|do|liquido)|lucro liquido|utilidad neta|surplus|deficit|excess"
        r"|net (?:cost|result)",
        (
            r"(?:basic|diluted|(?:net )?(?:income|earnings|loss)[^\n]{0,50} per|weighted)|resultat par"
            r"|ergebnis je"
        ),
        r"(?:property |income |sales |other )?tax(?:es|ation)|(?:operating |capital )?(?:grants"
        r"|contributions)|charges for|intergovernmental|"
        r"fines|licen[cs]es",
        (
            r"general government|public (?:safety|works)|education|health|culture|supplies|use of goods"
            r"|subsid|transfers"
        ),
        r"(?:net )?change in (?:net|fund)|fund balances?|net (?:position|assets)[, -]"
        r"|total other financing|other financing|total (?:revenues?|"
        r"expend|expenses)",
    ),
    _row(
        r"(?:consolidated )?net (?:income|earnings|loss|profit|\(loss\)|cost|result|operating|deficit"
        r"|surplus|change)|profit |\(?loss|(?:increase|"
        r"decrease) in net|"
        r"(?:operating )?(?:surplus|deficit)|(?:annual )?surplus|change in net|excess|(?:basic|diluted)"
        r"|resultat |ergebnis|jahres|resultado|lucro|"
        r"utilidad|total expen|comprehensive"
    ),
    fewest=5,
    figures=7,
)
COMPREHENSIVE = PrimaryStatement(
    _title(
        r"statements? of (?:consolidated |other |total )?comprehensive\b(?! net expenditure)",
        r"statements? of (?:net |consolidated )?(?:operations|income|loss|earnings|profit (?:and|or) loss|"
        r"financial performance) and (?:other )?comprehensive",
        r"comprehensive (?:income|loss|operating|earnings) statements?",
        r"statements? of recogni[sz]ed income",
        r"etat du resultat global",
        r"gesamtergebnisrechnung",
        r"estados? del? resultados? integral(?:es)?",
        r"demonstrac(?:ao|oes) d[oe]s? resultados? abrangentes?",
    ),
    _rows(
        r"(?:total )?other comprehensive|autres elements|sonstiges ergebnis|otro resultado|outros resultados",
        (
            r"(?:total |consolidated )?comprehensive|total recogni|resultat global|gesamtergebnis"
            r"|resultado (?:integral|abrangente)"
        ),
        (
            r"(?:consolidated )?net (?:income|earnings|loss|profit|\(loss\))|profit|\(?loss|surplus|resultat"
            r"|jahres|resultado|lucro"
        ),
        r"(?:(?:net )?foreign )?(?:currency|exchange) |translation"
        r"|(?:net )?(?:change in )?(?:cumulative )?foreign (?:currency|exchange)|"
        r"ecarts de conversion|wahrungs",
        r"[^\n]{0,50}(?:unreali[sz]ed|hedg|derivativ|available|securities|investments|debt instruments)",
        r"[^\n]{0,40}(?:pension|retire|benefit|remeasurement|actuarial|revaluation)",
        r"(?:items that|tax|income tax|net of tax|less|reclassif)|[^\n]{0,40}net of tax",
    ),
    _row(
        r"(?:total |consolidated )?(?:other )?comprehensive|total recogni|resultat global|gesamtergebnis"
        r"|resultado"
    ),
    fewest=3,
    figures=4,
)
BALANCE = PrimaryStatement(
    _title(
        r"balance sheets?",
        (
            r"statements? of (?:consolidated )?(?:financial (?:position|condition)|net (?:position|assets)"
            r"|assets(?:,| and) ?liabilities|condition)"
        ),
        r"bilans?\b",
        r"etat de la situation financiere",
        r"(?:konzern)?bilanz\b",
        r"balances? general(?:es)?",
        r"estados? de situacion financiera",
        r"balanco patrimonial",
    ),
    _rows(
        r"total (?:assets|de l'actif|actif|activo|do ativo)|summe (?:der )?aktiva|bilanzsumme",
        (
            r"total (?:non-?)?current assets|total actifs? (?:non )?courants?|umlaufvermogen"
            r"|total activo (?:no )?corriente"
        ),
        r"cash(?: and|,| equivalents|\b)|treasury balances|tresorerie|zahlungsmittel|efectivo|caixa",
        (
            r"[^\n]{0,24}receivable|accounts and notes|debtors|creances|forderungen|cuentas por cobrar"
            r"|contas a receber"
        ),
        r"(?:total |merchandise )?inventor|stocks\b|vorrate|existencias|inventarios|estoques",
        (
            r"(?:net )?(?:property|capital assets|fixed assets|plant|land)|immobilisations|sachanlagen"
            r"|propiedades|imobilizado|infrastructure"
        ),
        r"(?:goodwill|intangible)|other (?:assets|liabilities|current)|deferred|prepaid",
        (
            r"(?:total )?(?:current|non-?current) liabilities|total passifs? |kurzfristige|total pasivo"
            r"|passivo circulante"
        ),
        (
            r"total liabilities|total du passif|summe (?:der )?passiva|total pasivo|total do passivo"
            r"|liabilities and"
        ),
        (
            r"(?:accounts|trade)[^\n]{0,24} payable|creditors|accrued|fournisseurs|verbindlichkeiten"
            r"|proveedores|fornecedores|payables"
        ),
        (
            r"(?:long-term |current portion of |short-term )?(?:debt|borrowings|bonds|notes payable|loans)"
            r"|emprunts|prestamos|emprestimos"
        ),
        r"(?:retained|accumulated|reserves)|(?:common|ordinary|preferred) (?:stock|shares)|share capital"
        r"|additional paid|class a|capital social|"
        r"gezeichnetes",
        r"total (?:[^\n]{0,60} )?(?:equity|deficit|capital)|total net (?:position|assets)|net (?:assets"
        r"|position|worth|liabilities)|"
        r"capitaux propres|eigenkapital|patrimonio|"
        r"(?:total )?fund balances?|unrestricted|accumulated surplus",
    ),
    _row(
        r"total (?:assets|equity|liabilities|net (?:position|assets)|fund balances|de l'actif|actif"
        r"|activo|do ativo|passif|pasivo)|net (?:assets|"
        r"position|liabilities)|liabilities and|"
        r"total (?:[^\n]{0,60} )?equity|summe|bilanzsumme"
    ),
    fewest=6,
    figures=8,
)
CASH = PrimaryStatement(
    _title(
        r"statements? of (?:consolidated )?(?:cash[ -]?flows?|cash receipts)",
        r"cash[ -]?flows? statements?",
        r"(?:tableau|etat) des flux de tresorerie",
        r"(?:konzern-?)?kapitalflussrechnung",
        r"estados? de flujos? de efectivo",
        r"demonstrac(?:ao|oes) d[oe]s? fluxos? de caixa",
    ),
    _rows(
        r"[^\n]{0,60}(?:operating activities|operations)|[^\n]{0,50}(?:activites operationnelles"
        r"|geschaftstatigkeit|actividades de operacion|"
        r"atividades operacionais)",
        r"[^\n]{0,60}invest(?:ing activities|ments?)|investing|[^\n]{0,50}(?:d'investissement"
        r"|investitionstatigkeit|actividades de inversion|"
        r"atividades de investimento)",
        r"[^\n]{0,60}financing activities|financing|[^\n]{0,50}(?:de financement|finanzierungstatigkeit"
        r"|actividades de financia|"
        r"atividades de financiamento)",
        (
            r"(?:net )?\(?(?:increase|decrease|change)[^\n]{0,40} (?:cash|equivalents)"
            r"|variation (?:nette )?de (?:la )?tresorerie|veranderung|aumento"
        ),
        r"cash[^\n]{0,60}(?:beginning|end|start)|tresorerie|finanzmittel|efectivo|caixa",
        r"(?:depreciation|amorti[sz]ation|stock-based|share-based|deferred)|amortissements|abschreibungen",
        (
            r"(?:capital expenditure|additions? to|acquisitions?|purchases?|payments?|investments? in)"
            r"|einzahlungen|auszahlungen"
        ),
        r"(?:proceeds|sales? of|maturities|receipts)|produits",
        r"(?:repayment|repurchase|borrowings?|dividends|issuance|principal)|dividendes|remboursement",
        r"(?:accounts |trade )?(?:receivable|payable)|inventories|changes in|other assets|working capital",
        r"effect of|supplemental|interest paid|income taxes paid|cash paid",
    ),
    _row(
        r"[^\n]{0,60}(?:operating|investing|financing) activities|[^\n]{0,50}(?:used|provided"
        r"|flows?)[^\n]{0,20} (?:by|in|from|"
        r"for) [^\n]{0,16}(?:operat|invest|financ)|"
        r"cash[^\n]{0,60}(?:beginning|end) of|[^\n]{0,50}(?:financement|finanzierungstatigkeit|financia)"
    ),
    fewest=5,
    figures=8,
)
EQUITY = PrimaryStatement(
    _title(
        (
            r"statements? of [a-z,' ]{0,60}?(?:equity|holders'? funds|(?:holders|owners|members"
            r"|partners)'?s? (?:deficit|capital)|capital accounts)\b"
        ),
        (
            r"statements? of changes in (?:net (?:assets|position)|equity|reserves|accumulated"
            r"|taxpayers' equity|shareholders' funds)"
        ),
        r"statements? of (?:retained earnings|accumulated surplus)",
        r"(?:(?:share|stock)?(?:holders|owners)|members|partners)'?s? equity statements?",
        r"(?:tableau|etat) (?:de variation|des variations) des capitaux propres",
        r"eigenkapitalveranderungsrechnung",
        r"estados? de cambios en el patrimonio",
        r"demonstrac(?:ao|oes) das mutac(?:ao|oes) do patrimonio",
    ),
    _rows(
        rf"(?:opening |closing )?balances?\b|at $|(?:at )?{MONTH_NAME} |(?:beginning|end) of"
        rf"|capitaux propres au|"
        r"stand|saldo",
        (
            r"(?:consolidated )?net (?:income|earnings|loss|profit|\(loss\))|profit|surplus|resultat|jahres"
            r"|resultado|lucro"
        ),
        r"(?:cash |common stock cash )?(?:dividend|distribution)|dividendes|dividenden|dividendos",
        (
            r"(?:purchases?|repurchases?|acquisitions?) of|(?:common )?(?:stock"
            r"|shares?)[^\n]{0,20} (?:re)?purchase|treasury|buyback"
        ),
        r"(?:issuance|issue|exercise|shares) (?:of|issued)|(?:common )?stock (?:issued|options?)"
        r"|employee|stock issu|impact of employees|"
        r"augmentation de capital",
        r"(?:stock|share|equity)-based|amortization of|restricted stock|conversion",
        r"(?:total )?other comprehensive|comprehensive|foreign currency|change in|autres elements",
        (
            r"(?:[^\n]{0,40})(?:retained|paid-in|paid in|treasury|share capital|share premium|reserves"
            r"|accumulated|gewinnrucklagen|reservas)"
        ),
        (
            r"(?:[^\n]{0,60})(?:noncontrolling|non-controlling|minority|total (?:[a-z']{1,14} ){0,3}equity"
            r"|total)\b"
        ),
    ),
    _row(
        rf"(?:opening |closing )?balances?\b|at $|(?:at )?{MONTH_NAME} |(?:beginning|end) of"
        rf"|capitaux propres au|"
        r"stand|saldo|[^\n]{0,20}beginning"
    ),
    fewest=5,
    figures=5,
)
# By the kind of page that each is.
STATEMENTS = {
    "income_statement": INCOME,
    "comprehensive_income_statement": COMPREHENSIVE,
    "balance_sheet": BALANCE,
    "cash_flow_statement": CASH,
    "equity_statement": EQUITY,
}
