"""Makes workbooks and delimited text that mean harm, or that are broken."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

from openpyxl import Workbook

__all__ = ["HOSTILE", "make_hostile"]

MIB = 2**20
ENCRYPTED = (
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500) + "EncryptedPackage".encode("utf-16-le") + bytes(500)
)


def make_hostile(folder: Path, address: str) -> list[Path]:
    """Write one file of each kind. address: of a server that should hear nothing."""
    for name, make in HOSTILE.items():
        make(folder / name, address)
    return [folder / name for name in HOSTILE]


def _small(path: Path, **cells: object) -> Path:
    book = Workbook()
    sheet = book.active
    sheet.append(["Item", 2024])
    sheet.append(["Fees", 12_345])
    for place, value in cells.items():
        sheet[place] = value
    book.save(path)
    return path


def _with_part(path: Path, part: str, change: Callable[[bytes], bytes]) -> None:
    """Rewrite one part of a small workbook, or add it."""
    _small(path)
    with zipfile.ZipFile(path) as read:
        parts = {name: read.read(name) for name in read.namelist()}
    parts[part] = change(parts.get(part, b""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in parts.items():
            written.writestr(name, data)


def _bomb(path: Path, _: str) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        for number in range(8):
            with parts.open(f"xl/worksheets/sheet{number}.xml", "w", force_zip64=True) as part:
                for _part in range(128):
                    part.write(b" " * MIB)


def _lying_bomb(path: Path, _: str) -> None:
    """A part of 256 MB that says it is small."""
    _with_part(
        path, "xl/sharedStrings.xml", lambda _: b"<sst>" + b"<si><t>x</t></si>" * (16 * MIB) + b"</sst>"
    )
    data = bytearray(path.read_bytes())
    for sign, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.rfind(sign, 0, data.rfind(b"xl/sharedStrings.xml") if sign[2] == 1 else None)
        data[at + place : at + place + 4] = (1_000).to_bytes(4, "little")
    path.write_bytes(data)


def _laughs(path: Path, _: str) -> None:
    entities = b"".join(b'<!ENTITY l%d "%s">' % (at, b"&l%d;" % (at - 1) * 10) for at in range(1, 11))
    head = b'<!DOCTYPE s [<!ENTITY l0 "ha">%s]>' % entities
    body = b'<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&l10;</t></is></c></row></sheetData>'
    spread = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</worksheet>'
    _with_part(path, "xl/worksheets/sheet1.xml", lambda _: head + spread % body)


def _entity_of_file(path: Path, _: str) -> None:
    head = b'<!DOCTYPE s [<!ENTITY secret SYSTEM "file:///etc/passwd">]>'
    _with_part(
        path,
        "xl/worksheets/sheet1.xml",
        lambda old: head + old.replace(b"<v>12345</v>", b"<v>&secret;</v>"),
    )


def _fetching(path: Path, address: str) -> None:
    _small(
        path, A3="Rate", B3=f'=WEBSERVICE("{address}")', A4="Link", B4=f"='{address}/[other.xlsx]Sheet'!A1"
    )


def _macros(path: Path, _: str) -> None:
    _with_part(path, "xl/vbaProject.bin", lambda _: b"\xd0\xcf\x11\xe0" + bytes(5_000))


def _merged_everywhere(path: Path, _: str) -> None:
    span = b'<mergeCells count="1"><mergeCell ref="A1:XFD1048576"/></mergeCells><pageMargins'
    _with_part(path, "xl/worksheets/sheet1.xml", lambda old: old.replace(b"<pageMargins", span))


def _far_cell(path: Path, _: str) -> None:
    _small(path, XFD1048576="far")


def _long_sheet(path: Path, _: str) -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Ledger")
    sheet.append(["Entry", "Amount", "Balance", "Note"])
    for number in range(100_000):
        sheet.append([f"Entry {number}", number * 1.5, number * 2.25, "posted"])
    book.save(path)


def _truncated(path: Path, _: str) -> None:
    data = _small(path).read_bytes()
    path.write_bytes(data[: len(data) // 2])


HOSTILE: dict[str, Callable[[Path, str], object]] = {
    "bomb_of_1_GiB.xlsx": _bomb,
    "bomb_that_lies.xlsx": _lying_bomb,
    "billion_laughs.xlsx": _laughs,
    "entity_of_a_file.xlsx": _entity_of_file,
    "formulas_that_fetch.xlsx": _fetching,
    "macros.xlsm": _macros,
    "merged_everywhere.xlsx": _merged_everywhere,
    "cell_at_the_far_end.xlsx": _far_cell,
    "100000_rows.xlsx": _long_sheet,
    "truncated.xlsx": _truncated,
    "protected.xlsx": lambda path, _: path.write_bytes(ENCRYPTED),
    "one_line_of_50_MB.csv": lambda path, _: path.write_bytes(b"a" * 50 * MIB),
    "million_columns.csv": lambda path, _: path.write_bytes(b"1," * 10**6),
    "nothing_but_nul.csv": lambda path, _: path.write_bytes(bytes(10**6)),
    "open_quote.csv": lambda path, _: path.write_bytes(b'a,"b\n' * 10**6),
    "formulas.csv": lambda path, _: path.write_text('Item,2024\n=cmd|"/c calc"!A1,5\n@SUM(1),6\n'),
}
