"""Which pages are lists of works cited, by how they cite; and which only cite."""

from __future__ import annotations

import pytest

from ingestion.pages.kinds import RISK_FACTORS_OR_BOILERPLATE, page_kinds
from ingestion.pages.kinds import _is_reference_list as is_reference_list
from ingestion.pages.statement_kinds import look_at
from ingestion.records import Page

DATED = """
Ministry of Finance of Valmora. (2024, October
18). Budget speech: two billion set aside for
maintenance. https://finance.example/speech.pdf
National Pay Council. (2019). Effects of the wage
floor on small firms.
National Pay Council. (2023). A decade of the wage
floor: problems and prospects.
World Fund. (n.d.). Country data. Retrieved
September 17, 2025, from https://fund.example/data
"""
JOURNALS = """
References
Alder, J. and P. Birch, 2019, "Debt and growth revisited", Journal of Public Economics,
Vol. 12, pp. 45-67.
Cedar, M., 2021, "Fiscal rules in small economies", Working Paper No. 21/104.
Dogwood, R. et al., 2018, "What budgets hide", Journal of Fiscal Policy, Vol. 3,
pp. 1-19.
Elm, T., 2020, Public Accounts, Fern University Press.
"""
NUMBERED = """
Endnotes
1 Ibid., pp. 3-4.
2 National Pay Council, Annual review, https://pay.example/review, accessed 3 March 2024.
3 Alder et al., Debt and growth, pp. 12-15.
4 Ministry of Finance, Medium-term plan, www.finance.example/plan
5 Ibid.
6 Op. cit., pp. 7-9.
"""
FOOTNOTED = """
The wage floor was raised in 2022 for firms of five workers and more. Studies found little effect
on employment in the year after (Alder et al., 2019; Cedar, 2021), while hours fell by a tenth in
hotels and shops. The council therefore advised a slower path for small firms, which the ministry
took up in its budget. Firms below the limit have until July to comply, and may ask for advice.
Those that hire apprentices are treated alike. The effect on prices was below 0.2 per cent, and
did not last beyond a quarter. A survey of two thousand firms is under way, whose results will be
put before parliament in spring. The council meets again in autumn and will then propose a rate.
Until then the present one stands, and inspectors will visit firms in the districts concerned.
The ministry expects that compliance will rise, because fines are now set by the day of delay.
It pays for two hundred inspectors more, and for a help desk that answers in four languages.
1 National Pay Council (2023), Annual review, pp. 12-15. https://pay.example/review
2 Ministry of Finance (2024), Medium-term plan. https://finance.example/plan
"""
LAWS = """
The ceiling on commitments (Fiscal Act 2013) stands. The Public Money Act (2018) requires a report
(see section 12). The decree of (2020) on reserves, as amended (2021), lays down a floor (2022).
"""


@pytest.mark.parametrize("text", [DATED * 2, JOURNALS, NUMBERED])
def test_lists_of_works_cited_count_as_boilerplate(text: str) -> None:
    assert RISK_FACTORS_OR_BOILERPLATE in page_kinds(Page(1, text.strip()))


@pytest.mark.parametrize("text", [FOOTNOTED, LAWS, ""])
def test_a_page_that_only_cites_is_none(text: str) -> None:
    assert not is_reference_list(look_at(Page(1, text.strip())))
