"""The benchmarks answer, and what they make of their measurements is right; how fast anything is stays out
of the tests.
"""

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pypdfium2
import pytest

from benchmarks.fairness import Waits, judged
from benchmarks.ingest import Compared, Measured, Point, compared_ratios, draw, machine, report, spread_over
from benchmarks.made_pdfs import make_pdf
from benchmarks.odd_pdfs import PROCESS, Verdict, link_files, read_outcomes, read_table, truth_words
from benchmarks.odd_pdfs import report as report_odd
from benchmarks.processes import (
    Sampler,
    high_water_bytes,
    process_tree,
    processor_seconds,
    proportional_bytes,
)
from benchmarks.tables import Panel, markdown_table, plot, ratios, spread
from benchmarks.verdicts import (
    MOST_BYTES,
    Observed,
    Outcome,
    Row,
    judge,
    judge_batch,
    judge_refusal,
    observed,
)
from tests.case_rows import case_rows
from tests.commands import usage_of

UNREADABLE = "exc PdfReadError: Stream has ended unexpectedly"
FAILED = Outcome("failed", "The file is not a PDF, or is damaged. Repair it.")


@pytest.mark.parametrize("script", ["ingest", "odd_pdfs", "speed"])
def test_each_script_says_how_it_is_used(script: str) -> None:
    assert usage_of(f"{script}.py").startswith("usage:")


# --- tables
# ------------------------------------------------------------------------------------------------------------


def test_ratios_are_of_pairs() -> None:
    assert ratios([1.0, 6.0, 3.0], [2.0, 3.0, 3.0]) == [0.5, 2.0, 1.0]
    with pytest.raises(ValueError):
        ratios([1.0], [1.0, 2.0])
    with pytest.raises(ValueError):
        ratios([1.0], [0.0])


def test_a_spread_is_median_least_and_most() -> None:
    assert spread([3.0, 1.0, 2.5]) == ["2.50", "1.00", "3.00"]
    assert spread([]) == ["–"] * 3


TABLE = """\
| what | s |
| --- | ---: |
| a\\|b | 1.5 |
"""


def test_a_table_keeps_its_columns() -> None:
    table = markdown_table(["what", "s"], [["a|b", 1.5]])
    assert table.splitlines() == TABLE.splitlines()


def test_a_plot_is_well_formed_and_rises_with_its_values() -> None:
    lines = {"ours & theirs": [(10, 1.0), (100, 10.0), (1000, 100.0)]}
    drawn = ElementTree.fromstring(plot([Panel("a < b", "pages", lines)]))
    across, down = list[float](), list[float]()
    for circle in drawn.iter("{http://www.w3.org/2000/svg}circle"):
        across.append(float(circle.attrib["cx"]))
        down.append(float(circle.attrib["cy"]))
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)
    assert down[0] - down[1] == pytest.approx(down[1] - down[2], abs=0.2)
    assert down[0] > down[1]


def measured(*, peer: float) -> Measured:
    compared = Compared("a.pdf", 10, 0, 30, 1.0, 2.0, 11.0, 12.0, 10.0, 5, 4.0 * peer, 22.0 * peer)
    short, long = Point(1, 20, 0.5, 1.0, 1.5, 2.0 * peer), Point(1, 60, 0.6, 3.0, 3.5, 5.0 * peer)
    alone = Point(1, 10, 0.2, 0.4, 0.5)
    peaks = {"peak": 300_000_000}
    return Measured("2 cores (of some kind)", [compared], [short, long], [alone], peaks)


def test_everything_is_compared_where_the_peer_was_measured() -> None:
    with_peer = compared_ratios(measured(peer=1.0).compared)
    first = [round(values[0], 3) for values in with_peer.values()]
    assert first == [0.25, 0.091, 0.5, 0.545, 1.1]
    alone = compared_ratios(measured(peer=0.0).compared)
    assert list(alone) == ["full indexing / embedding the same texts alone"]


