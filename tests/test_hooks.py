"""Holds what is looked at before a commit to the locked tools, and tries it on a good and a bad one."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / ".pre-commit-config.yaml"
TOOLS = ROOT / ".venv"
# Types take long, and are those of the whole house.
SKIPPED = "mypy"

PRE_COMMIT = TOOLS / "bin" / "pre-commit"
needs_tools = pytest.mark.skipif(not PRE_COMMIT.exists(), reason="there is no .venv/: make setup-dev")


def test_no_hook_is_fetched_from_elsewhere() -> None:
    config = yaml.safe_load(CONFIG.read_text("utf-8"))
    repos = config["repos"]
    assert repos
    for repo in repos:
        assert repo["repo"] == "local"
        for hook in repo["hooks"]:
            assert hook["language"] == "system"
            assert hook["entry"].startswith(".venv/bin/")


def commit(folder: Path) -> subprocess.CompletedProcess[str]:
    """All that stands in `folder`, under the names of nobody, with hooks."""
    nobody = {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    home = folder / ".git" / "pre-commit"
    given = {**os.environ, **nobody, "SKIP": SKIPPED, "PRE_COMMIT_HOME": str(home)}
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    command = ["git", "commit", "-qm", "Try"]
    return subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with this one's hooks and tools."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / CONFIG.name).write_bytes(CONFIG.read_bytes())
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    (tmp_path / ".gitignore").write_text(".venv\n.ruff_cache\n")
    (tmp_path / ".venv").symlink_to(TOOLS)
    subprocess.run([PRE_COMMIT, "install"], cwd=tmp_path, capture_output=True, check=True)
    return tmp_path


@needs_tools
def test_a_good_commit_passes(checkout: Path) -> None:
    (checkout / "good.py").write_text('"""Says one."""\n\nONE = 1\n')
    done = commit(checkout)
    assert done.returncode == 0, done.stderr


@needs_tools
def test_each_fault_is_refused(checkout: Path) -> None:
    (checkout / "crooked.py").write_text("import os\nimport re,sys\nx = { 'a':1 }\n")
    (checkout / "stray.md").write_text("A blank at the end \nand no end")
    (checkout / "large.bin").write_bytes(b"\1" * 600_000)
    (checkout / "key.txt").write_text("-----BEGIN RSA " + "PRIVATE KEY-----\n")
    done = commit(checkout)
    assert done.returncode != 0
    failed = set(re.findall(r"(?m)^- hook id: (.+)", done.stderr))
    of_contents = "ruff-format ruff-check end-of-file-fixer trailing-whitespace detect-private-key".split()
    assert failed == {*of_contents, "check-added-large-files"}, done.stderr
