"""What holds of any text that is counted, named, escaped, shown or read as a setting."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatbot.answer.citations.citation_keys import KEY
from chatbot.errors import DocumentError, SettingsError
from chatbot.models.tokens import count_tokens, encodable
from chatbot.settings import ENVIRONMENT, load_settings
from chatbot.store.document_names import display_name, free_name, known_as
from chatbot.ui.safe_text import plain_markdown, short

KEY_PIECES = st.sampled_from(["[S1-7f3a]", "［Ｓ1]", "[S2", "]", " ", "the ", "ü", "\ud800"])
LIKE_KEYS = st.lists(KEY_PIECES, max_size=10).map("".join)
TEXTS = st.text(max_size=60) | LIKE_KEYS
SETTINGS = st.sampled_from(["0", "1", "-1", "2.5", "yes", "nan", "inf", "1e12", "", " 3 "])
# Without what an environment cannot hold.
VALUES = SETTINGS | st.text(max_size=8).filter(lambda text: "\0" not in text)
CODES = st.text("0123456789abcdef", min_size=4, max_size=8)


@given(TEXTS)
def test_what_can_be_sent_counts_as_the_text_and_has_its_length(text: str) -> None:
    sent = encodable(text)
    assert encodable(sent) == sent
    assert len(sent) == len(text)
    tokens = count_tokens(text)
    assert count_tokens(sent) == tokens
    assert (tokens == 0) == (text == "")


@given(st.integers(1, 9999), CODES, st.text(" .,;([", max_size=3))
def test_every_key_is_read_where_it_stands(number: int, code: str, around: str) -> None:
    key = f"S{number}-{code}"
    found = KEY.search(f"{around}{key}{around[::-1]}")
    assert found
    assert found[0] == key
    assert not KEY.search(f"A{key}")
    assert not KEY.search(f"{key}Z")


@given(TEXTS)
def test_a_name_that_a_document_has_is_its_name(given_name: str) -> None:
    name = known_as(given_name)
    try:
        shown = display_name(given_name)
        shown_again = display_name(name)
    except DocumentError:
        assert name == given_name
        return
    assert shown == name
    assert shown_again == name
    assert not set(name) & set("/\\\0\n\u202e")


FILE_NAMES = st.from_regex(r"[A-Za-z]{1,8}(\.pdf)?", fullmatch=True)


@given(FILE_NAMES, st.integers(0, 5))
def test_a_free_name_is_new_and_of_the_same_kind(name: str, more: int) -> None:
    taken = [name]
    for _ in range(more):
        taken.append(free_name(name, taken))
    assert len(set(taken)) == more + 1
    for one in taken:
        assert one.endswith(".pdf") == name.endswith(".pdf")
        assert one.startswith(name.removesuffix(".pdf"))


LONG_TEXTS = st.text("abc 20", min_size=20, max_size=90)


@given(st.text(max_size=120) | LONG_TEXTS, st.integers(4, 60))
def test_a_short_text_keeps_both_ends(text: str, most: int) -> None:
    cut = short(text, most)
    assert len(cut) <= most
    assert cut == text or len(text) > most
    assert cut[:1] == text[:1]
    assert cut[-1:] == text[-1:]


@given(TEXTS)
def test_a_label_is_one_line_in_which_nothing_begins_a_mark(text: str) -> None:
    label = plain_markdown(text)
    assert len(label.splitlines()) <= 1
    marks = [at for at, letter in enumerate(label) if letter in "*_`[]<>$#~|"]
    assert all(label[at - 1] == "\\" for at in marks)


@given(st.sampled_from(sorted(ENVIRONMENT)), VALUES)
def test_a_setting_is_read_or_refused_by_its_name(name: str, value: str) -> None:
    try:
        settings = load_settings({name: value})
    except SettingsError as error:
        refusal = str(error)
        assert name in refusal or "FINPOLICY_PROMPT_EXCHANGES" in refusal
        return
    defaults = load_settings({})
    field = ENVIRONMENT[name]
    assert value.strip() or getattr(settings, field) == getattr(defaults, field)
    others = [called for called in ENVIRONMENT.values() if called != field]
    assert all(getattr(settings, called) == getattr(defaults, called) for called in others)


@given(st.text("abcdefgh0123", min_size=12, max_size=20))
def test_a_key_is_never_shown(key: str) -> None:
    secrets = {"OPENAI_API_KEY": f"sk-{key}"}
    for name in ("FINPOLICY_DATABASE_URL", "MEMORY_DATABASE_URL"):
        secrets[name] = f"postgresql://me:{key}@host/news"
    assert key not in repr(load_settings(secrets))
