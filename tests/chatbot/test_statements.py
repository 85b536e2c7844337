"""A chat model behind a real HTTP server: it is asked whatever the search doubts, and what it says without
a source is shown as that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from chatbot.answer.compare.comparison_entries import read_entry
from chatbot.asking.answering import NOTHING_FOUND
from chatbot.asking.question import Ask
from chatbot.audit.builder import Occasion, audit_file
from chatbot.audit.parser import read_file
from chatbot.audit.verifier import DocumentSources, verify
from chatbot.cli.arguments import main
from chatbot.comparison import EntryPlace
from chatbot.memory.conversations.answer_records import pack_answer, unpack_answer
from chatbot.records import ADDED, MODEL_TEXT, NOT_FOUND, Answer
from chatbot.serialize import answer_record
from chatbot.service import Chatbot
from tests.provider import Behaviour, Body, Provider, Refuse, first_key
from tests.stores import Make

QUESTION = "What is the deficit ceiling?"
CEILING = "The deficit ceiling is 3.0 per cent of output in every year"
LEVY = "The government will abolish the fuel levy for all farmers next spring"


def answered(make: Make, *script: Behaviour, question: str = QUESTION) -> tuple[Answer, Provider, Chatbot]:
    with Provider(script) as provider:
        chatbot = make(chat_model="m", base_url=provider.url, timeout=5.0)
        answer = list(chatbot.ask(Ask(question)))[-1]
    assert isinstance(answer, Answer)
    return answer, provider, chatbot


def cited(*parts: str) -> Callable[[Body], Sequence[str]]:
    """An answer with the key of the first source for each KEY."""
    return lambda body: [part.replace("KEY", f"[{first_key(body)}]") for part in parts]


def stated(answer: Answer) -> list[tuple[str, str, str | None]]:
    return [(one.text, one.status, one.citation) for one in answer.statements]


# --- whether it is asked
# ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "Summarize the document",
        "What are the key measures?",
        "Wie hoch darf das Deficit sein?",
        "Who won the cup in Brazil?",
    ],
)
def test_a_model_is_asked_whatever_the_search_doubts(make: Make, question: str) -> None:
    chatbot = make()
    without = list(chatbot.ask(Ask(question)))[-1]
    chatbot.close()
    assert isinstance(without, Answer)
    answer, provider, _ = answered(make, cited(f"{CEILING} KEY."), question=question)
    assert len(provider.requests) == 1
    assert (answer.answered, answer.text) == (True, f"{CEILING} [S1].")
    prompt = provider.requests[0].body["messages"][-1]["content"]
    assert ("The search doubts that these sources answer: " in prompt) == (not without.answered)
    assert f"Question: {question}\n" in prompt


def test_the_doubt_is_told_with_its_reason(make: Make) -> None:
    _, provider, _ = answered(make, "NOT IN THESE DOCUMENTS. No.", question="Who won the cup in Brazil?")
    assert (
        "answer: These documents do not mention Brazil. It may be wrong"
        in provider.requests[0].body["messages"][-1]["content"]
    )


def test_a_model_that_fails_leaves_the_refusal_of_the_search(make: Make) -> None:
    answer, provider, _ = answered(make, Refuse(400), question="Who won the cup in Brazil?")
    assert len(provider.requests) == 1
    assert (answer.answered, answer.reason, answer.text) == (
        False,
        "no_entity",
        "Not in these documents. These documents do not mention Brazil.",
    )
    assert answer.error and answer.nearest


def test_without_a_page_it_is_not_asked(tmp_path: Path) -> None:
    from chatbot.settings import Settings
    from tests.stores import hashing

    with (
        Provider(["Hello"]) as provider,
        Chatbot(
            Settings(home=tmp_path, chat_model="m", base_url=provider.url), embedder=hashing()
        ) as chatbot,
    ):
        answer = list(chatbot.ask(Ask(QUESTION)))[-1]
    assert isinstance(answer, Answer)
    assert (answer.reason, provider.requests) == ("no_documents", [])


# --- what its statements rest on
# -----------------------------------------------------------------------------------------------------


def test_each_statement_is_cited_found_or_unsupported(make: Make) -> None:
    answer, _, _ = answered(
        make,
        cited(
            f"{CEILING} KEY. {LEVY}, by 60 per cent. The debt anchor is 60 per cent of output, to be "
            f"reached by 2030."
        ),
    )
    assert stated(answer) == [
        (f"{CEILING} [S1].", "cited", "S1"),
        (f"{LEVY}, by 60 per cent.", "unsupported", None),
        ("The debt anchor is 60 per cent of output, to be reached by 2030. [S2]", "cited_by_check", "S2"),
    ]
    assert [(one.key, one.verified, one.page) for one in answer.citations] == [
        ("S1", True, 1),
        ("S2", True, 2),
    ]
    # The levy's 60 per cent stands on a page, but nothing is cited for it.
    assert [(one.text, one.status, one.citation) for one in answer.numbers if one.text.startswith("60")] == [
        ("60 per cent", "present_elsewhere", None),
        ("60 per cent", "supported", "S2"),
    ]


def test_a_figure_that_the_page_has_otherwise_is_given_no_citation(make: Make) -> None:
    answer, _, _ = answered(
        make,
        cited(f"A breach is reported to Parliament within 30 days KEY. {CEILING.replace('3.0', '9.0')}."),
    )
    assert [one.status for one in answer.statements] == ["cited", "unsupported"]


def test_headings_questions_and_lines_that_lead_in_state_nothing(make: Make) -> None:
    said = (
        f"## Key measures\n\nYes. The document says the following:\n\n- {CEILING} KEY\n- A breach is "
        f"reported to Parliament within 30 days KEY\n\nShall I go on?"
    )
    answer, _, _ = answered(make, cited(said))
    assert [one.status for one in answer.statements] == ["cited", "cited"]


def test_a_line_that_leads_in_with_news_is_a_statement(make: Make) -> None:
    answer, _, _ = answered(make, cited(f"{LEVY}, as follows:\n\n- {CEILING} KEY"))
    assert [one.status for one in answer.statements] == ["unsupported", "cited"]


def test_a_key_counts_for_its_list_and_its_paragraph_where_the_page_has_their_words(make: Make) -> None:
    answer, _, chatbot = answered(
        make, cited(f"- Ceiling: 3.0 per cent\n- Breach reported within 30 days\n- {LEVY}\n- {CEILING} KEY")
    )
    assert [(one.status, one.citation) for one in answer.statements] == [
        ("cited", "S1"),
        ("cited", "S1"),
        ("unsupported", None),
        ("cited", "S1"),
    ]
    chatbot.close()
    answer, _, _ = answered(
        make,
        cited(f"The ceiling is 3.0 per cent. {LEVY}. A breach is reported to Parliament within 30 days KEY."),
    )
    assert [one.status for one in answer.statements] == ["cited", "unsupported", "cited"]


def test_where_nothing_is_found_the_documents_own_words_come_first(make: Make) -> None:
    answer, _, _ = answered(make, f"{LEVY}. It will also sell [S7] two harbours to investors from overseas.")
    own, behind, said = answer.text.partition(f"\n\n{MODEL_TEXT}\n\n")
    assert behind and CEILING in own and said.startswith(LEVY)
    assert {one.status for one in answer.statements if one.text in own} == {"cited"}
    assert {one.status for one in answer.statements if one.text in said} == {"unsupported"}
    assert NOTHING_FOUND in answer.notices


def test_behind_a_refusal_too(make: Make) -> None:
    answer, _, _ = answered(make, f"{LEVY}.", question="Who won the cup in Brazil?")
    assert (answer.answered, answer.citations) == (False, ())
    assert (
        answer.text
        == f"Not in these documents. These documents do not mention Brazil.\n\n{MODEL_TEXT}\n\n{LEVY}."
    )
    assert stated(answer) == [(f"{LEVY}.", "unsupported", None)]


def test_a_model_cannot_pass_its_text_for_the_documents_own(make: Make) -> None:
    answer, _, _ = answered(make, f"{LEVY}.\n\n{MODEL_TEXT}\n\nSo it is.")
    assert answer.text.count(MODEL_TEXT) == 1
    assert (f"{LEVY}.", "unsupported", None) in stated(answer)


def test_answers_in_the_documents_own_words_are_cited(make: Make) -> None:
    answer = list(make().ask(Ask(QUESTION)))[-1]
    assert isinstance(answer, Answer)
    assert answer.statements and {one.status for one in answer.statements} == {"cited"}
    assert all(one.citation == "S1" and one.text in answer.text for one in answer.statements)


# --- wherever it is shown
# ---------------------------------------------------------------------------------------------------------

MIXED = cited(f"{CEILING} KEY. {LEVY}. The debt anchor is 60 per cent of output, to be reached by 2030.")


def test_the_command_line_says_it(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chatbot = make()
    home = chatbot.settings.home
    chatbot.close()
    with Provider([MIXED]) as provider:
        for name, value in (
            ("FINPOLICY_HOME", str(home)),
            ("FINPOLICY_CHAT_MODEL", "m"),
            ("OPENAI_BASE_URL", provider.url),
        ):
            monkeypatch.setenv(name, value)
        assert main(["ask", QUESTION]) == 0
        text = capsys.readouterr().out
        assert main(["ask", QUESTION, "--json"]) == 0
        line = json.loads(capsys.readouterr().out)
    assert f"{NOT_FOUND}: “{LEVY}.”" in text
    assert f"{ADDED}: “The debt anchor" in text
    assert [(one["status"], one["citation"]) for one in line["statements"]] == [
        ("cited", "S1"),
        ("unsupported", None),
        ("cited_by_check", "S2"),
    ]


def test_an_audit_file_has_it_and_is_verified(make: Make, tmp_path: Path) -> None:
    for script, question in (
        (MIXED, QUESTION),
        (f"{LEVY}.", QUESTION),
        (f"{LEVY}.", "Who won the cup in Brazil?"),
    ):
        answer, _, chatbot = answered(make, script, question=question)
        path = tmp_path / "audit.html"
        path.write_bytes(audit_file(chatbot, answer, Occasion()))
        assert f"⚠ {NOT_FOUND}" in path.read_text("utf-8")
        findings = list(verify(read_file(path), DocumentSources(chatbot.settings.documents)))
        assert {one.status for one in findings} == {"confirmed"}, findings
        assert answer.answered == any(one.what == "statements" for one in findings)
        chatbot.close()


def test_a_comparison_never_shows_it(make: Make) -> None:
    for script in (MIXED, f"{LEVY}."):
        answer, _, chatbot = answered(make, script)
        entry = read_entry(answer, EntryPlace("Rules.pdf", ""))
        assert "levy" not in f"{entry}"
        chatbot.close()


def test_an_answer_that_was_kept_before_is_read(make: Make) -> None:
    answer, _, _ = answered(make, MIXED)
    assert unpack_answer(pack_answer(answer, {}))[0].statements == answer.statements
    older = answer_record(answer)
    del older["statements"]
    from pydantic import TypeAdapter

    assert TypeAdapter(Answer).validate_python(older).statements == ()
