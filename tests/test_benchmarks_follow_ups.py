"""What the benchmark of follow-ups counts is right, on a made dialogue."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.follow_ups import (
    Candidate,
    Turn,
    candidates_of,
    load_turns,
    operands_of,
    ranks_of,
    report,
    score_all,
)
from chatbot.search.follow_up.rules import standalone_query
from tests.case_rows import case_rows
from tests.commands import run_script, usage_of

DIALOGUE = {
    "id": "made",
    "pre_text": "Amounts are in millions of crowns . The reserve fund was set up by law in 1999 .",
    "table": {
        "2011": {"reserve fund": 120.0, "public debt": -1500.0},
        "2010": {"reserve fund": 96.0, "public debt": -1450.0},
    },
    "post_text": "Guarantees of 1,310.5 were given . They lapse after ten years .",
    "turns": [
        {"question": "What was the reserve fund in 2011?", "answer": "120", "program": "120"},
        {"question": "What was it in 2010?", "answer": "96", "program": "96"},
        {"question": "What is the change?", "answer": "24", "program": "subtract(120, 96)"},
        {"question": "And in percent?", "answer": "25%", "program": "subtract(120, 96), divide(#0, 96)"},
        {"question": "What is 7 times 100?", "answer": "700", "program": "multiply(7, const_100)"},
    ],
}


PROGRAMS = case_rows("""
99832                                          | 99832
13.4%                                          | 13.4
subtract(-5, 3), divide(#0, const_100)         | 5 3
subtract(9, 8), divide(#0, 7), subtract(6, 5)  | 6 5
add(1, 2), add(3, 4), divide(#0, #1)           | 1 2 3 4
""")


@pytest.mark.parametrize(("program", "operands"), PROGRAMS)
def test_a_turn_rests_on_what_its_last_step_rests_on(program: str, operands: str) -> None:
    expected = set(map(float, operands.split()))
    assert operands_of(program) == expected


def test_candidates_are_cells_by_row_and_sentences() -> None:
    found = candidates_of(DIALOGUE)
    cells, prose = found[:4], found[4:]
    texts = [one.text for one in cells]
    assert texts == ["reserve fund 2011", "public debt 2011", "reserve fund 2010", "public debt 2010"]
    assert [one.row for one in cells] == [0, 1, 0, 1]
    assert cells[1].numbers == {1500.0}
    assert len(prose) == 4
    rows = {one.row for one in prose}
    assert len(rows) == 4
    assert prose[2].numbers == {1310.5}


def made_turns() -> tuple[list[Turn], int]:
    turns, left_out = load_turns([json.dumps(DIALOGUE)])
    return list(turns), left_out


def test_turns_after_the_first_are_read_with_what_was_said_and_those_on_nothing_printed_are_counted() -> None:
    turns, left_out = made_turns()
    assert [turn.operands for turn in turns] == [{96.0}, {120.0, 96.0}, {120.0, 96.0}]
    assert [len(turn.said) for turn in turns] == [1, 2, 3]
    assert turns[1].said[1].assistant == "96"
    assert left_out == 1


def test_the_standalone_query_finds_cell_and_row_where_the_question_does_not() -> None:
    (before, change, _), _ = made_turns()
    query = standalone_query(change.question, change.said)
    assert ranks_of(change, change.question, cells=True) == [float("inf")] * 2
    assert ranks_of(change, query, cells=True) == [1.0, 1.0]
    assert ranks_of(change, query, cells=False) == [1.0, 1.0]
    # The wrong period is the right row and the wrong cell; of equals the wrong one counts as the better.
    assert ranks_of(before, "reserve fund 2011", cells=False) == [1.0]
    assert ranks_of(before, "reserve fund 2011", cells=True) == [2.0]
    assert ranks_of(before, "reserve", cells=True) == [2.0]


def test_operands_in_two_rows_have_a_place_each() -> None:
    candidates = []
    for row, text in enumerate(["debt debt", "debt of banks", "levy"]):
        number = float(row)
        candidates.append(Candidate(text, row, frozenset({number})))
    turn = Turn("?", (), tuple(candidates), frozenset({1.0, 2.0}))
    assert ranks_of(turn, "debt", cells=False) == [2.0, float("inf")]


def test_a_rarer_term_weighs_more_and_none_weighs_nothing() -> None:
    texts = ["reserve fund", "debt fund", "debt levy", "levy"]
    rarer, first, second, neither = score_all("reserve debt", texts)
    assert rarer > first > 0
    assert first == second
    assert neither == 0


def test_the_report_has_its_counts_and_says_when_the_data_are_absent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "dialogues.jsonl"
    report(data)
    assert "skipped" in capsys.readouterr().out
    data.write_text(json.dumps(DIALOGUE), "utf-8")
    report(data)
    printed = capsys.readouterr().out
    assert "row or sentence, n = 3" in printed
    assert "1 turns are left out" in printed
    assert "| standalone query | 3 of 3" in printed


def test_the_script_says_how_it_is_used_and_fails_where_a_named_folder_lacks_the_data(tmp_path: Path) -> None:
    assert usage_of("follow_ups.py").startswith("usage:")
    done = run_script("follow_ups.py", "--data", str(tmp_path))
    assert done.returncode == 2
    assert "skipped" in done.stdout


def test_the_standalone_query_beats_the_question_and_the_one_before_it_in_front(shared: Path) -> None:
    lines = (shared / "fin_conv_dev.jsonl").read_text("utf-8").splitlines()
    turns, _ = load_turns(lines)

    def found(query_of: Callable[[Turn], str]) -> int:
        best = [min(ranks_of(turn, query_of(turn), cells=True)) for turn in turns]
        return sum(rank <= 1 for rank in best)

    ours = found(lambda turn: standalone_query(turn.question, turn.said))
    with_the_one_before = found(lambda turn: f"{turn.said[-1].user} {turn.question}")
    alone = found(lambda turn: turn.question)
    assert ours > with_the_one_before + 10
    assert ours > alone + 10
