"""What pyproject.toml cannot say: the extras, and that a wheel has nothing of an earlier one."""

import tempfile
from pathlib import Path

from setuptools import setup


def extra(name: str) -> list[str]:
    """What its .in file asks for; "-c" is for those who lock it."""
    lines = Path(f"requirements-{name}.in").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("-")]


with tempfile.TemporaryDirectory() as folder:
    setup(
        extras_require={name: extra(name) for name in ("served", "signals", "signin")},
        options={"build": {"build_base": folder}, "egg_info": {"egg_base": folder}},
    )
