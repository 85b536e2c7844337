"""Checks the locks: in step with what is asked for, under permitted licences, without known vulnerabilities.

A licence is what an installed package declares; what it bundles is not looked into. Vulnerabilities are known
only where the service that lists them answers: where it does not, this says that they were not checked, and
that is no failure. What is permitted and what is ignored stands in pyproject.toml, [tool.finpolicy.locks].
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib import metadata
from itertools import zip_longest
from pathlib import Path
from textwrap import shorten
from typing import Any

from license_expression import ExpressionError, get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
# Its faults are known for years: a service that lists none of them would list no others.
KNOWN_FAULTY = {"jinja2": "2.4.1"}
# In seconds: for one answer, for all about the package above, for all about the locks.
ANSWER, FIRST, WHOLE = 3, 10, 180


class NotCheckedError(Exception):
    """Nobody who would know of vulnerabilities could be asked; the message says why."""


def pins(lock: Path) -> dict[str, str]:
    """Normalised name -> version of all that a lock file holds; empty where there is no such file."""
    text = lock.read_text("utf-8") if lock.exists() else ""
    found = re.findall(r"(?m)^([\w.-]+)(?:\[.*?\])?==([^\s;]+)", text)
    return {canonicalize_name(name): version for name, version in found}


def asked_for(source: Path) -> Iterator[Requirement]:
    """The requirements of an .in file and of those that it includes by -r."""
    for line in source.read_text("utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("-r "):
            yield from asked_for(source.parent / text[3:])
        elif text and not text.startswith("-c "):
            yield Requirement(text)


def out_of_step(source: Path) -> Iterator[str]:
    """What a lock lacks of its .in file, has kept of it, or has otherwise than a lock it is held to."""
    lock = source.with_suffix(".txt")
    locked: dict[str, str] = pins(lock)
    asked = list(asked_for(source))
    for requirement in asked:
        version = locked.get(canonicalize_name(requirement.name))
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            yield f"{source.name} asks for {requirement}, {lock.name} has {version or 'none'}: make lock"
    names = {canonicalize_name(requirement.name) for requirement in asked}
    for block in re.split(r"(?m)^(?=\w)", lock.read_text("utf-8") if lock.exists() else "")[1:]:
        name = str(canonicalize_name(re.split(r"\[|==", block)[0]))
        if name not in names and re.search(r"(?m)# .*-r \S+\.in$", block):
            yield f"{lock.name} still has {name}, which {source.name} had: make lock"
    for other in re.findall(r"(?m)^-c (\S+)", source.read_text("utf-8")):
        for name, version in pins(source.parent / other).items():
            if locked.get(name, version) != version:
                yield f"{lock.name} has {name} {locked[name]}, {other} {version}: make lock"


class Licences:
    """What is permitted: SPDX names, which expressions consist of, and what older packages write."""

    def __init__(self, permitted: list[str]) -> None:
        self._permitted = set(permitted)
        self._spdx = get_spdx_licensing()

    def are_known(self, text: str) -> bool:
        """Is it the name of a licence, or an expression of such names?"""
        try:
            return text in self._permitted or self._spdx.parse(text, validate=True) is not None
        except ExpressionError:
            return False

    def permit(self, text: str) -> bool:
        """Of "A OR B" one has to be permitted, of "A AND B" both."""
        if text in self._permitted:
            return True
        if not self.are_known(text):
            return False
        parsed, yes, no = self._spdx.parse(text), self._spdx.TRUE, self._spdx.FALSE
        judged = {symbol: yes if symbol.key in self._permitted else no for symbol in parsed.symbols}
        return bool(parsed.subs(judged).simplify() == yes)

    def declared(self, package: str) -> list[str]:
        """What an installed package says, by its surest field; all of it holds. It may say nothing."""
        fields = metadata.metadata(package)
        # By [] a missing field is None, or where a backport is loaded a KeyError.
        expression = str(fields.json.get("license_expression", ""))
        text = str(fields.json.get("license", ""))
        licence = (expression or text).strip()
        if expression or self.are_known(licence):
            return [licence]
        classifiers = [line for line in fields.get_all("Classifier", []) if line.startswith("License ::")]
        return [line.rpartition(" :: ")[2] for line in classifiers] or licence.splitlines()[:1]


def unlicensed(locked: dict[str, str], settings: dict[str, Any]) -> Iterator[str]:
    """Packages whose licence is unknown or not permitted, and exceptions that nothing needs."""
    licences, needless = Licences(settings["permitted"]), dict(settings.get("exceptions", {}))
    for name, version in sorted(locked.items()):
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            installed = "none"
        if installed != version:
            yield f"{name} {version}: licence unknown, for {installed} is installed: make setup-dev"
            continue
        declared = licences.declared(name)
        if declared and all(map(licences.permit, declared)):
            continue
        said = ", ".join(declared)
        if not said:
            yield f"{name} {version}: it declares no licence"
        elif needless.pop(name, {}).get("licence") != said:
            yield f"{name} {version}: its licence is not permitted: {said}"
    yield from (f"{name}: it needs no exception of licences any more" for name in needless)


def advisories(locked: dict[str, str], url: str, *, seconds: int) -> list[dict[str, Any]]:
    """Each vulnerability that is known of these versions. Raises NotCheckedError."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{name}=={version}\n" for name, version in locked.items())
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "-r", file.name]
        command += ["--format", "json", "--progress-spinner", "off", "--timeout", str(ANSWER)]
        command += ["--vulnerability-service", "osv", *(["--osv-url", url] if url else [])]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
            found = json.loads(done.stdout)["dependencies"]
        except subprocess.TimeoutExpired:
            raise NotCheckedError(f"no answer within {seconds} s") from None
        except ValueError:
            raise NotCheckedError(shorten((done.stderr.splitlines() or ["no answer"])[-1], 300)) from None
    if skipped := [package["skip_reason"] for package in found if "skip_reason" in package]:
        raise NotCheckedError(skipped[0])
    return [{**package, **fault} for package in found for fault in package["vulns"]]


