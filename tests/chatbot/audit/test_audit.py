"""Audit files: every kind of answer makes one that is confirmed, and whatever is changed in one, or in its
documents, is found.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeAlias

import hypothesis
import hypothesis.strategies as st
import pytest
from PIL import Image

from chatbot.answer.verification.own_text import check_quoted
from chatbot.asking.question import Ask
from chatbot.audit.builder import Occasion, audit_file, file_name
from chatbot.audit.html_page import render
from chatbot.audit.page_images import looks_alike
from chatbot.audit.recheck import check_again, with_keys
from chatbot.audit.record import (
    FORMAT,
    LARGEST_FILE,
    RECORD_END,
    RECORD_START,
    AuditFile,
    AuditFileError,
    Quote,
    ReadingRecord,
    Record,
    Sent,
    Source,
    StatementRecord,
    digest_of,
    dump,
    load,
    read_file,
    sealed,
)
from chatbot.audit.verifier import CONFIRMED, DIFFERS, UNKNOWN, DocumentSources, VerificationLine, verify
from chatbot.errors import DocumentError, ModelError
from chatbot.models.chat import LLM
from chatbot.records import Answer, Citation, StatementQuote
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from ingestion.document import read_document
from ingestion.reading.reader import Reader
from tests.case_rows import case_lines, case_rows
from tests.chatbot.cited_pages import hit_of, prompt_over
from tests.fakes import ScriptedModel
from tests.pdfs import make_pdf, make_scan
from tests.provider import Provider, first_key
from tests.readers import judgement, quoting, reader
from tests.stores import RULES, hashing

QUESTION = "What is the deficit ceiling?"
HOSTILE = (
    "What is the deficit ceiling? </pre></script><script>alert(1)</script><img src=x onerror=alert(1)> "
    "**b** [x](http://e.example) \u202etxt $x$"
)
Make = Callable[..., Chatbot]


def rules(folder: Path) -> Upload:
    return Upload(make_pdf(folder / "Rules.pdf", RULES, labels=["i", "ii"]))


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as opened:

        def build(model: LLM | None = None, uploads: Sequence[Upload] = ()) -> Chatbot:
            settings = Settings(home=tmp_path / "home")
            chatbot = Chatbot(settings, embedder=hashing(), model=model)
            opened.enter_context(chatbot)
            list(chatbot.add(uploads or [rules(tmp_path)]))
            return chatbot

        yield build


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in it."""
    return tmp_path_factory.mktemp("audit")


@pytest.fixture(scope="module")
def file(home: Path) -> AuditFile:
    """The audit file of an answer from that store, which is closed."""
    with Chatbot(Settings(home=home / "home"), embedder=hashing()) as chatbot:
        list(chatbot.add([rules(home)]))
        return audited(chatbot, home)


def ask(chatbot: Chatbot, question: str = QUESTION, **given: object) -> Answer:
    *_, answer = chatbot.ask(Ask(question, **given))  # type: ignore[arg-type]
    assert isinstance(answer, Answer)
    return answer


def written(tmp_path: Path, data: bytes) -> AuditFile:
    path = tmp_path / "audit.html"
    path.write_bytes(data)
    return read_file(path)


def audited(chatbot: Chatbot, tmp_path: Path, question: str = QUESTION) -> AuditFile:
    answer = ask(chatbot, question)
    return audit_of(chatbot, answer, tmp_path)


def audit_of(chatbot: Chatbot, answer: Answer, tmp_path: Path, asked_at: float | None = None) -> AuditFile:
    """asked_at: now, if it is not given."""
    occasion = Occasion(asked_at or time.time())
    return written(tmp_path, audit_file(chatbot, answer, occasion))


Found: TypeAlias = list[VerificationLine]
Wrong: TypeAlias = Callable[[bytes], Found]


def findings(file: AuditFile, tmp_path: Path, folder: Path | None = None, password: str = "") -> Found:
    passwords = {"Locked.pdf": password} if password else {}
    sources = DocumentSources(tmp_path / "home" / "documents", folder, passwords)
    return list(verify(file, sources))


def wrong(file: AuditFile, tmp_path: Path, folder: Path | None = None, password: str = "") -> Found:
    found = findings(file, tmp_path, folder, password)
    return [one for one in found if one.status != CONFIRMED]


