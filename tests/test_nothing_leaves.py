"""Nothing leaves the machine, and nothing is written but in the product's own folders: seen from outside,
since libraries need no Python to do either.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.case_rows import case_rows
from tests.pdfs import make_pdf, make_scan
from tests.stores import RULES

ROOT = Path(__file__).resolve().parent.parent
# A network of one's own is root's to make, or whose who is root of a user namespace.
APART = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-r", "-n"]
FAMILIES = {"AF_UNIX", "AF_LOCAL", "AF_NETLINK", "AF_INET", "AF_INET6", "AF_UNSPEC"}
SPEAKING = re.compile(r"(?:connect|sendto|sendmsg|sendmmsg)\(")
FAMILY = re.compile(r"sa_family=(\w+)")
ADDRESS = re.compile(r"inet_(?:addr\(|pton\(AF_INET6, )\"([^\"]+)\"")
# A path, and the folder it is told from where it is not whole.
PLACE = re.compile(r"(?:<([^<>]*)>, |\(|, )\"([^\"]*)\"")
READING = re.compile(r"open(?:at2?)?\((?!.*O_(?:WRONLY|RDWR|CREAT))")
MAKING = re.compile(
    r"(?:open(?:at2?)?|creat|mkdir(?:at)?|rename(?:at2?)?|link(?:at)?|symlink(?:at)?|mknod(?:at)?|truncate)\("
)


@cache
def hindrance() -> str:
    """Why nobody can watch here; "" where one can."""
    if missing := [name for name in ("strace", "unshare") if not shutil.which(name)]:
        return f"there is no {missing[0]} on PATH (bash .ci/browser.sh, as root on Debian)"
    command = [*APART, "strace", "-o", os.devnull, "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    said = done.stderr.strip()
    return f"no network of one's own, or no strace, is allowed here: {said[-200:]}"


pytestmark = pytest.mark.timeout(240)  # a watched process is slower, and there are five


def run(what: str, folder: Path) -> None:
    """See tests/alone.py; settings of ours, and measuring of coverage, which writes files, are none of
    its.
    """
    given = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    for name in ("home", "temporary"):
        (folder / name).mkdir()
    command = [*APART, sys.executable, "-m", "tests.alone", what, str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=given, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr


def sent_elsewhere(trace: str) -> list[str]:
    """Lines that speak to anything but this machine."""
    return [line for line in trace.splitlines() if SPEAKING.search(line) and not stays_here(line)]


def stays_here(line: str) -> bool:
    families = FAMILY.findall(line)
    addresses = map(ip_address, ADDRESS.findall(line))
    return set(families) <= FAMILIES and all(address.is_loopback for address in addresses)


def written_elsewhere(trace: str, folder: Path) -> list[str]:
    """Lines that make a file, or open one to be changed, outside the store, the product's cache and the
    folder of temporary files; what Python compiles stands beside its source."""
    own = (f"{folder}/store", f"{folder}/home/.cache", f"{folder}/temporary/", "/dev/", "/proc/self/")
    found = []
    for line in trace.splitlines():
        if not MAKING.search(line) or READING.search(line):
            continue
        if not all(place.startswith(own) or "/__pycache__" in place for place in places(line)):
            found.append(line)
    return found


def places(line: str) -> Iterator[str]:
    for of, path in PLACE.findall(line):
        yield path if path.startswith("/") else f"{of}/{path}"


def left(folder: Path) -> set[str]:
    """What stands in the user's home and in the folder of temporary files, but for the product's own."""
    paths = [*(folder / "home").rglob("*"), *(folder / "temporary").rglob("*")]
    found = {path.relative_to(folder).as_posix() for path in paths}
    own = {path for path in found if f"{path}/".startswith("home/.cache/finpolicy/")}
    return found - own - {"home/.cache"}


@pytest.fixture(scope="module")
def after_commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as tests/alone.py has it, after the commands; skips where nobody can watch."""
    if why := hindrance():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("commands")
    documents = folder / "documents"
    documents.mkdir()
    make_pdf(documents / "Rules.pdf", RULES)
    make_scan(documents / "Scan.pdf", ["Procurement\nOffers above 40,000 crowns are opened in public."])
    run("commands", folder)
    return folder


def trace_of(folder: Path) -> str:
    return (folder / "trace").read_text("utf-8", "replace")


def judge(folder: Path) -> None:
    trace = trace_of(folder)
    assert "minilm" in trace  # the watcher was awake
    assert len(trace.splitlines()) > 500
    assert not sent_elsewhere(trace)
    assert not left(folder)
    assert not written_elsewhere(trace, folder)


def test_adding_a_scan_searching_and_asking_stay_on_the_machine(after_commands: Path) -> None:
    assert "tesseract" in trace_of(after_commands)
    judge(after_commands)


@pytest.mark.browser
def test_the_server_with_a_visitor_stays_on_the_machine(after_commands: Path, tmp_path: Path) -> None:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    from tests.browser import chromium

    if chromium() is None:
        pytest.skip("there is no Chromium on PATH (apt-get install chromium)")
    shutil.copytree(after_commands / "store", tmp_path / "store")
    run("visit", tmp_path)
    judge(tmp_path)


@pytest.mark.parametrize(
    ("elsewhere", "line"),
    case_rows(
        """
        yes | 7 connect(3<s:[1]>, {sa_family=AF_INET, sin_addr=inet_addr("10.0.0.53")}, 16 <unfinished ...>
        yes | 7 sendto(3, "x", 1, 0, {sa_family=AF_INET6, inet_pton(AF_INET6, "2001:db8::1", &a)}, 28) = 1
        yes | 7 connect(3, {sa_family=AF_VSOCK, svm_cid=0x2}, 16) = 0
        no  | 7 connect(3, {sa_family=AF_INET, sin_addr=inet_addr("127.0.0.1")}, 16) = 0
        no  | 7 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT (No file)
        no  | 7 sendto(3, [{nlmsg_len=20}], 20, 0, {sa_family=AF_NETLINK, nl_pid=0}, 12) = 20
        """
    ),
)
def test_the_judge_knows_elsewhere(elsewhere: str, line: str) -> None:
    found = sent_elsewhere(line)
    assert bool(found) == (elsewhere == "yes")


@pytest.mark.parametrize(
    ("elsewhere", "line"),
    case_rows(
        """
        no  | 7 openat(AT_FDCWD</srv>, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3</etc/passwd>
        yes | 7 openat(AT_FDCWD</srv>, "here/store/a.db", O_RDWR|O_CREAT, 0644) = 3
        no  | 7 openat(AT_FDCWD</srv>, "/here/store/a.db", O_RDWR|O_CREAT, 0644 <unfinished ...>
        yes | 7 linkat(27</here/home/.other>, "id.tmp", 27</here/home/.other>, "id", 0) = 0
        yes | 7 rename("/here/store/a", "/here/home/a") = 0
        no  | 7 rename("/here/store/a", "/here/store/b") = 0
        yes | 7 mkdir("/here/home/.other", 0700) = 0
        """
    ),
)
def test_the_judge_knows_what_is_written_elsewhere(elsewhere: str, line: str) -> None:
    found = written_elsewhere(line, Path("/here"))
    assert bool(found) == (elsewhere == "yes")
