"""What the benchmark of follow-ups counts is right, on a made dialogue."""

from collections.abc import Callable
from pathlib import Path

from benchmarks.follow_ups import Turn, load_turns, ranks_of
from chatbot.search.follow_up.rules import standalone_query


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