def test_the_report_has_a_page_s_cost() -> None:
    with_peer, alone = report(measured(peer=1.0)), report(measured(peer=0.0))
    assert "| 1 | 20 | 0.50 | 1.00 | 1.50 | 2.00 | 50.0 | 100.0 | 0.25 | 0.50 |" in with_peer
    assert "| 1 | 20 | 0.50 | 1.00 | 1.50 | – | 50.0 | – | – | – |" in alone
    assert alone.startswith("2 cores (of some kind); times in seconds")


def test_the_machine_is_told_with_its_cores() -> None:
    assert re.fullmatch(r"\d+ cores \(.+\), \d+ GB, Python 3\.11\.\d+", machine())


def test_the_plot_has_only_what_was_measured() -> None:
    assert "PyPDFLoader" in draw(measured(peer=1.0))
    assert "PyPDFLoader" not in draw(measured(peer=0.0))


CHOSEN = case_rows("""
1 | 3
2 | 0 6
3 | 0 3 6
7 | 0 1 2 3 4 5 6
9 | 0 1 2 3 4 5 6
""")


@pytest.mark.parametrize(("count", "chosen"), CHOSEN)
def test_documents_are_spread_over_their_sizes(count: str, chosen: str) -> None:
    paths = [Path(str(number)) for number in range(7)]
    assert spread_over(paths, int(count)) == list(map(Path, chosen.split()))


# --- odd PDFs
# ------------------------------------------------------------------------------------------------------------


def test_what_libraries_saw_is_taken_apart() -> None:
    assert observed("ok pages=4 chars8=18 pageerr=PdfReadError: x") == Observed(4, 18, True)
    assert observed("ok pages=20 chars8=80") == Observed(20, 80, False)
    assert Observed(20, 80, False).density == 10
    assert observed(UNREADABLE) is None
    assert observed("ok pages=0 chars8=0") is None


def added(pages: int = 1, chunks: int = 1, **other: object) -> Outcome:
    return Outcome("added", pages=pages, chunks=chunks, **other)  # type: ignore[arg-type]


def outcome_of(written: str) -> Outcome:
    """As a row of a table has it: its status, and what else is known of it."""
    if written == "FAILED":
        return FAILED
    status, _, details = written.partition(" ")
    known = json.loads(details or "{}")
    return added(**known) if status == "added" else Outcome(status, **known)


# The category, what a library saw, and what became of the file.
ALLOWED = case_rows("""
broken             | UNREADABLE                    | FAILED
broken             | UNREADABLE                    | added
control            | ok pages=1 chars8=400         | added
damaged            | UNREADABLE                    | FAILED
damaged            | ok pages=1 chars8=400         | added
damaged            | ok pages=1 chars8=0           | added {"chunks": 0}
damaged            | ok pages=1 chars8=0 pageerr=x | added {"chunks": 0, "failed": 1}
empty | ok pages=1 chars8=0 | added {"chunks": 0, "warning": "No text was found on any page."}
encrypted-open     | ok pages=1 chars8=400         | added
encrypted-password | UNREADABLE                    | added {"chunks": 0}
garbage-text       | ok pages=1 chars8=400         | added {"ocr_pages": 1}
gov-error          | ok pages=1 chars8=400         | added
huge               | ok pages=1 chars8=0           | FAILED
layout             | ok pages=1 chars8=400         | added {"found": 0.6}
mixed              | ok pages=1 chars8=4000        | added
mixed              | ok pages=6 chars8=110         | added {"pages": 6, "ocr_pages": 3}
mixed              | ok pages=1 chars8=6           | added
scan               | ok pages=1 chars8=0           | added {"ocr_pages": 1}
scan               | ok pages=2 chars8=14          | added {"pages": 2}
script             | ok pages=1 chars8=400         | added
never heard of     |                               | added
""")


