"""Documents with words that nobody sees, and with words beside their text: what is answered and told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import Text
from reportlab.pdfgen.canvas import Canvas

from chatbot.asking.question import Ask
from chatbot.records import Answer
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import AddResult, Upload
from chatbot.ui.page_report import facts_html, pages_html
from tests.pdfs import make_pdf
from tests.stores import hashing

RULES = "Borrowing Rules 2024"
OLD = "The borrowing limit is 80 million euros."
NEW = "The borrowing limit is 65 million euros."
QUESTION = "What is the borrowing limit?"


def hide_by_colour(canvas: Canvas) -> None:
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(60, 700, OLD)
    canvas.setFillColorRGB(0, 0, 0)


def hide_by_a_box(canvas: Canvas) -> None:
    canvas.drawString(60, 700, OLD)
    canvas.rect(55, 697, 300, 14, stroke=0, fill=1)


def strike(canvas: Canvas) -> None:
    canvas.drawString(60, 700, OLD)
    canvas.line(60, 704, 60 + canvas.stringWidth(OLD, "Helvetica", 11), 704)


def leave_out(canvas: Canvas) -> None:
    canvas.drawString(60, 900, OLD)


def written(path: Path, hide: Callable[[Canvas], None], new: str = NEW) -> Path:
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=1)
    canvas.setFont("Helvetica-Bold", 14)
    canvas.drawString(60, 780, RULES)
    canvas.setFont("Helvetica", 11)
    hide(canvas)
    canvas.drawString(60, 670, new)
    canvas.save()
    return path


def added(home: Path, path: Path) -> tuple[Chatbot, AddResult]:
    chatbot = Chatbot(Settings(home=home), embedder=hashing())
    (result,) = chatbot.add([Upload(path)])
    return chatbot, result


def ask(chatbot: Chatbot, question: str = QUESTION) -> Answer:
    *_, answer = chatbot.ask(Ask(question))
    assert isinstance(answer, Answer)
    return answer


@pytest.mark.parametrize("hide", [hide_by_colour, hide_by_a_box, strike, leave_out])
def test_what_nobody_sees_is_neither_answered_nor_found(
    tmp_path: Path, hide: Callable[[Canvas], None]
) -> None:
    chatbot, result = added(tmp_path / "home", written(tmp_path / "Rules.pdf", hide))
    with chatbot:
        answer = ask(chatbot)
        assert "65 million" in answer.text
        assert "80" not in answer.text
        assert all("80" not in hit.text for hit in chatbot.search("80 million euros"))
        (page,) = chatbot.report("Rules.pdf")
        (remark,) = page.remarks
        assert remark.startswith("7 words ")
        assert OLD in remark
        assert result.warning == f"Not read: page 1, {remark}"
        assert "omitted: 7 words" in pages_html([page])
        assert "<dt>Omitted</dt>" in facts_html([page])
        formula = replace(page, remarks=("the formula of B2 = B1+1, shown as 4",))
        assert "the formula of B2" in pages_html([formula])
        assert "mitted" not in pages_html([formula]) + facts_html([formula])


def test_values_of_fields_are_answers_that_are_marked_on_their_page(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "Form.pdf"), pagesize=(595, 842), invariant=1)
    canvas.drawString(60, 780, "Annual declaration of investment limits, filled in by the Treasurer.")
    canvas.drawString(60, 700, "Authorised counterparty limit (EUR):")
    canvas.acroForm.textfield(name="t", value="4,750,000", x=300, y=695, width=200, height=18)
    canvas.save()
    chatbot, result = added(tmp_path / "home", tmp_path / "Form.pdf")
    with chatbot:
        answer = ask(chatbot, "What is the authorised counterparty limit?")
        assert "[field] Authorised counterparty limit (EUR): 4,750,000." in answer.text
        (citation,) = answer.citations
        assert citation.verified
        (version,) = chatbot.library.scope(["Form.pdf"])
        _, places = chatbot.page_image(version, 1, citation.quote)
        assert [round(place.x0 * 595) for place in places] == [300]
        assert result.warning is None


def test_notes_are_answers(tmp_path: Path) -> None:
    path = make_pdf(
        tmp_path / "Travel.pdf", ["Travel Expense Policy\nMeals are paid on receipt by the cashier."]
    )
    writer = PdfWriter(clone_from=PdfReader(path))
    writer.add_annotation(0, Text(text="The daily meal allowance is 52 euros.", rect=(500, 740, 520, 760)))
    writer.write(path)
    chatbot, _ = added(tmp_path / "home", path)
    with chatbot:
        answer = ask(chatbot, "What is the daily meal allowance?")
        assert "[note] The daily meal allowance is 52 euros." in answer.text


def test_a_note_is_told_after_what_it_is_about(tmp_path: Path) -> None:
    path = make_pdf(
        tmp_path / "Travel.pdf",
        [
            """Travel Expense Policy
The daily meal allowance is 45 euros for domestic travel. The Board reviews this policy once a year.
Officers must keep records of every approval for seven years."""
        ],
    )
    writer = PdfWriter(clone_from=PdfReader(path))
    for text in ("Amended in July: the daily meal allowance is now 52 euros.", "Filed by the clerk."):
        writer.add_annotation(0, Text(text=text, rect=(500, 740, 520, 760)))
    writer.write(path)
    chatbot, _ = added(tmp_path / "home", path)
    with chatbot:
        answer = ask(chatbot, "What is the daily meal allowance?")
        first, second = answer.text.split(" [S1]")[:2]
        assert first == "The daily meal allowance is 45 euros for domestic travel."
        assert second == " [note] Amended in July: the daily meal allowance is now 52 euros."
        assert answer.text.count("Amended") == 1
        assert all(citation.verified for citation in answer.citations)


def test_attached_files_are_told(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "Folder.pdf", ["This folder holds the annexes to the reserve policy."])
    writer = PdfWriter(clone_from=PdfReader(path))
    for letter in "BCDEFGH":
        writer.add_attachment(f"Annex {letter}.bin", b"%PDF")
    writer.write(path)
    chatbot, result = added(tmp_path / "home", path)
    with chatbot:
        remarks = chatbot.report("Folder.pdf")[0].remarks
        assert remarks == tuple(f"the attached file “Annex {letter}.bin”" for letter in "BCDEFGH")
        said = "; ".join(f"page 1, {remark}" for remark in remarks[:5])
        assert result.warning == f"Not read: {said}; and 2 more, which GET /api/v1/documents/ID/report lists"
