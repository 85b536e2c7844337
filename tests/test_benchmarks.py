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

ONE_PAGE = "ok pages=1 chars8=400"
NO_TEXT = "ok pages=1 chars8=0"
UNREADABLE = "exc PdfReadError: Stream has ended unexpectedly"
FAILED = Outcome("failed", "The file is not a PDF, or is damaged. Repair it.")


@pytest.mark.parametrize("script", ["ingest", "odd_pdfs", "speed"])
def test_each_script_says_how_it_is_used(root: Path, script: str) -> None:
    done = subprocess.run(
        [sys.executable, f"benchmarks/{script}.py", "--help"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("usage:")
    assert not done.stderr


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


def test_a_table_keeps_its_columns() -> None:
    assert markdown_table(["what", "s"], [["a|b", 1.5]]).splitlines() == [
        "| what | s |",
        "| --- | ---: |",
        "| a\\|b | 1.5 |",
    ]


def test_a_plot_is_well_formed_and_rises_with_its_values() -> None:
    drawn = ElementTree.fromstring(
        plot([Panel("a < b", "pages", {"ours & theirs": [(10, 1.0), (100, 10.0), (1000, 100.0)]})])
    )
    circles = [
        (float(c.attrib["cx"]), float(c.attrib["cy"]))
        for c in drawn.iter("{http://www.w3.org/2000/svg}circle")
    ]
    assert circles[1][0] - circles[0][0] == pytest.approx(circles[2][0] - circles[1][0], abs=0.2)
    assert circles[0][1] - circles[1][1] == pytest.approx(circles[1][1] - circles[2][1], abs=0.2)
    assert circles[0][1] > circles[1][1]


def measured(*, peer: float) -> Measured:
    one = Compared("a.pdf", 10, 0, 30, 1.0, 2.0, 11.0, 12.0, 10.0, 5, 4.0 * peer, 22.0 * peer)
    points = [Point(1, 20, 0.5, 1.0, 1.5, 2.0 * peer), Point(1, 60, 0.6, 3.0, 3.5, 5.0 * peer)]
    return Measured(
        "2 cores (of some kind)", [one], points, [Point(1, 10, 0.2, 0.4, 0.5)], {"peak": 300_000_000}
    )


def test_everything_is_compared_where_the_peer_was_measured() -> None:
    found = {name: values[0] for name, values in compared_ratios(measured(peer=1.0).compared).items()}
    assert [round(value, 3) for value in found.values()] == [0.25, 0.091, 0.5, 0.545, 1.1]
    assert list(compared_ratios(measured(peer=0.0).compared)) == [
        "full indexing / embedding the same texts alone"
    ]


def test_the_report_has_a_page_s_cost() -> None:
    assert "| 1 | 20 | 0.50 | 1.00 | 1.50 | 2.00 | 50.0 | 100.0 | 0.25 | 0.50 |" in report(measured(peer=1.0))
    assert "| 1 | 20 | 0.50 | 1.00 | 1.50 | – | 50.0 | – | – | – |" in report(measured(peer=0.0))
    assert report(measured(peer=0.0)).startswith("2 cores (of some kind); times in seconds")


def test_the_machine_is_told_with_its_cores() -> None:
    assert re.fullmatch(r"\d+ cores \(.+\), \d+ GB, Python 3\.11\.\d+", machine())


def test_the_plot_has_only_what_was_measured() -> None:
    assert "PyPDFLoader" in draw(measured(peer=1.0))
    assert "PyPDFLoader" not in draw(measured(peer=0.0))


@pytest.mark.parametrize(
    ("count", "chosen"), [(1, [3]), (2, [0, 6]), (3, [0, 3, 6]), (7, list(range(7))), (9, list(range(7)))]
)
def test_documents_are_spread_over_their_sizes(count: int, chosen: list[int]) -> None:
    paths = [Path(str(number)) for number in range(7)]
    assert spread_over(paths, count) == [paths[number] for number in chosen]


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


@pytest.mark.parametrize(
    ("category", "seen", "outcome"),
    [
        ("broken", UNREADABLE, FAILED),
        ("broken", UNREADABLE, added()),
        ("control", ONE_PAGE, added()),
        ("damaged", UNREADABLE, FAILED),
        ("damaged", ONE_PAGE, added()),
        ("damaged", NO_TEXT, added(chunks=0)),
        ("damaged", NO_TEXT + " pageerr=x", added(chunks=0, failed=1)),
        ("empty", NO_TEXT, added(chunks=0, warning="No text was found on any page.")),
        ("encrypted-open", ONE_PAGE, added()),
        ("encrypted-password", UNREADABLE, added(chunks=0)),
        ("garbage-text", ONE_PAGE, added(ocr_pages=1)),
        ("gov-error", ONE_PAGE, added()),
        ("huge", NO_TEXT, FAILED),
        ("layout", ONE_PAGE, added(found=0.6)),
        ("mixed", "ok pages=1 chars8=4000", added()),
        ("mixed", "ok pages=6 chars8=110", added(pages=6, ocr_pages=3)),
        ("mixed", "ok pages=1 chars8=6", added()),
        ("scan", NO_TEXT, added(ocr_pages=1)),
        ("scan", "ok pages=2 chars8=14", added(pages=2)),
        ("script", ONE_PAGE, added()),
        ("never heard of", "", added()),
    ],
)
def test_what_a_category_may_become(category: str, seen: str, outcome: Outcome) -> None:
    assert judge(Row("a.pdf", category, pdfium=seen), outcome) == ""


@pytest.mark.parametrize(
    ("category", "seen", "outcome", "reason"),
    [
        ("broken", UNREADABLE, Outcome("missing"), "no line"),
        ("broken", UNREADABLE, Outcome("failed", ""), "not one line"),
        ("broken", UNREADABLE, Outcome("failed", "a\nb"), "not one line"),
        ("broken", UNREADABLE, Outcome("unchanged"), "unchanged"),
        ("control", ONE_PAGE, FAILED, "was failed"),
        ("damaged", ONE_PAGE, FAILED, "was failed"),
        ("damaged", ONE_PAGE, added(chunks=0), "no text"),
        ("damaged", NO_TEXT + " pageerr=x", added(chunks=0), "not named"),
        ("empty", NO_TEXT, added(chunks=0), "no warning"),
        ("empty", NO_TEXT, added(warning="x"), "out of nothing"),
        ("encrypted-open", ONE_PAGE, added(chunks=0), "no text"),
        ("encrypted-password", UNREADABLE, FAILED, "was failed"),
        ("garbage-text", ONE_PAGE, added(), "OCR"),
        ("gov-error", "ok pages=3 chars8=9000", added(pages=2), "2 pages instead of 3"),
        ("huge", NO_TEXT, added(seconds=61.0), "took 61 s"),
        ("layout", ONE_PAGE, added(found=0.4), "40%"),
        ("mixed", "ok pages=1 chars8=4000", added(ocr_pages=1), "was not used"),
        ("mixed", "ok pages=6 chars8=110", added(pages=6), "OCR"),
        ("scan", NO_TEXT, added(), "OCR"),
        ("scan", NO_TEXT, added(chunks=0), "no text"),
        ("script", "ok pages=4 chars8=80", added(pages=1), "instead of 4"),
        ("never heard of", "", Outcome("missing"), "no line"),
    ],
)
def test_what_a_category_may_not_become(category: str, seen: str, outcome: Outcome, reason: str) -> None:
    assert reason in judge(Row("a.pdf", category, pdfium=seen), outcome)


def test_either_library_may_be_right_about_the_pages() -> None:
    row = Row("a.pdf", "layout", pypdf="ok pages=2 chars8=40", pdfium="ok pages=3 chars8=40")
    assert not judge(row, added(pages=2))
    assert not judge(row, added(pages=3))
    assert judge(row, added(pages=4)) == "4 pages instead of 2 or 3"


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome("failed", "The PDF needs a password. Give it with --passwords."), ""),
        (FAILED, "does not speak of a password"),
        (Outcome("failed", "The file is damaged or needs a password."), "called damaged"),
        (added(), "it was added"),
    ],
)
def test_a_protected_file_asks_for_its_password(outcome: Outcome, reason: str) -> None:
    found = judge_refusal(outcome)
    assert reason in found if reason else not found


