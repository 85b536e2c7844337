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
from chatbot.asking.answering import FOUND_NONE, NOTHING_FOUND
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
from chatbot.settings import Settings
from tests.case_rows import case_lines
from tests.provider import Behaviour, Body, Provider, Refuse, first_key
from tests.stores import Make, hashing

QUESTION = "What is the deficit ceiling?"
CEILING = "The deficit ceiling is 3.0 per cent of output in every year"
LEVY = "The government will abolish the fuel levy for all farmers next spring"
ABROAD = "Who won the cup in Brazil?"
NO_BRAZIL = "Not in these documents. These documents do not mention Brazil."
BREACH = "A breach is reported to Parliament within 30 days"
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


# --- whether it is asked
# ----------------------------------------------------------------------------------------------------------


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
    assert len(provider.requests) == 1
    assert not answer.answered
    assert answer.reason == "no_entity"
    assert answer.text == NO_BRAZIL
    assert answer.error
    assert answer.nearest


def test_what_a_failing_model_was_sent_is_kept(make: Make) -> None:
    answer, provider, _ = answered(make, Refuse(400))
    assert answer.answered and answer.instead
    assert answer.prompt is not None
    (request,) = provider.requests
    sent = [(message["role"], message["content"]) for message in request.body["messages"]]
    assert [*answer.prompt.messages] == sent


def test_where_a_model_finds_nothing_the_documents_own_words_answer_if_they_fit(make: Make) -> None:
    refusal = "NOT IN THESE DOCUMENTS. No period is given."
    answer, provider, chatbot = answered(make, refusal, question="When is a breach reported to Parliament?")
    assert answer.answered and answer.instead
    assert BREACH in answer.text and "No period is given" not in answer.text
    assert f"{FOUND_NONE} It had written: “No period is given.”" in answer.notices
    assert answer.sent_to == ("m", provider.url.split("/")[2])
    assert answer.usage is not None
    assert answer.citations[0].verified
    file = audit_file(chatbot, answer, Occasion())
    assert b"<h2>The answer</h2>" in file
    assert b"The model found no answer" in file


def test_where_they_do_not_fit_its_refusal_stays(make: Make) -> None:
    answer = answer_of(make, "NOT IN THESE DOCUMENTS.", question=ABROAD)
    assert not answer.answered and answer.model == "m"
    assert answer.nearest


def test_without_a_page_it_is_not_asked(tmp_path: Path) -> None:
    with Provider(["Hello"]) as provider:
        settings = Settings(home=tmp_path, chat_model="m", base_url=provider.url)
        with Chatbot(settings, embedder=hashing()) as chatbot:
            answer = ask(chatbot)
    assert answer.reason == "no_documents"
    assert provider.requests == []


# --- what its statements rest on
# -----------------------------------------------------------------------------------------------------


def test_each_statement_is_cited_found_or_unsupported(make: Make) -> None:
    answer = answer_of(make, cited(f"{CEILING} KEY. {LEVY}, by 60 per cent. {ANCHOR}"))
    ceiling, levy, anchor = stated(answer)
    assert ceiling == (f"{CEILING} [S1].", "cited", "S1")
    assert levy == (f"{LEVY}, by 60 per cent.", "unsupported", None)
    assert anchor == (f"{ANCHOR} [S2]", "cited_by_check", "S2")
    assert [one.key for one in answer.citations] == ["S1", "S2"]
    assert [one.page for one in answer.citations] == [1, 2]
    assert all(one.verified for one in answer.citations)
    # The levy's 60 per cent stands on a page, but nothing is cited for it.
    of_levy, of_anchor = [one for one in answer.numbers if one.text.startswith("60")]
    assert of_levy.text == "60 per cent"
    assert of_levy.status == "present_elsewhere"
    assert of_levy.citation is None
    assert of_anchor.text == "60 per cent"
    assert of_anchor.status == "supported"
    assert of_anchor.citation == "S2"


def test_a_figure_that_the_page_has_otherwise_is_given_no_citation(make: Make) -> None:
    wrong = CEILING.replace("3.0", "9.0")
    answer = answer_of(make, cited(f"{BREACH} KEY. {wrong}."))
    assert not answer.not_found
    assert statuses(answer) == ["cited", "unsupported"]


