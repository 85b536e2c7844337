"""Titles in place of names: whose they are, and which are told apart."""

from __future__ import annotations

from chatbot.store.document_names import told_apart, with_names, with_titles


def test_no_title_stands_in_for_another_documents_name_or_for_any_document() -> None:
    titles = {
        "Norland budget 2024.pdf": "Norland fiscal outlook 2024",
        "evil.pdf": "Norland budget 2024",
        "other.pdf": "The document",
    }
    for request in (
        "Summarize Norland budget 2024.pdf",
        "Summarise norland budget 2024",
        "Summarize the document",
    ):
        assert with_names(request, titles) == request
    assert with_names("Summarise the Norland fiscal outlook 2024", titles) == (
        "Summarise the Norland budget 2024.pdf"
    )


def test_titles_that_differ_in_an_apostrophe_are_told_apart() -> None:
    titles = {"a.pdf": "People's budget", "b.pdf": "People’s budget"}
    shown = told_apart(titles, {"a.pdf": "2024", "b.pdf": "2025"})
    assert shown == {"a.pdf": "People's budget 2024", "b.pdf": "People’s budget 2025"}


def test_names_in_a_text_become_titles() -> None:
    titles = {"a.pdf": "The budget of b.pdf", "b.pdf": "Rules", "ba.pdf": "Audit"}
    text = with_titles("ba.pdf follows a.pdf and b.pdf.", titles)
    assert text == "Audit follows The budget of b.pdf and Rules."
    assert with_titles("Nothing is named.", titles) == "Nothing is named."
