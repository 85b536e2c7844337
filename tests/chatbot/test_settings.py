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
