"""Written arithmetic is worked out, and nothing else is."""

from __future__ import annotations

import math
import time
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatbot.calculator import GREATEST_EXPONENT, LONGEST_EXPRESSION, CalculationError, calculate, written_out
from tests.case_rows import case_lines, case_rows

RIGHT = case_rows("""
28.37 - 25.57                     | 2.8
(1,209 − 1,180) / 1,180 × 100     | 2.457627
1 251 680 - 1 214 380             | 37300
1'000 + 1                         | 1001
550 * 90 / 100                    | 495
5% x 200                          | 10
(418.6 ÷ 455.2)^(1/3) - 1         | -0.0275536
mean(4.1, 3.9)                    | 4
Average (1, 2, 6)                 | 3
min(4, -2) + max(1, 3)            | 1
sum(1,234, 5)                     | 1239
count(5, 7, 9)                    | 3
abs(2 - 5)                        | 3
2 ** 0.5                          | 1.414214
007 + 1                           | 8
-3 + +2                           | -1
""")


@pytest.mark.parametrize(("expression", "value"), RIGHT)
def test_arithmetic_is_worked_out_however_it_is_written(expression: str, value: str) -> None:
    assert calculate(expression).value == pytest.approx(float(value), rel=1e-4)


WRONG = case_lines("""
x
1e5
1_000
0b11
1.5.2
5 % of 3
min()
abs()
count()
min3(1, 2)
lambda: 1
[1][0]
'a' * 3
__import__('os')
(1).real
sum(x for x in (1, 2))
print(1)
1 if 1 else 2
1 == 1
1; 2
1/0
0 ** -1
2 ** 5000
9 ** 9 ** 9
(-8) ** 0.5
""")


@pytest.mark.parametrize("expression", [*WRONG, "", "(" * 90, "1+" * 400, "-" * LONGEST_EXPRESSION + "1"])
def test_anything_else_is_refused_with_a_clear_error(expression: str) -> None:
    with pytest.raises(CalculationError) as error:
        calculate(expression)
    assert error.value.hint


@given(st.text(max_size=40))
def test_any_text_is_worked_out_or_refused(text: str) -> None:
    try:
        value = calculate(text).value
    except CalculationError:
        value = 0.0
    assert math.isfinite(value)


def test_exponents_are_bounded() -> None:
    assert calculate(f"1.01 ** {GREATEST_EXPONENT:.0f}").value > 2
    with pytest.raises(CalculationError):
        calculate(f"1.01 ** {GREATEST_EXPONENT + 1:.0f}")


SORTED = case_rows("""
418.6 - 12                    | 418.6 12  |
(1209 - 1180) / 1180 * 100    | 1209 1180 | 1180 100
(418.6 / 455.2) ** (1/3) - 1  |           | 418.6 455.2 1 3 1
418.6 + 1                     | 418.6 1   |
mean(4.1, 3.9)                | 4.1 3.9   |
5% * 200                      |           | 5 100 200
""")


@pytest.mark.parametrize(("expression", "amounts", "factors"), SORTED)
def test_amounts_are_told_from_what_only_multiplies(expression: str, amounts: str, factors: str) -> None:
    found = calculate(expression)
    assert found.amounts == tuple(map(float, amounts.split()))
    assert found.factors == tuple(map(float, factors.split()))


def test_a_percentage_is_told_from_other_factors() -> None:
    assert calculate("1,577 * 5% / 4").percents == (5.0,)


@pytest.mark.timed
def test_the_longest_expression_is_worked_out_at_once() -> None:
    begun = time.process_time()
    found = calculate("1" + "+1" * 299)
    assert (found.value, len(found.steps)) == (300.0, 299)
    assert time.process_time() - begun < 0.5


def test_its_steps_are_told_and_which_of_them_keep_the_unit() -> None:
    found = calculate("(27320 - 16765) / 16765 * 100")
    assert (10555.0, True) in found.steps
    (value, is_sum), *_ = found.steps
    assert (round(value, 4), is_sum) == (62.9585, False)
    assert calculate("(3 + 4 + 5) / 3").steps[0] == (4.0, True)
    assert calculate("count(3, 4)").steps[0] == (2.0, False)


def test_every_letter_stands_for_its_value() -> None:
    values = dict.fromkeys(ascii_letters, (1.0, "1"))
    assert written_out(" + ".join(ascii_letters), values) == (52.0, " + ".join("1" * 52))
    assert written_out("100 * a / b", {"a": (1.0, "1.0"), "b": (8.0, "8")}) == (12.5, "100 × 1.0 / 8")
