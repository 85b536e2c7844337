"""Tries the check of the locks on locks with a fault each, beside a service of advisories on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.case_rows import case_rows

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "check_locks.py"
SETTINGS = """
[tool.finpolicy.locks]
for_development = ["requirements-dev.txt"]
permitted = ["Apache-2.0", "MIT", "MIT License"]
"""
NOBODY = "http://127.0.0.1:9/"


class Service(ThreadingHTTPServer):
    """Lists vulnerabilities. listed: (package, version) -> (advisory, first version without it)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.listed = {("jinja2", "2.4.1"): ("GHSA-old", "2.8.1")}
        self.address = f"http://127.0.0.1:{self.server_port}/"


class Answer(BaseHTTPRequestHandler):
    """To one question, in the format of OSV."""

    server: Service

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(size))
        package = asked["package"]
        found = self.server.listed.get((package["name"], asked["version"]))
        said: dict[str, object] = {}
        if found:
            advisory, fixed = found
            events = [{"introduced": "0"}, {"fixed": fixed}]
            affected = {"package": package, "ranges": [{"type": "ECOSYSTEM", "events": events}]}
            fault = {"id": advisory, "aliases": ["CVE-2026-1"], "affected": [affected]}
            said["vulns"] = [fault]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def script() -> Any:
    spec = spec_from_file_location("check_locks", SCRIPT)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one lock of one package, `plain` 1.0 under MIT, and with what is installed."""
    monkeypatch.syspath_prepend(tmp_path / "packages")
    install(tmp_path / "packages", "plain", "License-Expression: MIT")
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    lock(tmp_path, "requirements", "plain", "plain==1.0")
    return tmp_path


def install(folder: Path, name: str, *fields: str) -> None:
    metadata = folder / f"{name}-1.0.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *fields]
    metadata.write_text("\n".join(lines) + "\n")


def lock(folder: Path, name: str, asked: str, *pins: str) -> None:
    """Write NAME.in and NAME.txt."""
    given, locked = folder / f"{name}.in", folder / f"{name}.txt"
    given.write_text(asked + "\n")
    blocks = [f"{pin} \\\n    --hash=sha256:0\n    # via -r {name}.in\n" for pin in pins]
    locked.write_text("".join(blocks))


def check(folder: Path, url: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), "--advisories", url]
    given = {**os.environ, "PYTHONPATH": str(folder / "packages")}
    return subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)


def test_locks_without_a_fault_pass(packages: Path, service: Service) -> None:
    done = check(packages, service.address)
    assert done.returncode == 0, done.stdout + done.stderr
    _, *lines = done.stdout.splitlines()
    assert lines == ["vulnerabilities: all locks looked up"]


def test_a_vulnerable_version_fails_with_its_fix(packages: Path, service: Service) -> None:
    service.listed["plain", "1.0"] = ("GHSA-new", "1.1")
    done = check(packages, service.address)
    assert done.returncode == 1
    assert done.stdout.endswith("\nplain 1.0: CVE-2026-1 GHSA-new, fixed in 1.1\n")


def test_what_is_ignored_passes_until_it_is_gone(packages: Path, service: Service) -> None:
    ignored = 'ignored = { CVE-2026-1 = { reason = "never called", since = 2026-01-31 } }'
    (packages / "pyproject.toml").write_text(SETTINGS + ignored)
    service.listed["plain", "1.0"] = ("GHSA-new", "1.1")
    done = check(packages, service.address)
    assert done.returncode == 0
    assert "CVE-2026-1 is ignored since 2026-01-31: never called" in done.stdout
    service.listed.pop(("plain", "1.0"))
    done = check(packages, service.address)
    assert done.returncode == 1
    assert "CVE-2026-1: it need not be ignored any more" in done.stdout


def test_where_nobody_answers_it_says_that_nothing_was_checked(packages: Path) -> None:
    done = check(packages, NOBODY)
    assert done.returncode == 0
    assert "vulnerabilities: NOT CHECKED, " in done.stdout
    assert "refused" in done.stdout


def test_all_faults_are_told_and_fail(packages: Path) -> None:
    install(packages / "packages", "other", "License-Expression: GPL-3.0-only")
    lock(packages, "requirements-more", "other>=2", "other==1.0")
    done = check(packages, NOBODY)
    assert done.returncode == 1
    locks, vulnerabilities, asked, licence = done.stdout.splitlines()
    assert locks.startswith("locks:")
    assert vulnerabilities.startswith("vulnerabilities:")
    assert asked.startswith("requirements-more.in asks for other>=2, requirements-more.txt has 1.0:")
    assert licence.startswith("other 1.0:")


@pytest.mark.parametrize(
    ("fields", "said"),
    case_rows(
        """
        License-Expression: MIT OR GPL-3.0-only  |
        License: MIT License                     |
        License: see LICENSE, Classifier: License :: OSI Approved :: MIT License |
        License-Expression: MIT AND GPL-3.0-only | its licence is not permitted: MIT AND GPL-3.0-only
        License: see LICENSE                     | its licence is not permitted: see LICENSE
        Classifier: Topic :: Office/Business     | it declares no licence
        """
    ),
)
def test_a_licence_is_permitted_or_named(packages: Path, script: Any, fields: str, said: str) -> None:
    install(packages / "packages", "other", *fields.split(", "))
    settings = tomllib.loads(SETTINGS)["tool"]["finpolicy"]["locks"]
    locked = {"plain": "1.0", "other": "1.0"}
    found = list(script.unlicensed(locked, settings))
    assert found == ([f"other 1.0: {said}"] if said else [])


def test_an_exception_is_of_one_licence_and_needed(packages: Path, script: Any) -> None:
    install(packages / "packages", "other", "License: Own")
    install(packages / "packages", "another", "License: Her own")
    other = {"licence": "Own", "reason": "we asked"}
    settings = {"permitted": ["MIT"], "exceptions": {"other": other}}
    found = list(script.unlicensed({"other": "1.0"}, settings))
    assert found == []
    not_permitted, not_needed = script.unlicensed({"another": "1.0"}, settings)
    assert not_permitted == "another 1.0: its licence is not permitted: Her own"
    assert not_needed == "other: it needs no exception of licences any more"
    other["licence"] = "Her own"
    found = list(script.unlicensed({"other": "1.0"}, settings))
    assert found == ["other 1.0: its licence is not permitted: Own"]


@pytest.mark.parametrize(
    ("asked", "pins", "said"),
    case_rows(
        """
        plain>=1.1                 | plain==1.0          | new.in asks for plain>=1.1, new.txt has 1.0
        plain                      |                     | new.in asks for plain, new.txt has none
        plain                      | plain==1.0 extra==2 | new.txt still has extra, which new.in had
        -c requirements.txt, plain | plain==0.9          | new.txt has plain 0.9, requirements.txt 1.0
        -r requirements.in         | plain==1.0          |
        """
    ),
)
def test_a_lock_out_of_step(packages: Path, script: Any, asked: str, pins: str, said: str) -> None:
    lock(packages, "new", asked.replace(", ", "\n"), *pins.split())
    found = list(script.out_of_step(packages / "new.in"))
    assert found == ([f"{said}: make lock"] if said else [])
