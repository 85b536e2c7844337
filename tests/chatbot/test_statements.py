"""A chat model behind a real HTTP server: it is asked whatever the search doubts, and what it says without
a source is shown as that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from chatbot.answer.compare.comparison_entries import read_entry
from chatbot.asking.question import Ask
from chatbot.audit.builder import Occasion, audit_file
from chatbot.audit.record import read_file
from chatbot.audit.verifier import DocumentSources, verify
from chatbot.cli.arguments import main
from chatbot.comparison import EntryPlace
from chatbot.memory.conversations.answer_records import pack_answer, unpack_answer
from chatbot.records import Answer
from chatbot.serialize import answer_record
from chatbot.service import Chatbot
from tests.case_rows import case_lines
from tests.provider import Behaviour, Body, Provider, Refuse, first_key
from tests.stores import Make

QUESTION = "What is the deficit ceiling?"
CEILING = "The deficit ceiling is 3.0 per cent of output in every year"
LEVY = "The government will abolish the fuel levy for all farmers next spring"
ABROAD = "Who won the cup in Brazil?"
NO_BRAZIL = "Not in these documents. These documents do not mention Brazil."
ANCHOR = "The debt anchor is 60 per cent of output, to be reached by 2030."


def ask(chatbot: Chatbot, question: str = QUESTION) -> Answer:
    *_, answer = chatbot.ask(Ask(question))
    assert isinstance(answer, Answer)
    return answer


def answered(make: Make, *script: Behaviour, question: str = QUESTION) -> tuple[Answer, Provider, Chatbot]:
    with Provider(script) as provider:
        chatbot = make(chat_model="m", base_url=provider.url, timeout=5.0)
        answer = ask(chatbot, question)
    return answer, provider, chatbot


def cited(*parts: str) -> Callable[[Body], Sequence[str]]:
    """An answer with the key of the first source for each KEY."""
    return lambda body: [part.replace("KEY", f"[{first_key(body)}]") for part in parts]


def stated(answer: Answer) -> list[tuple[str, str, str | None]]:
    return [(one.text, one.status, one.citation) for one in answer.statements]


def answer_of(make: Make, *script: Behaviour, question: str = QUESTION) -> Answer:
    answer, _, _ = answered(make, *script, question=question)
    return answer


def prompt_of(provider: Provider) -> str:
    """The last message of the only request."""
    (request,) = provider.requests
    prompt: str = request.body["messages"][-1]["content"]
    return prompt


def statuses(answer: Answer) -> list[str]:
    return [one.status for one in answer.statements]


ASKED = """
Summarize the document
What are the key measures?
Wie hoch darf das Deficit sein?
Who won the cup in Brazil?
"""


@pytest.mark.parametrize("question", case_lines(ASKED))
def test_a_model_is_asked_whatever_the_search_doubts(make: Make, question: str) -> None:
    chatbot = make()
    without = ask(chatbot, question)
    chatbot.close()
    answer, provider, _ = answered(make, cited(f"{CEILING} KEY."), question=question)
    assert answer.answered
    assert answer.text == f"{CEILING} [S1]."
    prompt = prompt_of(provider)
    doubts = "The search doubts that these sources answer: " in prompt
    assert doubts == (not without.answered)
    assert f"Question: {question}\n" in prompt


def test_the_doubt_is_told_with_its_reason(make: Make) -> None:
    _, provider, _ = answered(make, "NOT IN THESE DOCUMENTS. No.", question=ABROAD)
    assert "answer: These documents do not mention Brazil. It may be wrong" in prompt_of(provider)


def test_a_model_that_fails_leaves_the_refusal_of_the_search(make: Make) -> None:
    answer, provider, _ = answered(make, Refuse(400), question=ABROAD)
    assert ["tools" in one.body for one in provider.requests] == [True, False], "they may be what it refuses"
    assert not answer.answered
    assert answer.reason == "no_entity"
    assert answer.text == NO_BRAZIL
    assert answer.error
    assert answer.nearest


def test_what_a_failing_model_was_sent_is_kept(make: Make) -> None:
    answer, provider, _ = answered(make, Refuse(400))
    assert answer.answered and answer.instead
    assert answer.prompt is not None
    request = provider.requests[-1]
    sent = [(message["role"], message["content"]) for message in request.body["messages"]]
    assert [*answer.prompt.messages] == sent


def test_words_of_a_page_are_marked_and_a_figure_of_none_is_doubted(make: Make) -> None:
    answer = answer_of(make, cited(f"{CEILING} KEY. {LEVY}, by 47 per cent. {ANCHOR}"))
    ceiling, levy, anchor = stated(answer)
    assert ceiling == (f"{CEILING} [S1].", "cited", "S1")
    assert levy == (f"{LEVY}, by 47 per cent.", "unsupported", None)
    assert anchor == (f"{ANCHOR} [S2]", "cited_by_check", "S2")
    assert [one.mark for one in answer.statements] == ["quoted", "not_found", "quoted"]
    assert [(one.key, one.page, one.verified) for one in answer.citations] == [
        ("S1", 1, True),
        ("S2", 2, True),
    ]
    statuses = {one.text: one.status for one in answer.numbers}
    assert statuses["47 per cent"] == "unsupported" and statuses["60 per cent"] == "supported"
    assert answer.unread == 0


def test_what_only_a_reader_can_judge_has_no_mark(make: Make) -> None:
    answer = answer_of(make, cited(f"{LEVY} KEY. The ceiling was lowered to 3.0 per cent KEY."))
    assert [one.mark for one in answer.statements] == ["", ""]
    assert answer.unread == 2
    assert [one.verdict for one in answer.citations] == ["not checked", "not checked"]
    assert {one.status for one in answer.numbers} == {"not_checked"}


MIXED = cited(f"{CEILING} KEY. {LEVY}. {ANCHOR}")


def test_the_command_line_says_it(
    make: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chatbot = make()
    chatbot.close()
    with Provider([MIXED]) as provider:
        monkeypatch.setenv("FINPOLICY_HOME", str(chatbot.settings.home))
        monkeypatch.setenv("FINPOLICY_CHAT_MODEL", "m")
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        assert main(["ask", QUESTION]) == 0
        text = capsys.readouterr().out
        assert main(["ask", QUESTION, "--json"]) == 0
        line = json.loads(capsys.readouterr().out)
    assert "Of 3 statements: 2 “ ” word for word." in text
    assert "Nobody compared 1 statement with the pages. m was too slow in its test" in text
    ceiling, levy, anchor = line["statements"]
    assert (ceiling["status"], ceiling["citation"]) == ("cited", "S1")
    assert (levy["status"], levy["mark"], levy["verdict"]) == ("not_checked", "", "not_checked")
    assert (line["not_checked"], line["fit"]) == (1, None)
    assert (anchor["status"], anchor["citation"]) == ("cited_by_check", "S2")


def test_an_audit_file_has_it_and_is_verified(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "audit.html"
    for script, question in ((MIXED, QUESTION), (f"{LEVY}.", QUESTION), (f"{LEVY}.", ABROAD)):
        answer, _, chatbot = answered(make, script, question=question)
        path.write_bytes(audit_file(chatbot, answer, Occasion()))
        assert '<td dir="auto">not compared with the pages</td>' in path.read_text("utf-8")
        documents = DocumentSources(chatbot.settings.documents)
        findings = list(verify(read_file(path), documents))
        assert {one.status for one in findings} == {"confirmed"}, findings
        assert any(one.what == "statements" for one in findings)
        chatbot.close()


def test_a_comparison_never_shows_what_is_doubted(make: Make) -> None:
    answer, _, chatbot = answered(make, cited(f"{CEILING} KEY. {LEVY}, by 47 per cent KEY."))
    entry = read_entry(answer, EntryPlace("Rules.pdf", ""))
    assert "levy" not in f"{entry}"
    chatbot.close()


def test_an_answer_that_was_kept_before_is_read(make: Make) -> None:
    answer = answer_of(make, MIXED)
    kept, *_ = unpack_answer(pack_answer(answer, {}))
    assert kept.statements == answer.statements
    older = answer_record(answer)
    del older["statements"]
    assert TypeAdapter(Answer).validate_python(older).statements == ()
