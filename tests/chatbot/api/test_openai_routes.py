"""OpenAI's own client and LangChain's talk to the chatbot as a model."""

from __future__ import annotations

import json
import re
import statistics
import time
from typing import Any

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import ValidationError

from chatbot.api.openai_schemas import EmbeddingsIn
from tests.chatbot.api.conftest import CEILING, RULES, WithModel

QUESTION = "What is the deficit ceiling?"
PIECES = ["The deficit ceiling is ", "three per cent of ", "output [1]."]


@pytest.fixture
def model(with_model: WithModel) -> WithModel:
    with_model.pieces, with_model.delay = PIECES, 0.0
    return with_model


@pytest.fixture
def client(model: WithModel) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{model.api.url}/v1", api_key="any", max_retries=0)


def asked(client: openai.OpenAI, said: Any = QUESTION, *, model: str = "finpolicy", **more: Any) -> Any:
    """What comes of a question, or of messages that end with one."""
    messages: Any = said if isinstance(said, list) else [{"role": "user", "content": said}]
    return client.chat.completions.create(model=model, messages=messages, **more)


def streamed(client: openai.OpenAI, said: Any = QUESTION, **more: Any) -> str:
    """The text of its stream."""
    with asked(client, said, stream=True, **more) as stream:
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def test_an_answer_has_its_sources_and_annotations(client: openai.OpenAI) -> None:
    messages = [{"role": "system", "content": "Say 7."}, {"role": "user", "content": QUESTION}]
    answer = asked(client, messages, temperature=0.2, n=1, user="me", seed=1)
    (choice,) = answer.choices
    text = choice.message.content or ""
    assert text.startswith("The deficit ceiling is three per cent of output [S1].")
    assert f"Sources:\n[S1] {RULES}, page 1: located on the page" in text
    (note,) = choice.message.annotations or []
    extra = note.model_extra or {}
    assert (extra["document"], extra["page"], extra["verified"]) == (RULES, 1, True)
    assert extra["quote"] in CEILING
    place = note.url_citation
    assert text[place.start_index : place.end_index] == "[S1]"
    assert httpx.get(place.url).content.startswith(b"\x89PNG")
    assert answer.usage is not None
    assert answer.usage.total_tokens > 0


def test_the_documents_own_words_are_a_model_too(client: openai.OpenAI) -> None:
    answer = asked(client, model="extractive")
    assert (answer.choices[0].message.content or "").startswith(CEILING)
    assert {"finpolicy", "extractive", "finpolicy-embeddings"} == {one.id for one in client.models.list()}
    assert client.models.retrieve("finpolicy").id == "finpolicy"


def test_a_stream_reads_like_the_whole_answer(client: openai.OpenAI) -> None:
    with asked(
        client, stream=True, stream_options={"include_usage": True}, extra_body={"tools": []}
    ) as stream:
        chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.startswith("The deficit ceiling is three per cent of output [S1].")
    assert text.count("deficit ceiling") == 1
    assert f"[S1] {RULES}, page 1" in text
    assert chunks[0].choices[0].delta.role == "assistant"
    last = chunks[-2].choices[0]
    assert last.finish_reason == "stop"
    assert (last.delta.model_extra or {})["annotations"][0]["verified"]
    assert chunks[-1].usage is not None


def test_no_answer_brings_an_image(client: openai.OpenAI, model: WithModel) -> None:
    model.pieces = ["The deficit ceiling is three per cent [1]. !", "[x](https://evil.example/p.png)"]
    for text in (asked(client).choices[0].message.content, streamed(client)):
        assert "three per cent" in text
        assert "](" not in text


def test_earlier_messages_are_the_conversation(client: openai.OpenAI, model: WithModel) -> None:
    messages = [
        {"role": "system", "content": "SYSTEM TEXT"},
        {"role": "user", "content": "What is the deficit ceiling?"},
        {"role": "assistant", "content": "Three per cent of output."},
        {"role": "user", "content": [{"type": "text", "text": "Is it of output?"}]},
    ]
    asked(client, messages)
    sent = str(model.provider.requests[-1].body["messages"])
    assert "Assistant: Three per cent of output." in sent
    assert "Question: Is it of output?" in sent
    assert "SYSTEM TEXT" not in sent


def test_what_a_model_cannot_support_is_said_in_the_text(client: openai.OpenAI, model: WithModel) -> None:
    model.pieces = ["The moon is made of green cheese."]
    text = streamed(client)
    assert text.startswith("The moon is made of green cheese.")
    assert "Nobody compared 1 statement with the pages." in text