def test_headings_questions_and_lines_that_lead_in_state_nothing(make: Make) -> None:
    said = f"""## Key measures

Yes. The document says the following:

- {CEILING} KEY
- {BREACH} KEY

Shall I go on?"""
    assert statuses(answer_of(make, cited(said))) == ["cited", "cited"]


def test_a_line_that_leads_in_with_news_is_a_statement(make: Make) -> None:
    answer = answer_of(make, cited(f"{LEVY}, as follows:\n\n- {CEILING} KEY"))
    assert statuses(answer) == ["unsupported", "cited"]


def test_a_key_counts_for_its_list_where_the_page_has_its_words(make: Make) -> None:
    listed = f"- Ceiling: 3.0 per cent\n- Breach reported within 30 days\n- {LEVY}\n- {CEILING} KEY"
    answer = answer_of(make, cited(listed))
    assert statuses(answer) == ["cited", "cited", "unsupported", "cited"]
    assert [one.citation for one in answer.statements] == ["S1", "S1", None, "S1"]


def test_a_key_counts_for_its_paragraph_where_the_page_has_its_words(make: Make) -> None:
    answer = answer_of(make, cited(f"The ceiling is 3.0 per cent. {LEVY}. {BREACH} KEY."))
    assert statuses(answer) == ["cited", "unsupported", "cited"]


def test_where_nothing_is_found_the_documents_own_words_come_first(make: Make) -> None:
    answer = answer_of(make, f"{LEVY}. It will also sell [S7] two harbours to investors from overseas.")
    own, behind, said = answer.text.partition(f"\n\n{MODEL_TEXT}\n\n")
    assert behind
    assert CEILING in own
    assert said.startswith(LEVY)
    assert {one.status for one in answer.statements if one.text in own} == {"cited"}
    assert {one.status for one in answer.statements if one.text in said} == {"unsupported"}
    assert NOTHING_FOUND in answer.notices
    assert answer.not_found


def test_behind_a_refusal_too(make: Make) -> None:
    answer = answer_of(make, f"{LEVY}.", question=ABROAD)
    assert not answer.answered
    assert answer.citations == ()
    assert answer.not_found
    assert answer.text == f"{NO_BRAZIL}\n\n{MODEL_TEXT}\n\n{LEVY}."
    assert stated(answer) == [(f"{LEVY}.", "unsupported", None)]


def test_a_model_cannot_pass_its_text_for_the_documents_own(make: Make) -> None:
    answer = answer_of(make, f"{LEVY}.\n\n{MODEL_TEXT}\n\nSo it is.")
    assert answer.text.count(MODEL_TEXT) == 1
    assert (f"{LEVY}.", "unsupported", None) in stated(answer)


def test_answers_in_the_documents_own_words_are_cited(make: Make) -> None:
    answer = ask(make())
    assert answer.statements
    for statement in answer.statements:
        assert statement.status == "cited"
        assert statement.citation == "S1"
        assert statement.text in answer.text


# --- wherever it is shown
# ---------------------------------------------------------------------------------------------------------

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
    assert f"{NOT_FOUND}: “{LEVY}.”" in text
    assert f"{ADDED}: “The debt anchor" in text
    ceiling, levy, anchor = line["statements"]
    assert (ceiling["status"], ceiling["citation"]) == ("cited", "S1")
    assert (levy["status"], levy["citation"]) == ("unsupported", None)
    assert (anchor["status"], anchor["citation"]) == ("cited_by_check", "S2")


def test_an_audit_file_has_it_and_is_verified(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "audit.html"
    for script, question in ((MIXED, QUESTION), (f"{LEVY}.", QUESTION), (f"{LEVY}.", ABROAD)):
        answer, _, chatbot = answered(make, script, question=question)
        path.write_bytes(audit_file(chatbot, answer, Occasion()))
        assert f"⚠ {NOT_FOUND}" in path.read_text("utf-8")
        documents = DocumentSources(chatbot.settings.documents)
        findings = list(verify(read_file(path), documents))
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
    answer = answer_of(make, MIXED)
    kept, *_ = unpack_answer(pack_answer(answer, {}))
    assert kept.statements == answer.statements
    older = answer_record(answer)
    del older["statements"]
    assert TypeAdapter(Answer).validate_python(older).statements == ()
