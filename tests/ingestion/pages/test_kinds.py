"""What a page is: primary statements of companies and governments, contents, form; and what only looks like
one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.pages import kinds as kinds
from ingestion.pages.kinds import PRIMARY_STATEMENTS, page_kinds
from ingestion.records import Page
from tests.case_rows import case_rows


def kinds_of(text: str, *, running: str = "") -> tuple[str, ...]:
    """Kinds of a page with this text; running: one of its lines that is a running head."""
    text = "\n".join(line.strip() for line in text.strip().split("\n"))
    at = text.find(running)
    spans = ((at, at + len(running)),) if running else ()
    return page_kinds(Page(1, text, running=spans))


def printed(lines: str) -> str:
    """The lines of a page, parted by " / "."""
    return "\n{}\n".format(lines.replace(" / ", "\n"))


US_BALANCE = printed(
    "Table of Contents / HOLLIS FASTENERS, INC. AND SUBSIDIARIES / CONSOLIDATED BALANCE SHEETS / "
    "(In thousands, except share data) / December 31, / 2023 2022 / ASSETS / Current assets: / "
    "Cash and cash equivalents $ 41,207 $ 38,118 / "
    "Accounts receivable, net of allowances of $212 and $190 60,331 57,020 / "
    "Inventories 33,018 35,440 / Total current assets 134,556 130,578 / "
    "Property and equipment, net 88,410 90,121 / Goodwill 12,000 12,000 / "
    "Total assets $ 234,966 $ 232,699 / LIABILITIES AND STOCKHOLDERS’ EQUITY / Current liabilities: / "
    "Accounts payable $ 29,117 $ 30,006 / Current portion of long-term debt 4,000 4,000 / "
    "Total current liabilities 33,117 34,006 / Long-term debt 40,000 44,000 / "
    "Total liabilities 73,117 78,006 / Common stock, $0.01 par value 120 119 / "
    "Retained earnings 161,729 154,574 / Total stockholders’ equity 161,849 154,693 / "
    "Total liabilities and stockholders’ equity $ 234,966 $ 232,699 / "
    "See accompanying notes to consolidated financial statements."
)

US_INCOME = printed(
    "HOLLIS FASTENERS, INC. / CONSOLIDATED STATEMENTS OF OPERATIONS / "
    "(In thousands, except per share data) / Years ended December 31, 2023 2022 2021 / "
    "Net sales $ 310,440 $ 298,121 $ 270,900 / Cost of sales 201,330 196,880 180,020 / "
    "Gross profit 109,110 101,241 90,880 / Selling, general and administrative 70,120 66,300 61,005 / "
    "Operating income 38,990 34,941 29,875 / Interest expense (2,140) (2,300) (2,410) / "
    "Income before income taxes 36,850 32,641 27,465 / Provision for income taxes 8,107 7,181 6,042 / "
    "Net income $ 28,743 $ 25,460 $ 21,423 / Basic $ 2.40 $ 2.13 $ 1.80 / "
    "Diluted $ 2.38 $ 2.11 $ 1.78"
)

US_COMPREHENSIVE = printed(
    "HOLLIS FASTENERS, INC. / Consolidated Statements of Comprehensive Income / (In thousands) / "
    "Years ended December 31, 2023 2022 2021 / Net income $ 28,743 $ 25,460 $ 21,423 / "
    "Other comprehensive income (loss), net of tax: / "
    "Foreign currency translation adjustments (412) 305 (87) / Unrealized gains on hedges 118 (40) 22 / "
    "Total other comprehensive income (loss) (294) 265 (65) / "
    "Comprehensive income $ 28,449 $ 25,725 $ 21,358"
)

US_CASH = printed(
    "HOLLIS FASTENERS, INC. / CONSOLIDATED STATEMENTS OF CASH FLOWS / (In thousands) / "
    "Years ended December 31, 2023 2022 2021 / Cash flows from operating activities: / "
    "Net income $ 28,743 $ 25,460 $ 21,423 / Depreciation and amortization 11,020 10,870 10,404 / "
    "Accounts receivable (3,311) (1,020) 870 / "
    "Net cash provided by operating activities 36,452 35,310 32,697 / "
    "Cash flows from investing activities: / "
    "Purchases of property and equipment (9,309) (8,140) (7,777) / "
    "Net cash used in investing activities (9,309) (8,140) (7,777) / "
    "Cash flows from financing activities: / Repayments of long-term debt (4,000) (4,000) (4,000) / "
    "Dividends paid (20,054) (18,000) (16,300) / "
    "Net cash used in financing activities (24,054) (22,000) (20,300) / "
    "Net increase in cash and cash equivalents 3,089 5,170 4,620 / "
    "Cash and cash equivalents, end of year $ 41,207 $ 38,118 $ 32,948"
)

US_EQUITY = printed(
    "HOLLIS FASTENERS, INC. / CONSOLIDATED STATEMENTS OF CHANGES IN STOCKHOLDERS’ EQUITY / "
    "(In thousands) / Common / Stock / Additional / Paid-In Capital Retained / Earnings Total / "
    "Balance at December 31, 2021 118 1,000 128,114 129,232 / Net income — — 25,460 25,460 / "
    "Dividends — — (18,000) (18,000) / Stock-based compensation — 901 — 901 / "
    "Repurchases of common stock (1) (700) — (701) / "
    "Balance at December 31, 2022 117 1,201 135,574 136,892"
)

IFRS_POSITION = printed(
    "Brackwater Shipping plc Annual Report 2023 / Consolidated statement of financial position / "
    "as at 31 December 2023 / Note 2023 2022 / £m £m / Non-current assets / Goodwill 12 410.2 402.0 / "
    "Property, plant and equipment 13 1,220.9 1,187.4 / Total non-current assets 1,631.1 1,589.4 / "
    "Current assets / Inventories 40.1 38.8 / Trade and other receivables 16 210.6 198.7 / "
    "Cash and cash equivalents 17 95.0 88.3 / Total current assets 345.7 325.8 / "
    "Total assets 1,976.8 1,915.2 / Share capital 60.0 60.0 / Retained earnings 801.5 770.2 / "
    "Total equity 861.5 830.2 / Borrowings 18 700.0 720.0 / Trade and other payables 19 240.3 221.0 / "
    "Total liabilities 1,115.3 1,085.0 / Total equity and liabilities 1,976.8 1,915.2 / "
    "The notes on pages 101 to 160 are an integral part of these consolidated financial statements."
)

IFRS_BOTH_INCOMES = printed(
    "6.1 CONSOLIDATED FINANCIAL STATEMENTS / "
    "6.1.1 Consolidated statement of profit or loss and other comprehensive income / "
    "For the year ended 30 June 2023 / 2023 2022 / $'000 $'000 / Revenue 5 88,201 80,330 / "
    "Cost of sales (51,020) (47,114) / Gross profit 37,181 33,216 / "
    "Distribution costs (9,220) (8,870) / Administrative expenses (14,111) (13,006) / "
    "Operating profit 13,850 11,340 / Finance costs (2,010) (1,800) / Profit before tax 11,840 9,540 / "
    "Income tax expense (3,480) (2,790) / Profit for the year 8,360 6,750 / "
    "Other comprehensive income / Items that may be reclassified subsequently to profit or loss: / "
    "Exchange differences on translation of foreign operations 310 (120) / "
    "Total comprehensive income for the year 8,670 6,630 / Earnings per share (cents) 14.2 11.5"
)

CITY_POSITION = printed(
    "CITY OF ALDER FALLS / STATEMENT OF NET POSITION / June 30, 2023 / Primary Government / "
    "Governmental Activities Business-type Activities Total / ASSETS / "
    "Cash and investments $ 44,210,118 $ 20,004,113 $ 64,214,231 / "
    "Receivables, net 8,120,440 3,301,208 11,421,648 / "
    "Capital assets, net of depreciation 210,440,100 150,220,900 360,661,000 / "
    "Total assets 262,770,658 173,526,221 436,296,879 / DEFERRED OUTFLOWS OF RESOURCES / "
    "Pension related 6,100,221 1,200,330 7,300,551 / LIABILITIES / "
    "Accounts payable 4,118,206 1,909,004 6,027,210 / "
    "Due in more than one year 90,300,000 60,110,000 150,410,000 / "
    "Total liabilities 94,418,206 62,019,004 156,437,210 / NET POSITION / "
    "Net investment in capital assets 120,140,100 92,110,900 212,251,000 / "
    "Restricted 10,200,000 — 10,200,000 / Unrestricted 44,112,573 20,596,647 64,709,220 / "
    "Total net position $ 174,452,673 $ 112,707,547 $ 287,160,220 / "
    "The notes to the financial statements are an integral part of this statement."
)

CITY_FUNDS = printed(
    "CITY OF ALDER FALLS / STATEMENT OF REVENUES, EXPENDITURES AND / CHANGES IN FUND BALANCES / "
    "GOVERNMENTAL FUNDS / FOR THE YEAR ENDED JUNE 30, 2023 / General Library Total / REVENUES / "
    "Property taxes $ 30,110,400 $ 4,000,120 $ 34,110,520 / "
    "Licenses and permits 2,201,330 — 2,201,330 / Charges for services 6,118,240 90,330 6,208,570 / "
    "Total revenues 38,429,970 4,090,450 42,520,420 / EXPENDITURES / "
    "General government 8,110,202 — 8,110,202 / Public safety 20,330,118 — 20,330,118 / "
    "Culture and recreation 3,001,440 4,020,110 7,021,550 / "
    "Total expenditures 31,441,760 4,020,110 35,461,870 / "
    "Excess of revenues over expenditures 6,988,210 70,340 7,058,550 / "
    "Net change in fund balances 6,988,210 70,340 7,058,550 / "
    "Fund balances - beginning 14,110,300 900,118 15,010,418 / "
    "Fund balances - ending $ 21,098,510 $ 970,458 $ 22,068,968"
)

CITY_ACTIVITIES = printed(
    "COUNTY OF WREN / Statement of Activities / For the Fiscal Year Ended September 30, 2023 / "
    "Functions/Programs Expenses Charges for Services Operating Grants Net (Expense) Revenue / "
    "General government $ 12,110 $ 2,001 $ 310 $ (9,799) / Public safety 30,220 4,110 1,220 (24,890) / "
    "Education 18,330 — 12,001 (6,329) / Interest on long-term debt 2,100 — — (2,100) / "
    "Total governmental activities 62,760 6,111 13,531 (43,118) / General revenues: / "
    "Property taxes 38,110 / Sales taxes 6,220 / Change in net position 1,212 / "
    "Net position, beginning of year 90,330 / Net position, end of year $ 91,542"
)

OPERATING_STATEMENT = printed(
    "Table 5.1: General government sector operating statement / 2022-23 2023-24 2024-25 / "
    "Actual Estimate Budget / $m $m $m / Revenue / Taxation revenue 2,110 2,240 2,330 / "
    "Grants revenue 3,001 3,120 3,240 / Total revenue 5,111 5,360 5,570 / Expenses / "
    "Employee expenses 2,400 2,510 2,600 / Depreciation 410 420 440 / "
    "Other operating expenses 1,980 2,030 2,090 / Total expenses 4,790 4,960 5,130 / "
    "Net operating balance 321 400 440"
)

FRENCH = printed(
    "BILAN CONSOLIDÉ / (en millions d’euros) / 31/12/2023 31/12/2022 / "
    "Immobilisations corporelles 1 210 1 180 / Créances clients 320 301 / "
    "Trésorerie et équivalents 140 122 / Total actif 1 670 1 603 / Capitaux propres 700 660 / "
    "Emprunts et dettes financières 610 600 / Fournisseurs 360 343 / Total passif 1 670 1 603"
)

GERMAN = printed(
    "KONZERN-GEWINN- UND VERLUSTRECHNUNG / für das Geschäftsjahr 2023 / 2023 2022 / "
    "Umsatzerlöse 4.120 3.980 / Materialaufwand -2.010 -1.990 / Personalaufwand -1.020 -990 / "
    "Abschreibungen -310 -300 / Betriebsergebnis 780 700 / Ergebnis vor Steuern 740 655 / "
    "Jahresüberschuss 520 460"
)

SPANISH = printed(
    "ESTADO DE FLUJOS DE EFECTIVO / Ejercicio terminado el 31 de diciembre de 2023 / "
    "Resultado del ejercicio 300 280 / Depreciación y amortización 110 100 / "
    "Flujos de efectivo de actividades de operación 410 380 / Pagos por inversiones (120) (101) / "
    "Flujos de efectivo de actividades de inversión (120) (101) / Dividendos pagados (90) (80) / "
    "Flujos de efectivo de actividades de financiación (90) (80) / Aumento neto de efectivo 200 199 / "
    "Efectivo al final del ejercicio 640 440"
)

PORTUGUESE = printed(
    "Balanço patrimonial / Em 31 de dezembro de 2023 / Caixa e equivalentes de caixa 1.210 1.100 / "
    "Contas a receber 2.110 2.001 / Estoques 610 580 / Imobilizado 4.100 4.050 / "
    "Total do ativo 8.030 7.731 / Fornecedores 901 880 / Empréstimos 2.400 2.500 / "
    "Patrimônio líquido 4.729 4.351 / Total do passivo 8.030 7.731"
)


STATEMENTS = {
    "US balance sheet": US_BALANCE,
    "US income": US_INCOME,
    "US comprehensive income": US_COMPREHENSIVE,
    "US cash flow": US_CASH,
    "US equity": US_EQUITY,
    "IFRS position": IFRS_POSITION,
    "IFRS one statement": IFRS_BOTH_INCOMES,
    "net position": CITY_POSITION,
    "funds": CITY_FUNDS,
    "activities": CITY_ACTIVITIES,
    "operating statement": OPERATING_STATEMENT,
    "French": FRENCH,
    "German": GERMAN,
    "Spanish": SPANISH,
    "Portuguese": PORTUGUESE,
}
KINDS_OF_STATEMENTS = case_rows("""
US balance sheet        | balance_sheet
US income               | income_statement
US comprehensive income | comprehensive_income_statement
US cash flow            | cash_flow_statement
US equity               | equity_statement
IFRS position           | balance_sheet
IFRS one statement      | income_statement comprehensive_income_statement
net position            | balance_sheet
funds                   | income_statement
activities              | income_statement
operating statement     | income_statement
French                  | balance_sheet
German                  | income_statement
Spanish                 | cash_flow_statement
Portuguese              | balance_sheet
""")


@pytest.mark.parametrize(("statement", "expected"), KINDS_OF_STATEMENTS)
def test_primary_statements(statement: str, expected: str) -> None:
    found = kinds_of(STATEMENTS[statement])
    assert set(found) == set(expected.split())


TITLE_OF_BALANCE = "CONSOLIDATED BALANCE SHEETS"


TITLES = """
Balance Sheets
Consolidated balance sheet
Hollis Fasteners, Inc. and Subsidiaries Consolidated Balance Sheets
Consolidated Balance Sheets Hollis Fasteners, Inc. and Subsidiaries
CONSOLIDATED BALANCE SHEETS (Continued)
Consolidated Balance Sheets at December 31, 2023 and 2022
Condensed Consolidated Balance Sheets (Unaudited)
Consolidated Statement of Financial Position as at 31 March 2023
2. Consolidated balance sheet
""".strip().split("\n")


@pytest.mark.parametrize("title", TITLES)
def test_a_title_may_be_set_in_many_ways(title: str) -> None:
    text = US_BALANCE.replace(TITLE_OF_BALANCE, title)
    assert kinds_of(text) == ("balance_sheet",)


OTHER_NAMES = case_rows("""
US income    | Consolidated income statement                                             | income_statement
US income    | Consolidated statement of profit or loss                                  | income_statement
US income    | Statements of Consolidated Earnings                                       | income_statement
US income    | Consolidated Statements of (Loss) Income                                  | income_statement
US income    | Statement of Comprehensive Income                                         | income_statement
US cash flow | Group cash flow statement                                                 | cash_flow_statement
US cash flow | Statement of Cash Flows - Proprietary Funds                               | cash_flow_statement
US equity    | Consolidated Statement of Changes in Equity                               | equity_statement
US equity    | STOCKHOLDERS’ EQUITY STATEMENTS                                           | equity_statement
US equity    | Statements of Redeemable Preferred Stock and Stockholders’ Deficit        | equity_statement
""")
OTHER_NAMES += [("US cash flow", "CONSOLIDATED STATEMENT OF\n    CASH FLOWS", "cash_flow_statement")]


@pytest.mark.parametrize(("statement", "title", "expected"), OTHER_NAMES)
def test_other_names_of_statements(statement: str, title: str, expected: str) -> None:
    text = STATEMENTS[statement]
    lines = [line.strip() for line in text.split("\n")]
    usual = next(line for line in lines if line.startswith("CONSOLIDATED"))
    assert expected in kinds_of(text.replace(usual, title))


NO_TITLES = """
Notes to Consolidated Balance Sheets
Consolidated Balance Sheets 53
Supplemental Balance Sheet Information
Parent Company Balance Sheets
Company balance sheet
Balance sheet of the Company
Condensed Balance Sheets (Parent Company Only)
Combining Balance Sheet - Nonmajor Governmental Funds
Pro Forma Condensed Balance Sheet
Consolidating Balance Sheet
The following tables summarize our consolidated balance sheets.
Selected Balance Sheet Data
Reconciliation of the Balance Sheet to the Statement of Net Position
""".strip().split("\n")


@pytest.mark.parametrize("title", NO_TITLES)
def test_what_only_sounds_like_a_title(title: str) -> None:
    text = US_BALANCE.replace(TITLE_OF_BALANCE, title)
    assert not set(kinds_of(text)) & set(PRIMARY_STATEMENTS)


OTHER_HEADINGS = """
Notes to Consolidated Financial Statements
Note 22 - Condensed Financial Information
SCHEDULE I - CONDENSED FINANCIAL INFORMATION OF REGISTRANT
Management’s Discussion and Analysis
23. Summarised financial information of associates
""".strip().split("\n")


@pytest.mark.parametrize("above", OTHER_HEADINGS)
def test_a_statement_under_another_heading_is_none(above: str) -> None:
    text = f"{above}\n{US_BALANCE}"
    assert not kinds_of(text)
    assert not kinds_of(text, running=above)


def test_columns_of_small_funds_make_no_combining_statement() -> None:
    heads = "Balance Sheet\nGovernmental Funds\nGeneral Fund Nonmajor Governmental Funds Total\n"
    text = CITY_POSITION.replace("STATEMENT OF NET POSITION\n", heads)
    assert kinds_of(text) == ("balance_sheet",)


def test_a_table_of_what_a_restatement_changed_is_no_statement() -> None:
    date = "December 31,\n"
    changed = US_BALANCE.replace(date, "As Previously Reported Adjustments As Restated\n")
    assert not kinds_of(changed)
    restated = US_BALANCE.replace(date, "December 31, (as restated)\n")
    assert kinds_of(restated) == ("balance_sheet",)


def test_a_page_without_a_title_is_no_statement() -> None:
    assert not kinds_of(US_BALANCE.replace(TITLE_OF_BALANCE, ""))
    assert not kinds_of(US_INCOME.replace("CONSOLIDATED STATEMENTS OF OPERATIONS", ""))


def test_two_statements_on_one_page() -> None:
    found = kinds_of(US_INCOME + US_COMPREHENSIVE)
    assert set(found) == {"income_statement", "comprehensive_income_statement"}


def test_a_few_rows_of_cash_flow_in_prose_are_no_statement() -> None:
    discussed = """
        Cash Flows
        Consolidated Statements of Cash Flows
        (in millions) 2023 2022
        Operating activities $ 310 $ 290
        Investing activities (120) (110)
        Financing activities (90) (80)
        Net increase in cash $ 100 $ 100
        Cash at end of year $ 400 $ 300
        """
    assert not kinds_of(discussed)


SIGNATURE_PAGE = printed(
    "SIGNATURES / "
    "Pursuant to the requirements of the Securities Exchange Act of 1934, the registrant has duly "
    "caused this report to be signed. / "
    "HOLLIS FASTENERS, INC. / By: /s/ Jordan Vale / Jordan Vale, Chief Financial Officer"
)
RISK_PAGE = """
    We may be unable to obtain steel at acceptable prices, which could adversely affect our margins.
    Disruption at our plants could harm our reputation and could adversely affect sales. Our customers could \
