"""Runs the command that makes a sheet of key figures for some documents, or for all."""

from __future__ import annotations

import argparse
from pathlib import Path

from chatbot.cli.exit_codes import DONE, open_chatbot
from chatbot.cli.output import emit, progress_bars
from chatbot.cli.served_command import go_on, stopped
from chatbot.errors import ProjectError
from chatbot.settings import Settings

__all__ = ["key_figures"]


def key_figures(options: argparse.Namespace, settings: Settings) -> int:
    """Prints each cell of the sheet, and writes it to the files that are asked for."""
    from chatbot.comparison.key_figure_files import figure_lines, figure_text, sheet_csv, sheet_xlsx

    with open_chatbot(settings) as chatbot, progress_bars() as show:

        def progress(document: str, done: int, total: int) -> None:
            show("key figures", "reading", done, total)

        sheet = chatbot.key_figures(options.names, progress=progress, stop=stopped)
    go_on()
    if options.csv:
        _write(options.csv, sheet_csv(sheet))
    if options.xlsx:
        _write(options.xlsx, sheet_xlsx(sheet))
    if options.json:
        for line in figure_lines(sheet):
            emit(line, "", as_json=True)
        return DONE
    for row in sheet.rows:
        for column in sheet.columns:
            emit({}, figure_text(row, column, sheet.cell(row, column)), as_json=False)
    for name, remark in sheet.remarks.items():
        emit({}, f"{name}: {remark}.", as_json=False)
    if sheet.lacking:
        emit({}, f"Not found in these documents: {', '.join(sheet.lacking)}.", as_json=False)
    return DONE


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise ProjectError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