def test_errors_have_the_form_that_the_client_reads(client: openai.OpenAI, model: WithModel) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        asked(client, model="gpt-99")
    assert missing.value.code == "not_found"
    assert "finpolicy" in missing.value.message
    form = {"response_format": {"type": "json_object"}}
    wrong: dict[str, dict[str, Any]] = {"n is 2": {"n": 2}, "messages": {"said": []}, "json_object": form}
    for told, more in wrong.items():
        with pytest.raises(openai.BadRequestError, match=told):
            asked(client, **more)
    model.api.open = True
    with pytest.raises(openai.AuthenticationError) as refused:
        client.models.list()
    model.api.open = False
    assert refused.value.code == "invalid_api_key"


def test_vectors_are_those_of_the_store(client: openai.OpenAI, model: WithModel) -> None:
    texts = ["The deficit ceiling", "Debt"]
    expected = model.api.context.chatbot.library.embedder.embed(texts)
    packed = client.embeddings.create(model="finpolicy-embeddings", input=texts)
    plain = client.embeddings.create(
        model="finpolicy-embeddings", input=texts, encoding_format="float", dimensions=len(expected[0])
    )
    for found in (packed, plain):
        assert found.data[1].embedding == pytest.approx(expected[1].tolist(), abs=1e-6)
    with pytest.raises(openai.BadRequestError, match="dimensions"):
        client.embeddings.create(model="finpolicy-embeddings", input="x", dimensions=7)
    ids: list[list[int]] = [[9906, 289, 9603, 509], [9906]]
    of_ids = client.embeddings.create(model="finpolicy-embeddings", input=ids)
    (word,) = client.embeddings.create(model="finpolicy-embeddings", input="Hello wörld").data
    assert of_ids.data[0].embedding == pytest.approx(word.embedding, abs=1e-6)
    for wrong in ([100_256], [-1], [9468]):
        with pytest.raises(openai.BadRequestError, match="check_embedding_ctx_length"):
            client.embeddings.create(model="finpolicy-embeddings", input=wrong)


def test_a_response_has_its_citations_as_annotations(client: openai.OpenAI) -> None:
    whole = client.responses.create(model="finpolicy", instructions="Say 7.", input=QUESTION)
    assert whole.output_text.startswith("The deficit ceiling is three per cent of output [S1].")
    message = whole.output[0]
    assert message.type == "message"
    assert message.content[0].type == "output_text"
    (note,) = message.content[0].annotations
    assert note.type == "url_citation"
    assert whole.output_text[note.start_index : note.end_index] == "[S1]"
    assert (note.model_extra or {})["verified"]
    assert httpx.get(note.url).content.startswith(b"\x89PNG")
    assert whole.usage is not None
    assert whole.usage.total_tokens > 0
    said: Any = [
        {"role": "user", "content": QUESTION},
        *whole.output,
        {"role": "user", "content": [{"type": "input_text", "text": "Is it of output?"}]},
    ]
    with client.responses.stream(model="finpolicy", input=said) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.output_text.annotation.added" in kinds
    assert final.output_text.count("[S1] Rules.pdf, page 1: located on the page") == 1


SCHEMA = {
    "type": "object",
    "properties": {"ceiling": {"type": "number"}, "page": {"type": "integer"}},
    "required": ["ceiling", "page"],
    "additionalProperties": False,
}


def shaped(client: openai.OpenAI, schema: dict[str, Any], **more: Any) -> Any:
    """What comes of a question whose answer is to follow a schema."""
    form: Any = {"type": "json_schema", "json_schema": {"name": "limit", "schema": schema, "strict": True}}
    return asked(client, response_format=form, **more)


def test_an_answer_follows_the_callers_schema(client: openai.OpenAI, model: WithModel) -> None:
    model.shaped = ['{"ceiling": 3, ', '"page": 1}']
    answer = shaped(client, SCHEMA)
    assert json.loads(answer.choices[0].message.content) == {"ceiling": 3, "page": 1}
    assert answer.choices[0].message.annotations[0].model_extra["verified"]
    pieces = [chunk.choices[0].delta.content or "" for chunk in shaped(client, SCHEMA, stream=True)]
    assert json.loads("".join(pieces)) == {"ceiling": 3, "page": 1}
    form: Any = {"format": {"type": "json_schema", "name": "limit", "schema": SCHEMA, "strict": True}}
    response = client.responses.create(model="finpolicy", input=QUESTION, text=form)
    assert json.loads(response.output_text)["ceiling"] == 3


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('{"ceiling": 7, "page": 1}', "the answer has no 7"),
        ('{"ceiling": "3", "page": 1}', "is not of type 'number'"),
        ("three", "not JSON"),
        (f'{{"ceiling": {10**400}, "page": 1}}', "not JSON"),
    ],
    ids=["figure", "type", "words", "endless"],
)
def test_a_model_that_leaves_the_schema_or_the_answer_is_told(
    client: openai.OpenAI, model: WithModel, said: str, why: str
) -> None:
    model.shaped = [said]
    with pytest.raises(openai.APIStatusError, match=why) as refused:
        shaped(client, SCHEMA)
    assert refused.value.status_code == 502


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}},
        {"$ref": "https://evil.example/schema.json"},
        {"type": 7},
        {"anyOf": [{"$id": "https://evil.example/"}]},
    ],
)
def test_a_schema_that_cannot_be_followed_is_refused(client: openai.OpenAI, schema: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError, match=r"schema|\$ref|\$id"):
        shaped(client, schema)


