"""Where the home is: what the environment says, else as the product was put here."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatbot.errors import SettingsError
from chatbot.settings import ROOT, default_home, load_settings


def test_a_checkout_is_its_own_home() -> None:
    assert default_home() == ROOT
    assert load_settings({}).home == ROOT


def test_an_installed_copy_has_the_users_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "finpolicy-0.1.0.dist-info").mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_home(tmp_path) == tmp_path / "data" / "finpolicy"


def test_a_home_that_is_named_comes_first(tmp_path: Path) -> None:
    settings = load_settings({"FINPOLICY_HOME": str(tmp_path)})
    assert settings.store == tmp_path / "chroma_db"
    assert settings.documents == tmp_path / "documents"


@pytest.mark.parametrize("name", ["FINPOLICY_PROVIDER", "FINPOLICY_REASONING", "FINPOLICY_USER_MODELS"])
def test_a_word_that_is_no_choice_is_told_with_the_choices(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} is 'sure'") as caught:
        load_settings({name: "sure"})
    assert "Set it to one of" in caught.value.hint
    if name == "FINPOLICY_PROVIDER":
        assert "anthropic, azure" in caught.value.hint


@pytest.mark.parametrize("text", ["LMStudio", "lm studio", "lmstudio "])
def test_a_provider_is_known_in_any_case_and_by_its_name(text: str) -> None:
    assert load_settings({"FINPOLICY_PROVIDER": text}).provider == "lmstudio"


@pytest.fixture
def env_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The `.env` of this process's home."""
    monkeypatch.setenv("FINPOLICY_HOME", str(tmp_path))
    return tmp_path / ".env"


def test_a_file_in_the_home_sets_what_the_environment_does_not(
    env_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env_file.write_text(
        "\ufeff# the model\nFINPOLICY_CHAT_MODEL=of-file\nexport OPENAI_API_KEY='sk-$HOME # 1'\n"
        "FINPOLICY_PAGES = 7 # pages\nLD_PRELOAD=x.so\n\nFINPOLICY_TIMEOUT=5\n"
    )
    monkeypatch.setenv("FINPOLICY_CHAT_MODEL", "of-environment")
    monkeypatch.setenv("FINPOLICY_TIMEOUT", "")
    settings = load_settings()
    assert settings.chat_model == "of-environment"
    assert settings.api_key == "sk-$HOME # 1"
    assert settings.pages == 7
    assert settings.timeout == 60
    assert load_settings({}).pages == 3


def test_a_file_where_somebody_stands_is_not_read(
    env_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "downloaded").mkdir()
    (tmp_path / "downloaded" / ".env").write_text("OPENAI_BASE_URL=https://elsewhere.example/v1\n")
    monkeypatch.chdir(tmp_path / "downloaded")
    assert load_settings().base_url == ""
    env_file.mkdir()  # as some name their virtual environment
    assert load_settings().base_url == ""


@pytest.mark.parametrize("line", ["FINPOLICY_PAGES", "sk-secret key", "OPENAI_API_KEY='sk-secret"])
def test_a_broken_line_is_named_without_what_it_says(env_file: Path, line: str) -> None:
    env_file.write_text(f"FINPOLICY_PAGES=3\n{line}\n")
    with pytest.raises(SettingsError, match=r"Line 2 of .*\.env cannot be read") as raised:
        load_settings()
    assert "sk-secret" not in str(raised.value)


def test_a_file_that_is_no_text_is_told(env_file: Path) -> None:
    env_file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"\.env cannot be read"):
        load_settings()


def test_a_setting_that_is_gone_is_named_with_the_one_that_took_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    load_settings({"FINPOLICY_PROMPT_PAGES": "7"})
    assert "FINPOLICY_PROMPT_PAGES has no effect any more. Set FINPOLICY_PAGES." in caplog.text
