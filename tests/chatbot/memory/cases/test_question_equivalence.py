"""Whether two questions ask for the very same: pairs from finance that do and that do not, by words alone
and with the real vectors.
"""

from __future__ import annotations

import time

import pytest

from chatbot.memory.cases.case_file import question_vectors
from chatbot.memory.cases.case_recall import thresholds_of
from chatbot.memory.cases.question_equivalence import asks_the_same
from chatbot.models.embedders import LocalEmbedder
from chatbot.settings import load_settings
from tests.case_rows import case_rows

SAME = """What is the maximum term of a municipal loan?|What is a municipal loan's maximum term?
How much did the state spend on health in 2022?|What was the state's health spending in 2022?
What was the unemployment rate in 2023?|In 2023, what was the unemployment rate?
What is the reserve requirement for commercial banks?|Which reserve requirement do commercial banks have?
Who approves transfers between budget chapters?|By whom are transfers between budget chapters approved?
What was Norvik's operating margin in 2021?|What was the operating margin of Norvik in 2021?
What are the total assets of the pension fund?|How large are the pension fund's total assets?
What is the VAT rate on books?|Which VAT rate applies to books?
How is the primary balance calculated?|How do you calculate the primary balance?
What is the repayment period of the bond?|What repayment period does the bond have?
When was the fiscal council set up?|In which year was the fiscal council set up?
What is the debt limit for local governments?|What is the limit on local government debt?
How much revenue did Norvik report for 2022?|What revenue did Norvik report for 2022?
What is the minimum capital ratio of banks?|What is the minimum capital ratio for banks?
List the members of the audit committee.|Who are the members of the audit committee?
What exceptions to the deficit rule are allowed?|Which exceptions to the deficit rule are allowed?
What was the current account balance in Q2 2023?|Please tell me the current account balance in Q2 2023.
What is the interest rate on the 2019 loan?|What is the 2019 loan's interest rate?
How many staff does the treasury have?|What is the number of staff of the treasury?
What is the definition of a contingent liability?|How is a contingent liability defined?
What is the ceiling on public guarantees?|What is the public guarantee ceiling?
By how much did exports rise in 2023?|How much did exports rise in 2023?
What did the auditors criticise in 2022?|What was criticised by the auditors in 2022?
What is the growth rate of GDP in 2024?|What is the GDP growth rate in 2024?
What was the ratio of debt to GDP in 2020?|What was the debt-to-GDP ratio in 2020?
Is early repayment permitted?|Is early repayment allowed?
What is the fee for a late declaration?|How high is the fee for a late declaration?
What are the conditions of the guarantee scheme?|What are the guarantee scheme's conditions?
How much is the grant to municipalities in 2025?|What is the amount of the grant to municipalities in 2025?
Which ministry had the largest budget in 2024?|Which ministry's budget was the largest in 2024?
What was the trade deficit of Estara in 2019?|What was Estara's trade deficit in 2019?
What is the retention period for tax records?|How long is the retention period for tax records?
Who chairs the monetary policy committee?|Who is the chair of the monetary policy committee?
What is the cap on deposit insurance?|What is the deposit insurance cap?
Which assets are excluded from the leverage ratio?|What assets are excluded from the leverage ratio?
When does the fiscal year begin?|On what date does the fiscal year begin?
What is the weight of food in the price index?|What weight does food have in the price index?
How high was the primary surplus in FY2022?|What was the primary surplus in 2022?
What does the treasury charge for late filing?|How much does the treasury charge for late filing?
What are the objectives of debt management?|What are debt management's objectives?
How much of the budget goes to education?|What share of the budget goes to education?
What was Norvik's net profit in the 2020 financial year?|How much was Norvik's net profit in the 2020 \
financial year?
How many bonds were issued in 2021?|What was the number of bonds issued in 2021?
Does the rule apply to municipalities?|Is the rule applicable to municipalities?
What is the procedure for a supplementary budget?|What procedure applies to a supplementary budget?"""
OTHER = """How much did Norvik lend to Estara?|How much did Estara lend to Norvik?
What is the tax on dividends?|What is the tax rate on dividends?
What was the share of pensions in spending?|What was the spending on pensions?
How much was transferred from the budget to the fund?|How much was transferred from the fund to the budget?
Did revenue grow faster than spending in 2022?|Did spending grow faster than revenue in 2022?
What was the price-to-earnings ratio?|What were the earnings?
What is the debt service coverage ratio?|What is the debt service?
What was the growth of exports?|What was the growth rate of exports?
What is the market value of the bond?|What is the bond?
What was inflation in May 2023?|What was inflation in 2023?
What dividend is paid on class A shares?|What dividend is paid on class B shares?
What was the deficit of the US in 2022?|What was the deficit in 2022?
What does Annex C say about reserves?|What does Annex D say about reserves?
By how much did debt rise in 2023?|To how much did debt rise in 2023?
What is the long-term interest rate?|What is the interest rate?
How did spending change between 2021 and 2022?|How did spending change between 2022 and 2021?
Who lends to the central bank?|To whom does the central bank lend?
What is the ratio of deposits to loans?|What is the ratio of loans to deposits?
What was the current ratio at year end?|What were current assets at year end?
How much did the ministry pay the agency?|How much did the agency pay the ministry?
What is the value of guarantees per bank?|What is the value of banks per guarantee?
What is the size of the bond portfolio?|What is the yield of the bond portfolio?
What was net debt as a share of revenue?|What was net debt?
What was net debt as a share of revenue?|What was revenue as a share of net debt?
Must banks report to the treasury?|Must the treasury report to banks?
What is the penalty if tax is paid late?|What is the penalty if tax is not paid?
Which taxes rose in 2023?|Which taxes rose the least in 2023?
What is the maximum guarantee?|What is the guarantee?
What was the average wage in 2022?|What was the total wage bill in 2022?
What was revenue in the first half of 2022?|What was revenue in the second half of 2022?
What is the limit for loans under 5 years?|What is the limit for loans over 5 years?
What is the euro's exchange rate against the dollar?|What is the dollar's exchange rate against the euro?
What was GDP per head?|What was GDP?
What was nominal growth in 2023?|What was real growth in 2023?
What were receipts before tax?|What were receipts after tax?
How many banks failed?|Which banks failed?
What was Norvik's stake in Estara?|What was Estara's stake in Norvik?
What is the deficit in per cent of GDP?|What is the deficit in euros?
Who may suspend the rule?|Who must be told when the rule is suspended?
When did the rule enter into force?|When does the rule expire?
What is the share price?|What is the price?
Is the fund owned by the state?|Does the fund own the state?
What did supply exceed in 2021, demand?|By how much did demand exceed supply in 2021?
Why was the ceiling raised?|By how much was the ceiling raised?
What is the deposit rate?|What is the deposit?
What does the bank owe its customers?|What do customers owe the bank?
What is the coupon of the series B notes?|What is the coupon of the series D notes?
How much debt did Norvik sell to the central bank?|How much debt did the central bank sell to Norvik?
What was the yield in March 2022?|What was the yield in May 2022?
What is the tax base?|What is the tax base rate?
How much does Estara import from Norland?|How much does Norland import from Estara?
What was the budget share of defence?|What was the defence budget?
Which loans mature before 2030?|Which loans mature after 2030?
What is the gross debt of the state?|What is the net debt of the state?
What was the ratio of reserves to imports?|What was the ratio of imports to reserves?
Can the ministry overrule the council?|Can the council overrule the ministry?
What was the volume of loans to households?|What was the volume of loans from households?
How many loans were granted?|How much was granted in loans?
What is the average maturity of the debt?|What is the maturity of the debt?
What is the premium over the base rate?|What is the base rate?
What is the cost per pupil?|What is the cost of pupils?
What was the fall in revenue in 2020?|What was the revenue in 2020?
What guarantees did the state give to Norvik?|What guarantees did Norvik give to the state?
What would a rate of 5% mean?|What would a rate of -5% mean?
Which fees are above $10?|Which fees are above €10?
What is the tier 1 ratio?|What is the tier 2 ratio?
Which subsidies were paid by the EU?|Which subsidies were paid to the EU?
What is the share of exports in GDP?|What is the share of GDP in exports?
What is the difference of revenue and spending?|What is the difference of spending and revenue?
How is the deficit financed?|Who finances the deficit?"""
# Of those in other words that few answers may be asked for anew: what is missed costs a search, what is
# mistaken a wrong answer.
LEAST_FOUND = 0.8


