"""What the benchmark of follow-ups counts is right, on a made dialogue."""

import json
import subprocess
import sys
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


@pytest.mark.parametrize(
    ("program", "operands"),
    [
        ("99832", {99832}),
        ("13.4%", {13.4}),
        ("subtract(-5, 3), divide(#0, const_100)", {5, 3}),
        ("subtract(9, 8), divide(#0, 7), subtract(6, 5)", {6, 5}),
        ("add(1, 2), add(3, 4), divide(#0, #1)", {1, 2, 3, 4}),
    ],
)
def test_a_turn_rests_on_what_its_last_step_rests_on(program: str, operands: set[float]) -> None:
    assert operands_of(program) == operands


def test_candidates_are_cells_by_row_and_sentences() -> None:
    found = candidates_of(DIALOGUE)
    assert [one.text for one in found[:4]] == [
        "reserve fund 2011",
        "public debt 2011",
        "reserve fund 2010",
        "public debt 2010",
    ]
    assert [one.row for one in found[:4]] == [0, 1, 0, 1]
    assert found[1].numbers == {1500.0}
    assert len({one.row for one in found[4:]}) == len(found[4:]) == 4
    assert found[6].numbers == {1310.5}


def test_turns_after_the_first_are_read_with_what_was_said_and_those_on_nothing_printed_are_counted() -> None:
    turns, left_out = load_turns([json.dumps(DIALOGUE)])
    assert [turn.operands for turn in turns] == [{96.0}, {120.0, 96.0}, {120.0, 96.0}]
    assert [len(turn.said) for turn in turns] == [1, 2, 3]
    assert turns[1].said[1].assistant == "96"
    assert left_out == 1


def test_the_standalone_query_finds_cell_and_row_where_the_question_does_not() -> None:
    change = load_turns([json.dumps(DIALOGUE)])[0][1]
    query = standalone_query(change.question, change.said)
    assert ranks_of(change, change.question, cells=True) == [float("inf")] * 2
    assert ranks_of(change, query, cells=True) == [1.0, 1.0]
    assert ranks_of(change, query, cells=False) == [1.0, 1.0]
    # The wrong period is the right row and the wrong cell; of equals the wrong one counts as the better.
    before = load_turns([json.dumps(DIALOGUE)])[0][0]
    assert ranks_of(before, "reserve fund 2011", cells=False) == [1.0]
    assert ranks_of(before, "reserve fund 2011", cells=True) == [2.0]
    assert ranks_of(before, "reserve", cells=True) == [2.0]


def test_operands_in_two_rows_have_a_place_each() -> None:
    candidates = tuple(
        Candidate(text, row, frozenset({float(row)}))
        for row, text in enumerate(["debt debt", "debt of banks", "levy"])
    )
    turn = Turn("?", (), candidates, frozenset({1.0, 2.0}))
    assert ranks_of(turn, "debt", cells=False) == [2.0, float("inf")]


def test_a_rarer_term_weighs_more_and_none_weighs_nothing() -> None:
    scores = score_all("reserve debt", ["reserve fund", "debt fund", "debt levy", "levy"])
    assert scores[0] > scores[1] == scores[2] > scores[3] == 0


def test_the_report_has_its_counts_and_says_when_the_data_are_absent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "dialogues.jsonl"
    report(data)
    assert "skipped" in capsys.readouterr().out
    data.write_text(json.dumps(DIALOGUE), "utf-8")
    report(data)
    printed = capsys.readouterr().out
    assert "row or sentence, n = 3" in printed and "1 turns are left out" in printed
    assert "| standalone query | 3 of 3" in printed


def test_the_script_says_how_it_is_used_and_fails_where_a_named_folder_lacks_the_data(
    root: Path, tmp_path: Path
) -> None:
    script = [sys.executable, "benchmarks/follow_ups.py"]
    assert subprocess.run(
        [*script, "--help"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.startswith("usage:")
    done = subprocess.run(
        [*script, "--data", str(tmp_path)], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "skipped" in done.stdout


def test_the_standalone_query_beats_the_question_and_the_one_before_it_in_front(shared: Path) -> None:
    turns, _ = load_turns((shared / "fin_conv_dev.jsonl").read_text("utf-8").splitlines())

    def found(queries: list[str]) -> int:
        return sum(
            min(ranks_of(turn, query, cells=True)) <= 1 for turn, query in zip(turns, queries, strict=True)
        )

    ours = found([standalone_query(turn.question, turn.said) for turn in turns])
    assert ours > found([f"{turn.said[-1].user} {turn.question}" for turn in turns]) + 10
    assert ours > found([turn.question for turn in turns]) + 10
