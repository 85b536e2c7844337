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

from tests.pdfs import make_pdf, make_scan
from tests.stores import RULES

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
    done = subprocess.run(
        [*APART, "strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False
    )
    return (
        f"no network of one's own, or no strace, is allowed here: {done.stderr.strip()[-200:]}"
        if done.returncode
        else ""
    )


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
        command,
        cwd=Path(__file__).parent.parent,
        env=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def sent_elsewhere(trace: str) -> list[str]:
    """Lines that speak to anything but this machine."""
    return [line for line in trace.splitlines() if SPEAKING.search(line) and not stays_here(line)]


def stays_here(line: str) -> bool:
    return set(FAMILY.findall(line)) <= FAMILIES and all(
        ip_address(found).is_loopback for found in ADDRESS.findall(line)
    )


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
    found = {
        str(path.relative_to(folder)) for name in ("home", "temporary") for path in (folder / name).rglob("*")
    }
    return {path for path in found if not (f"{path}/").startswith("home/.cache/finpolicy/")} - {"home/.cache"}


@pytest.fixture(scope="module")
def after_commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as tests/alone.py has it, after the commands; skips where nobody can watch."""
    if why := hindrance():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("commands")
    (folder / "documents").mkdir()
    make_pdf(folder / "documents" / "Rules.pdf", RULES)
    make_scan(
        folder / "documents" / "Scan.pdf", ["Procurement\nOffers above 40,000 crowns are opened in public."]
    )
    run("commands", folder)
    return folder


def judge(folder: Path) -> None:
    trace = (folder / "trace").read_text("utf-8", "replace")
    assert "minilm" in trace and len(trace.splitlines()) > 500  # the watcher was awake
    assert not sent_elsewhere(trace)
    assert not left(folder)
    assert not written_elsewhere(trace, folder)


def test_adding_a_scan_searching_and_asking_stay_on_the_machine(after_commands: Path) -> None:
    assert "tesseract" in (after_commands / "trace").read_text("utf-8", "replace")
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
    ("line", "elsewhere"),
    [
        (
            (
                "7 connect(3<socket:[1]>, {sa_family=AF_INET, sin_port=htons(53), "
                'sin_addr=inet_addr("10.0.0.53")}, 16 <unfinished ...>'
            ),
            True,
        ),
        (
            (
                '7 sendto(3, "x", 1, 0, {sa_family=AF_INET6, sin6_port=htons(9), inet_pton(AF_INET6, '
                '"2001:db8::1", &sin6_addr)}, 28) = 1'
            ),
            True,
        ),
        ("7 connect(3, {sa_family=AF_VSOCK, svm_cid=0x2}, 16) = 0", True),
        (
            '7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
            False,
        ),
        (
            (
                '7 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT (No '
                "such file or directory)"
            ),
            False,
        ),
        ("7 sendto(3, [{nlmsg_len=20}], 20, 0, {sa_family=AF_NETLINK, nl_pid=0}, 12) = 20", False),
    ],
)
def test_the_judge_knows_elsewhere(line: str, elsewhere: bool) -> None:
    assert bool(sent_elsewhere(line)) == elsewhere


@pytest.mark.parametrize(
    ("line", "elsewhere"),
    [
        ('7 openat(AT_FDCWD</srv>, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3</etc/passwd>', False),
        ('7 openat(AT_FDCWD</srv>, "here/store/a.db", O_RDWR|O_CREAT, 0644) = 3', True),
        ('7 openat(AT_FDCWD</srv>, "/here/store/a.db", O_RDWR|O_CREAT, 0644 <unfinished ...>', False),
        ('7 linkat(27</here/home/.other>, "id.tmp", 27</here/home/.other>, "id", 0) = 0', True),
        ('7 rename("/here/store/a", "/here/home/a") = 0', True),
        ('7 rename("/here/store/a", "/here/store/b") = 0', False),
        ('7 mkdir("/here/home/.other", 0700) = 0', True),
    ],
)
def test_the_judge_knows_what_is_written_elsewhere(line: str, elsewhere: bool) -> None:
    assert bool(written_elsewhere(line, Path("/here"))) == elsewhere
