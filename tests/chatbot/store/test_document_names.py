"""Titles in place of names: whose they are, and which are told apart."""

from __future__ import annotations

from chatbot.store.document_names import (
    LONGEST_NAME,
    display_name,
    looks_like,
    told_apart,
    with_names,
    with_titles,
)


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


def test_a_name_that_is_too_long_loses_its_middle() -> None:
    long, other = (f"{'Budget ' * 40}{year}.pdf" for year in (2024, 2025))
    assert len(display_name(long)) == len(display_name(other)) == LONGEST_NAME
    assert display_name(long) != display_name(other)
    assert display_name(long).startswith("Budget Budget")
    assert display_name(long).endswith(".pdf")
    assert display_name(display_name(long)) == display_name(long)


def test_letters_that_look_like_those_beside_them_are_shown() -> None:
    assert display_name("\u0412udget.pdf") == "‹U+0412›udget.pdf"
    assert display_name("Budg\u0435t 2025\u0430.pdf") == "Budg‹U+0435›t 2025\u0430.pdf"
    for name in ("Бюджет.pdf", "Отчёт Q1.pdf", "Προϋπολογισμός.pdf", "Überblick.pdf", "ΔGDP.pdf"):
        assert display_name(name) == name
    for name in ("\u0412udget.pdf", "αGDP.pdf"):
        assert display_name(display_name(name)) == display_name(name)


def test_a_name_that_looks_like_another_names_it() -> None:
    assert looks_like("\u0421\u041e\u0420.pdf", ["Debt.pdf", "COP.pdf"]) == "COP.pdf"
    assert looks_like("COP.pdf", ["\u0421\u041e\u0420.pdf"]) == "\u0421\u041e\u0420.pdf"
    assert not looks_like("COP.pdf", ["cop.pdf", "COP.pdf", "Debt.pdf"])