@pytest.mark.parametrize("pair", OTHER.splitlines())
def test_what_asks_for_another_thing_is_never_taken_for_the_same(pair: str) -> None:
    question, other = pair.split("|")
    assert not asks_the_same(question, other)
    assert not asks_the_same(other, question)


@pytest.mark.parametrize(
    ("question", "other"),
    case_rows("""
        What is the deficit ceiling?  | Tell me: what is the ceiling for the deficit?
        What was net income in 2021?  | How much was the net income in FY2021?
        what was the deficit?         | WHAT WAS THE DEFICIT?
    """),
)
def test_what_asks_for_the_very_same(question: str, other: str) -> None:
    assert asks_the_same(question, other) is True
    assert asks_the_same(other, question) is True


@pytest.mark.parametrize(
    ("question", "other"),
    case_rows("""
        What was net income in 2021?       | What was net income in 2020?
        What was the deficit last year?    | What was the deficit this year?
        Can rules be suspended?            | Can rules not be suspended?
        Can't rules be suspended?          | Can rules be suspended?
        Who pays the fee?                  | When is the fee paid?
        Is there a limit on guarantees?    | What is the limit on guarantees?
        What does the IT department cost?  | What does the department cost?
        What was output in May 2023?       | What was output in June 2023?
    """),
)
def test_what_does_not_ask_for_the_very_same(question: str, other: str) -> None:
    assert asks_the_same(question, other) is False
    assert asks_the_same(other, question) is False


def test_with_real_vectors_nothing_is_mistaken_and_most_are_found() -> None:
    minilm = LocalEmbedder(load_settings().model_cache)
    least = thresholds_of(minilm.fingerprint).same

    def found(pairs: str) -> list[bool]:
        questions = pairs.replace("|", "\n").splitlines()
        rows = question_vectors(minilm, questions)
        cosines = (rows[::2] * rows[1::2]).sum(axis=1)
        near = cosines >= least
        asked = zip(questions[::2], questions[1::2], strict=True)
        same = [asks_the_same(question, other) for question, other in asked]
        return [bool(one) for one in near & same]

    assert not any(found(OTHER))
    same = found(SAME)
    assert sum(same) >= LEAST_FOUND * len(same)


@pytest.mark.timed
@pytest.mark.parametrize(
    "text", ["ratio of a ", "what a do b ", "how is ", "please ", "'", "A", " A", "1,", "(per cent"]
)
def test_a_hostile_question_takes_little_time(text: str) -> None:
    """Ten times the text takes some ten times as long, not a hundred; measured in the time of this
    process.
    """

    def seconds(length: int) -> float:
        question = (text * length)[:length]
        started = time.process_time()
        asks_the_same(question, f"{question} x")
        return time.process_time() - started

    short = min(seconds(6_000) for _ in range(3))
    assert seconds(60_000) < 40 * max(short, 0.005)