def forged(file: AuditFile, record: Record, images: dict[str, bytes] | None = None) -> AuditFile:
    """A file that agrees with itself: drawn anew from a changed record, with a digest that fits."""
    images = file.images if images is None else images
    record = sealed(record)
    return AuditFile(render(record, images).encode(), record, images)


def names(found: Sequence[VerificationLine]) -> list[str]:
    return [one.what for one in found]


def says(messages: Sequence[tuple[str, str]]) -> list[str]:
    *_, (_, prompt) = messages
    (key,) = set(re.findall(r"^\[(1)\] ", prompt, re.M))
    ceiling = f"The deficit ceiling is 3.0 per cent of output in every year [{key}]."
    breach = f" A breach costs 45 million [{key}, S9-abcd]."
    report = f'\n\nIt is "reported to Parliament within 30 days" [{key}] [S1].'
    total = f" The sum is 3.0 + 30 = 33 (see {key})."
    return [ceiling + breach, report + total]


def test_an_answer_in_the_documents_words_is_confirmed(make: Make, tmp_path: Path) -> None:
    file = audited(make(), tmp_path)
    assert wrong(file, tmp_path) == []
    record = file.record
    assert record.question == QUESTION
    assert record.answered
    assert record.model == "extractive"
    assert record.sent is None
    assert record.whole
    leaf = record.leaves[0]
    assert leaf.label == "i"
    assert leaf.image in file.images
    assert all(quote.verified for quote in record.quotes)
    assert all(quote.marks for quote in record.quotes)
    ceilings = [check for check in record.checks if check.text.startswith("3.0")]
    assert all(check.status == "supported" for check in ceilings)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", record.asked_at)
    assert record.documents[0].sha256 == leaf.sha256


def test_an_answer_of_a_model_is_confirmed_with_all_that_is_doubtful_in_it(
    make: Make, tmp_path: Path
) -> None:
    file = audited(make(ScriptedModel(says)), tmp_path)
    assert wrong(file, tmp_path) == []
    record = file.record
    sent = record.sent
    assert sent is not None
    assert sent.model == "scripted"
    assert sent.host == "this process"
    rules, example, example_answer, (role, asked) = sent.messages
    assert rules[0] == "system"
    assert example[0] == "user"
    assert example_answer[0] == "assistant"
    assert role == "user"
    assert "deficit ceiling" in asked
    assert {quote.leaf for quote in record.quotes} == {0, None}
    assert {check.status for check in record.checks} >= {"supported", "unsupported"}
    derived = [check for check in record.checks if check.status == "derived"]
    assert any(check.operands for check in derived)
    shown = file.data.decode()
    assert "no such source" in shown
    assert "not found on the cited pages" in shown


def test_what_stands_in_for_a_failed_model_says_so(make: Make, tmp_path: Path) -> None:
    broken = ScriptedModel([ModelError("It is out of order.")])
    file = audited(make(broken), tmp_path)
    assert wrong(file, tmp_path) == []
    sent = file.record.sent
    assert sent is not None
    assert "out of order" in sent.failure


def test_a_refusal_shows_the_nearest_pages(make: Make, tmp_path: Path) -> None:
    file = audited(make(), tmp_path, "Who wrote the opera about a magic flute?")
    assert wrong(file, tmp_path) == []
    record = file.record
    assert not record.answered
    assert record.nearest
    assert all(record.leaves[at].image for at in record.nearest)
    assert b"Not in these documents" in file.data


CLAIM = "The ceiling is 5.0 per cent of output."


@pytest.mark.parametrize("text", ["Not in these documents.", CLAIM])
def test_a_refusal_hides_no_statement(make: Make, tmp_path: Path, text: str) -> None:
    file = audited(make(ScriptedModel(says)), tmp_path)
    stated = StatementRecord(CLAIM, "cited", None, "stated", "stated")
    record = replace(file.record, answered=False, answer=text, quotes=(), checks=(), statements=(stated,))
    assert "statements" in names(wrong(forged(file, record), tmp_path))
    own_words = forged(file, replace(record, model="extractive"))
    assert "refusal" in names(wrong(own_words, tmp_path))
    nothing_listed = forged(file, replace(record, model="extractive", statements=()))
    assert ("refusal" in names(wrong(nothing_listed, tmp_path))) == (text == CLAIM)


