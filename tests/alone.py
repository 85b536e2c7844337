"""The product in a network of its own that leads nowhere, each of its processes watched by strace: the
commands, and a server with a visitor; judges nothing.

    unshare -n python -m tests.alone commands|visit FOLDER

FOLDER has `documents` to add, and gets `home` (the user's), `store`, `temporary` and `trace`.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
# Whatever speaks to the network, and whatever makes a file or opens one; a name with "?" is not known
# everywhere.
CALLS = (
    "network,?open,openat,?openat2,?creat,?mkdir,mkdirat,?rename,?renameat,renameat2,?link,linkat,"
    "?symlink,symlinkat,?mknod,mknodat,truncate"
)
# Seconds after the answer in which threads of libraries may still do what nobody asked for.
LINGER_SECONDS = 3.0


def environment(folder: Path) -> dict[str, str]:
    """A fresh home, and what other programs' settings may ask for: that a key is there sends nothing, and
    Chroma keeps its vectors here.
    """
    known = {name: value for name, value in os.environ.items() if name in {"PATH", "LD_LIBRARY_PATH", "LANG"}}
    places = {"HOME": "home", "FINPOLICY_HOME": "store", "TMPDIR": "temporary"}
    tempting = {
        "OPENAI_API_KEY": "sk-nobody",
        "ANTHROPIC_API_KEY": "sk-nobody",
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_API_KEY": "nobody",
        "CHROMA_API_IMPL": "chromadb.api.fastapi.FastAPI",
        "CHROMA_SERVER_HOST": "192.0.2.1",
        "CHROMA_SERVER_HTTP_PORT": "8000",
        "CHROMA_OTEL_COLLECTION_ENDPOINT": "http://192.0.2.1:4317",
        "CHROMA_OTEL_GRANULARITY": "all",
    }
    return {**known, **tempting, "PYTHONDONTWRITEBYTECODE": "1"} | {
        name: str(folder / place) for name, place in places.items()
    }


def watched(trace: Path) -> list[str]:
    """The command before a command that has it watched, in its own process; the watcher is no parent of
    it.
    """
    return [
        "strace",
        "-D",
        "-f",
        "-y",
        "-q",
        "--seccomp-bpf",
        "-s",
        "400",
        "-e",
        f"trace={CALLS}",
        "-A",
        "-o",
        str(trace),
    ]


def traced(trace: Path, pid: int) -> None:
    """Wait until the watcher of a process that has ended has written all it saw."""
    end = time.monotonic() + 10
    while not re.search(rf"(?m)^{pid} +\+\+\+ ", trace.read_text("utf-8", "replace")):
        assert time.monotonic() < end, "the watcher wrote no end"
        time.sleep(0.05)


def run_commands(folder: Path, given: Mapping[str, str]) -> None:
    """Documents are added, one of them a scan; searched, and asked."""
    for command in (
        ["add", str(folder / "documents")],
        ["search", "deficit ceiling"],
        ["ask", "What is the deficit ceiling?", "--conversation", "talk"],
    ):
        process = subprocess.Popen(
            [*watched(folder / "trace"), sys.executable, "-m", "chatbot", *command], cwd=ROOT, env=given
        )
        assert process.wait(90) == 0, command
        traced(folder / "trace", process.pid)


def visit(folder: Path, given: Mapping[str, str]) -> None:
    """A browser asks a question of the server."""
    from tests.browser import Server, ask, open_browser, open_page

    os.environ.pop("OPENAI_API_KEY", None)
    with (
        Server(folder / "store", given, around=watched(folder / "trace")) as server,
        open_browser() as browser,
    ):
        page = open_page(browser, server.url)
        assert "3.0 per cent" in ask(page, "What is the deficit ceiling?").inner_text()
        page.context.close()
        time.sleep(LINGER_SECONDS)
    traced(folder / "trace", server.process.pid)


def main() -> None:
    """Bring up the loopback, the one way there is, and run what is named."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    folder = Path(sys.argv[2])
    {"commands": run_commands, "visit": visit}[sys.argv[1]](folder, environment(folder))


if __name__ == "__main__":
    main()