@pytest.mark.parametrize(
    ("code", "outcomes", "errors", "peak", "reason"),
    [
        (0, [added()], "", 0, ""),
        (1, [added(), FAILED], "", 0, ""),
        (0, [added(), FAILED], "", 0, "exit code 0 instead of 1"),
        (-9, [added()], "", 0, "exit code -9"),
        (1, [FAILED], "Traceback (most recent call last):\nValueError: x", 0, "ValueError: x"),
        (0, [added()], "", MOST_BYTES + 1, "1.50 GB"),
    ],
)
def test_a_process_ends_as_its_files_did(
    code: int, outcomes: list[Outcome], errors: str, peak: int, reason: str
) -> None:
    found = judge_batch(code, outcomes, errors, peak)
    assert reason in found if reason else not found


def test_each_file_has_exactly_one_line() -> None:
    line = {
        "status": "added",
        "error": None,
        "pages": 2,
        "chunks": 3,
        "ocr_pages": 1,
        "failed_pages": [{"page": 1, "reason": "x"}],
        "seconds": 0.5,
    }
    output = "".join(
        json.dumps({"document": name, **line}) + "\n" for name in ("one.pdf", "two.pdf", "two.pdf")
    )
    assert read_outcomes(output, ["one.pdf", "two.pdf", "three.pdf"]) == [
        Outcome("added", "", "", 2, 3, 1, 1, 0.5),
        Outcome("missing"),
        Outcome("missing"),
    ]


