"""Sentences of financial prose that are hard to read: where each ends, what it amounts to and when; the
contract of all who read sentences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tests.case_rows import case_rows

__all__ = ["HARD", "Hard"]

# The value with its sign and without its scale; the scale; the unit.
Amount: TypeAlias = tuple[float, float, str | None]


@dataclass(frozen=True, slots=True)
class Hard:
    """parts: its sentences. figures: each amount in order. periods: as written."""

    parts: tuple[str, ...]
    figures: tuple[Amount, ...] = ()
    periods: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.parts)


# Amounts | periods | sentences; "-" where there is none.
ROWS = case_rows("""
12×1e7 INR             | Jan. 2024  | Rs. 12 crore was released in Jan. 2024.
-                      | -          | Under sec. 12 of the Act. / The Board decides.
12; 40                 | -          | In the U.S. 12 banks failed and 40 merged.
250 USD                | -          | A fee of ($250), payable now, is due.
10; -5 %               | -          | It may differ by +10/-5 per cent.
-0.5                   | FY24       | The result was (0.5) in FY24.
0.25                   | -          | The rate rose by 1⁄4 of a point.
0.25 percentage points | Sept. 2023 | The rate rose by ¼ percentage point in Sept. 2023.
1234.5×1e6 USD; 2.3 %  | -          | It paid $ 1,234.5 million, i.e. 2.3 per cent of GDP.
4.5 %                  | 2023-24    | Spending by the U.S. Treasury rose 4.5% in 2023-24.
383.3×1e9 USD          | fiscal 2023 | Apple Inc. reported sales of $383.3 billion in fiscal 2023.
-                      | 5 Mar. 2021 | Mr. Smith, Dr. Jones et al. met on 5 Mar. 2021.
-                      | -          | See fig. 3, pp. 12-15 and no. 7.
4.4 %                  | -          | The deficit (4.4 per cent of GDP) widened.
3.2 %                  | -          | Growth was 3.2 per cent.13 / Inflation fell.
1.2×1e9 EUR; 1.1×1e9 EUR | 2022       | Revenue grew to €1.2bn (2022: €1.1bn).
0.5 percentage points  | Q3 2024    | Output fell by 0.5 p.p. in Q3 2024.
117000×1e7 INR         | -          | Outlay on roads is ₹ 1,17,000 crore.
2.3×1e9 MYR            | 2022/23    | A levy of RM2.3 billion was raised in 2022/23.
3.5×1e12 INR           | -          | The Fund holds Rs 3.5 lakh crore.
422×1e6 USD            | -          | Loans of USD 422 mln. were repaid.
2500 ZMW; 12000        | -          | K2,500 is paid each month to 12,000 households.
50.3×1e9 ZAR           | -          | Transfers of R50.3 billion go to provinces.
9300                   | -          | The posts of 9 300 nurses were cut.
25 basis points; 0.25 percentage points | - | \
The yield was 25 basis points, or 0.25 percentage points, higher.
-50.3×1e6 USD          | -          | Net income (loss) was $(50.3) million.
3 %                    | -          | What is the ceiling? / It is 3.0 per cent.
-                      | -          | The rule holds! / Nobody doubts it.
-                      | -          | The Act (see s. 4. Figures are rounded) applies.
2.1 %                  | -          | Inflation was 2.1 per cent [S1-7f3a]. / Output grew.
9                      | -          | Reserves cover nine months of imports.
0.75                   | -          | About three-quarters of the loans are for a year.
60 %; 85 %             | 2019, 2021 | From 2019 to 2021 debt rose from 60 to 85 per cent.
-                      | 2018       | The 10-K of 2018 and the COVID-19 fund are named.
14                     | -          | Table 3.2 shows 14 items.
45.1×1e6               | 30 June 2024 | On 30 June 2024 the balance was 45.1 million.
8.5 %; 6.4 %           | 1999-00    | It fell from 8.5 to 6.4 per cent in 1999-00.
40 %                   | -          | Approx. 40 per cent of the approp. was spent.
2.1×1e9 CAD            | -          | The St. Lawrence project cost C$ 2.1 bn.
5.25 %                 | -          | Interest of 5-1/4 percent is due.
1.5 x                  | -          | They spent 1.5 times the budget.
3.5 x                  | -          | The ratio is 3.5x.
1500000 shillings      | -          | The minimum is 1,500,000 shillings a year.
3×1e12 USD             | 2022       | Exports reached US$ 3 trillion in calendar 2022.
3.3 %                  | FY2018-19  | In FY2018-19 the target was 3.3%.
1200                   | Dec-24     | By Dec-24 the stock was 1,200.
50×1e7                 | 2024-25, 2024 | The 2024-25 Budget (Act No. 5 of 2024) allots 50 crore.
15 %; 85 %             | -          | Tax of 15% applies; the rest, 85%, is free.
-                      | -          | "We will act." / The Governor said so.
-                      | -          | The U.K. and the E.U. agreed. / Trade grew.
0.5                    | -          | Costs rose by half of the total.
-40×1e6                | -          | Minus 40 million was booked.
-0.8 %; 1.2            | 2022       | It was -0.8 per cent (2022: 1.2).
1234567                | -          | Sales were 1.234.567 by law.
7.5 %                  | -          | The share is 7½ per cent.
7×1e6                  | -          | There were two pillars and seven million users.
-                      | -          | Para. 2.3.1 of the M.o.U. is clear.
5 %                    | -          | The 5 per cent VAT, e.g. on food, stays.
3 %; 4 %               | -          | Cap: 3% of GDP, vs. 4% before.
50000 INR              | -          | He earns Rs.50,000/- a month.
4.1 %                  | third quarter of 2023 | Growth (y/y) was 4.1 per cent in the third quarter of 2023.
-                      | -          | He left in May. / The bank stayed.
3×1e6 JPY              | -          | The company, i.e. Acme Corp. Ltd., paid 3 million yen.
""")


def amount(written: str) -> Amount:
    number, _, unit = written.partition(" ")
    value, _, scale = number.partition("×")
    return float(value), float(scale or 1), unit or None


def parts_of(cell: str, mark: str) -> tuple[str, ...]:
    return () if cell == "-" else tuple(cell.split(mark))


def hard(amounts: str, periods: str, sentences: str) -> Hard:
    figures = map(amount, parts_of(amounts, "; "))
    return Hard(parts_of(sentences, " / "), tuple(figures), parts_of(periods, ", "))


HARD = tuple(hard(*row) for row in ROWS)
