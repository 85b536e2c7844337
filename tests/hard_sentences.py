"""Sentences of financial prose that are hard to read: where each ends, what it amounts to and when; the
contract of all who read sentences.
"""

from __future__ import annotations

from dataclasses import dataclass

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


HARD = (
    Hard(("Rs. 12 crore was released in Jan. 2024.",), ((12.0, 1e7, "INR"),), ("2024",)),
    Hard(("Under sec. 12 of the Act.", "The Board decides."), (), ()),
    Hard(("In the U.S. 12 banks failed and 40 merged.",), ((12.0, 1.0, None), (40.0, 1.0, None)), ()),
    Hard(("A fee of ($250), payable now, is due.",), ((250.0, 1.0, "USD"),), ()),
    Hard(("It may differ by +10/-5 per cent.",), ((10.0, 1.0, None), (-5.0, 1.0, "%")), ()),
    Hard(("The result was (0.5) in FY24.",), ((-0.5, 1.0, None),), ("FY24",)),
    Hard(("The rate rose by 1⁄4 of a point.",), ((0.25, 1.0, None),), ()),
    Hard(
        ("The rate rose by ¼ percentage point in Sept. 2023.",),
        ((0.25, 1.0, "percentage points"),),
        ("2023",),
    ),
    Hard(
        ("It paid $ 1,234.5 million, i.e. 2.3 per cent of GDP.",), ((1234.5, 1e6, "USD"), (2.3, 1.0, "%")), ()
    ),
    Hard(("Spending by the U.S. Treasury rose 4.5% in 2023-24.",), ((4.5, 1.0, "%"),), ("2023-24",)),
    Hard(
        ("Apple Inc. reported sales of $383.3 billion in fiscal 2023.",),
        ((383.3, 1e9, "USD"),),
        ("fiscal 2023",),
    ),
    Hard(("Mr. Smith, Dr. Jones et al. met on 5 Mar. 2021.",), (), ("2021",)),
    Hard(("See fig. 3, pp. 12-15 and no. 7.",), (), ()),
    Hard(("The deficit (4.4 per cent of GDP) widened.",), ((4.4, 1.0, "%"),), ()),
    Hard(("Growth was 3.2 per cent.13", "Inflation fell."), ((3.2, 1.0, "%"),), ()),
    Hard(("Revenue grew to €1.2bn (2022: €1.1bn).",), ((1.2, 1e9, "EUR"), (1.1, 1e9, "EUR")), ("2022",)),
    Hard(("Output fell by 0.5 p.p. in Q3 2024.",), ((0.5, 1.0, "percentage points"),), ("Q3 2024",)),
    Hard(("Outlay on roads is ₹ 1,17,000 crore.",), ((117000.0, 1e7, "INR"),), ()),
    Hard(("A levy of RM2.3 billion was raised in 2022/23.",), ((2.3, 1e9, "MYR"),), ("2022/23",)),
    Hard(("The Fund holds Rs 3.5 lakh crore.",), ((3.5, 1e12, "INR"),), ()),
    Hard(("Loans of USD 422 mln. were repaid.",), ((422.0, 1e6, "USD"),), ()),
    Hard(
        ("K2,500 is paid each month to 12,000 households.",), ((2500.0, 1.0, "ZMW"), (12000.0, 1.0, None)), ()
    ),
    Hard(("Transfers of R50.3 billion go to provinces.",), ((50.3, 1e9, "ZAR"),), ()),
    Hard(("The posts of 9 300 nurses were cut.",), ((9300.0, 1.0, None),), ()),
    Hard(
        ("The yield was 25 basis points, or 0.25 percentage points, higher.",),
        ((25.0, 1.0, "basis points"), (0.25, 1.0, "percentage points")),
        (),
    ),
    Hard(("Net income (loss) was $(50.3) million.",), ((-50.3, 1e6, "USD"),), ()),
    Hard(("What is the ceiling?", "It is 3.0 per cent."), ((3.0, 1.0, "%"),), ()),
    Hard(("The rule holds!", "Nobody doubts it."), (), ()),
    Hard(("The Act (see s. 4. Figures are rounded) applies.",), (), ()),
    Hard(("Inflation was 2.1 per cent [S1-7f3a].", "Output grew."), ((2.1, 1.0, "%"),), ()),
    Hard(("Reserves cover nine months of imports.",), ((9.0, 1.0, None),), ()),
    Hard(("About three-quarters of the loans are for a year.",), ((0.75, 1.0, None),), ()),
    Hard(
        ("From 2019 to 2021 debt rose from 60 to 85 per cent.",),
        ((60.0, 1.0, "%"), (85.0, 1.0, "%")),
        ("2019", "2021"),
    ),
    Hard(("The 10-K of 2018 and the COVID-19 fund are named.",), (), ("2018",)),
    Hard(("Table 3.2 shows 14 items.",), ((14.0, 1.0, None),), ()),
    Hard(("On 30 June 2024 the balance was 45.1 million.",), ((45.1, 1e6, None),), ("2024",)),
    Hard(("It fell from 8.5 to 6.4 per cent in 1999-00.",), ((8.5, 1.0, "%"), (6.4, 1.0, "%")), ("1999-00",)),
    Hard(("Approx. 40 per cent of the approp. was spent.",), ((40.0, 1.0, "%"),), ()),
    Hard(("The St. Lawrence project cost C$ 2.1 bn.",), ((2.1, 1e9, "CAD"),), ()),
    Hard(("Interest of 5-1/4 percent is due.",), ((5.25, 1.0, "%"),), ()),
    Hard(("They spent 1.5 times the budget.",), ((1.5, 1.0, "x"),), ()),
    Hard(("The ratio is 3.5x.",), ((3.5, 1.0, "x"),), ()),
    Hard(("The minimum is 1,500,000 shillings a year.",), ((1500000.0, 1.0, "shillings"),), ()),
    Hard(("Exports reached US$ 3 trillion in calendar 2022.",), ((3.0, 1e12, "USD"),), ("2022",)),
    Hard(("In FY2018-19 the target was 3.3%.",), ((3.3, 1.0, "%"),), ("FY2018-19",)),
    Hard(("By Dec-24 the stock was 1,200.",), ((1200.0, 1.0, None),), ("Dec-24",)),
    Hard(
        ("The 2024-25 Budget (Act No. 5 of 2024) allots 50 crore.",),
        ((50.0, 1e7, None),),
        ("2024-25", "2024"),
    ),
    Hard(("Tax of 15% applies; the rest, 85%, is free.",), ((15.0, 1.0, "%"), (85.0, 1.0, "%")), ()),
    Hard(('"We will act."', "The Governor said so."), (), ()),
    Hard(("The U.K. and the E.U. agreed.", "Trade grew."), (), ()),
    Hard(("Costs rose by half of the total.",), ((0.5, 1.0, None),), ()),
    Hard(("Minus 40 million was booked.",), ((-40.0, 1e6, None),), ()),
    Hard(("It was -0.8 per cent (2022: 1.2).",), ((-0.8, 1.0, "%"), (1.2, 1.0, None)), ("2022",)),
    Hard(("Sales were 1.234.567 by law.",), (), ()),
    Hard(("The share is 7½ per cent.",), ((7.5, 1.0, "%"),), ()),
    Hard(("There were two pillars and seven million users.",), ((7.0, 1e6, None),), ()),
    Hard(("Para. 2.3.1 of the M.o.U. is clear.",), (), ()),
    Hard(("The 5 per cent VAT, e.g. on food, stays.",), ((5.0, 1.0, "%"),), ()),
    Hard(("Cap: 3% of GDP, vs. 4% before.",), ((3.0, 1.0, "%"), (4.0, 1.0, "%")), ()),
    Hard(("He earns Rs.50,000/- a month.",), ((50000.0, 1.0, "INR"),), ()),
    Hard(
        ("Growth (y/y) was 4.1 per cent in the third quarter of 2023.",),
        ((4.1, 1.0, "%"),),
        ("third quarter of 2023",),
    ),
    Hard(("He left in May.", "The bank stayed."), (), ()),
    Hard(("The company, i.e. Acme Corp. Ltd., paid 3 million yen.",), ((3.0, 1e6, "JPY"),), ()),
)
