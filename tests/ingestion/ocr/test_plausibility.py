"""What counts as language: clean pages of many languages and kinds, and the ways in which a text layer
goes wrong.
"""

import random
import re
import string
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.ocr.plausibility import RUN, fold, judge

PROSE = """The Ministry of Finance publishes this report twice a year. It describes how public revenue and
    expenditure developed, and
what the Government intends to do about the deficit. Revenue from income tax rose by 4.2 per cent,
while customs duties fell
because imports of fuel were lower than expected. The deficit of general government narrowed to 2.4 per cent
of gross domestic
product. Interest on public debt remains the fastest growing item of expenditure; most of the debt was
borrowed at fixed rates.
Section 12 sets out the rules for transfers to municipalities. Municipalities that exceed their borrowing
limit must present a
plan to the Treasury within ninety days. The Treasury may refuse the plan,
and the Government may then suspend transfers.
Under the budget law, expenditure on investment is planned for five years. The Ministry reviews the plan
every spring, together
with the forecasts of the central bank, and reports the results to Parliament. Transfers to households were
raised in January.
The central bank expects growth of 3 per cent next year. Inflation should return to the target,
provided that wages grow no
faster than productivity. Risks remain: a further rise of energy prices would reduce revenue and increase
expenditure."""

CLEAN = {
    "French": (
        "Le ministère des Finances publie chaque année un rapport sur l’exécution du budget de l’État et "
        "sur la dette publique. Les recettes fiscales ont augmenté, tandis que les dépenses "
        "d’investissement ont été reportées à l’exercice suivant."
    ),
    "German": (
        "Das Bundesministerium der Finanzen veröffentlicht jährlich einen Bericht über den "
        "Haushaltsvollzug. Die Steuereinnahmen sind gestiegen, während die Ausgaben für "
        "Verkehrsinfrastruktur und Sozialversicherungen unverändert blieben."
    ),
    "Polish": (
        "Ministerstwo Finansów ogłosiło sprawozdanie z wykonania budżetu państwa. Dochody podatkowe "
        "wzrosły, natomiast wydatki na oświatę i służbę zdrowia pozostały niższe niż przewidywano w "
        "ustawie budżetowej."
    ),
    "Finnish": (
        "Valtiovarainministeriö julkaisee vuosittain kertomuksen talousarvion toteutumisesta. Verotulot "
        "kasvoivat, mutta eläkemenot ja velanhoitokustannukset nousivat ennakoitua nopeammin."
    ),
    "Hungarian": (
        "A Pénzügyminisztérium évente közzéteszi a költségvetés végrehajtásáról szóló jelentést. Az "
        "adóbevételek növekedtek, miközben az egészségügyi kiadások elmaradtak a tervezettől."
    ),
    "Turkish": (
        "Maliye Bakanlığı her yıl bütçe uygulama raporunu yayımlamaktadır. Vergi gelirleri artarken kamu "
        "yatırımlarına ayrılan ödenekler geçen yılki düzeyinde kalmıştır."
    ),
    "Vietnamese": (
        "Bộ Tài chính công bố báo cáo hằng năm về tình hình thực hiện ngân sách nhà nước. Thu thuế tăng "
        "trong khi chi đầu tư phát triển thấp hơn so với dự toán được Quốc hội thông qua."
    ),
    "Swahili": (
        "Wizara ya Fedha huchapisha kila mwaka taarifa ya utekelezaji wa bajeti ya Serikali. Mapato ya "
        "kodi yaliongezeka, lakini matumizi ya maendeleo yalikuwa chini ya makadirio yaliyopitishwa na "
        "Bunge."
    ),
    "Indonesian": (
        "Kementerian Keuangan menerbitkan laporan tahunan mengenai pelaksanaan anggaran negara. Penerimaan "
        "pajak meningkat, sedangkan belanja modal lebih rendah daripada yang direncanakan pemerintah."
    ),
    "Russian": "Министерство финансов ежегодно публикует отчёт об исполнении федерального бюджета. Налоговые "
    "поступления выросли, тогда как "
    "расходы на обслуживание государственного долга сократились.",
    "Greek": "Το Υπουργείο Οικονομικών δημοσιεύει κάθε χρόνο έκθεση για την εκτέλεση του προϋπολογισμού. Τα "
    "φορολογικά έσοδα αυξήθηκαν, ενώ "
    "οι δαπάνες για επενδύσεις παρέμειναν χαμηλότερες.",
    "Arabic": (
        "تنشر وزارة المالية كل عام تقريرا عن تنفيذ الموازنة العامة للدولة. وقد ارتفعت الإيرادات الضريبية "
        "بينما انخفضت النفقات الاستثمارية."
    ),
    "Hebrew": (
        "משרד האוצר מפרסם מדי שנה דוח על ביצוע תקציב המדינה. ההכנסות ממסים עלו בעוד ההוצאות על השקעות נותרו "
        "נמוכות מן המתוכנן."
    ),
    "Hindi": (
        "वित्त मंत्रालय प्रत्येक वर्ष बजट के कार्यान्वयन पर एक रिपोर्ट प्रकाशित करता है। कर राजस्व में "
        "वृद्धि हुई जबकि पूंजीगत व्यय कम रहा।"
    ),
    "Thai": (
        "กระทรวงการคลังเผยแพร่รายงานการดำเนินงานงบประมาณเป็นประจำทุกปี รายได้จากภาษีเพิ่มขึ้น "
        "ขณะที่รายจ่ายลงทุนต่ำกว่าที่คาดการณ์ไว้"
    ),
    "Chinese": (
        "财政部每年公布预算执行情况报告。税收收入有所增长，而资本性支出低于预算。一般公共预算支出与上年持平。"
    ),
    "Japanese": (
        "財務省は毎年、予算の執行状況に関する報告書を公表している。"
        "税収は増加したが、投資的経費は当初予算を下回った。"
    ),
    "Korean": (
        "기획재정부는 매년 예산 집행 결과 보고서를 공표한다. "
        "세수는 증가하였으나 투자 지출은 당초 예산에 미치지 못하였다."
    ),
}

