"""What pip makes of a checkout: a wheel of the two packages, which works from elsewhere; needs no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from importlib import metadata
from pathlib import Path
from urllib.error import HTTPError
from zipfile import ZipFile

import pytest

from tests.pdfs import make_pdf
from tests.test_architecture import ROOT, tracked_files


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from a copy of the checkout that was built before, and has what only lies about."""
    major, _, _ = metadata.version("setuptools").partition(".")
    if int(major) < 77:
        pytest.skip("setuptools is too old to build a wheel: make setup-dev")
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "copy"
    for path in tracked_files():
        place = copy / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place, follow_symlinks=False)
    for lying in ("build/lib/chatbot/gone.py", "chatbot/__pycache__/old.pyc", "chatbot/ui/.cache/own.json"):
        place = copy / lying
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    how = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
    pip(["wheel", *how, "--wheel-dir", str(folder), str(copy)])
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the product; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    pip(["install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel)])
    return folder


def pip(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def environment(installed: Path, data: Path) -> dict[str, str]:
    """Without a home of the tests', and with no part in what measures their coverage."""
    left = ("COV_", "COVERAGE_", "FINPOLICY_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    return {**kept, "PYTHONPATH": str(installed), "XDG_DATA_HOME": str(data)}


def finpolicy(installed: Path, folder: Path, *arguments: object) -> str:
    """What a command prints that is started in an empty folder."""
    command = [str(installed / "bin" / "finpolicy"), *map(str, arguments)]
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    given = environment(installed, folder / "data")
    done = subprocess.run(command, cwd=empty, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_has_all_files_of_the_packages_and_no_others(wheel: Path) -> None:
    names = (path.relative_to(ROOT).as_posix() for path in tracked_files())
    wanted = {name for name in names if name.startswith(("chatbot/", "finpolicy/", "ingestion/"))}
    with ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
        lock = archive.read("chatbot/models/requirements-model.txt")
    assert lock == (ROOT / "requirements-model.txt").read_bytes()
    assert sorted(wanted - found) == []
    assert sorted(found - wanted) == []


def test_the_wheel_asks_for_what_the_checkout_does(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(name).decode()
    fields, _, _ = text.partition("\n\n")
    asked = re.findall(r"(?m)^Requires-Dist: (.*)$", fields)
    lines = (ROOT / "requirements.in").read_text().splitlines()
    wanted = [line for line in lines if not line.startswith("#")]
    for extra in ("served", "signals", "signin"):
        more = (ROOT / f"requirements-{extra}.in").read_text().splitlines()
        wanted += [f'{one}; extra == "{extra}"' for one in more if not one.startswith("-c ")]
    assert asked == wanted
    assert "License-Expression: Apache-2.0" in fields.splitlines()


def test_an_installed_copy_answers_and_keeps_its_store_with_the_user(installed: Path, tmp_path: Path) -> None:
    pages = ["Scope\nThese rules hold for all.", "Limits\nThe deficit ceiling is 3.0 per cent of output."]
    path = make_pdf(tmp_path / "Rules.pdf", pages)
    usage = finpolicy(installed, tmp_path, "--help")
    assert usage.startswith("usage: finpolicy ")
    added = json.loads(finpolicy(installed, tmp_path, "add", path, "--json"))
    assert added["status"] == "added"
    answer = json.loads(finpolicy(installed, tmp_path, "ask", "What is the deficit ceiling?", "--json"))
    assert "3.0 per cent" in answer["answer"]
    (cited,) = answer["citations"]
    assert cited["document"] == "Rules.pdf"
    assert cited["page"] == 2
    assert cited["verified"] is True
    home, empty = tmp_path / "data" / "finpolicy", tmp_path / "empty"
    kept = {path.name for path in home.iterdir()}
    assert kept == {"chroma_db", "documents"}
    assert not list(empty.iterdir())


def test_an_installed_copy_serves_the_pages_under_its_own_options(installed: Path, tmp_path: Path) -> None:
    config = tmp_path / ".streamlit" / "config.toml"
    config.parent.mkdir()
    config.write_text('[server]\nport = 1\naddress = "0.0.0.0"\nallowedHosts = ["*"]\n')
    command = [str(installed / "bin" / "finpolicy"), "serve", "--port", "0"]
    given = environment(installed, tmp_path / "data")
    with subprocess.Popen(command, cwd=tmp_path, env=given, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            url, _, _ = said.removeprefix("The chat is running at ").partition(" ")
            with urllib.request.urlopen(url, timeout=30) as page:
                assert page.status == 200
                assert page.headers["x-frame-options"] == "DENY"
            foreign = urllib.request.Request(url, headers={"Host": "elsewhere.example"})
            with pytest.raises(HTTPError, match="421"):
                urllib.request.urlopen(foreign, timeout=30)
        finally:
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read() if process.stdout else ""
    assert process.returncode == 0
    assert rest == ""
    assert url.startswith("http://127.0.0.1:")
