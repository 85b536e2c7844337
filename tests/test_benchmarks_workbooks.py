"""What the benchmark of workbooks makes, draws and counts as right."""

from pathlib import Path

import pytest
from openpyxl import load_workbook

from benchmarks.hostile_workbooks import HOSTILE
from benchmarks.made_workbooks import LAYOUTS, AskedCell, make_workbook
from benchmarks.workbooks import KINDS, kind_of
from chatbot.records import Answer, Citation
from ingestion.workbooks.number_formats import shown
from tests.case_rows import case_rows

CELL = AskedCell("a.xlsx", "Revenue", "Tax revenue", "2024", "C3", "(1,204)")


def test_each_layout_has_the_cells_that_are_asked_for(tmp_path: Path) -> None:
    assert len(LAYOUTS) == 20
    for layout in LAYOUTS:
        cells = make_workbook(tmp_path, layout, seed=1)
        assert cells == make_workbook(tmp_path, layout, seed=1)
        book = load_workbook(tmp_path / cells[0].workbook)
        for cell in cells:
            place = book[cell.sheet][cell.address]
            if place.data_type != "f":
                assert shown(place.value, place.number_format).strip() == cell.shown


SAID = case_rows("""
right                    | Tax revenue was (1,204) (2024). | Revenue!C3
in a row of cells cited  | Tax revenue 5 (1,204) 7         | Revenue!B3, C3, D3
other cells cited        | Tax revenue was (1,204).        | Costs!C3
other cells cited        | Tax revenue was (1,204).        | Revenue!A1:H40
another amount           | Tax revenue was 11,204.         | Revenue!C3
another amount           | Tax revenue was 1,204.5.        | Revenue!C3
""")


@pytest.mark.parametrize(("kind", "said", "label"), SAID)
def test_an_answer_is_right_with_the_cell_alone(kind: str, said: str, label: str) -> None:
    citation = Citation("S1", "a.xlsx", 1, label, "", True)
    answer = Answer("?", "?", f"{said} [S1]", True, citations=(citation,))
    assert kind_of(CELL, answer) == kind
    assert kind_of(CELL, Answer("?", "?", said, False)) == KINDS[-1] == "refused"


@pytest.mark.parametrize("name", [name for name in HOSTILE if "bomb" not in name and "100000" not in name])
def test_files_that_mean_harm_are_made(name: str, tmp_path: Path) -> None:
    HOSTILE[name](tmp_path / name, "http://127.0.0.1:9")
    assert (tmp_path / name).stat().st_size > 0
