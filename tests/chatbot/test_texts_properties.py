"""What holds of any text that is counted, named, escaped, shown or read as a setting."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatbot.answer.citations.citation_keys import KEY, KEYS_IN_BRACKETS, escape_keys
from chatbot.errors import DocumentError, SettingsError
from chatbot.models.tokens import count_tokens, cut_to_tokens, encodable
from chatbot.settings import ENVIRONMENT, load_settings
from chatbot.store.document_names import display_name, free_name, known_as
from chatbot.ui.safe_text import plain_markdown, short, spoken

TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from(["[S1-7f3a]", "［Ｓ1]", "[S2", "]", " ", "the ", "ü", "\ud800"]), max_size=10
).map("".join)
# Without what an environment cannot hold.
VALUES = st.sampled_from(["0", "1", "-1", "2.5", "yes", "nan", "inf", "1e12", "", " 3 "]) | st.text(
    max_size=8
).filter(lambda text: "\0" not in text)


@given(TEXTS, st.integers(0, 30), st.integers(0, 30))
def test_a_cut_of_a_cut_is_the_shorter_one(text: str, one: int, other: int) -> None:
    cut = cut_to_tokens(cut_to_tokens(text, max(one, other)), min(one, other))
    assert cut == cut_to_tokens(text, min(one, other))


@given(TEXTS)
def test_what_can_be_sent_counts_as_the_text_and_has_its_length(text: str) -> None:
    sent = encodable(text)
    assert (encodable(sent), len(sent), count_tokens(sent)) == (sent, len(text), count_tokens(text))
    assert (count_tokens(text) == 0) == (text == "")


@given(TEXTS)
def test_an_escaped_text_has_the_letters_of_the_text_and_no_citation(text: str) -> None:
    escaped = escape_keys(text)
    assert len(escaped) == len(text) and escape_keys(escaped) == escaped
    assert not KEYS_IN_BRACKETS.search(escaped)
    assert all(before == after or after in "⟦⟧" for before, after in zip(text, escaped, strict=True))


@given(
    st.integers(1, 9999), st.text("0123456789abcdef", min_size=4, max_size=8), st.text(" .,;([", max_size=3)
)
def test_every_key_is_read_where_it_stands(number: int, code: str, around: str) -> None:
    key = f"S{number}-{code}"
    found = KEY.search(f"{around}{key}{around[::-1]}")
    assert found and found[0] == key
    assert not KEY.search(f"A{key}") and not KEY.search(f"{key}Z")


@given(TEXTS)
def test_a_name_that_a_document_has_is_its_name(given_name: str) -> None:
    name = known_as(given_name)
    try:
        assert display_name(given_name) == name and display_name(name) == name
        assert not set(name) & set("/\\\0\n\u202e")
    except DocumentError:
        assert name == given_name


@given(st.from_regex(r"[A-Za-z]{1,8}(\.pdf)?", fullmatch=True), st.integers(0, 5))
def test_a_free_name_is_new_and_of_the_same_kind(name: str, more: int) -> None:
    taken = [name]
    for _ in range(more):
        taken.append(free_name(name, taken))
    assert len(set(taken)) == more + 1
    assert all(
        one.endswith(".pdf") == name.endswith(".pdf") and one.startswith(name.removesuffix(".pdf"))
        for one in taken
    )


@given(st.text(max_size=120) | st.text("abc 20", min_size=20, max_size=90), st.integers(4, 60))
def test_a_short_text_keeps_both_ends(text: str, most: int) -> None:
    cut = short(text, most)
    assert len(cut) <= most and (cut == text or len(text) > most)
    assert cut[:1] == text[:1] and cut[-1:] == text[-1:]


@given(TEXTS)
def test_what_is_read_out_is_words_alone(text: str) -> None:
    said = spoken(text)
    assert spoken(said) == said and "".join(said.split()) == "".join(
        letter for letter in text if letter.isalnum()
    )


@given(TEXTS)
def test_a_label_is_one_line_in_which_nothing_begins_a_mark(text: str) -> None:
    label = plain_markdown(text)
    assert len(label.splitlines()) <= 1
    assert all(label[at - 1] == "\\" for at, letter in enumerate(label) if letter in "*_`[]<>$#~|")


@given(st.sampled_from(sorted(ENVIRONMENT)), VALUES)
def test_a_setting_is_read_or_refused_by_its_name(name: str, value: str) -> None:
    refusal, settings = "", load_settings({})
    try:
        settings = load_settings({name: value})
    except SettingsError as error:
        refusal = str(error)
    if refusal:
        assert name in refusal or "FINPOLICY_PROMPT_EXCHANGES" in refusal
        return
    field = ENVIRONMENT[name][0]
    assert value.strip() or getattr(settings, field) == getattr(load_settings({}), field)
    others = {other: called for other, (called, _) in ENVIRONMENT.items() if called != field}
    assert all(getattr(settings, called) == getattr(load_settings({}), called) for called in others.values())


@given(st.text("abcdefgh0123", min_size=12, max_size=20))
def test_a_key_is_never_shown(key: str) -> None:
    assert key not in repr(
        load_settings(
            {"OPENAI_API_KEY": f"sk-{key}", "MEMORY_DATABASE_URL": f"postgresql://me:{key}@host/news"}
        )
    )
