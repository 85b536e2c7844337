"""Every provider by its client: addresses, keys, what each refuses, its errors, and Anthropic's citations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from chatbot.errors import ModelError
from chatbot.models.addresses import address_of, client_of, endpoint_host, key_of
from chatbot.models.chat import PromptSource, Reply, named_model
from chatbot.models.providers import PROVIDERS, provider_by_host, provider_of_key
from chatbot.settings import Settings
from tests.provider import Behaviour, Drip, Provider, Refuse, Say
from tests.provider_errors import ERRORS, ProviderError

QUESTION = (("system", "Answer briefly."), ("user", "What was the deficit?"))
KEY = "sk-0123456789abcdef"


def settings_for(provider: str, url: str, **given: object) -> Settings:
    known = {"chat_model": "m-1", "provider": provider, "base_url": url, "api_key": KEY, "timeout": 5.0}
    return Settings(**{**known, **given})  # type: ignore[arg-type]


def address_at(provider: str, server: Provider) -> str:
    """The stand-in's address, in the form of the provider's own."""
    if provider == "anthropic":
        return server.url.removesuffix("/v1")
    return server.url


def ask(settings: Settings, **given: object) -> Reply:
    return named_model(settings).stream(QUESTION, max_tokens=50, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "provider", "base"),
    [
        ("https://api.openai.com/v1", "", "https://api.openai.com/v1"),
        ("https://api.openai.com", "", "https://api.openai.com/v1"),
        ("api.openai.com", "", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/chat/completions", "", "https://api.openai.com/v1"),
        (" https://api.openai.com/v1/ ", "", "https://api.openai.com/v1"),
        ("https://openrouter.ai", "", "https://openrouter.ai/api/v1"),
        ("https://openrouter.ai/api/v1/models?order=new", "", "https://openrouter.ai/api/v1"),
        ("http://127.0.0.1:11434/v1/", "ollama", "http://127.0.0.1:11434/v1"),
        ("localhost:1234", "lmstudio", "http://localhost:1234"),
        ("http://127.0.0.1:8000/v1/chat/completions?x=1#y", "vllm", "http://127.0.0.1:8000/v1"),
        ("https://gateway.example.org/team/v2", "", "https://gateway.example.org/team/v2"),
        ("https://api.anthropic.com/v1/messages", "", "https://api.anthropic.com"),
        ("https://gateway.example.org/anthropic/v1", "anthropic", "https://gateway.example.org/anthropic"),
        ("https://x.openai.azure.com", "", "https://x.openai.azure.com/openai/v1"),
        ("https://x.openai.azure.com/openai/v1/", "", "https://x.openai.azure.com/openai/v1"),
    ],
)
def test_addresses_are_read_as_people_paste_them(url: str, provider: str, base: str) -> None:
    assert address_of(settings_for(provider, url)).base == base


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/openai/deployments/gpt/chat/completions?api-version=2025-01-01-preview", "2025-01-01-preview"),
        ("/openai/deployments/gpt", "2024-10-21"),
        ("/openai/deployments/gpt?api-version=a%26b=c", "2024-10-21"),
    ],
)
def test_azures_older_form_keeps_its_deployment_and_version(path: str, version: str) -> None:
    address = address_of(settings_for("", f"https://x.openai.azure.com{path}"))
    assert address.base == "https://x.openai.azure.com/openai/deployments/gpt"
    assert address.api_version == version


def test_azure_without_an_address_says_where_it_is() -> None:
    with pytest.raises(ModelError, match="every Azure resource has its own address"):
        address_of(Settings(provider="azure"))


def test_a_provider_by_name_needs_no_address() -> None:
    for provider in PROVIDERS.values():
        if provider.address:
            settings = Settings(provider=provider.id)
            assert client_of(settings) == provider.client
            assert endpoint_host(settings).partition(":")[0] == provider.host


def test_keys_go_to_their_own_provider_only() -> None:
    settings = Settings(api_key="of-openai", anthropic_key="a", azure_key="b", deepseek_key="c")
    assert key_of(settings) == "of-openai"
    assert key_of(replace(settings, provider="anthropic")) == "a"
    assert key_of(replace(settings, provider="azure", base_url="https://x.openai.azure.com")) == "b"
    assert key_of(replace(settings, base_url="https://api.deepseek.com")) == "c"
    assert key_of(replace(settings, provider="openrouter")) == "", "not OpenAI's"
    assert key_of(replace(settings, provider="ollama")) == "", "a program on this machine gets none"
    assert key_of(replace(settings, base_url="http://127.0.0.1:1/v1")) == "of-openai"


@pytest.mark.parametrize(
    ("key", "provider", "said"),
    [
        ("sk-ant-api03-abc", "openai", "This is a key for Anthropic, so it is not sent to OpenAI."),
        ("sk-proj-abc", "anthropic", "This is a key for OpenAI, so it is not sent to Anthropic."),
        ("sk-or-v1-abc", "deepseek", "This is a key for OpenRouter, so it is not sent to DeepSeek."),
    ],
)
def test_a_key_of_another_provider_is_not_sent(key: str, provider: str, said: str) -> None:
    settings = Settings(chat_model="m", base_url=PROVIDERS[provider].address, api_key=key, timeout=0.1)
    with pytest.raises(ModelError) as caught:
        "".join(ask(settings))
    assert caught.value.message == said
    assert PROVIDERS[provider].name in caught.value.hint


def test_a_missing_key_names_its_own_variable() -> None:
    with pytest.raises(ModelError, match=r"ANTHROPIC_API_KEY is not set, and api\.anthropic\.com needs one"):
        "".join(ask(Settings(chat_model="m", provider="anthropic")))


def test_beginnings_of_keys_tell_one_provider() -> None:
    starts = [provider.key_start for provider in PROVIDERS.values() if provider.key_start]
    for start in starts:
        owner = provider_of_key(f"{start}xyz")
        assert owner is not None and owner.key_start == start
        assert [other for other in starts if other.startswith(start)] == [start]
    assert provider_of_key("sk-0123") is None
    assert provider_by_host("http://[x") is None


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{error.provider}-{error.said}")
def test_each_providers_errors_become_one_sentence_with_the_fix(error: ProviderError) -> None:
    with Provider([error.refusal]) as server:
        settings = settings_for(error.provider, address_at(error.provider, server))
        with pytest.raises(ModelError) as caught:
            "".join(ask(settings))
        assert len(server.requests) == 1, "asked once: trying again would change nothing"
    assert caught.value.kind == error.kind
    assert error.said in caught.value.message
    assert error.fix in caught.value.hint
    assert caught.value.message.isprintable() and len(caught.value.message) < 400
    assert KEY not in f"{caught.value.message} {caught.value.hint}"


def test_a_server_that_asks_for_a_key_where_none_is_set_has_refused_none() -> None:
    with Provider([Refuse(401, "Invalid API Key")]) as server, pytest.raises(ModelError) as caught:
        "".join(ask(replace(settings_for("llamacpp", server.url), api_key="")))
    assert caught.value.message.endswith("asks for a key, and none is set (status 401).")
    assert caught.value.hint == "Set OPENAI_API_KEY."
    assert caught.value.kind == "key"


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (Refuse(503, body={"error": {"code": 503, "message": "Loading model"}}), "still loading"),
        (Refuse(529, body={"type": "error", "error": {"type": "overloaded_error"}}), "failed"),
    ],
)
def test_busy_servers_are_tried_again(behaviour: Behaviour, said: str) -> None:
    with Provider([behaviour, "at last"]) as server:
        assert "".join(ask(settings_for("llamacpp", server.url))) == "at last"
    with Provider([behaviour]) as server, pytest.raises(ModelError, match=said):
        "".join(ask(settings_for("llamacpp", server.url)))


def test_an_unverified_organisation_gets_its_answer_in_one_piece() -> None:
    message = "Your organization must be verified to stream this model. Please go to: https://platform…"
    with Provider([Refuse(400, message), "In one piece.", "Again."]) as server:
        model = named_model(settings_for("openai", server.url))
        assert "".join(model.stream(QUESTION, max_tokens=9)) == "In one piece."
        assert "".join(model.stream(QUESTION, max_tokens=9)) == "Again."
        assert [request.body["stream"] for request in server.requests] == [True, False, False]


def test_a_broken_connection_does_not_undo_what_was_found() -> None:
    with Provider([Refuse(400, "stream is not supported"), Drip(b"", b""), "In one piece."]) as server:
        model = named_model(settings_for("openai", server.url))
        assert "".join(model.stream(QUESTION, max_tokens=9)) == "In one piece."
        assert [request.body["stream"] for request in server.requests] == [True, False, False]


def test_an_address_without_v1_is_tried_with_it() -> None:
    with Provider([Refuse(404, body="404 page not found"), "Found.", "Again."]) as server:
        model = named_model(settings_for("ollama", server.url.removesuffix("/v1")))
        assert "".join(model.stream(QUESTION, max_tokens=9)) == "Found."
        assert "".join(model.stream(QUESTION, max_tokens=9)) == "Again."
        paths = [request.path for request in server.requests]
        assert paths == ["/chat/completions", "/v1/chat/completions", "/v1/chat/completions"]


def test_azure_gets_its_key_in_a_header_of_its_own() -> None:
    with Provider(["Fine."]) as server:
        root = server.url.removesuffix("/v1")
        old = f"{root}/openai/deployments/gpt/chat/completions?api-version=2025-01-01-preview"
        assert "".join(ask(settings_for("azure", old))) == "Fine."
        assert "".join(ask(settings_for("azure", root))) == "Fine."
        paths = [request.path for request in server.requests]
        assert paths == [
            "/openai/deployments/gpt/chat/completions?api-version=2025-01-01-preview",
            "/openai/v1/chat/completions",
        ]
        for request in server.requests:
            assert request.headers["api-key"] == KEY
            assert "authorization" not in request.headers


def sources_of(content: str) -> list[PromptSource]:
    """The two sources in a message, as a prompt gives them."""
    found = []
    for number, text in ((1, "The deficit was 3.0 per cent."), (2, "Debt was 55 per cent.")):
        whole = f"[{number}] Report · page {number}\n{text}"
        start = content.index(whole)
        found.append(PromptSource(number, f"Report · page {number}", text, start, start + len(whole)))
    return found


CONTENT = (
    "Sources:\n\n[1] Report · page 1\nThe deficit was 3.0 per cent.\n\n"
    "[2] Report · page 2\nDebt was 55 per cent.\n\nQuestion: what was it?"
)


def of_anthropic(message: str) -> Refuse:
    """How Anthropic refuses a request."""
    return Refuse(400, body={"type": "error", "error": {"type": "invalid_request_error", "message": message}})


def stream_of_anthropic(server: Provider, *, with_sources: bool = True) -> Reply:
    settings = settings_for("anthropic", address_at("anthropic", server), temperature=0.0)
    messages = (("system", "Rules."), ("user", "Example"), ("assistant", "So."), ("user", CONTENT))
    sources = sources_of(CONTENT) if with_sources else []
    return named_model(settings).stream(messages, max_tokens=50, sources=sources)


def test_anthropics_citations_become_numbers_of_our_sources() -> None:
    said = Say(
        ["The deficit was 3.0 per cent", ". ", "Debt was 55 per cent [2]", "."],
        cites=(0, -1, 1, -1),
        prompt_tokens=30,
        answer_tokens=20,
    )
    with Provider([said]) as server:
        reply = stream_of_anthropic(server)
        assert "".join(reply) == "The deficit was 3.0 per cent [1]. Debt was 55 per cent [2]."
        assert (reply.finish, reply.prompt_tokens, reply.answer_tokens) == ("stop", 30, 20)
        (request,) = server.requests
    assert request.path == "/v1/messages"
    assert KEY in request.headers["authorization"] + request.headers.get("x-api-key", "")
    blocks = request.body["messages"][-1]["content"]
    assert [block["type"] for block in blocks] == ["text", "document", "document", "text"]
    documents = [block for block in blocks if block["type"] == "document"]
    assert [block["source"]["data"] for block in documents] == [
        "The deficit was 3.0 per cent.",
        "Debt was 55 per cent.",
    ]
    assert all(block["citations"] == {"enabled": True} for block in documents)
    assert documents[1]["title"] == "[2] Report · page 2"
    assert request.body["system"][0]["text"] == "Rules."
    assert [turn["role"] for turn in request.body["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("told", "finish"),
    [({"finish": "length"}, "length"), ({"finish": "model_context_window_exceeded"}, "length")],
)
def test_anthropics_ends_are_ours(told: Mapping[str, str], finish: str) -> None:
    with Provider([Say(["Some words"], **told)]) as server:  # type: ignore[arg-type]
        reply = stream_of_anthropic(server)
        assert "".join(reply) == "Some words"
        assert reply.finish == finish


@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        (Say(["No."], finish="refusal"), "withheld the answer"),
        (Say(["Half a"], ending="error"), "The answer was cut off: .*the model fell over"),
        (Say(["Half a"], ending="cut"), "The answer was cut"),
        (Say([]), "sent an empty answer"),
    ],
)
def test_anthropics_failures_in_the_middle_are_said(behaviour: Behaviour, said: str) -> None:
    with Provider([behaviour]) as server, pytest.raises(ModelError, match=said):
        "".join(stream_of_anthropic(server))


def test_what_an_anthropic_model_refuses_is_left_out() -> None:
    refusal = of_anthropic("`temperature` is not supported here.")
    with Provider([refusal, "Fine."]) as server:
        assert "".join(stream_of_anthropic(server)) == "Fine."
        assert ["temperature" in request.body for request in server.requests] == [True, False]


def test_a_model_that_refuses_an_effort_still_gets_the_form_of_its_answer() -> None:
    refusal = of_anthropic("`output_config.effort` is not supported here.")
    with Provider([refusal, "Fine.", "{}"]) as server:
        address = address_at("anthropic", server)
        model = named_model(settings_for("anthropic", address, reasoning="low"))
        assert "".join(model.stream([("user", "Example")], max_tokens=50)) == "Fine."
        assert "".join(model.stream([("user", "Example")], max_tokens=50, schema={"type": "object"})) == "{}"
        sent = [request.body.get("output_config", {}) for request in server.requests]
    assert [sorted(one) for one in sent] == [["effort"], [], ["format"]]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_what_the_environment_holds_for_other_hosts_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Secret: of-a-gateway")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    with Provider([Say(lambda body: ["Yes."])]) as server:
        "".join(ask(settings_for(provider, address_at(provider, server), anthropic_key=KEY)))
        request = server.requests[0]
    assert "secret" not in str(request.headers)
    assert "of-a-gateway" not in str(request.headers)
    assert request.headers["accept-encoding"] == "identity"


def test_an_answer_that_is_compressed_unasked_is_not_unpacked() -> None:
    bomb = Refuse(200, headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}, body="x")
    with Provider([bomb]) as server, pytest.raises(ModelError, match="compressed"):
        "".join(ask(settings_for("openai", server.url)))


@pytest.mark.parametrize("count", [10**18, 10**9, -5, True, "7"])
def test_a_count_of_tokens_that_can_be_none_is_counted_here(count: object) -> None:
    counted = Say(lambda body: ["Yes, it was."], prompt_tokens=count)  # type: ignore[arg-type]
    with Provider([counted]) as server:
        reply = ask(settings_for("openai", server.url))
        assert "".join(reply) == "Yes, it was."
    assert "prompt_tokens" not in (reply.usage or {})
