"""Draws imports and exports of a memory on the Memory page: upload, progress, outcome, download."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from chatbot.app.app_context import AppContext
from chatbot.app.downloads import Download
from chatbot.app.file_import import FileImport
from chatbot.memory.import_files import Progress
from chatbot.ui import uploads
from chatbot.ui.page_parts import draw_download, draw_notice, follow
from chatbot.ui.safe_text import plain_html, plain_markdown, short

__all__ = ["Files", "draw_files", "lines_html"]

Load = Callable[[Path, str, Progress], object]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one memory.

    memory: its name, for keys.
    label: the label of the upload.
    told: the lines that describe an import, from the name of its file and what it returned.
    name: the name of the file to download.
    types: of files to upload.
    """

    memory: str
    label: str
    told: Callable[[str, Any], Sequence[str]]
    name: str = ""
    types: Sequence[str] = ("jsonl", "json")


def draw_files(
    context: AppContext,
    files: Files,
    load: Load,
    export: Callable[[], Iterable[bytes]] | None = None,
) -> None:
    """Draws the expander with import and export.

    load: imports a file of this name, in a thread of its own.
    export: the lines to download, None where there are none.
    """
    running: FileImport | None = st.session_state.get(_running(files))
    label = "Import or export" if files.name else "Import"
    with st.expander(label, key=f"files-of-{files.memory}", expanded=running is not None):
        _draw_import(files, load)
        if running is not None:
            follow(partial(_draw_progress, running, files), lambda: not running.finished)
        if export is not None:
            download = Download(lambda: b"".join(export()), files.name, "application/jsonl")
            draw_download(
                "Export as JSON lines",
                context.downloads,
                f"export-{files.memory}",
                download,
                icon=":material/download:",
            )


def lines_html(lines: Sequence[str]) -> str:
    """Renders lines that a user may have to act on. They are read out when they come."""
    return (
        f'<ul class="quiet lines" '
        f'role="status">{"".join(f"<li>{plain_html(line)}</li>" for line in lines)}</ul>'
    )


def _running(files: Files) -> str:
    return f"{files.memory}_import"


def _draw_import(files: Files, load: Load) -> None:
    counter = f"{files.memory}_upload"
    number = st.session_state.setdefault(counter, 0)
    file = st.file_uploader(files.label, type=files.types, key=f"{files.memory}-upload-{number}")
    if file is not None and st.button("Import this file", key=f"import-{files.memory}", type="primary"):
        name = file.name
        running = FileImport(lambda path, tell: load(path, name, tell), name, file)
        st.session_state[_running(files)] = running
        uploads.let_go([file])
        st.session_state[counter] = number + 1
        st.rerun()


def _draw_progress(running: FileImport, files: Files) -> None:
    name = short(running.name, 60)
    if not running.finished:
        done, total = running.progress
        st.progress(
            done / total if total else 0.0,
            text=f"{plain_markdown(name)}: {f'{done:,} of {total:,} prepared' if total else 'reading'}",
        )
    elif running.error is not None:
        draw_notice(f"{name}: {running.error.message}", running.error.hint)
    elif running.imported is not None:
        st.html(lines_html(files.told(name, running.imported)))
