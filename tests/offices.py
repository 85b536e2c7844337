"""Makes files of office programs, as zip archives of the least that these read."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

__all__ = ["NEEDS_OFFICE", "make_docx", "make_odt", "make_protected", "make_slides", "protect", "saved_as"]

NEEDS_OFFICE = pytest.mark.skipif(
    shutil.which("soffice") is None,
    reason="LibreOffice is not installed: apt-get install libreoffice-writer-nogui",
)
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
ODF = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(
    f'xmlns:{short}="{ODF}:{name}:1.0"'
    for short, name in (
        ("office", "office"),
        ("text", "text"),
        ("draw", "drawing"),
        ("style", "style"),
        ("presentation", "presentation"),
        ("svg", "svg-compatible"),
        ("manifest", "manifest"),
        ("table", "table"),
    )
)
LINKS = 'xmlns:xlink="http://www.w3.org/1999/xlink"'


def _zipped(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def make_docx(
    path: Path, paragraphs: Sequence[str] = (), *, body: str = "", prolog: str = "", links: str = ""
) -> Path:
    """A Word file. body: further XML of it. prolog: what stands before its root. links: its relations."""
    text = "".join(f"<w:p><w:r><w:t>{escape(one)}</w:t></w:r></w:p>" for one in paragraphs)
    document = (
        f'{prolog}<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}"><w:body>{text}{body}</w:body></w:document>'
    )
    whole = f'<Relationship Id="a" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
    xml = '<Default Extension="xml" ContentType="application/xml"/>'
    relations = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    )
    main = f'<Override PartName="/word/document.xml" ContentType="{MAIN}"/>'
    return _zipped(
        path,
        {
            "[Content_Types].xml": f'<Types xmlns="{TYPES}">{xml}{relations}{main}</Types>',
            "_rels/.rels": f'<Relationships xmlns="{RELATIONS}">{whole}</Relationships>',
            "word/document.xml": document,
            "word/_rels/document.xml.rels": f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>',
        },
    )


def make_protected(path: Path, paragraphs: Sequence[str], password: str) -> Path:
    """A Word file that only a password opens."""
    return protect(make_docx(path.with_name(f"plain-{path.name}"), paragraphs), path, password)


def protect(plain: Path, path: Path, password: str) -> Path:
    """The same file of Microsoft's programs at another path, where only a password opens it."""
    from msoffcrypto.format.ooxml import OOXMLFile

    with ZipFile(plain, "a") as archive:
        archive.writestr("spare.xml", bytes(5_000))  # msoffcrypto cannot protect smaller files
    with plain.open("rb") as data, path.open("wb") as protected:
        OOXMLFile(data).encrypt(password, protected)
    return path


def make_odt(path: Path, paragraphs: Sequence[str] = (), *, body: str = "", manifest: str = "") -> Path:
    """An OpenDocument text. body: further XML of it. manifest: of what it says of its parts."""
    text = "".join(f"<text:p>{escape(one)}</text:p>" for one in paragraphs)
    kind = "application/vnd.oasis.opendocument.text"
    whole = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
    content = '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    return _zipped(
        path,
        {
            "mimetype": kind,
            "content.xml": f"<office:document-content {SPACES} {LINKS}><office:body><office:text>"
            f"{text}{body}</office:text></office:body></office:document-content>",
            "META-INF/manifest.xml": f"<manifest:manifest {SPACES}>{whole}{content}{manifest}"
            "</manifest:manifest>",
        },
    )


def make_slides(path: Path, slides: Sequence[tuple[str, str]]) -> Path:
    """Slides, each of (text, notes), as LibreOffice saves them; those whose notes begin with "hidden" are."""
    pages = "".join(
        f'<draw:page draw:name="s{number}" draw:style-name="{"off" if notes.startswith("hidden") else "on"}">'
        f'<draw:frame svg:x="2cm" svg:y="2cm" svg:width="20cm" svg:height="5cm"><draw:text-box>'
        f"<text:p>{escape(text)}</text:p></draw:text-box></draw:frame>"
        '<presentation:notes><draw:frame presentation:class="notes" svg:x="2cm" svg:y="12cm" '
        f'svg:width="15cm" svg:height="5cm"><draw:text-box><text:p>{escape(notes)}</text:p></draw:text-box>'
        '</draw:frame><draw:frame presentation:class="page-number" svg:x="2cm" svg:y="18cm" svg:width="5cm" '
        'svg:height="1cm"><draw:text-box><text:p><text:page-number>&lt;number&gt;</text:page-number></text:p>'
        "</draw:text-box></draw:frame>"
        f"</presentation:notes></draw:page>"
        for number, (text, notes) in enumerate(slides)
    )
    styles = "".join(
        f'<style:style style:name="{name}" style:family="drawing-page"><style:drawing-page-properties '
        f'presentation:visibility="{seen}"/></style:style>'
        for name, seen in (("on", "visible"), ("off", "hidden"))
    )
    kind = "application/vnd.oasis.opendocument.presentation"
    flat = path.with_suffix(".fodp")
    flat.write_text(
        f'<?xml version="1.0"?><office:document {SPACES} {LINKS} office:version="1.2" '
        f'office:mimetype="{kind}">'
        f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:presentation>"
        f"{pages}</office:presentation></office:body></office:document>"
    )
    return saved_as(flat, path)


def saved_as(path: Path, other: Path) -> Path:
    """A file as LibreOffice saves it in another format."""
    folder = other.with_name(f"saving-{other.name}")
    made = folder / f"{path.stem}{other.suffix}"
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", other.suffix[1:], "--outdir", str(folder)]
    subprocess.run([*command, str(path)], check=True, capture_output=True)
    return made.rename(other)
