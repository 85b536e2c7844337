"""Mail: its head and text are pages, and what came with it can be had."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from ingestion.document import read_document
from ingestion.errors import DocumentError
from ingestion.reading.reader import Reader, made_pdf


def mail(subject: str, text: str = "", html: str = "") -> EmailMessage:
    found = EmailMessage()
    found["From"], found["Date"], found["Subject"] = (
        "t@example.org",
        "Mon, 01 Dec 2025 10:00:00 +0000",
        subject,
    )
    if text:
        found.set_content(text)
    if html:
        add = found.add_alternative if text else found.set_content
        add(html, subtype="html")
    return found


def kept(path: Path, message: EmailMessage) -> Path:
    path.write_bytes(message.as_bytes())
    return path


def test_the_head_and_the_plain_text_are_read(tmp_path: Path) -> None:
    path = kept(tmp_path / "a.eml", mail("Ceilings – 2025", "The ceiling is 3 per cent.", "<p>other</p>"))
    reading = read_document(path)
    (page,) = reading.pages
    assert reading.info.title == "Ceilings – 2025"
    assert "From: t@example.org\n" in page.text
    assert page.text.endswith("The ceiling is 3 per cent.")


def test_mail_of_html_alone_is_read_as_text(tmp_path: Path) -> None:
    html = (
        "<style>p {}</style><p>The ceiling<br>is 3&nbsp;per cent.</p><script>x()</script>"
        "<img src=http://127.0.0.1>"
    )
    (page,) = read_document(kept(tmp_path / "a.eml", mail("a", html=html))).pages
    assert page.text.endswith("The ceiling\nis 3 per cent.")


def test_what_came_with_it_can_be_had(tmp_path: Path) -> None:
    message, inner = mail("a", "See the annex."), mail("inner", "Forwarded.")
    message.add_attachment("Revenue is 12.", filename="note.txt")
    message.add_attachment(b"GIF89a", maintype="image", subtype="gif", filename="logo.gif")
    message.add_attachment(inner)
    parts = mail("several")
    parts.make_mixed()
    parts.add_attachment("One of several.", filename="part.txt")
    message.attach(parts)
    path = kept(tmp_path / "a.eml", message)
    with made_pdf(path, "a.eml") as made:
        (page,) = read_document(made).pages
        assert "the attached file “logo.gif”" in page.remarks
        with Reader(made) as reader:
            found = {name: file.read_bytes() for name, file in reader.attached([1])}
    assert found["note.txt"].strip() == b"Revenue is 12."
    assert b"Forwarded." in found["attachment 3.eml"]
    assert b"One of several." in found["attachment 4.eml"]
    assert found.keys() == {"note.txt", "attachment 3.eml", "attachment 4.eml"}


def test_broken_mail_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    for data in (b"\n\nno head", b"Subject: a\nContent-Type: text/plain; charset=nope\n\n\xff", b"\0" * 99):
        path.write_bytes(data)
        with pytest.raises(DocumentError, match="a mail that can be read"):
            read_document(path)


def test_that_files_are_left_of_too_many_is_said(tmp_path: Path) -> None:
    message = mail("a", "Pay 3 crowns.")
    for number in range(60):
        message.add_attachment("x", filename=f"{number}.txt")
    (page,) = read_document(kept(tmp_path / "a.eml", message)).pages
    assert "the attached files behind the first 50" in page.remarks


@pytest.mark.parametrize("name", ["Übersicht – März.txt", "Отчёт.txt", "財政.txt", "plain.txt"])
def test_names_of_files_keep_their_letters(tmp_path: Path, name: str) -> None:
    message = mail("a", "See the annex.")
    message.add_attachment("x", filename=name)
    (page,) = read_document(kept(tmp_path / "a.eml", message)).pages
    assert page.remarks == (f"the attached file “{name}”, which is a document of its own",)


def test_heads_of_megabytes_are_read_within_the_time_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    people = b'"x" <a@b.example>, ' * 80_000
    words = b"=?utf-8?q?=41?= " * 60_000
    path.write_bytes(b"From: " + people + b"\nSubject: " + words + b"\nX-Other: " + people + b"\n\nSeen.\n")
    (page,) = read_document(path).pages
    assert page.text.startswith("From: x <a@b.example>") and page.text.endswith("Seen.")


def test_words_that_the_html_of_mail_hides_are_left_out_and_said(tmp_path: Path) -> None:
    message = mail("a", html="<p style='display:none'>Pay 9 crowns</p><p>Pay 3 crowns</p>")
    (page,) = read_document(kept(tmp_path / "a.eml", message)).pages
    assert "Pay 3 crowns" in page.text
    assert "Pay 9" not in page.text
    assert "3 words that the web page hides: “Pay 9 crowns”" in page.remarks
