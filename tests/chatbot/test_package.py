"""What importing the package sets for the whole process."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Threads that hold memory at the same time; malloc_stats writes a line for each heap.
HEAPS = """
import ctypes, threading
{imported}
together = threading.Barrier(12)
def hold():
    held = [bytes(2_000) for _ in range(1_000)]
    together.wait()
threads = [threading.Thread(target=hold) for _ in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has heaps of this kind")
def test_threads_share_two_heaps() -> None:
    heaps = {}
    for imported in ("pass", "import chatbot"):
        done = subprocess.run(
            [sys.executable, "-c", HEAPS.format(imported=imported)],
            capture_output=True,
            text=True,
            check=True,
        )
        heaps[imported] = done.stderr.count("Arena")
    assert heaps["import chatbot"] <= 2 < heaps["pass"]