# And why that may not be.
NOT_ALLOWED = case_rows("""
broken             | UNREADABLE                    | missing                   | no line
broken             | UNREADABLE                    | failed                    | not one line
broken             | UNREADABLE                    | failed {"error": "a\\nb"} | not one line
broken             | UNREADABLE                    | unchanged                 | unchanged
control            | ok pages=1 chars8=400         | FAILED                    | was failed
damaged            | ok pages=1 chars8=400         | FAILED                    | was failed
damaged            | ok pages=1 chars8=400         | added {"chunks": 0}       | no text
damaged            | ok pages=1 chars8=0 pageerr=x | added {"chunks": 0}       | not named
empty              | ok pages=1 chars8=0           | added {"chunks": 0}       | no warning
empty              | ok pages=1 chars8=0           | added {"warning": "x"}    | out of nothing
encrypted-open     | ok pages=1 chars8=400         | added {"chunks": 0}       | no text
encrypted-password | UNREADABLE                    | FAILED                    | was failed
garbage-text       | ok pages=1 chars8=400         | added                     | OCR
gov-error          | ok pages=3 chars8=9000        | added {"pages": 2}        | 2 pages instead of 3
huge               | ok pages=1 chars8=0           | added {"seconds": 61.0}   | took 61 s
layout             | ok pages=1 chars8=400         | added {"found": 0.4}      | 40%
mixed              | ok pages=1 chars8=4000        | added {"ocr_pages": 1}    | was not used
mixed              | ok pages=6 chars8=110         | added {"pages": 6}        | OCR
scan               | ok pages=1 chars8=0           | added                     | OCR
scan               | ok pages=1 chars8=0           | added {"chunks": 0}       | no text
script             | ok pages=4 chars8=80          | added {"pages": 1}        | instead of 4
never heard of     |                               | missing                   | no line
""")


def row_of(category: str, seen: str) -> Row:
    return Row("a.pdf", category, pdfium=seen.replace("UNREADABLE", UNREADABLE))


@pytest.mark.parametrize(("category", "seen", "outcome"), ALLOWED)
def test_what_a_category_may_become(category: str, seen: str, outcome: str) -> None:
    assert judge(row_of(category, seen), outcome_of(outcome)) == ""


@pytest.mark.parametrize(("category", "seen", "outcome", "reason"), NOT_ALLOWED)
def test_what_a_category_may_not_become(category: str, seen: str, outcome: str, reason: str) -> None:
    assert reason in judge(row_of(category, seen), outcome_of(outcome))


def test_either_library_may_be_right_about_the_pages() -> None:
    row = Row("a.pdf", "layout", pypdf="ok pages=2 chars8=40", pdfium="ok pages=3 chars8=40")
    assert not judge(row, added(pages=2))
    assert not judge(row, added(pages=3))
    assert judge(row, added(pages=4)) == "4 pages instead of 2 or 3"


def test_a_protected_file_asks_for_its_password() -> None:
    asks = Outcome("failed", "The PDF needs a password. Give it with --passwords.")
    assert not judge_refusal(asks)


REFUSALS = case_rows("""
FAILED                                                       | does not speak of a password
failed {"error": "The file is damaged or needs a password."} | called damaged
added                                                        | it was added
""")


@pytest.mark.parametrize(("outcome", "reason"), REFUSALS)
def test_a_protected_file_that_does_not_ask_so_is_judged(outcome: str, reason: str) -> None:
    assert reason in judge_refusal(outcome_of(outcome))


@pytest.mark.parametrize(("code", "outcomes"), [(0, [added()]), (1, [added(), FAILED])])
def test_a_process_ends_as_its_files_did(code: int, outcomes: list[Outcome]) -> None:
    assert not judge_batch(code, outcomes, "", 0)


TRACEBACK = "Traceback (most recent call last):\nValueError: x"


WRONG_ENDS = [
    (0, [added(), FAILED], "", 0, "exit code 0 instead of 1"),
    (-9, [added()], "", 0, "exit code -9"),
    (1, [FAILED], TRACEBACK, 0, "ValueError: x"),
    (0, [added()], "", MOST_BYTES + 1, "1.50 GB"),
]


@pytest.mark.parametrize(("code", "outcomes", "errors", "peak", "reason"), WRONG_ENDS)
def test_a_process_that_ends_otherwise_is_judged(
    code: int, outcomes: list[Outcome], errors: str, peak: int, reason: str
) -> None:
    assert reason in judge_batch(code, outcomes, errors, peak)


ADDED_LINE = {
    "status": "added",
    "error": None,
    "pages": 2,
    "chunks": 3,
    "ocr_pages": 1,
    "failed_pages": [{"page": 1, "reason": "x"}],
    "seconds": 0.5,
}


