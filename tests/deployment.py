"""All parts of deploy/Procfile on this machine, under the runner that restarts what ends."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import httpx

from tests.browser import ROOT

__all__ = ["PARTS", "WELL_SECONDS", "Deployment", "missing", "wait_until"]

PARTS = ("postgres", "chroma", "server1", "server2", "worker1", "worker2", "proxy")
# Seconds in which everything is to be well again without a hand.
WELL_SECONDS = 30.0
START_SECONDS = 120.0


class Deployment:
    """Started at once, and ended by `stop`. DEPLOY_DATA is `data`."""

    def __init__(self, data: Path, parts: Sequence[str] = (), **settings: str) -> None:
        """parts: those to start, default all. settings: further environment."""
        self.data = data
        names = ("POSTGRES_PORT", "CHROMA_PORT", "SERVER1_PORT", "SERVER2_PORT", "PROXY_PORT")
        self.ports = dict(zip(names, _free_ports(len(names)), strict=True))
        self.url = f"https://localhost:{self.ports['PROXY_PORT']}"
        environment = {**os.environ, **{name: str(port) for name, port in self.ports.items()}, **settings}
        environment |= {"DEPLOY_DATA": str(data), "PYTHON": sys.executable}
        data.mkdir(parents=True, exist_ok=True)
        with (data / "runner.log").open("ab") as log:
            self.runner = subprocess.Popen(
                [sys.executable, "deploy/supervise.py", *parts],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Until the proxy and both servers answer."""
        wait_until(self.well, START_SECONDS, self.logs)

    @property
    def database(self) -> str:
        return f"postgresql://finpolicy@127.0.0.1:{self.ports['POSTGRES_PORT']}/finpolicy"

    @property
    def chroma(self) -> str:
        return f"http://127.0.0.1:{self.ports['CHROMA_PORT']}"

    @property
    def migration(self) -> list[str]:
        """The command that moves a store in folders to these engines."""
        return [sys.executable, "-m", "chatbot", "migrate", "--to", self.database, "--chroma", self.chroma]

    def wait_for_engines(self) -> None:
        """Until Postgres and Chroma take connections."""
        for name in ("POSTGRES_PORT", "CHROMA_PORT"):
            wait_until(partial(_listens, self.ports[name]), START_SECONDS, self.logs)

    def well(self) -> bool:
        """Whether a question could be asked through the proxy and of each server, and every part answers."""
        return (
            self.is_ready(self.url)
            and all(self.is_ready(self.server(number)) for number in (1, 2))
            and not self.problems()
        )

    def problems(self) -> dict[str, str]:
        """Part -> what the first server says of it, of those that do not answer."""
        try:
            found = httpx.get(f"{self.server(1)}/api/v1/health/parts", timeout=10).json()
        except (OSError, httpx.HTTPError, ValueError) as error:
            return {"server1": str(error)}
        return {part["name"]: part["problem"] for part in found.get("parts", []) if part["problem"]}

    def server(self, number: int) -> str:
        return f"http://127.0.0.1:{self.ports[f'SERVER{number}_PORT']}"

    def is_ready(self, url: str) -> bool:
        try:
            with self.client() as client:
                return client.get(f"{url}/ready", timeout=5).status_code == 200
        except (OSError, httpx.HTTPError):
            return False

    def client(self) -> httpx.Client:
        """A visitor, who keeps cookies and knows the proxy's own authority."""
        return httpx.Client(base_url=self.url, verify=self.trusted(), timeout=60)

    def trusted(self) -> ssl.SSLContext:
        """Whom a visitor trusts: the proxy's own authority, once there is one."""
        authority = self.data / "proxy/caddy/pki/authorities/local/root.crt"
        return ssl.create_default_context(cafile=str(authority) if authority.exists() else None)

    def process(self, part: str) -> int:
        """The process of a part, as soon as there is one."""
        found: list[int] = []

        def look() -> bool:
            runner = Path(f"/proc/{self.runner.pid}/task/{self.runner.pid}/children")
            found[:] = [pid for pid in map(int, runner.read_text().split()) if _part_of(pid) == part]
            return bool(found)

        wait_until(look, WELL_SECONDS, self.logs)
        return found[0]

    def kill(self, part: str) -> int:
        """End a part at once, as a crash does. Returns the process that was."""
        process = self.process(part)
        os.kill(process, signal.SIGKILL)
        return process

    def logs(self) -> str:
        """The last lines of all parts."""
        return "\n".join(
            f"--- {path.name}\n" + path.read_text("utf-8", "replace")[-2_000:]
            for path in sorted([*self.data.glob("log/*.log"), self.data / "runner.log"])
        )

    def stop(self) -> None:
        """End the runner, and with it everything."""
        self.runner.terminate()
        try:
            self.runner.wait(40)
        except subprocess.TimeoutExpired:
            os.killpg(self.runner.pid, signal.SIGKILL)
            self.runner.wait()


def wait_until(
    so: Callable[[], bool], seconds: float, logs: Callable[[], str] = str, *, every: float = 0.1
) -> float:
    """Look every so many seconds until it is so. Returns the seconds that it took. Raises AssertionError."""
    begun = time.monotonic()
    while not so():
        assert time.monotonic() - begun < seconds, f"not within {seconds:g} s\n{logs()}"
        time.sleep(every)
    return time.monotonic() - begun


def missing() -> str:
    """Why the parts cannot be run here, "" if they can."""
    return "" if shutil.which("caddy") else "there is no Caddy (apt-get install caddy)"


def _part_of(process: int) -> str:
    """The name that the runner has given to a process of its own."""
    mark = b"SUPERVISOR_PROCESS_NAME="
    try:
        environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return next((one.removeprefix(mark).decode() for one in environment if one.startswith(mark)), "")


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports
