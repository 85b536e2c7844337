"""Results have the names of the API's JSON, and notebooks are shown nothing that a document could inject."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from pydantic import BaseModel

from chatbot.api import schemas
from finpolicy import results
from finpolicy.results import PolicyAnswer, PolicyCitation, PolicyComparison, PolicyEntry, made

EVIL = '<script>alert(1)</script><img src="https://evil.example/x"> $\\href{https://evil.example}{x}$ \u202e'
SAME: list[tuple[Any, type[BaseModel]]] = [
    (results.PolicyAnswer, schemas.AnswerOut),
    (results.PolicyCitation, schemas.CitationOut),
    (results.PolicyHit, schemas.HitOut),
    (results.PolicyDocument, schemas.DocumentOut),
    (results.AddedFile, schemas.JobOut),
    (results.PolicyExchange, schemas.ExchangeOut),
    (results.PolicyEntry, schemas.EntryOut),
    (results.PolicyComparison, schemas.ComparisonOut),
    (results.KeyFigureRow, schemas.FigureOut),
    (results.KeyFigureTable, schemas.KeyFiguresOut),
]
STATEMENT = {
    "text": EVIL,
    "status": "cited",
    "citation": "S1",
    "verdict": "stated",
    "mark": "stated",
    "difference": EVIL,
    "read_by": EVIL,
    "quotes": [{"key": "S1", "document": EVIL, "page": 1, "text": EVIL, "start": 0, "end": 4}],
    "calculation": {"expression": EVIL, "value": 1.0, "operands": [["1", "S1"]]},
}
NUMBER = {
    "text": EVIL,
    "value": 1.0,
    "unit": EVIL,
    "scale": 1.0,
    "period": EVIL,
    "status": "supported",
    "citation": "S1",
    "formula": None,
    "reason": EVIL,
}


def test_a_table_without_rows_has_its_columns() -> None:
    table = results.KeyFigureTable((), (), {}).to_pandas()
    assert list(table) == [field.name for field in fields(results.KeyFigureRow)]


def hostile(kind: Any) -> dict[str, Any]:
    """JSON whose texts are all hostile."""
    hints = {field.name: str(field.type) for field in fields(kind)}
    data: dict[str, Any] = {}
    for name, hint in hints.items():
        data[name] = EVIL if hint.startswith("str") else None
        if hint.startswith("tuple"):
            data[name] = ()
    return data


@pytest.mark.parametrize(("kind", "schema"), SAME, ids=[kind.__name__ for kind, _ in SAME])
def test_fields_have_the_names_of_the_api(kind: Any, schema: type[BaseModel]) -> None:
    assert {field.name for field in fields(kind)} == set(schema.model_fields)


def test_what_is_nested_is_a_record_too() -> None:
    answer = made(
        PolicyAnswer,
        {
            **hostile(PolicyAnswer),
            "statements": [STATEMENT],
            "numbers": [NUMBER],
            "citations": [
                {**hostile(PolicyCitation), "verified": True, "doubted": False, "basis": "located"}
            ],
            "of a newer server": 1,
        },
    )
    (statement,) = answer.statements
    assert statement.quotes[0].page == 1
    assert statement.calculation is not None
    assert statement.calculation.operands == (("1", "S1"),)
    assert hash(answer.citations[0])
    with pytest.raises(AttributeError):
        answer.answer = ""  # type: ignore[misc]
    shown = answer._repr_html_()
    assert "✓ stated" in shown
    harmless(shown)


def harmless(html: str) -> None:
    """Nothing of a document is markup, is loaded, leads anywhere or turns what follows around."""
    assert "<script" not in html and "<img" not in html and "href=" not in html
    assert "&lt;script&gt;" in html
    assert "$\\" not in html
    assert "\u202e" not in html


def test_tables_are_escaped() -> None:
    data = {name.replace("_", " "): value for name, value in hostile(PolicyEntry).items()}
    table = made(PolicyComparison, {"entries": [data] * 300})
    html = table._repr_html_()
    harmless(html)
    assert "100 more rows" in html
    assert made(PolicyComparison, {"entries": []}).to_pandas().empty
