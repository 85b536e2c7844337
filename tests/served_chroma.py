"""A real Chroma server for tests: `chroma run` on a free port of this machine, over a folder."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

__all__ = ["ServedChroma"]

START_SECONDS = 30.0
CHROMA = Path(sys.executable).with_name("chroma")


class ServedChroma:
    """A server over one folder. It keeps its port when it is started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.address = f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self._port)]
        self._process = subprocess.Popen(
            [CHROMA, "run", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            assert time.monotonic() < end, "chroma run did not start"
            assert self._process.poll() is None, "chroma run ended"
            time.sleep(0.05)

    def kill(self) -> None:
        """End it at once, as a crash does; does nothing where it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/api/v2/heartbeat", timeout=1) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False
