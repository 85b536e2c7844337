"""The catalogue's connections: as many as threads that live, none for those that ended."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from chatbot.store.catalog import Catalog


def open_files(path: Path) -> int:
    return sum(os.path.realpath(f"/proc/self/fd/{number}").startswith(str(path)) for number in os.listdir("/proc/self/fd"))


def test_a_thread_that_ends_leaves_no_file_open(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "catalog.sqlite3")
    catalog.documents()
    before = open_files(tmp_path)
    for _ in range(20):
        thread = threading.Thread(target=catalog.documents)
        thread.start()
        thread.join()
    assert open_files(tmp_path) <= before + 2
    catalog.close()
    assert open_files(tmp_path) == 0
