"""Asking, from question to checked answer: events, refusals, memory, and what a chat model's faults look
like.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from chatbot.asking.answering import NO_AVERAGE, NOT_CALCULATED
from chatbot.asking.question import LONGEST_QUESTION, Ask
from chatbot.errors import ModelError, QuestionError
from chatbot.models.openai_chat import OpenAIModel
from chatbot.models.tokens import count_tokens
from chatbot.records import Answer, Event, Exchange, Notice, Stage, Token
from chatbot.search.page_search import Find
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from tests.fakes import HashEmbedder, ScriptedModel
from tests.pdfs import make_pdf, make_scan
from tests.provider import Behaviour, Mute, Provider, Refuse, Say
from tests.stores import Make

QUESTION = "What is the deficit ceiling?"
MISSING = "What was the deficit ceiling in 2031?"
ROOT = Path(__file__).resolve().parent.parent.parent


def ask(chatbot: Chatbot, question: str = QUESTION, **given: object) -> tuple[Answer, list[Event]]:
    events = list(chatbot.ask(Ask(question, **given)))  # type: ignore[arg-type]
    *_, answer = events
    assert isinstance(answer, Answer)
    return answer, events


def answer_of(chatbot: Chatbot, question: str = QUESTION, **given: object) -> Answer:
    answer, _ = ask(chatbot, question, **given)
    return answer


def told_of(chatbot: Chatbot, question: str = QUESTION) -> list[str]:
    _, events = ask(chatbot, question)
    return notices(events)


def key_of(messages: Sequence[tuple[str, str]]) -> str:
    """The number of the first source of a prompt."""
    *_, (_, prompt) = messages
    found = re.search(r"^\[(1)\] ", prompt, re.M)
    assert found
    return found[1]


def notices(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


def cite(messages: Sequence[tuple[str, str]]) -> list[str]:
    """What a model says that cites the first source."""
    return [f"It is 3.0 per cent. [{key_of(messages)}]"]


def tokens(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Token)]


def stages(events: Sequence[Event]) -> list[Stage]:
    return [event for event in events if isinstance(event, Stage)]


def statuses(answer: Answer) -> dict[str, str]:
    return {number.text: number.status for number in answer.numbers}


def add(chatbot: Chatbot, path: Path, *pages: str) -> None:
    list(chatbot.add([Upload(make_pdf(path, pages))]))


CEILING = "The deficit ceiling is 3.0 per cent of output in every year. [S1]"
BREACH = "A breach is reported to Parliament within 30 days. [S1]"


def test_an_extractive_answer_is_verbatim_cited_and_checked(make: Make) -> None:
    answer, events = ask(make())
    assert stages(events)[0].name == "searching"
    assert tokens(events)
    assert answer.answered
    assert answer.model == "extractive"
    assert answer.text == f"{CEILING} {BREACH}"
    citation = answer.citations[0]
    assert citation.document == "Rules.pdf"
    assert citation.page == 1
    assert citation.verified
    page = answer.considered[0].page_text
    assert page[citation.start : citation.end] == citation.quote
    number = answer.numbers[0]
    assert number.text == "3.0 per cent"
    assert number.status == "supported"
    assert [stage for stage, _ in answer.timings] == ["searching", "answering"]
    spent = sum(seconds for _, seconds in answer.timings)
    assert 0 < spent <= answer.seconds + 0.1


def test_what_no_page_speaks_of_is_refused_with_the_nearest_pages(make: Make) -> None:
    answer = answer_of(make(), "Who won the football championship in Brazil?")
    assert not answer.answered
    assert answer.reason == "no_entity"
    assert answer.text == "Not in these documents. These documents do not mention Brazil."
    assert {page.document for page in answer.nearest} <= {"Rules.pdf"}


def test_an_answer_says_whom_and_which_year_of_the_question_it_leaves_out(make: Make) -> None:
    answer, events = ask(make(), "What is the deficit ceiling of Ostrava and Parliament in 2030 and 2035?")
    assert answer.answered
    whom, which_year = notices(events)
    assert whom == "These documents do not mention Ostrava."
    assert which_year == "These documents say nothing about 2035."
    assert answer.notices == (whom, which_year)


PRICES = """Prices