def test_each_file_has_exactly_one_line() -> None:
    lines = [json.dumps({"document": name, **ADDED_LINE}) for name in ("one.pdf", "two.pdf", "two.pdf")]
    output = "".join(f"{line}\n" for line in lines)
    one, two, three = read_outcomes(output, ["one.pdf", "two.pdf", "three.pdf"])
    assert one == Outcome("added", "", "", 2, 3, 1, 1, 0.5)
    assert two == Outcome("missing")
    assert three == Outcome("missing")


def test_a_table_is_read_by_its_head_line(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text('path\tcategory\texpected\tpassword\na/x.pdf\tscan\t"say ""x"" twice"\tsecret\n', "utf-8")
    assert read_table(path) == [Row("a/x.pdf", "scan", password="secret")]


def test_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    rows = [Row("a/x.pdf", "scan"), Row("b/x.pdf", "scan")]
    first, second = link_files(rows, tmp_path, tmp_path / "files")
    assert first.name != second.name
    assert first.readlink() == tmp_path / "a" / "x.pdf"
    assert second.readlink() == tmp_path / "b" / "x.pdf"


def test_the_longest_words_are_searched_for() -> None:
    words = truth_words("A b, Comptroller of 12345 Revenue; revenue and ledger books of account")
    assert words == ["comptroller", "account", "revenue", "ledger", "books"]


def test_the_report_counts_files_and_explains_what_is_wrong() -> None:
    verdicts = [
        Verdict("scan", "a.pdf", "", added()),
        Verdict("scan", "b.pdf", "no text found", added(chunks=0)),
        Verdict("scan", PROCESS, "", added()),
    ]
    text = report_odd(verdicts, {"scan": 250_000_000})
    assert "| scan | 1 / 2 | 0.0 s | 250 MB |" in text
    assert "- scan, b.pdf: no text found (added" in text


# --- measuring
# ------------------------------------------------------------------------------------------------------------


HOLDING = """
held = b'x' * 60_000_000
print('ready', flush=True)
input()
"""


def started(program: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_a_tree_of_processes_is_measured_whole() -> None:
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDING!r}])"
    with started(outer) as process:
        assert process.stdin
        assert process.stdout
        with Sampler(process.pid, proportional_bytes) as sampler:
            assert process.stdout.readline() == b"ready\n"
            tree = process_tree(process.pid)
            assert len(tree) == 2
            assert 60_000_000 < sampler.now() < 200_000_000
            assert 60_000_000 < high_water_bytes(tree) < 100_000_000
        process.stdin.close()
    assert sampler.peak > 60_000_000
    assert proportional_bytes([process.pid]) == 0


WORKING = """
import time
while time.process_time() < 0.5: pass
print('done', flush=True)
input()
"""


def test_what_a_process_computed_is_told() -> None:
    with started(WORKING) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == b"done\n"
        assert 0.45 < processor_seconds([process.pid]) < 1.0
        process.stdin.close()
    assert processor_seconds([process.pid]) == 0.0


def test_made_pdfs_are_the_same_for_a_seed_and_have_the_text_of_real_pages(tmp_path: Path) -> None:
    first = make_pdf(tmp_path / "a.pdf", 3, seed=1)
    same = make_pdf(tmp_path / "b.pdf", 3, seed=1)
    other = make_pdf(tmp_path / "c.pdf", 3, seed=2)
    assert first.read_bytes() == same.read_bytes()
    assert other.read_bytes() != same.read_bytes()
    with pypdfium2.PdfDocument(first) as document:
        texts = [page.get_textpage().get_text_range() for page in document]
    assert len(texts) == 3
    assert all(2_000 < len(text) < 3_000 for text in texts)


def test_who_waits_too_long_beside_another_is_told() -> None:
    alone = Waits(2.0, [0.01] * 20)
    text, holds = judged(alone, {"scans": Waits(1.0, [0.01] * 19 + [0.5])})
    assert holds, "one answer of twenty is beyond the 95th percentile"
    assert "| scans | 1.0 | 0.50 | 10 | 1.00 |" in text
    assert not judged(alone, {"scans": Waits(2.1, [0.01])})[1]
    assert not judged(alone, {"scans": Waits(1.0, [0.03])})[1]
