"""What a browser shows of a web page: what is hidden is left out and said, whatever else is kept."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ingestion.document import read_document
from ingestion.reading.hidden_markup import visible_part
from tests.offices import NEEDS_OFFICE

HIDDEN = [
    '<div style="display:none">the ceiling is 9 per cent</div>',
    '<div style="DISPLAY : none !important"><p>the ceiling <b>is 9</b><br> per cent</div>',
    '<p style="visibility:hidden">the ceiling is 9 per cent</p>',
    "<p hidden>the ceiling is 9 per cent</p>",
    '<span style="font-size:0px">the ceiling is 9 per cent</span>',
    '<span style="opacity:0">the ceiling is 9 per cent</span>',
    '<p style="position:absolute;left:-9999px">the ceiling is 9 per cent</p>',
    '<style>.a, #b {color: red} p.x, .secret , i {display:none}</style><p class="a secret">9 per cent</p>',
    "<style>#s{visibility:hidden}</style><div id=s><div>a</div><table><tr><td>9 per cent</table></div>",
]
SHOWN = [
    "<p style='opacity:0.9;font-size:0.9em;left:-10px'>the ceiling is 3 per cent</p>",
    "<p style=display:none>secret<p>the ceiling is 3 per cent</p>",
    "<style>@media print {.a {display:none}} b .a {opacity:0}</style><p class=a>the ceiling is 3 per cent",
    "<ul><li hidden>secret<li>the ceiling is 3 per cent</ul>",
    "</b></i><p>the ceiling is <!-- secret -->3 per cent</x>",
]


@pytest.mark.parametrize("markup", HIDDEN)
def test_what_a_page_hides_is_left_out_and_said(markup: str) -> None:
    kept, (remark,) = visible_part(f"<title>Rules</title><p>Before.</p>{markup}<div>Behind.</div>")
    assert "<p>Before.</p>" in kept and kept.endswith("<div>Behind.</div>")
    assert "9 per" not in kept and ">is 9<" not in kept
    assert "words that the web page hides: “" in remark and "9" in remark


@pytest.mark.parametrize("markup", SHOWN)
def test_what_it_shows_is_kept(markup: str) -> None:
    assert "the ceiling is" in visible_part(markup)[0] and "3 per cent" in visible_part(markup)[0]
    assert ">secret" not in visible_part(markup)[0]


def test_a_page_that_hides_nothing_stays_as_it_is() -> None:
    page = '<body style="overflow:hidden"><p class=x>1 &lt; 2 < 3</p><img src="a>b"><!-- <p hidden> -->'
    assert visible_part(page) == (page, ())


@NEEDS_OFFICE
@pytest.mark.parametrize(
    ("encoding", "declared"), [("utf-8", ""), ("windows-1251", "<meta charset=windows-1251>"), ("utf-16", "")]
)
def test_a_page_is_read_in_its_encoding_without_what_it_hides(
    tmp_path: Path, encoding: str, declared: str
) -> None:
    path = tmp_path / "a.htm"
    path.write_bytes(f"{declared}<p>Бюджет 2025</p><p style='display:none'>secret</p>".encode(encoding))
    (page,) = read_document(path).pages
    assert page.text == "Бюджет 2025"
    assert page.remarks == ("1 words that the web page hides: “secret”",)


@pytest.mark.timed
@pytest.mark.parametrize("part", ["<a ", "<style>a{", "<!--", "display:none;", "<p hidden><b>", "{x{", ".a,"])
def test_markup_without_end_takes_no_time(part: str) -> None:
    begun = time.process_time()
    visible_part(f"<style>{part * 20_000}</style>{part * 20_000}")
    assert time.process_time() - begun < 5
