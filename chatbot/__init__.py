"""Answers questions about your documents, with the page for each statement, and keeps what is remembered."""

import ctypes
import os
from contextlib import suppress

# That of pyproject.toml and of the newest entry in CHANGELOG.md, to which a test holds it.
__version__ = "0.10.0"

# onnxruntime looks up its maker's host and keeps a device id and a queue of events in the user's cache,
# unless it finds this when it is loaded. Chroma may load it too: whatever imports either of them imports this
# package first.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# glibc gives threads up to eight heaps a core, and what is freed in one is no use to the others: each
# document read further by another thread left some 3 MB behind. With two heaps, adding 40 documents takes 258
# MB instead of 424, and as long. Other C libraries have no such setting.
_M_ARENA_MAX, _HEAPS = -8, 2
with suppress(OSError, AttributeError, TypeError):
    ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS)