KINDS = {
    "figures": "\n".join(
        f"Line {n} {n * 37 % 91},{n * 713 % 1000:03} ({n * 7 % 10}.{n % 10}) 12.5% $4 €6 — n/a"
        for n in range(40)
    ),
    "tags": "\n".join(
        f"us-gaap:{tag}"
        for tag in "AccumulatedOtherComprehensiveIncomeLossNetOfTax AllocatedShareBasedCompensationExpense "
        "ProceedsFromIssuanceOfLongTermDebt "
        "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest "
        "dei_EntityRegistrantName".split()
    ),
    "tickers": (
        "AAPL MSFT GOOGL AMZN NVDA TSLA JPM XOM UNH WMT BRKB CVX LLY ABBV PFE BAC KO AVGO PEP CSCO WFC DHR "
        "NKE TXN VZ BMY RTX QCOM UPS"
    ),
    "codes": "\n".join(
        (
            f"{'ABKXZ'[n % 5]}{n * 7 % 90}-{'XKQ ZRT BWP'.split()[n % 3]}-{n * 313} US0{n * 7919}QKX7 "
            f"a3f9{n:x}bc{n * 77:x}"
        )
        for n in range(1, 40)
    ),
    "references": "\n".join(f"k{n}xqzv{n * 37}wpkt{n % 7}" for n in range(1, 40)),
    "capitals": (
        "CONSOLIDATED STATEMENTS OF CASH FLOWS (IN MILLIONS) NET INCOME DEPRECIATION AND AMORTISATION PP&E "
        "ROU DTA FVOCI ECL EBITDA\n"
    )
    * 3,
    "form": (
        "Name: ________ Date of birth: __/__/____ [ ] Yes [x] No IBAN: DE89 3704 0044 0532 BIC: COBADEFFXXX "
        "e-mail: desk@ministry.example\n"
    )
    * 3,
    "formulas": (
        "x_{t+1} = φx_t + ε_t; P(A|B) = P(B|A)P(A)/P(B); Σ_i (y_i - ŷ_i)·x_i; C6H12O6 NaHCO3 CuSO4·5H2O "
        "[Fe(CN)6]4- CH3CH2OH\n"
    )
    * 4,
    "code": "    if letters < FEWEST:\n        return x[i] += y[j]*z; for(int i=0;i<n;i++){a[i]=b[i]&0xFF;}\n"
    * 5,
    "names": (
        "Szczęśniak, W. & Nguyễn, T.H. (2001), pp. 13-36, doi:10.1257/aer.91.5.1369; Øystein Røed-Larsen; "
        "Włodzimierz Kwiatkowski; Mkhize, N.; 12 Ulica Świętokrzyska, 00-916 Warszawa; "
        "https://www.example.org/en/Publications/world-economic-outlook-april-2024"
    ),
}


def shift(by: int) -> Callable[[str], str]:
    return lambda text: re.sub(r"\S", lambda found: chr(max(1, ord(found.group()) + by)), text)