def test_a_reply_counts_only_for_the_statement_that_was_sent(tmp_path: Path) -> None:
    figure = {"as_written": "3.0 per cent", "as_printed": "3.0 per cent", "quote": 0, "relation": "same"}
    printed = "The deficit ceiling is 3.0 per cent of output in every year"
    said = "The deficit may never be larger than 3.0 per cent of output"
    reads = reader(quoting("stated", printed, figures=[figure]))
    with Provider([lambda body: [f"{said} [{first_key(body)}]."]], reads=reads) as provider:
        settings = Settings(home=tmp_path / "home", chat_model="m", base_url=provider.url)
        with Chatbot(settings, embedder=hashing()) as chatbot:
            list(chatbot.add([rules(tmp_path)]))
            file = audited(chatbot, tmp_path)
    record = file.record
    assert [one.mark for one in record.statements] == ["stated"]
    assert wrong(file, tmp_path) == []
    text = record.answer.replace("never", "always")
    record = with_first(replace(record, answer=text), "statements", text=text)
    assert [(one.what, one.status) for one in wrong(forged(file, record), tmp_path)] == [
        ("statements", DIFFERS)
    ]


def test_pages_read_by_ocr_are_read_again(make: Make, tmp_path: Path) -> None:
    scan = Upload(make_scan(tmp_path / "Scan.pdf", RULES))
    file = audited(make(uploads=[scan]), tmp_path)
    assert file.record.leaves[0].method == "ocr"
    assert file.record.quotes[0].confidence is not None
    assert wrong(file, tmp_path) == []


def test_a_protected_page_is_shown_only_with_its_password(make: Make, tmp_path: Path) -> None:
    locked = make_pdf(tmp_path / "Locked.pdf", RULES, user_password="sesame")
    chatbot = make(uploads=[Upload(locked, password="sesame")])
    answer = ask(chatbot)
    shut = audit_of(chatbot, answer, tmp_path)
    leaf = shut.record.leaves[0]
    assert leaf.image is None
    assert "needs its password" in leaf.missing
    assert not shut.images
    assert {one.status for one in wrong(shut, tmp_path)} == {UNKNOWN}
    assert wrong(shut, tmp_path, password="sesame") == []
    passwords = {leaf.sha256: "sesame" for leaf in shut.record.leaves}
    with_passwords = Occasion(time.time(), passwords=passwords)
    opened = written(tmp_path, audit_file(chatbot, answer, with_passwords))
    assert opened.record.leaves[0].image in opened.images
    assert wrong(opened, tmp_path, password="sesame") == []
    assert b"sesame" not in opened.data


