"""Several models side by side: each by its own endpoint, one that hangs or fails, and what holds of each."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from chatbot.asking.question import Ask
from chatbot.asking.side_by_side import ComparedModel, compared_models
from chatbot.comparison.model_answers import ComparedAnswer, compared_figures, holding_line
from chatbot.errors import UsageError
from chatbot.serialize import compared_line
from chatbot.settings import Settings
from tests.case_rows import case_rows
from tests.provider import Body, Mute, Provider, Refuse, Say, first_key
from tests.stores import Make

QUESTION = "What is the deficit ceiling?"
RIGHT = Say(
    lambda body: [f"The deficit ceiling is 3.0 per cent of output in every year [{first_key(body)}]."]
)
WRONG = Say(lambda body: [f"The deficit ceiling is 4.5 per cent of output [{first_key(body)}]."])


def model_at(provider: Provider, name: str) -> ComparedModel:
    return ComparedModel(name, Settings(chat_model=name, base_url=provider.url, timeout=5.0))


def by_name(answers: list[ComparedAnswer]) -> dict[str, ComparedAnswer]:
    return {compared.name: compared for compared in answers}


def never() -> bool:
    return False


def compared(
    make: Make, models: list[ComparedModel], stop: Callable[[], bool] = never
) -> dict[str, ComparedAnswer]:
    return by_name(list(make().side_by_side.answers(Ask(QUESTION), models, stop)))


def test_each_model_is_asked_and_what_holds_of_each_is_counted(make: Make) -> None:
    with Provider([RIGHT]) as right, Provider([WRONG]) as wrong:
        models = [model_at(right, "a"), model_at(wrong, "b"), ComparedModel("none", Settings())]
        answers = compared(make, models)
        assert right.requests[0].body["model"] == "a"
        assert wrong.requests[0].body["model"] == "b"
    assert (answers["a"].statements, answers["a"].holding) == (1, 1)
    assert (answers["a"].figures, answers["a"].right) == (1, 1)
    assert (answers["b"].holding, answers["b"].right) == (0, 0)
    assert answers["a"].share_holding == answers["none"].share_holding == 1.0
    assert answers["none"].host == ""
    figures = {figure.text: figure.statuses for figure in compared_figures(list(answers.values()))}
    assert figures["3.0 per cent"]["a"] == "supported"
    assert "b" not in figures["3.0 per cent"]
    assert figures["4.5 per cent"].keys() == {"b"}
    assert holding_line(answers["a"]) == "1 of 1 statements proven, 1 of 1 figures proven"


def test_a_model_that_hangs_holds_no_other_up(make: Make) -> None:
    stopped = threading.Event()
    with Provider([RIGHT]) as right, Provider([Mute()]) as mute:
        models = [model_at(mute, "slow"), model_at(right, "quick")]
        answers = make().side_by_side.answers(Ask(QUESTION), models, stopped.is_set)
        first = next(answers)
        assert first.name == "quick" and first.answer is not None
        stopped.set()
        (rest,) = answers
        assert (rest.name, rest.answer) == ("slow", None)
        assert rest.problem == "Stopped before it answered."
        assert mute.hung_up.wait(5), "its connection is closed"


def test_a_model_that_fails_says_why_and_has_no_answer(make: Make) -> None:
    with Provider([RIGHT]) as right, Provider([Refuse(404, "model not found")]) as other:
        answers = compared(make, [model_at(right, "a"), model_at(other, "gone")])
    assert answers["gone"].answer is None
    assert "does not know the model 'gone'" in answers["gone"].problem
    assert holding_line(answers["gone"]) == "no answer"
    assert answers["a"].answer is not None


def test_nothing_of_it_is_remembered(make: Make) -> None:
    with Provider([RIGHT]) as right:
        chatbot = make()
        list(chatbot.side_by_side.answers(Ask(QUESTION), [model_at(right, "a"), model_at(right, "b")]))
        assert chatbot.conversations.listed("local") == []


def test_models_are_asked_at_the_same_time(make: Make) -> None:
    all_asked = threading.Barrier(3)

    def pieces(body: Body) -> list[str]:
        all_asked.wait(20)  # nobody answers before everybody is asked
        return [f"The deficit ceiling is 3.0 per cent [{first_key(body)}]."]

    with Provider([pieces]) as one, Provider([pieces]) as two, Provider([pieces]) as three:
        models = [model_at(one, "a"), model_at(two, "b"), model_at(three, "c")]
        answers = compared(make, models)
    assert all(answer.answer is not None for answer in answers.values())


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"], list("abcde"), ["azure:gpt", "none"]])
def test_names_that_cannot_be_compared_are_said(names: list[str]) -> None:
    with pytest.raises(UsageError):
        compared_models(names, Settings())


MISTYPED = """
olama:qwen3  | Did you mean ollama:qwen3?
Ollama:qwen3 | Did you mean ollama:qwen3?
ollama:      | Write ollama:MODEL
foo:bar      | PROVIDER:MODEL
qwen3        | PROVIDER:MODEL
"""


@pytest.mark.parametrize(("name", "hint"), case_rows(MISTYPED))
def test_a_name_that_is_no_providers_goes_to_no_other_host(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        compared_models([name, "none"], Settings(api_key="sk-of-openai"))
    assert hint in raised.value.hint


def test_a_key_goes_to_no_other_host_than_its_own() -> None:
    given = {"api_key": "sk-of-a-gateway", "chat_model": "m"}
    gateway = Settings(base_url="https://models.example/v1", **given)  # type: ignore[arg-type]
    for name in ("openai:gpt-5", "deepseek:deepseek-chat"):
        assert compared_models([name, "none"], gateway)[0].settings.api_key == ""
    openai = Settings(**given)  # type: ignore[arg-type]
    assert compared_models(["openai:gpt-5", "none"], openai)[0].settings.api_key == "sk-of-a-gateway"


def test_a_price_is_that_of_the_settings_own_model_alone() -> None:
    settings = Settings(chat_model="dear", base_url="http://127.0.0.1:1/v1", price_in=2.0, price_out=8.0)
    own, other = compared_models(["dear", "ollama:dear"], settings)
    assert (own.settings.price_in, other.settings.price_in, other.settings.price_out) == (2.0, 0.0, 0.0)


def test_what_a_reader_should_know_comes_with_the_answer(make: Make) -> None:
    cut = replace(RIGHT, prompt_tokens=10)  # as an endpoint counts that has dropped the rest
    with Provider([cut]) as short, Provider([RIGHT]) as whole:
        answers = compared(make, [model_at(short, "a"), model_at(whole, "b")])
    (notice,) = answers["a"].notices
    assert "Its context length is too short" in notice
    assert answers["b"].notices == ()


def test_what_nobody_checked_does_not_hold(make: Make) -> None:
    with Provider([lambda body: ["The moon is made of green cheese."]]) as other, Provider([RIGHT]) as right:
        answers = compared(make, [model_at(other, "a"), model_at(right, "b")])
    assert holding_line(answers["a"]) == "0 of 1 statements proven"
    assert answers["a"].share_holding == 0


def test_names_choose_provider_endpoint_and_key() -> None:
    settings = Settings(base_url="http://127.0.0.1:1/v1", api_key="own", anthropic_key="theirs")
    names = ["anthropic:claude-x", "qwen3:8b", "ollama:qwen3:8b", "none"]
    made = [model.settings for model in compared_models(names, settings)]
    assert [(one.provider, one.chat_model) for one in made] == [
        ("anthropic", "claude-x"),
        ("", "qwen3:8b"),
        ("ollama", "qwen3:8b"),
        ("", ""),
    ]
    assert [one.base_url for one in made[:3]] == ["", "http://127.0.0.1:1/v1", ""]
    azure = replace(settings, provider="azure", base_url="https://x.openai.azure.com")
    assert compared_models(["azure:gpt", "none"], azure)[0].settings.base_url == azure.base_url


def test_the_line_for_programs_has_all_of_it(make: Make) -> None:
    with Provider([RIGHT]) as right, Provider([Refuse(401)]) as other:
        answers = list(compared(make, [model_at(right, "a"), model_at(other, "b")]).values())
    line = json.loads(json.dumps(compared_line(QUESTION, answers, compared_figures(answers))))
    assert line["question"] == QUESTION
    models = {model["name"]: model for model in line["models"]}
    assert models["a"]["answer"]["answered"] and models["a"]["holding"] == 1
    assert models["b"]["answer"] is None and "asks for a key" in models["b"]["problem"]
    assert line["figures"][0]["statuses"] == {"a": "supported"}
