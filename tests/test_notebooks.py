"""Runs the cells of the notebooks in examples/ in their order, as Jupyter would: what a cell ends with is
shown as it shows itself to notebooks. Without Jupyter's packages, whose only part here would be the wire.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pdfs import draw, grid

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
SESSION = """
import ast, contextlib, io, json, sys
names = {"__name__": "__main__"}
for cell in json.load(sys.stdin):
    tree, shown = ast.parse(cell), io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(shown):
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    draw = getattr(value, "_repr_html_", None)
    told = draw() if draw else "" if value is None else repr(value)
    print(json.dumps(shown.getvalue() + told), flush=True)
"""


def cells_of(path: Path) -> list[str]:
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells), "clear its outputs"
    return ["".join(cell["source"]) for cell in cells]


def shown_by(path: Path, folder: Path) -> list[str]:
    """What each cell shows."""
    done = subprocess.run(
        [sys.executable, "-c", SESSION],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=json.dumps(cells_of(path)),
        capture_output=True,
        text=True,
        timeout=230,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return list(map(json.loads, done.stdout.splitlines()))


def test_they_are_those_that_the_page_names() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    assert NOTEBOOKS and all(f"examples/{path.name}" in page for path in NOTEBOOKS)


@pytest.mark.long
def test_a_budget_is_asked(samples: Path, tmp_path: Path) -> None:
    shutil.copytree(samples, tmp_path / "session")
    added, answer, numbers, talk, table, _ = shown_by(
        ROOT / "examples" / "ask_a_budget.ipynb", tmp_path / "session"
    )
    assert "Valmora_Budget_Book_2025-26.pdf" in added
    assert "151,510 million" in answer and "data:image/png;base64," in answer
    assert "supported" in numbers
    assert "29,150" in talk and "38,650" in talk
    assert "Government revenue" in table


@pytest.mark.long
def test_five_filings_become_a_data_frame(tmp_path: Path) -> None:
    (tmp_path / "filings").mkdir()
    for number in range(1, 6):
        rows = [
            ("", "2023", "2024"),
            ("Total revenue", "150", f"{number}00"),
            ("Net income", "7", f"{number}1"),
        ]
        head = [(60, 60, "Consolidated statements of income"), (60, 76, "In millions of dollars")]
        draw(tmp_path / "filings" / f"Company_{number}_10-K_2024.pdf", [*head, *grid(110, rows)])
    added, figures, pivot, comparison, frame, _ = shown_by(
        ROOT / "examples" / "compare_filings.ipynb", tmp_path
    )
    assert all(f"Company_{number}" in part for number in range(1, 6) for part in (added, pivot, comparison))
    assert "revenue" in figures.casefold()
    assert "2023" in pivot and "2024" in pivot  # no mean of the years
    assert "500" in frame