def test_what_was_added_since_is_not_listed_as_searched(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    asked_at, answer = time.time(), ask(chatbot)
    time.sleep(0.01)
    later = Upload(make_pdf(tmp_path / "Later.pdf", ["Something else"]))
    list(chatbot.add([later]))
    record = audit_of(chatbot, answer, tmp_path, asked_at).record
    assert [one.name for one in record.documents] == ["Rules.pdf"]
    assert record.whole
    chatbot.remove("Rules.pdf", purge=True)
    file = audit_of(chatbot, answer, tmp_path, asked_at)
    assert file.record.documents == ()
    assert not file.record.whole
    assert file.record.leaves[0].image is None
    assert UNKNOWN in {one.status for one in findings(file, tmp_path)}


def in_visible(data: bytes, old: str, new: str) -> bytes:
    """Changed where it is seen, not in the record."""
    head, mark, tail = data.partition(RECORD_START.encode())
    assert old.encode() in head
    changed = head.replace(old.encode(), new.encode(), 1)
    return changed + mark + tail


def in_record(data: bytes, old: str, new: str) -> bytes:
    head, mark, tail = data.partition(RECORD_START.encode())
    assert old.encode() in tail
    changed = tail.replace(old.encode(), new.encode(), 1)
    return head + mark + changed


@pytest.fixture
def wrong_in(home: Path, tmp_path: Path) -> Wrong:
    """What is wrong with a file of these bytes."""
    return lambda data: wrong(written(tmp_path, data), home)


VISIBLE = """
3.0 per cent of output | 5.0 per cent of output
located on the page | Located on the page
(printed i) | (printed v)
</header> | <p>added</p></header>
default-src 'none' | default-src *
.quiet { | .quiet { display: none;
<rect x=" | <rect x="9
"""


@pytest.mark.parametrize(("old", "new"), case_rows(VISIBLE))
def test_what_is_changed_by_hand_where_it_is_seen(
    file: AuditFile, wrong_in: Wrong, old: str, new: str
) -> None:
    (found,) = wrong_in(in_visible(file.data, old, new))
    assert found.what == "visible part"
    assert found.status == DIFFERS


RECORDED = """
3.0 per cent | 5.0 per cent
"verified": true | "verified": false
"page": 1 | "page": 2
"""


@pytest.mark.parametrize(("old", "new"), case_rows(RECORDED))
def test_what_is_changed_by_hand_in_the_record(file: AuditFile, wrong_in: Wrong, old: str, new: str) -> None:
    found = wrong_in(in_record(file.data, old, new))
    assert {"digest", "visible part"} <= set(names(found))


MISREAD = [
    ('"format": 5,', '"format": 5,\n "format": 5,'),
    ('"format": 5,', '"format": 5, "more": 2,'),
    ('"seconds": ', '"seconds":  '),
]


def test_what_machines_would_read_otherwise_is_found(file: AuditFile, wrong_in: Wrong) -> None:
    for old, new in MISREAD:
        found = wrong_in(in_record(file.data, old, new))
        assert names(found) == ["digest", "visible part"]


def with_first(record: Record, part: str, **changes: Any) -> Record:
    """With these changes to the first of its quotes, leaves or checks."""
    first, *others = getattr(record, part)
    changed = (replace(first, **changes), *others)
    return replace(record, **{part: changed})  # type: ignore[arg-type]


# Of the first quotation, page image or check, or of the record: what is changed and where that is found.
FORGED_FIELDS = """
quotes | {"quote": "The deficit ceiling is 5.0 per cent"} | quotation [S1]
quotes | {"start": 0, "end": 5} | quotation [S1]
quotes | {"verified": false, "reason": "so it is"} | quotation [S1]
quotes | {"leaf": null} | quotation [S1]
leaves | {"page": 2} | page Rules.pdf, p. 2
leaves | {"page": 900} | page Rules.pdf, p. 900
leaves | {"label": "7"} | page Rules.pdf, p. 1
leaves | {"method": "ocr"} | page Rules.pdf, p. 1
leaves | {"sha256": "../../../etc/passwd"} | document Rules.pdf
leaves | {"dpi": 100000} | image of Rules.pdf, p. 1
checks | {"status": "contradicted"} | figure 3.0 per cent
checks | {"value": 5.0} | figure 3.0 per cent
quotes | {"marks": [[0.1, 0.9, 0.2, 0.95]]} | mark of [S1]
leaves | {"sha256": "0000000000000000000000000000000000000000000000000000000000000000"} | document Rules.pdf
checks | {"formula": "1 + 2 = 3.0"} | figure 3.0 per cent
sources | {"page": 99} | sources
documents | {"period": "1999"} | documents searched
record | {"documents": []} | documents searched
record | {"whole": false} | documents searched
record | {"answered": false} | refusal
"""


def expect_found(file: AuditFile, record: Record, where: str, home: Path) -> None:
    """A file which agrees with itself is found out, there among others."""
    found = wrong(forged(file, record), home)
    assert found
    assert not {"digest", "visible part"} & set(names(found))
    assert any(name.startswith(where) for name in names(found)), found


@pytest.mark.parametrize(("part", "fields", "where"), case_rows(FORGED_FIELDS))
def test_a_field_that_is_forged_is_found_in_the_documents(
    file: AuditFile, home: Path, part: str, fields: str, where: str
) -> None:
    changes = json.loads(fields)
    if part == "record":
        record = replace(file.record, **changes)
    else:
        record = with_first(file.record, part, **changes)
    expect_found(file, record, where, home)


def with_another_figure(record: Record) -> Record:
    return replace(record, answer=record.answer.replace("3.0", "5.0"))


def without_a_check(record: Record) -> Record:
    return replace(record, checks=record.checks[1:])


def without_a_citation(record: Record) -> Record:
    return replace(record, quotes=record.quotes[1:])


def with_the_other_page(record: Record) -> Record:
    sources = [replace(source, page=3 - source.page) for source in record.sources]
    return replace(record, sources=tuple(sources))


FORGERIES = [
    (with_another_figure, "quotation [S1]"),
    (without_a_check, ""),
    (without_a_citation, "citations"),
    (with_the_other_page, "quotation [S1]"),
]


@pytest.mark.parametrize(("change", "where"), FORGERIES)
def test_a_forgery_that_agrees_with_itself_is_found_in_the_documents(
    file: AuditFile, home: Path, change: Callable[[Record], Record], where: str
) -> None:
    expect_found(file, change(file.record), where, home)


def test_an_older_file_is_not_confirmed_by_what_it_leaves_out(file: AuditFile, home: Path) -> None:
    """Its quotations are looked up, on the page that their key is of; the rest is not judged anew."""
    older = replace(file.record, format=4)
    former = [("visible part", UNKNOWN), ("figures and statements", UNKNOWN)]
    assert [(one.what, one.status) for one in wrong(forged(file, older), home)] == former
    nothing = replace(older, quotes=(), checks=(), statements=())
    assert [(one.what, one.status) for one in wrong(forged(file, nothing), home)] == former
    blank = with_first(older, "quotes", quote=" ", marks=())
    for record in (blank, with_the_other_page(older)):
        found = wrong(forged(file, record), home)
        assert any(one.what.startswith("quotation [S1]") and one.status == DIFFERS for one in found), found


def test_another_image_is_found(file: AuditFile, home: Path, wrong_in: Wrong) -> None:
    ((name, png),) = file.images.items()
    other = repainted(png)
    digest = hashlib.sha256(other).hexdigest()
    assert digest != name
    old, new = base64.b64encode(png), base64.b64encode(other)
    found = wrong_in(file.data.replace(old, new))
    assert names(found) == ["visible part", "image of Rules.pdf, p. 1"]
    record = with_first(file.record, "leaves", image=digest)
    found = wrong(forged(file, record, {digest: other}), home)
    assert names(found) == ["image of Rules.pdf, p. 1"]


def opened_image(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def repainted(png: bytes) -> bytes:
    """The page with a white stain over a few letters."""
    page = opened_image(png)
    page.paste((255, 255, 255), (190, 100, 230, 120))
    return encoded(page)


def encoded(page: Image.Image) -> bytes:
    output = io.BytesIO()
    page.save(output, "PNG")
    return output.getvalue()


def drawn(folder: Path, text: str) -> bytes:
    """The image of a page."""
    with Reader(make_pdf(folder / "a.pdf", [text])) as reader:
        return reader.png(1, dpi=110)


def test_an_image_may_be_smoothed_otherwise_but_no_letter_may_differ(
    file: AuditFile, home: Path, tmp_path: Path
) -> None:
    rules, _ = RULES
    png = drawn(tmp_path, rules)
    with_another_digit = drawn(tmp_path, rules.replace("3.0", "3.8"))
    assert not looks_alike(with_another_digit, png)
    page = opened_image(png)
    brighter = [min(255, value + 6) for value in range(256)]
    smoothed = page.point(brighter * 3)
    assert looks_alike(encoded(smoothed), png)
    longer = page.resize((page.width, page.height + 1))
    assert not looks_alike(encoded(longer), png)
    broad = Image.new("RGB", (30_000, 1))
    assert not looks_alike(encoded(broad), png)
    assert not looks_alike(b"GIF89a", png)
    assert not looks_alike(png[:500], png)


# The ways to write one key or two.
KEYS = case_lines("""
[{a}]
{a}
({a})
[{a}; {b}]
[{a}, S9-00ff]
[S1]
[S7-abcd]
see {b}
[ {b} ][{a}]
S1
[x {a}]
""")
SAID = case_lines("""
The deficit ceiling is 3.0 per cent
It is 1,577 million crowns
“reported to Parliament within 30 days”
1 + 2 = 3
- an item:
Ms. A
""")
ENDS = [". ", " ", "\n", "\n\n", ", and "]
SENTENCES = st.sampled_from([*SAID, ""])
PARTS = st.tuples(SENTENCES, st.sampled_from(KEYS), st.sampled_from(ENDS))


def quote_of(citation: Citation) -> Quote:
    leaf = None if citation.document is None else 0
    return Quote(citation.key, leaf, citation.quote, citation.verified, None, 0, 0, None, False, ())


@hypothesis.given(st.lists(PARTS, min_size=1, max_size=6))
def test_an_answer_is_checked_again_as_it_was_checked_first(parts: list[tuple[str, str, str]]) -> None:
    first, second = RULES
    rules = hit_of(first, document="Rules.pdf")
    debt = hit_of(second, document="Rules.pdf", page=2)
    prompt = prompt_over(rules, debt, question=QUESTION, nonce="0a1b2c")
    answer = ""
    for said, key, end in parts:
        answer += f"{said} {key.format(a='S1-0a1b2c', b='S2-0a1b2c')}{end}"
    first_time = check_quoted(answer, prompt)
    quotes = [quote_of(citation) for citation in first_time.citations]
    second_time = check_quoted(with_keys(first_time.text, quotes, list(prompt.sources)), prompt)
    assert second_time.text == first_time.text
    for again, before in zip(second_time.citations, first_time.citations, strict=True):
        assert again.key == before.key
        assert again.page == before.page
        assert again.verified == before.verified
    assert second_time.numbers == first_time.numbers


def test_documents_are_found_by_their_bytes_alone(make: Make, tmp_path: Path) -> None:
    file = audited(make(), tmp_path)
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    (kept,) = (tmp_path / "home" / "documents").glob("*.pdf")
    (elsewhere / "any name.bin").write_bytes(kept.read_bytes())
    other = make_pdf(tmp_path / "other.pdf", ["Other words"])
    kept.write_bytes(other.read_bytes())
    found = wrong(file, tmp_path)
    assert found
    assert {one.status for one in found} == {UNKNOWN}
    assert "--documents" in found[0].detail
    assert wrong(file, tmp_path, elsewhere.parent) == []
    kept.unlink()
    assert wrong(file, tmp_path / "nothing", elsewhere.parent) == []


def test_a_quotation_that_is_proven_with_one_of_a_missing_document_is_not_called_false(
    tmp_path: Path,
) -> None:
    printed = "The deficit ceiling is 3.0 per cent", "Debt must stay below 60 per cent"
    said = "The deficit ceiling is 3.0 per cent, and that of debt 60 per cent"

    def judge(_: str, pages: Sequence[dict[str, str]]) -> dict[str, Any]:
        quotes = []
        for words in printed:
            key = next(page["key"] for page in pages if words in page["text"])
            quotes.append({"page": key, "text": words})
        return judgement("stated", quotes=quotes)

    with Provider([lambda _: [f"{said} [1] [2]."]], reads=reader(judge)) as provider:
        settings = Settings(home=tmp_path / "home", chat_model="m", base_url=provider.url)
        with Chatbot(settings, embedder=hashing()) as chatbot:
            pages = [f"{words} of output in every year." for words in printed]
            one, other = (make_pdf(tmp_path / f"{at}.pdf", [page]) for at, page in enumerate(pages))
            list(chatbot.add([Upload(one), Upload(other)]))
            file = audited(chatbot, tmp_path, "What are the ceilings of deficit and debt?")
    assert [quote.verified for quote in file.record.quotes] == [True, True]
    assert wrong(file, tmp_path) == []
    alone = tmp_path / "alone"
    alone.mkdir()
    one.rename(alone / one.name)
    assert {line.status for line in wrong(file, tmp_path / "nothing", alone)} == {UNKNOWN}
    quotes = [replace(quote, quote=quote.quote.replace("3.0", "8.0")) for quote in file.record.quotes]
    altered = replace(file.record, quotes=tuple(quotes))
    found = wrong(forged(file, altered), tmp_path / "nothing", alone)
    assert any(line.what.startswith("quotation") and line.status == DIFFERS for line in found), found


def test_a_title_counts_only_where_the_document_is_called_so(file: AuditFile, tmp_path: Path) -> None:
    page = "Report\nTotal revenue came to 450.\nTotal cost came to 300."
    reading = read_document(make_pdf(tmp_path / "a.pdf", [page]))
    unhashed = "0" * 64
    source = Source("S1-00ff", "a.pdf", unhashed, 1, 0, "Accounts (in millions)")
    record = replace(
        file.record,
        question="?",
        answer="Total revenue came to 450 million [S1].",
        quotes=(replace(file.record.quotes[0], leaf=0),),
        sources=(source,),
    )

    def status(titles: list[str]) -> str:
        checked = check_again(record, {unhashed: reading}, {unhashed: titles})
        return checked.checks[0].status

    assert status([source.title]) == "supported"
    assert status(["a"]) != "supported"
    assert status([]) != "supported"


class Tags(HTMLParser):
    """What a browser would make of a file."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name in {"href", "src"}:
                self.addresses.append(value or "")


def test_nothing_of_others_takes_effect(make: Make, tmp_path: Path) -> None:
    name = "<b onclick=x>&amp; \u202eRules.pdf"
    first, _ = RULES
    page = first + "\n<script>alert(2)</script> The deficit ceiling is 4.0 per cent </pre>."
    document = Upload(make_pdf(tmp_path / "a.pdf", [page]), name)
    script = "<script>alert(3)</script></pre><!-- \u202e </style>"
    model = ScriptedModel(lambda messages: [*says(messages), script])
    file = audited(make(model, [document]), tmp_path, HOSTILE)
    assert wrong(file, tmp_path) == []
    text = file.data.decode()
    tags = Tags()
    tags.feed(text)
    assert tags.names.isdisjoint("script b iframe object form input base video".split())
    assert "style" not in tags.attributes
    assert not [name for name in tags.attributes if name.startswith("on")]
    assert all(address.startswith(("#", "data:")) for address in tags.addresses)
    assert "\u202e" not in text
    assert "‹U+202E›" in text
    assert text.count(RECORD_START) == 1
    _, _, behind = text.partition(RECORD_START)
    machine_readable, _, _ = behind.partition(RECORD_END)
    assert json.loads(machine_readable)["question"] == file.record.question
    assert "default-src 'none'" in text


def test_names_of_files_are_plain() -> None:
    at = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
    assert file_name("What is the contingency reserve?", at) == "audit-2026-11-22-contingency-reserve.html"
    assert file_name("../../<b>\u202e\n", at) == "audit-2026-11-22.html"
    long = file_name("Öffentliche Schulden: " + "wort " * 5_000, at)
    assert long == "audit-2026-11-22-offentliche-schulden-wort-wort-wort-wort.html"
    assert len(file_name("x" * 100_000)) < 90


# As the first program that made audit files wrote it.
KEPT_RECORD = Path(__file__).with_name("record_of_format_1.json")
FIRST_FORMAT = load(KEPT_RECORD.read_text(encoding="utf-8"))


def of_format_5() -> Record:
    """That record in the format of today."""
    found = StatementRecord("It is 3 [S1].", "cited_by_check", "S1")
    not_found = StatementRecord("Or [S9].", "unsupported", None)
    bold = "**It** is 3 [S1].\n\n| a | b |\n|---|---|\n| 1 | <i> |"
    formatted = replace(FIRST_FORMAT, format=5, answer=bold)
    located, _ = FIRST_FORMAT.quotes
    quote = StatementQuote("S1", "a.pdf", 1, "It is\n3", 0, 7)
    statements = (
        replace(found, verdict="stated", mark="stated", quotes=(quote,), read_by="m"),
        replace(not_found, verdict="not_stated", mark="not_found", difference="<no>", read_by="m"),
        replace(found, verdict="computed", mark="calculated", calculation="1 + 2"),
        replace(found, text="Unread."),
    )
    unread = replace(located, verified=False, reason="unread", basis="unread")
    sent = Sent("m", "here", (("user", "?"),), "")
    reading = ReadingRecord("m", "here", "{}", "m skipped some statements.")
    quotes = (located, unread)
    return replace(formatted, quotes=quotes, statements=statements, model="m", sent=sent, reading=reading)


def test_the_page_of_the_format_stays_as_it_is() -> None:
    """Files are verified by drawing them anew. Where this fails, raise FORMAT and enter the new digest."""
    assert FORMAT == 5
    page = render(of_format_5(), {"1" * 64: b"image"})
    assert '<strong>It</strong> is 3 <a class="key" href="#citation-1">[S1]</a>.' in page
    assert "&lt;i&gt;</td>" in page
    assert "Read back by m (here). It was said then: m skipped some statements." in page
    assert "no signature" in page
    for mark in ("✓ stated", "⚠ not found", "= calculated", "not compared with the pages"):
        assert f'<td dir="auto">{mark}</td>' in page
    assert "&lt;no&gt;" in page and "1 + 2" in page
    assert hashlib.sha256(page.encode()).hexdigest()[:16] == "df55d2eebb705f3b"


def test_what_nobody_compared_is_said_to_be_unread() -> None:
    figure = replace(FIRST_FORMAT.checks[0], status="not_checked", citation=None)
    unread = replace(FIRST_FORMAT.quotes[0], verified=False, reason="so", basis="unread")
    page = render(replace(of_format_5(), checks=(figure,), quotes=(unread,)), {"1" * 64: b"image"})
    assert "not compared with the pages</td>" in page and "⚠ not verified" not in page
    assert "[S1]</a>" in page


def test_a_file_of_the_first_format_is_read_and_its_digest_is_checked(tmp_path: Path) -> None:
    text = KEPT_RECORD.read_text(encoding="utf-8").strip()
    digest = FIRST_FORMAT.digest
    text = text.replace(digest, digest_of(text, digest))
    for changed, status in ((text, CONFIRMED), (text.replace("2026", "2025", 1), DIFFERS)):
        kept = written(tmp_path, shell(changed))
        found = findings(replace(kept, images={"1" * 64: b"image"}), tmp_path)
        assert [(one.what, one.status) for one in found[:2]] == [
            ("digest", status),
            ("visible part", UNKNOWN),
        ]


def shell(record: str) -> bytes:
    return f"<html>{RECORD_START}{record}{RECORD_END}</html>".encode()


RECORDS = """
{
{"format": 1}
[]
{"format": 2}
{"seconds": NaN}
"é"
"""
ENDLESS = ["[" * 100_000, '{"a":' * 50_000, "9" * 10_000]
NO_FILES = [b"", b"%PDF-1.7", shell(""), RECORD_START.encode(), shell("{}") + shell("{}")]


@pytest.mark.parametrize(
    "data", [*NO_FILES, *map(shell, [*case_lines(RECORDS), *ENDLESS])], ids=lambda data: str(data[:40])
)
@pytest.mark.timed
def test_what_is_no_audit_file_is_soon_said_to_be_none(tmp_path: Path, data: bytes) -> None:
    begun = time.monotonic()
    with pytest.raises(AuditFileError) as error:
        written(tmp_path, data)
    assert error.value.message and error.value.hint
    assert time.monotonic() - begun < 5


def test_large_files_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.html"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    for one in (path, tmp_path, tmp_path / "nowhere"):
        with pytest.raises(AuditFileError):
            read_file(one)


def test_more_than_any_answer_holds_is_refused(file: AuditFile, home: Path) -> None:
    record = file.record
    many_quotes = replace(record, quotes=record.quotes * 2_000)
    long_answer = replace(record, answer="1 " * 60_000)
    many_leaves = replace(record, leaves=record.leaves * 100)
    for large in (many_quotes, long_answer, many_leaves):
        with pytest.raises(DocumentError):
            sealed(large)
        with pytest.raises(AuditFileError):
            load(dump(large))


NO_NUMBERS = [('"seconds": ', '"seconds": 1e999, "x": '), ('"dpi": ', '"dpi": 1e99, "x": ')]
IMPOSSIBLE = [
    ('"page": 1,', '"page": 99999999999999999999,'),
    ('"page": 1,', '"page": -1,'),
    ('"leaf": 0', '"leaf": -1'),
    ('"end": ', '"end": -9'),
]


def test_numbers_that_cannot_be_are_told_not_followed(file: AuditFile, home: Path) -> None:
    text = dump(file.record)
    for old, new in NO_NUMBERS:
        changed = text.replace(old, new, 1)
        with pytest.raises(AuditFileError):
            load(changed)
    for old, new in IMPOSSIBLE:
        changed = text.replace(old, new, 1)
        impossible = AuditFile(shell(changed), load(changed), file.images)
        assert wrong(impossible, home)


@pytest.mark.timed
def test_much_text_is_checked_in_little_time(file: AuditFile, home: Path) -> None:
    sentence = "The ceiling is 3.0 per cent “of it” [S1]. "
    quotes = file.record.quotes[:1]
    record = replace(file.record, answer=sentence * 900, quotes=quotes * 900)
    begun = time.monotonic()
    assert wrong(forged(file, record), home)
    assert time.monotonic() - begun < 30