change suppliers.
    Changes in tariffs could have a material adverse effect on us. Litigation could result in adverse \
judgments.
    """


@pytest.mark.parametrize("text", [SIGNATURE_PAGE, RISK_PAGE])
def test_form_and_hedging_are_boilerplate(text: str) -> None:
    assert kinds_of(text) == (kinds.RISK_FACTORS_OR_BOILERPLATE,)


def test_contents_rise_and_a_running_head_says_nothing() -> None:
    rising = """
        Table of Contents
        Summary 1
        Economy 4
        Revenue 9
        Spending 15
        Debt 22
        Risks 30
        """
    assert kinds_of(rising) == (kinds.CONTENTS,)
    falling = printed("Table of Contents / Plants 81 / Stores 4 / Vans 39 / Desks 15 / Lamps 22 / Tools 3")
    assert not kinds_of(falling)


@pytest.mark.parametrize("text", ["", " \n\n", "7", "…", "\x00\n\x00", "A B", "— — —\n" * 3])
def test_pages_of_next_to_nothing(text: str) -> None:
    assert page_kinds(Page(1, text)) == ()


@pytest.mark.long
def test_filings_have_one_of_each_statement(shared: Path) -> None:
    """A filing has its statements once or twice over, and a page of hundreds is seldom one."""
    from ingestion.document import read_document

    reading = read_document(shared / "financebench" / "NETFLIX_2017_10K.pdf")
    balances = [page.number for page in reading.pages if "balance_sheet" in page.kinds]
    assert balances == [45]
    primary = [page for page in reading.pages if set(page.kinds) & set(PRIMARY_STATEMENTS)]
    assert len(primary) == 5


def test_pages_of_contents_are_known() -> None:
    dotted = "\n".join(f"{n} Fiscal rules . . . . . . . . . {n + 3}" for n in range(1, 9))
    assert kinds_of(f"Contents\n{dotted}") == (kinds.CONTENTS,)
    parts = "\n".join(f"Part {letter} Direct Taxes {n}" for n, letter in enumerate("abcdef", 20))
    assert kinds_of(f"CONTENTS\nPage No.\n{parts}") == (kinds.CONTENTS,)
    figures = "\n".join(f"Income tax of group {n} 1,204 1,310 {n}" for n in range(9))
    assert not kinds_of(f"Revenue by source\n{figures}")
    prose = "The deficit ceiling is 3.0 per cent of GDP in any year.\n" * 9
    assert not kinds_of(prose)
