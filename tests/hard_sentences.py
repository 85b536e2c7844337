"""Sentences of financial prose that are hard to read: where each ends, what it amounts to and when; the
contract of all who read sentences.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.case_rows import case_rows

__all__ = ["HARD", "Hard"]


@dataclass(frozen=True, slots=True)
class Hard:
    """parts: its sentences. figures: (value with sign, without scale; scale; unit) of each amount in
    order. periods: as written.
    """

    parts: tuple[str, ...]
    figures: tuple[tuple[float, float, str | None], ...] = ()
    periods: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.parts)


def _figure(text: str) -> tuple[float, float, str | None]:
    value, scale, *unit = text.split(" ", 2)
    return float(value), float(scale), unit[0] if unit else None


def _hard(sentences: str, figures: str, periods: str) -> Hard:
    """A row of the table below: its sentences are parted by "//", its figures, each value, scale and unit,
    by ";", its periods by ",".
    """
    parts = sentences.split(" // ")
    amounts = map(_figure, filter(None, figures.split("; ")))
    return Hard(tuple(parts), tuple(amounts), tuple(filter(None, periods.split(", "))))


ROWS = case_rows(
    """
    Rs. 12 crore was released in Jan. 2024.                          | 12 1e7 INR             | 2024
    Under sec. 12 of the Act. // The Board decides.                  |                        |
    In the U.S. 12 banks failed and 40 merged.                       | 12 1; 40 1             |
    A fee of ($250), payable now, is due.                            | 250 1 USD              |
    It may differ by +10/-5 per cent.                                | 10 1; -5 1 %           |
    The result was (0.5) in FY24.                                    | -0.5 1                 | FY24
    The rate rose by 1⁄4 of a point.                                 | 0.25 1                 |
    The rate rose by ¼ percentage point in Sept. 2023.               | 0.25 1 percentage points | 2023
    It paid $ 1,234.5 million, i.e. 2.3 per cent of GDP.             | 1234.5 1e6 USD; 2.3 1 % |
    Spending by the U.S. Treasury rose 4.5% in 2023-24.              | 4.5 1 %                | 2023-24
    Apple Inc. reported sales of $383.3 billion in fiscal 2023.      | 383.3 1e9 USD          | fiscal 2023
    Mr. Smith, Dr. Jones et al. met on 5 Mar. 2021.                  |                        | 2021
    See fig. 3, pp. 12-15 and no. 7.                                 |                        |
    The deficit (4.4 per cent of GDP) widened.                       | 4.4 1 %                |
    Growth was 3.2 per cent.13 // Inflation fell.                    | 3.2 1 %                |
    Revenue grew to €1.2bn (2022: €1.1bn).                           | 1.2 1e9 EUR; 1.1 1e9 EUR | 2022
    Output fell by 0.5 p.p. in Q3 2024.                              | 0.5 1 percentage points | Q3 2024
    Outlay on roads is ₹ 1,17,000 crore.                             | 117000 1e7 INR         |
    A levy of RM2.3 billion was raised in 2022/23.                   | 2.3 1e9 MYR            | 2022/23
    The Fund holds Rs 3.5 lakh crore.                                | 3.5 1e12 INR           |
    Loans of USD 422 mln. were repaid.                               | 422 1e6 USD            |
    K2,500 is paid each month to 12,000 households.                  | 2500 1 ZMW; 12000 1    |
    Transfers of R50.3 billion go to provinces.                      | 50.3 1e9 ZAR           |
    The posts of 9 300 nurses were cut.                              | 9300 1                 |
    Net income (loss) was $(50.3) million.                           | -50.3 1e6 USD          |
    What is the ceiling? // It is 3.0 per cent.                      | 3 1 %                  |
    The rule holds! // Nobody doubts it.                             |                        |
    The Act (see s. 4. Figures are rounded) applies.                 |                        |
    Inflation was 2.1 per cent [S1-7f3a]. // Output grew.            | 2.1 1 %                |
    Reserves cover nine months of imports.                           | 9 1                    |
    About three-quarters of the loans are for a year.                | 0.75 1                 |
    From 2019 to 2021 debt rose from 60 to 85 per cent.              | 60 1 %; 85 1 %         | 2019, 2021
    The 10-K of 2018 and the COVID-19 fund are named.                |                        | 2018
    Table 3.2 shows 14 items.                                        | 14 1                   |
    On 30 June 2024 the balance was 45.1 million.                    | 45.1 1e6               | 2024
    It fell from 8.5 to 6.4 per cent in 1999-00.                     | 8.5 1 %; 6.4 1 %       | 1999-00
    Approx. 40 per cent of the approp. was spent.                    | 40 1 %                 |
    The St. Lawrence project cost C$ 2.1 bn.                         | 2.1 1e9 CAD            |
    Interest of 5-1/4 percent is due.                                | 5.25 1 %               |
    They spent 1.5 times the budget.                                 | 1.5 1 x                |
    The ratio is 3.5x.                                               | 3.5 1 x                |
    The minimum is 1,500,000 shillings a year.                       | 1500000 1 shillings    |
    Exports reached US$ 3 trillion in calendar 2022.                 | 3 1e12 USD             | 2022
    In FY2018-19 the target was 3.3%.                                | 3.3 1 %                | FY2018-19
    By Dec-24 the stock was 1,200.                                   | 1200 1                 | Dec-24
    The 2024-25 Budget (Act No. 5 of 2024) allots 50 crore.          | 50 1e7                 | 2024-25, 2024
    Tax of 15% applies; the rest, 85%, is free.                      | 15 1 %; 85 1 %         |
    "We will act." // The Governor said so.                          |                        |
    The U.K. and the E.U. agreed. // Trade grew.                     |                        |
    Costs rose by half of the total.                                 | 0.5 1                  |
    Minus 40 million was booked.                                     | -40 1e6                |
    It was -0.8 per cent (2022: 1.2).                                | -0.8 1 %; 1.2 1        | 2022
    Sales were 1.234.567 by law.                                     |                        |
    The share is 7½ per cent.                                        | 7.5 1 %                |
    There were two pillars and seven million users.                  | 7 1e6                  |
    Para. 2.3.1 of the M.o.U. is clear.                              |                        |
    The 5 per cent VAT, e.g. on food, stays.                         | 5 1 %                  |
    Cap: 3% of GDP, vs. 4% before.                                   | 3 1 %; 4 1 %           |
    He earns Rs.50,000/- a month.                                    | 50000 1 INR            |
    Growth (y/y) was 4.1 per cent in the third quarter of 2023. | 4.1 1 % | third quarter of 2023
    He left in May. // The bank stayed.                              |                        |
    The company, i.e. Acme Corp. Ltd., paid 3 million yen.           | 3 1e6 JPY              |
    """
)
# What is too wide for the table.
WIDE = _hard(
    "The yield was 25 basis points, or 0.25 percentage points, higher.",
    "25 1 basis points; 0.25 1 percentage points",
    "",
)
HARD = (*(_hard(*row) for row in ROWS), WIDE)
