"""Compares what the checks make of several models' answers to one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatbot.records import CONFIRMED, FINE, Answer

__all__ = ["ComparedAnswer", "ComparedFigure", "compared_answer", "compared_figures", "holding_line"]


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """What one model answered, and what holds of it.

    name, host: of the model. answer: None if none came. problem: why, or why the model's own did not come.
    seconds: to the checked answer.
    statements, holding: its statements, and those that are proven.
    figures, right: its figures, and those that a cited page has or that are rightly worked out.
    notices: what the reader should know beside it, such as a prompt that was cut.
    """

    name: str
    host: str
    answer: Answer | None
    problem: str = ""
    seconds: float = 0.0
    statements: int = 0
    holding: int = 0
    figures: int = 0
    right: int = 0
    notices: tuple[str, ...] = ()

    @property
    def share_holding(self) -> float:
        """The share of statements and figures that hold, 0 to 1; 0 where there are none."""
        count = self.statements + self.figures
        return (self.holding + self.right) / count if count else 0.0


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure that at least one of the answers states.

    text: as the first of them writes it. statuses: the check's word on it by name of the model; a model that
    does not state it is missing.
    """

    text: str
    statuses: dict[str, str]


def compared_answer(
    name: str, host: str, answer: Answer | None, problem: str, seconds: float
) -> ComparedAnswer:
    """Counts what holds of an answer. name, host: of its model; for the rest see ComparedAnswer."""
    if answer is None:
        return ComparedAnswer(name, host, None, problem, seconds)
    holds = (
        [one.mark in CONFIRMED for one in answer.statements]
        if answer.by_model
        else [citation.verified for citation in answer.citations]
    )
    figures = [number.status in FINE for number in answer.numbers]
    return ComparedAnswer(
        name,
        host,
        answer,
        problem,
        seconds,
        len(holds),
        sum(holds),
        len(figures),
        sum(figures),
    )


def compared_figures(answers: Sequence[ComparedAnswer]) -> list[ComparedFigure]:
    """Returns the figures of the answers in the order in which they come, those of equal value as one."""
    found: dict[tuple[float, bool], ComparedFigure] = {}
    for compared in answers:
        if compared.answer is None:
            continue
        for number in compared.answer.numbers:
            value = (round(number.value * number.scale, 9), number.unit == "%")
            figure = found.setdefault(value, ComparedFigure(number.text, {}))
            figure.statuses.setdefault(compared.name, number.status)
    return list(found.values())


def holding_line(compared: ComparedAnswer) -> str:
    """Says in one line what holds of an answer."""
    if compared.answer is None:
        return "no answer"
    if not compared.answer.answered:
        return "not in these documents"
    statements = f"{compared.holding} of {compared.statements} statements proven"
    figures = f"{compared.right} of {compared.figures} figures proven"
    return f"{statements}, {figures}" if compared.figures else statements