def test_a_table_is_read_by_its_head_line(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text('path\tcategory\texpected\tpassword\na/x.pdf\tscan\t"say ""x"" twice"\tsecret\n', "utf-8")
    assert read_table(path) == [Row("a/x.pdf", "scan", password="secret")]


def test_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    links = link_files([Row("a/x.pdf", "scan"), Row("b/x.pdf", "scan")], tmp_path, tmp_path / "files")
    assert len({link.name for link in links}) == 2
    assert [link.readlink() for link in links] == [tmp_path / "a" / "x.pdf", tmp_path / "b" / "x.pdf"]


def test_the_longest_words_are_searched_for() -> None:
    assert truth_words("A b, Comptroller of 12345 Revenue; revenue and ledger books of account") == [
        "comptroller",
        "account",
        "revenue",
        "ledger",
        "books",
    ]


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


def test_a_tree_of_processes_is_measured_whole() -> None:
    takes = "held = b'x' * 60_000_000; print('ready', flush=True); input()"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {takes!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout
        with Sampler(process.pid, proportional_bytes) as sampler:
            assert process.stdout.readline() == b"ready\n"
            assert len(process_tree(process.pid)) == 2
            assert 60_000_000 < sampler.now() < 200_000_000
            assert 60_000_000 < high_water_bytes(process_tree(process.pid)) < 100_000_000
        process.stdin.close()
    assert sampler.peak > 60_000_000
    assert proportional_bytes([process.pid]) == 0


def test_what_a_process_computed_is_told() -> None:
    works = "import time\nwhile time.process_time() < 0.5: pass\nprint('done', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", works], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == b"done\n"
        assert 0.45 < processor_seconds([process.pid]) < 1.0
        process.stdin.close()
    assert processor_seconds([process.pid]) == 0.0


def test_made_pdfs_are_the_same_for_a_seed_and_have_the_text_of_real_pages(tmp_path: Path) -> None:
    first, same, other = (
        make_pdf(tmp_path / f"{name}.pdf", 3, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first.read_bytes() == same.read_bytes() != other.read_bytes()
    with pypdfium2.PdfDocument(first) as document:
        lengths = [len(page.get_textpage().get_text_range()) for page in document]
    assert len(lengths) == 3
    assert all(2_000 < length < 3_000 for length in lengths)