def vulnerable(locks: list[dict[str, str]], ignored: dict[str, Any], url: str) -> Iterator[str]:
    """Packages with a known vulnerability, and what is ignored for nothing. Raises NotCheckedError."""
    if not advisories(KNOWN_FAULTY, url, seconds=FIRST):
        raise NotCheckedError("the service does not even know old vulnerabilities")
    # A package that stands in two locks by two versions is asked for in two rounds.
    versions: dict[str, list[str]] = {}
    for name, version in sorted({pin for lock in locks for pin in lock.items()}):
        versions.setdefault(name, []).append(version)
    met = set[str]()
    for each in zip_longest(*versions.values()):
        asked = {name: version for name, version in zip(versions, each, strict=True) if version}
        for fault in advisories(asked, url, seconds=WHOLE):
            names = [fault["id"], *fault["aliases"]]
            met |= ignored.keys() & set(names)
            if not ignored.keys() & set(names):
                fixed = ", ".join(fault["fix_versions"]) or "no version yet"
                yield f"{fault['name']} {fault['version']}: {' '.join(names)}, fixed in {fixed}"
    yield from (f"{advisory}: it need not be ignored any more" for advisory in ignored.keys() - met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT, help="of the locks and pyproject.toml")
    parser.add_argument("--advisories", default="", metavar="URL", help="a service that answers as OSV does")
    given = parser.parse_args()
    project = tomllib.loads((given.folder / "pyproject.toml").read_text("utf-8"))
    settings = project["tool"]["finpolicy"]["locks"]
    locks = {path.name: pins(path) for path in sorted(given.folder.glob("requirements*.txt"))}
    shipped = [held for lock, held in locks.items() if lock not in settings["for_development"]]
    sources = sorted(given.folder.glob("requirements*.in"))
    faults = [fault for source in sources for fault in out_of_step(source)]
    faults += unlicensed({name: version for held in shipped for name, version in held.items()}, settings)
    print(f"locks: {len(locks)} compared with their .in files, the licences of {len(shipped)} looked at")
    ignored = settings.get("ignored", {})
    for advisory, why in ignored.items():
        print(f"vulnerabilities: {advisory} is ignored since {why['since']}: {why['reason']}")
    try:
        faults += vulnerable(list(locks.values()), ignored, given.advisories)
        print("vulnerabilities: all locks looked up")
    except NotCheckedError as error:
        print(f"vulnerabilities: NOT CHECKED, {error}")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