def test_texts_in_a_callers_schema_are_neutral(client: openai.OpenAI, model: WithModel) -> None:
    model.shaped = ['{"said": "![](https://evil.example/) \\u001b[2J<b>three</b>"}']
    answer = shaped(client, {"type": "object", "properties": {"said": {"type": "string"}}})
    said = json.loads(answer.choices[0].message.content)["said"]
    assert "three" in said
    assert not re.search(r"\]\(|://|<b|\x1b", said)


def nested(inner: dict[str, Any], depth: int) -> dict[str, Any]:
    for _ in range(depth):
        inner = {"not": inner}
    return inner


@pytest.mark.timed
def test_a_schema_that_would_take_for_ever_is_told(client: openai.OpenAI, model: WithModel) -> None:
    model.shaped = ["{}"]
    twice = {f"a{at}": {"anyOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(100)}
    schema = {"$ref": "#/$defs/a0", "$defs": {**twice, "a100": {"type": "null"}}}
    begun = time.monotonic()
    with pytest.raises(openai.APIStatusError, match="takes too long to follow"):
        shaped(client, {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"})
    assert time.monotonic() - begun < 30
    with pytest.raises(openai.BadRequestError, match="nested too deep"):
        shaped(client, nested({}, 400))


def test_what_is_not_done_here_is_refused_with_the_way_out(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="is_chat_model=True"):
        client.completions.create(model="finpolicy", prompt=QUESTION)
    picture: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    message: Any = {"role": "user", "content": [{"type": "text", "text": QUESTION}, picture]}
    with pytest.raises(openai.BadRequestError, match="'image_url'"):
        asked(client, [message])
    with pytest.raises(openai.BadRequestError, match="as input"):
        client.responses.create(model="finpolicy", input=QUESTION, previous_response_id="resp_1")


def test_langchain_answers_streams_and_embeds(model: WithModel) -> None:
    base = f"{model.api.url}/v1"
    chat = ChatOpenAI(
        model="finpolicy",
        base_url=base,
        api_key="any",  # type: ignore[arg-type]
        max_retries=0,
    )
    assert "three per cent of output [S1]" in str(chat.invoke(QUESTION).content)
    assert "[S1]" in "".join(str(piece.content) for piece in chat.stream(QUESTION))
    embedder = OpenAIEmbeddings(
        model="finpolicy-embeddings",
        base_url=base,
        api_key="any",  # type: ignore[arg-type]
        check_embedding_ctx_length=False,
    )
    assert len(embedder.embed_query("debt")) == model.api.context.chatbot.library.embedder.dimension


def test_a_client_that_goes_stops_the_model(client: openai.OpenAI, model: WithModel) -> None:
    model.pieces, model.delay = ["word "] * 200, 0.1
    model.provider.hung_up.clear()
    stream = asked(client, stream=True)
    while not next(stream).choices[0].delta.content:
        pass
    stream.close()
    assert model.provider.hung_up.wait(1.0), "the model still writes for nobody"


@pytest.mark.timed
def test_the_first_word_follows_that_of_the_model(client: openai.OpenAI, model: WithModel) -> None:
    late = []
    model.delay = 0.4
    for _ in range(5):
        before = len(model.provider.requests)
        stream = asked(client, stream=True)
        while len(model.provider.requests) == before:
            time.sleep(0.001)
        begun = time.monotonic()
        while not next(stream).choices[0].delta.content:
            pass
        late.append(time.monotonic() - begun - model.delay)
        stream.close()
    assert statistics.median(late) < 0.15, late


@pytest.mark.parametrize("entries", [["word"] * 100_000, [[1], "word"] * 50_000, ["word", 1] * 50_000])
def test_a_long_list_of_wrong_texts_is_given_up_at_once(entries: list[object]) -> None:
    with pytest.raises(ValidationError) as error:
        EmbeddingsIn.model_validate({"model": "m", "input": entries})
    assert error.value.error_count() < 10