def permute(text: str) -> str:
    order = "".join(random.Random(7).sample(string.ascii_lowercase, 26))
    table = str.maketrans(string.ascii_letters, order + order.upper())
    return text.translate(table)


def break_words(text: str) -> str:
    """Every third longer word in two."""
    count = iter(range(10_000))

    def break_third(found: re.Match[str]) -> str:
        word = found.group()
        return word if next(count) % 3 else f"{word[:3]} {word[3:]}"

    return re.sub(r"[a-zA-Z]{5,}", break_third, text)


def set_ligatures_apart(text: str) -> str:
    with_ligatures = text.replace("report", "fiscal report").replace("rose", "flew")
    return re.sub(r"(fi|fl)", r" \1 ", with_ligatures)


def reverse_lines(text: str) -> str:
    return "\n".join(line[::-1] for line in text.split("\n"))


GARBLED: dict[str, Callable[[str], str]] = {
    **{f"shifted by {by}": shift(by) for by in (-29, -31, -40, -3, 1, 3, 13, 29)},
    "permuted": permute,
    "without spaces": lambda text: text.replace(" ", ""),
    "spaced out": lambda text: re.sub(r"(?<=\S)(?=\S)", " ", text),
    "words broken": break_words,
    "ligatures apart": set_ligatures_apart,
    "lines reversed": reverse_lines,
    "words reversed": lambda text: re.sub(r"\S+", lambda found: found.group()[::-1], text),
    "bytes swapped": lambda text: re.sub(r"\S", lambda found: chr(ord(found.group()) << 8), text),
}


def is_garbage(text: str) -> bool:
    """Garbage beyond doubt, well above the bound of any caller."""
    found = judge(text)
    judged = found.plausible + found.implausible
    return found.disordered or found.implausible > 0.5 * judged


@pytest.mark.parametrize("name", [*CLEAN, *KINDS])
def test_clean_text_is_language(name: str) -> None:
    found = judge((CLEAN | KINDS)[name])
    assert not found.disordered
    # A page is condemned at .22 of its letters and more than eighty of doubt.
    judged = found.plausible + found.implausible
    assert found.implausible < 0.15 * (judged + 80)


@pytest.mark.parametrize("name", CLEAN)
def test_the_letters_of_every_language_count(name: str) -> None:
    text = CLEAN[name]
    letters = sum(map(str.isalpha, text))
    assert judge(text).plausible > 0.5 * letters


def test_prose_is_language() -> None:
    found = judge(PROSE)
    letters = sum(map(str.isalpha, PROSE))
    assert found.plausible > 0.7 * letters
    assert found.implausible < 20
    assert not found.disordered


@pytest.mark.parametrize("kind", GARBLED)
def test_garbled_prose_is_not(kind: str) -> None:
    garble = GARBLED[kind]
    assert is_garbage(garble(PROSE))


WRONG_ENCODINGS = "French Polish Turkish Russian Greek".split()


@pytest.mark.parametrize("name", WRONG_ENCODINGS)
def test_text_in_the_wrong_encoding_is_not(name: str) -> None:
    encoded = (CLEAN[name] * 2).encode()
    text = encoded.decode("cp1252", "replace")
    assert is_garbage(text.replace("\ufffd", "\x81"))


PERMUTED = "German Finnish Hungarian Turkish Indonesian Russian".split()


@pytest.mark.parametrize("name", PERMUTED)
def test_permuted_letters_of_other_languages_are_not(name: str) -> None:
    folded = fold(CLEAN[name])
    assert is_garbage(permute(folded))


def test_a_capital_set_apart_breaks_no_word() -> None:
    names = "Leslie George Battle Barton Hastings Kilgore"
    apart = " ".join(f"{name[0]} {name[1:]}" for name in names.upper().split())
    found = judge(f"{names}\n{apart}{PROSE}")
    assert not found.disordered


def test_letters_are_folded_across_alphabets() -> None:
    folded = fold("Żółć ÉTÉ İstanbul straße Ære Чёрный Ελλάς 12%")
    assert folded == "zolc ete istanbul strase are cernyi ellas 12%"
    runs = RUN.findall(fold("Q4-Überschuss, 12b"))
    assert runs == ["q", "uberschuss", "b"]


@given(st.text())
def test_any_text_can_be_judged(text: str) -> None:
    found = judge(text)
    assert found.plausible >= 0
    assert found.implausible >= 0
    assert found.plausible + found.implausible <= 3 * len(text) + 3