Inflation was 2.1 per cent in 2021 and 3.4 per cent in 2022.

Growth averaged 4 per cent over these years."""


def test_an_average_that_is_asked_for_and_not_worked_out_is_told(tmp_path: Path) -> None:
    with Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder()) as chatbot:
        add(chatbot, tmp_path / "Prices.pdf", PRICES)
        answer, events = ask(chatbot, "What was the average inflation of 2021 and 2022?")
        assert "3.4 per cent" in answer.text
        assert NO_AVERAGE in notices(events)
        answer, events = ask(chatbot, "What was the average growth over the years?")
        assert "averaged" in answer.text
        assert NO_AVERAGE not in notices(events)


def test_a_figure_that_may_be_read_in_two_ways_is_told(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    accounts = "Accounts in thousands\n2024 2023\nOperating income {}\nNet income {}".format
    add(chatbot, tmp_path / "Acme.pdf", accounts("1.240 1.310", "1.120 1.030"))
    doubt = f"Page 1 has figures that can be read in two ways, so {NOT_CALCULATED}."
    assert doubt in notices(ask(chatbot, "What was operating income in 2024?")[1])
    add(chatbot, tmp_path / "Acme.pdf", accounts("1,240 1,310", "1,120 1,030"))
    assert doubt not in notices(ask(chatbot, "What was operating income in 2024?")[1])


OSTLAND = """Ostland debt report
Public debt of 2023 was 71.0 per cent of output. The public debt fell by 2 points of output."""
NORLAND = """Norland tax schedule
The excise duty on petrol is 5.12 crowns per litre. Value added tax is 20 per cent."""


def test_anothers_figures_are_not_given_for_whoever_is_asked(tmp_path: Path, make: Make) -> None:
    chatbot = make()
    add(chatbot, tmp_path / "ostland_2023.pdf", OSTLAND)
    add(chatbot, tmp_path / "norland_2023.pdf", NORLAND)
    assert "71.0" in answer_of(chatbot, "What was the public debt of Ostland in 2023?").text
    other = answer_of(chatbot, "What was the public debt of Norland?")
    assert "71.0" not in other.text
    assert {hit.document for hit in other.considered} == {"norland_2023.pdf"}
    compared, events = ask(chatbot, "Compare the public debt of Ostland and Norland")
    assert notices(events) == ["The quoted pages do not mention Norland."]
    assert compared.notices == ("The quoted pages do not mention Norland.",)


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    with Chatbot(Settings(home=tmp_path), embedder=HashEmbedder()) as chatbot:
        answer = answer_of(chatbot)
    assert not answer.answered
    assert answer.reason == "no_documents"


def test_a_models_statements_are_checked_and_a_forged_key_is_shown(make: Make) -> None:
    forged = "It was 9.9 per cent before [S9-000000]."

    def say(messages: Sequence[tuple[str, str]]) -> list[str]:
        return [f"The deficit ceiling is 3.0 per cent of output in every year [{key_of(messages)}]. ", forged]

    answer, events = ask(make(ScriptedModel(say)))
    assert tokens(events)[1] == forged
    of_source, of_nothing = answer.citations
    assert of_source.key == "S1"
    assert of_source.verified
    assert of_nothing.key == "S9-000000"
    assert not of_nothing.verified
    assert "[S9-000000]" in answer.text
    assert statuses(answer) == {"3.0 per cent": "supported", "9.9 per cent": "unsupported"}


def test_a_refusal_is_checked_like_an_answer(make: Make) -> None:
    said = "NOT IN THESE DOCUMENTS. The deficit ceiling is 3.0 per cent of output [1], not 4.5 per cent [1]."
    answer = answer_of(make(ScriptedModel([said])), MISSING)
    assert not answer.answered
    assert answer.reason == "not_in_excerpts"
    assert answer.nearest
    assert "[S1]" in answer.text
    assert answer.citations[0].document == "Rules.pdf"
    assert "3.0 per cent" in statuses(answer)


@pytest.mark.parametrize(("read", "is_told"), [(0, False), (10, True), (5_000, False)])
def test_a_prompt_that_its_endpoint_cut_is_told(make: Make, read: int, is_told: bool) -> None:
    said = Say(["The deficit ceiling is 3.0 per cent of output [1]."], prompt_tokens=read)
    with Provider([said]) as provider:
        settings = Settings(chat_model="m", base_url=provider.url, api_key="k")
        told = told_of(make(OpenAIModel(settings)))
    assert any("tokens. Its context length is too short" in notice for notice in told) is is_told


def test_a_comparison_reaches_the_model_with_every_side(make: Make, tmp_path: Path) -> None:
    model = ScriptedModel(["NOT IN THESE DOCUMENTS"])
    chatbot = make(model)
    filler = [f"Acme 2023\nRevenue of Acme and of others, chapter {number}." for number in range(12)]
    of_acme = "Acme\nRevenue of Acme was 120 million crowns in 2023."
    add(chatbot, tmp_path / "ACME_2023_10K.pdf", *filler, of_acme)
    of_mcduck = "Revenue was 90 million crowns in 2023."
    add(chatbot, tmp_path / "MCDUCKS_2023_10K.pdf", f"The company\n{of_mcduck}")
    prompt = answer_of(chatbot, "Whose revenue was larger in 2023, Acme's or McDuck's?").prompt
    assert prompt is not None
    documents = {hit.document for hit in prompt.sources.values()}
    assert {"ACME_2023_10K.pdf", "MCDUCKS_2023_10K.pdf"} <= documents
    assert len(prompt.sources) == 4, "three of one side, and all that the other has"
    messages, _, _ = model.calls[-1]
    *_, (_, sent) = messages
    assert of_mcduck in sent


def test_a_failing_model_is_an_error_beside_an_answer_in_the_documents_words(make: Make) -> None:
    broken = ModelError("the line broke.", hint="Ask again.")
    answer, events = ask(make(ScriptedModel(["The deficit", broken])))
    assert "the line broke. It had written: “The deficit …”" in notices(events)
    assert answer.model == "extractive"
    assert answer.error == "the line broke. Ask again."
    assert "The deficit ceiling is 3.0 per cent" in answer.text


def test_pages_that_a_model_names_without_citing_them_are_told(make: Make) -> None:
    def say(messages: Sequence[tuple[str, str]]) -> list[str]:
        return [f"The deficit ceiling is 3.0 per cent [{key_of(messages)}], as page 1 and page 77 say."]

    warning = "The answer mentions page 77 without a citation. Only numbered citations are checked."
    assert warning in told_of(make(ScriptedModel(say)))


def test_an_answer_cut_by_its_limit_or_stopped_says_so(make: Make) -> None:
    chatbot = make(ScriptedModel(["The deficit ceiling is"], finish="length"))
    assert "The answer reached its token limit and was cut off." in told_of(chatbot)
    stopped = list(chatbot.ask(Ask(QUESTION), stop=lambda: True))
    assert "You stopped the answer." in notices(stopped)


BUSY = Refuse(429, "slow down", headers={"Retry-After": "60"})
CUT = Say(["The deficit ", "ceiling"], ending="cut")
WRONG_KEY = Refuse(401, "bad key sk-secret")
FAULTS = [(BUSY, "429"), (CUT, "cut"), (WRONG_KEY, "OPENAI_API_KEY"), (Mute(), "FINPOLICY_TIMEOUT")]


@pytest.mark.parametrize(("behaviour", "said"), FAULTS, ids=["busy", "cut", "key", "mute"])
def test_a_real_endpoints_faults_are_one_clear_line(make: Make, behaviour: Behaviour, said: str) -> None:
    with Provider([behaviour]) as provider:
        chatbot = make(chat_model="m", base_url=provider.url, api_key="sk-secret", timeout=1.0)
        answer, events = ask(chatbot)
    (notice,) = [event for event in events if isinstance(event, Notice)]
    assert said in f"{notice.text} {notice.hint}"
    assert "sk-secret" not in repr(answer)
    assert answer.error
    assert answer.citations[0].verified


def test_conversations_remember_and_follow_ups_are_searched_standalone(make: Make) -> None:
    chatbot = make()
    talk = chatbot.conversations.begin("local")
    first, follow_up = "What does the debt service come to?", "And the anchor?"
    ask(chatbot, first, conversation=talk)
    answer = answer_of(chatbot, follow_up, conversation=talk)
    assert answer.search_query == f"{first} {follow_up}"
    assert answer.question == follow_up
    window = chatbot.conversations.window(talk, "local")
    assert [exchange.user for exchange in window] == [first, follow_up]
    assert answer_of(chatbot, follow_up).search_query == follow_up
    after_history = answer_of(chatbot, follow_up, history=(Exchange(QUESTION, "3"),))
    assert after_history.search_query.startswith(QUESTION)


@pytest.fixture(scope="module")
def language_model() -> Iterator[str]:
    """The base URL of a small real language model."""
    command = [sys.executable, "benchmarks/small_model.py"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip() + "/v1"
        process.stdin.close()


def test_a_real_language_model_streams_and_whatever_it_says_is_checked(
    make: Make, language_model: str
) -> None:
    # A model of this size takes minutes to read an answer back.
    limits = {"answer_tokens": 60, "context_tokens": 1_500, "verify_timeout": 2}
    chatbot = make(chat_model="small", base_url=language_model, **limits)
    answer, events = ask(chatbot)
    pieces = tokens(events)
    assert len(pieces) > 5
    assert answer.model == "small"
    assert answer.error is None
    assert all(citation.reason for citation in answer.citations if not citation.verified)
    assert "".join(pieces).strip()


@pytest.mark.parametrize("question", ["", "  \n", "?!", "x" * 200_000])
def test_questions_that_cannot_be_asked(make: Make, question: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(make(), question)
    assert caught.value.hint


def test_the_longest_question_is_searched(make: Make) -> None:
    endless = "deficit ceiling " * LONGEST_QUESTION
    answer = answer_of(make(), endless[:LONGEST_QUESTION].strip())
    assert answer.considered


def test_a_citation_opens_its_page_with_the_passage_marked(make: Make) -> None:
    chatbot = make()
    citation = answer_of(chatbot).citations[0]
    assert citation.version is not None
    assert citation.page is not None
    image, marks = chatbot.page_image(citation.version, citation.page, citation.quote)
    assert image.startswith(b"\x89PNG")
    assert len(marks) == 1
    _, marks = chatbot.page_image(citation.version, citation.page, "words that are not there")
    assert marks == ()


def test_a_dead_embedding_endpoint_leaves_search_by_words(make: Make, tmp_path: Path) -> None:
    make().close()
    settings = Settings(
        home=tmp_path / "home",
        embedding_model="e",
        base_url="http://127.0.0.1:9/v1",
        embedding_dimension=8,
        timeout=1,
    )
    with Chatbot(settings) as chatbot:
        answer, events = ask(chatbot)
    assert answer.answered
    assert "Searched by words only" in notices(events)[0]


ARREARS = """Annex C: Arrears
The statement of arrears shows 412 million crowns at the end of the year.
It was 398 million before."""


def test_a_citation_of_a_scan_says_how_surely_its_own_words_were_read(tmp_path: Path) -> None:
    with Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder()) as chatbot:
        scan = make_scan(tmp_path / "Scan.pdf", [ARREARS])
        list(chatbot.add([Upload(scan)]))
        answer = answer_of(chatbot, "What does the statement of arrears show?")
        (version,) = chatbot.library.scope([])
        words = chatbot.library.catalog.page(version, 1).words
    assert answer.citations, answer
    quoting = [citation for citation in answer.citations if "412" in citation.quote]
    (confidence,) = {citation.confidence for citation in quoting}
    (of_the_figure,) = [word.confidence for word in words if "412" in word.text]
    assert confidence is not None
    assert confidence == pytest.approx(of_the_figure, abs=0.1), answer


LONG = (
    "What is it that we have there? "
    + "The debt anchor is 60 per cent of output. " * 40
    + "The deficit ceiling is 3.0 per cent in every year. " * 40
)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_each_page_names_the_piece_of_a_long_query_that_found_it(make: Make, mode: str) -> None:
    hits = make().find(Find(LONG, mode=mode, strategy="per_chunk"))
    found = {hit.page: hit.chunk_match for hit in hits}
    assert set(found) == {1, 2}
    assert found[2] == 0
    assert found[1] in {1, 2, 3}


def test_a_long_question_tells_how_far_it_is(make: Make) -> None:
    _, events = ask(make(), LONG)
    steps = [stage for stage in stages(events) if stage.total]
    assert len(steps) > 1
    assert {stage.total for stage in steps} == {len(steps)}
    assert [stage.done for stage in steps] == list(range(1, len(steps) + 1))


def reverse(messages: Sequence[tuple[str, str]]) -> list[str]:
    _, asked = messages[1]
    keys = re.findall(r"^(P\d+-[0-9a-f]+): ", asked, re.M)
    return [json.dumps(keys[::-1])]


def test_the_chat_model_orders_the_pages_where_that_is_switched_on(make: Make) -> None:
    chatbot = make(ScriptedModel(reverse, ["No."]), rerank=True)
    reversed_order = [hit.page for hit in chatbot.search(QUESTION)]
    order = [hit.page for hit in chatbot.search(QUESTION)]
    assert reversed_order == order[::-1]
    assert reversed_order != order


def test_where_it_cannot_the_order_of_the_search_stands_and_it_is_told(make: Make) -> None:
    model = ScriptedModel(["No."], cite)
    answer, events = ask(make(model, rerank=True))
    assert answer.answered
    assert any("The search ordered the pages" in text for text in notices(events))


def reranks(model: ScriptedModel) -> int:
    """How often it was asked for an order, which is asked with short passages."""
    return sum("into order" in messages[0][1] for messages, _, _ in model.calls)


def test_a_slow_model_is_asked_for_answers_alone_and_that_is_said_once(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatbot.asking.model_prompts.SLOW_SECONDS", 0.0)
    model = ScriptedModel(reverse, cite)
    chatbot = make(model, rerank=True)

    def times_said() -> int:
        return sum("only writes answers" in text for text in told_of(chatbot))

    assert times_said() == 1
    assert times_said() == 0
    assert times_said() == 0
    assert reranks(model) == 1


def size_of(messages: Sequence[tuple[str, str]]) -> int:
    return sum(count_tokens(content) for _, content in messages)


def test_a_prompt_that_is_too_long_is_sent_once_more_and_shorter(make: Make) -> None:
    too_long = ModelError("The prompt is too long for the model.", kind="length")
    model = ScriptedModel([too_long], cite)
    chatbot = make(model, context_tokens=4_000)
    answer, events = ask(chatbot)
    assert answer.answered
    assert answer.error is None
    assert any("shortened and sent again" in text for text in notices(events))
    first, second = [size_of(messages) for messages, _, _ in model.calls]
    assert second <= max(1_500, first // 2)
    ask(chatbot)
    messages, _, _ = model.calls[2]
    assert size_of(messages) <= 1_500, "what it takes is known from then on"


def test_an_endpoint_with_a_short_context_is_sent_no_more_than_it_takes(make: Make) -> None:
    listed = {"id": "m", "max_model_len": 4_096}
    told = {"/v1/models": {"data": [listed]}}
    with Provider(["It is 3.0 per cent [1]."], told=told) as provider:
        answer = answer_of(make(chat_model="m", base_url=provider.url))
        (received,) = provider.requests
    assert answer.answered
    sizes = [count_tokens(message["content"]) for message in received.body["messages"]]
    assert sum(sizes) <= 4_096 * 0.7 - 1_000
