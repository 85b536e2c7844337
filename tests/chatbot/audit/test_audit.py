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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest
from PIL import Image

from chatbot.answer.citations.citation_spans import check_answer
from chatbot.asking.question import Ask
from chatbot.audit.builder import Occasion, audit_file, audit_kept, file_name
from chatbot.audit.html_page import RECORD_END, RECORD_START, render
from chatbot.audit.page_images import looks_alike
from chatbot.audit.parser import LARGEST_FILE, AuditFile, read_file
from chatbot.audit.recheck import check_again, with_keys
from chatbot.audit.record import (
    FORMAT,
    AuditFileError,
    Considered,
    Document,
    FigureCheckRecord,
    NoteRecord,
    PageImageRecord,
    Quote,
    Record,
    Sent,
    Source,
    StatementRecord,
    digest_of,
    dump,
    load,
    sealed,
)
from chatbot.audit.verifier import CONFIRMED, DIFFERS, UNKNOWN, DocumentSources, VerificationLine, verify
from chatbot.errors import DocumentError, ModelError, NotFoundError
from chatbot.models.chat import LLM
from chatbot.records import Answer, Hit, Prompt
from chatbot.service import Chatbot
from chatbot.settings import Settings
from chatbot.store.library import Upload
from ingestion.document import read_document
from ingestion.reading.reader import Reader
from tests.fakes import HashEmbedder, ScriptedModel
from tests.pdfs import make_pdf, make_scan

PAGES = [
    (
        "Fiscal rules\nThe deficit ceiling is 3.0 per cent of output in every year.\nA breach is reported "
        "to Parliament within 30 days."
    ),
    (
        "Debt\nThe debt anchor is 60 per cent of output, to be reached by 2030.\nDebt service comes to "
        "1,577 million crowns."
    ),
]
QUESTION = "What is the deficit ceiling?"
HOSTILE = (
    "What is the deficit ceiling? </pre></script><script>alert(1)</script><img src=x onerror=alert(1)> "
    "**b** [x](http://e.example) \u202etxt $x$"
)
Make = Callable[..., Chatbot]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    opened: list[Chatbot] = []

    def build(model: LLM | None = None, uploads: Sequence[Upload] = ()) -> Chatbot:
        chatbot = Chatbot(Settings(home=tmp_path / "home"), embedder=HashEmbedder(dimension=256), model=model)
        opened.append(chatbot)
        list(chatbot.add(uploads or [Upload(make_pdf(tmp_path / "Rules.pdf", PAGES, labels=["i", "ii"]))]))
        return chatbot

    yield build
    for chatbot in opened:
        chatbot.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in it."""
    return tmp_path_factory.mktemp("audit")


@pytest.fixture(scope="module")
def file(home: Path) -> AuditFile:
    """The audit file of an answer from that store, which is closed."""
    with Chatbot(Settings(home=home / "home"), embedder=HashEmbedder(dimension=256)) as chatbot:
        list(chatbot.add([Upload(make_pdf(home / "Rules.pdf", PAGES, labels=["i", "ii"]))]))
        return audited(chatbot, home)


def ask(chatbot: Chatbot, question: str = QUESTION, **given: object) -> Answer:
    answer = [*chatbot.ask(Ask(question, **given))][-1]  # type: ignore[arg-type]
    assert isinstance(answer, Answer)
    return answer


def written(tmp_path: Path, data: bytes) -> AuditFile:
    path = tmp_path / "audit.html"
    path.write_bytes(data)
    return read_file(path)


def audited(chatbot: Chatbot, tmp_path: Path, question: str = QUESTION) -> AuditFile:
    return written(tmp_path, audit_file(chatbot, ask(chatbot, question), Occasion(time.time())))


def findings(
    file: AuditFile, tmp_path: Path, folder: Path | None = None, passwords: Mapping[str, str] | None = None
) -> list[VerificationLine]:
    return list(verify(file, DocumentSources(tmp_path / "home" / "documents", folder, passwords or {})))


def wrong(
    file: AuditFile, tmp_path: Path, folder: Path | None = None, passwords: Mapping[str, str] | None = None
) -> list[VerificationLine]:
    return [one for one in findings(file, tmp_path, folder, passwords) if one.status != CONFIRMED]


def forged(file: AuditFile, record: Record, images: dict[str, bytes] | None = None) -> AuditFile:
    """A file that agrees with itself: drawn anew from a changed record, with a digest that fits."""
    images = file.images if images is None else images
    record = sealed(record)
    return AuditFile(render(record, images).encode(), record, images)


def says(messages: Sequence[tuple[str, str]]) -> list[str]:
    key = re.findall(r"^\[(1)\] ", messages[-1][1], re.M)[0]
    texts = [
        (
            f"The deficit ceiling is 3.0 per cent of output in every year [{key}]. A breach costs 45 "
            f"million [{key}, S9-abcd]."
        ),
        (
            f'\n\nIt is "reported to Parliament within 30 days" [{key}] [S1]. The sum is 3.0 + 30 = 33 (see '
            f"{key})."
        ),
    ]
    return texts


# --- what is made is confirmed
# --------------------------------------------------------------------------------------------------


def test_an_answer_in_the_documents_words_is_confirmed(make: Make, tmp_path: Path) -> None:
    file = audited(make(), tmp_path)
    assert wrong(file, tmp_path) == []
    record = file.record
    assert (record.question, record.answered, record.model, record.sent, record.whole) == (
        QUESTION,
        True,
        "extractive",
        None,
        True,
    )
    assert record.leaves[0].label == "i" and record.leaves[0].image in file.images
    assert all(quote.verified and quote.marks for quote in record.quotes)
    assert [check.status for check in record.checks if check.text.startswith("3.0")] == ["supported"] * sum(
        check.text.startswith("3.0") for check in record.checks
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", record.asked_at)
    assert record.documents[0].sha256 == record.leaves[0].sha256


def test_an_answer_of_a_model_is_confirmed_with_all_that_is_doubtful_in_it(
    make: Make, tmp_path: Path
) -> None:
    file = audited(make(ScriptedModel(says)), tmp_path)
    assert wrong(file, tmp_path) == []
    record = file.record
    assert record.sent is not None and (record.sent.model, record.sent.host) == ("scripted", "this process")
    assert [role for role, _ in record.sent.messages] == [
        "system",
        "user",
        "assistant",
        "user",
    ] and "deficit ceiling" in record.sent.messages[-1][1]
    assert {quote.leaf for quote in record.quotes} == {0, None}
    assert {check.status for check in record.checks} >= {"supported", "unsupported"}
    assert any(check.status == "derived" and check.operands for check in record.checks)
    assert "no such source" in file.data.decode() and "not found on the cited pages" in file.data.decode()


def test_what_stands_in_for_a_failed_model_says_so(make: Make, tmp_path: Path) -> None:
    file = audited(make(ScriptedModel([ModelError("It is out of order.")])), tmp_path)
    assert wrong(file, tmp_path) == []
    assert file.record.sent is not None and "out of order" in file.record.sent.failure


def test_a_refusal_shows_the_nearest_pages(make: Make, tmp_path: Path) -> None:
    file = audited(make(), tmp_path, "Who wrote the opera about a magic flute?")
    assert wrong(file, tmp_path) == []
    assert (
        not file.record.answered
        and file.record.nearest
        and all(file.record.leaves[at].image for at in file.record.nearest)
    )
    assert b"Not in these documents" in file.data


def test_a_refusal_of_the_model_is_confirmed(make: Make, tmp_path: Path) -> None:
    file = audited(make(ScriptedModel(["Not in these documents. I looked [S1]."])), tmp_path)
    assert wrong(file, tmp_path) == []
    assert not file.record.answered and file.record.sent is not None


def test_kept_and_remembered_answers_are_confirmed(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    conversation = chatbot.conversations.begin("local")
    first = ask(chatbot, conversation=conversation)
    chatbot.rate(conversation, first.exchange or 0, "local", helpful=True)
    second = ask(chatbot, conversation=conversation)
    assert any("Remembered" in notice for notice in second.notices)
    for number in (1, 2):
        file = written(tmp_path, audit_kept(chatbot, conversation, number, "local"))
        assert wrong(file, tmp_path) == []
        assert file.record.asked_at
    assert any("Remembered" in notice for notice in file.record.notices)
    with pytest.raises(NotFoundError):
        audit_kept(chatbot, conversation, 1, "somebody else")
    with pytest.raises(DocumentError):
        audit_file(
            chatbot,
            ask(
                chatbot,
                "When inflation rises above target, then shorten duration.",
                conversation=conversation,
            ),
            Occasion(),
        )


def test_pages_read_by_ocr_are_read_again(make: Make, tmp_path: Path) -> None:
    chatbot = make(uploads=[Upload(make_scan(tmp_path / "Scan.pdf", PAGES))])
    file = audited(chatbot, tmp_path)
    assert file.record.leaves[0].method == "ocr" and file.record.quotes[0].confidence is not None
    assert wrong(file, tmp_path) == []


def test_a_protected_page_is_shown_only_with_its_password(make: Make, tmp_path: Path) -> None:
    chatbot = make(
        uploads=[Upload(make_pdf(tmp_path / "Locked.pdf", PAGES, user_password="sesame"), password="sesame")]
    )
    answer = ask(chatbot)
    shut = written(tmp_path, audit_file(chatbot, answer, Occasion(time.time())))
    assert (
        shut.record.leaves[0].image is None
        and "protected" in shut.record.leaves[0].missing
        and not shut.images
    )
    assert {one.status for one in wrong(shut, tmp_path)} == {UNKNOWN}
    assert wrong(shut, tmp_path, passwords={"Locked.pdf": "sesame"}) == []
    passwords = {leaf.sha256: "sesame" for leaf in shut.record.leaves}
    opened = written(tmp_path, audit_file(chatbot, answer, Occasion(time.time(), passwords=passwords)))
    assert opened.record.leaves[0].image in opened.images
    assert wrong(opened, tmp_path, passwords={"Locked.pdf": "sesame"}) == []
    assert b"sesame" not in opened.data


def test_what_was_added_since_is_not_listed_as_searched(make: Make, tmp_path: Path) -> None:
    chatbot = make()
    asked_at, answer = time.time(), ask(chatbot)
    time.sleep(0.01)
    list(chatbot.add([Upload(make_pdf(tmp_path / "Later.pdf", ["Something else"]))]))
    file = written(tmp_path, audit_file(chatbot, answer, Occasion(asked_at)))
    assert ([one.name for one in file.record.documents], file.record.whole) == (["Rules.pdf"], True)
    chatbot.remove("Rules.pdf", purge=True)
    file = written(tmp_path, audit_file(chatbot, answer, Occasion(asked_at)))
    assert (file.record.documents, file.record.whole) == ((), False)
    assert file.record.leaves[0].image is None
    assert UNKNOWN in {one.status for one in findings(file, tmp_path)}


def test_the_same_record_makes_the_same_file(file: AuditFile, home: Path) -> None:
    assert render(load(dump(file.record)), file.images).encode() == file.data
    assert digest_of(file.record) == file.record.digest


# --- what is changed is found
# -----------------------------------------------------------------------------------------------------


def in_visible(data: bytes, old: str, new: str) -> bytes:
    """Changed where it is seen, not in the record."""
    head, mark, tail = data.partition(RECORD_START.encode())
    assert old.encode() in head
    return head.replace(old.encode(), new.encode(), 1) + mark + tail


def in_record(data: bytes, old: str, new: str) -> bytes:
    head, mark, tail = data.partition(RECORD_START.encode())
    assert old.encode() in tail
    return head + mark + tail.replace(old.encode(), new.encode(), 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3.0 per cent of output", "5.0 per cent of output"),
        ("✓ verified", "✓ Verified"),
        ("(printed i)", "(printed v)"),
        ("</header>", "<p>added</p></header>"),
        ("default-src 'none'", "default-src *"),
        (".quiet {", ".quiet { display: none;"),
        ('<rect x="', '<rect x="9'),
    ],
)
def test_what_is_changed_by_hand_where_it_is_seen(
    file: AuditFile, home: Path, tmp_path: Path, old: str, new: str
) -> None:
    changed = written(tmp_path, in_visible(file.data, old, new))
    assert [(one.what, one.status) for one in wrong(changed, home)] == [("visible part", DIFFERS)]


@pytest.mark.parametrize(
    ("old", "new"),
    [("3.0 per cent", "5.0 per cent"), ('"verified": true', '"verified": false'), ('"page": 1', '"page": 2')],
)
def test_what_is_changed_by_hand_in_the_record(
    file: AuditFile, home: Path, tmp_path: Path, old: str, new: str
) -> None:
    changed = written(tmp_path, in_record(file.data, old, new))
    assert {"digest", "visible part"} <= {one.what for one in wrong(changed, home)}


def test_what_machines_would_read_otherwise_is_found(file: AuditFile, home: Path, tmp_path: Path) -> None:
    for old, new in (
        ('"format": 4,', '"format": 4,\n "format": 4,'),
        ('"format": 4,', '"format": 4, "more": 2,'),
        ('"seconds": ', '"seconds":  '),
    ):
        changed = written(tmp_path, in_record(file.data, old, new))
        assert [one.what for one in wrong(changed, home)] == ["visible part"]


def quote(record: Record, **changes: object) -> Record:
    first = replace(record.quotes[0], **changes)  # type: ignore[arg-type]
    return replace(record, quotes=(first, *record.quotes[1:]))


def leaf(record: Record, **changes: object) -> Record:
    first = replace(record.leaves[0], **changes)  # type: ignore[arg-type]
    return replace(record, leaves=(first, *record.leaves[1:]))


def check(record: Record, **changes: object) -> Record:
    first = replace(record.checks[0], **changes)  # type: ignore[arg-type]
    return replace(record, checks=(first, *record.checks[1:]))


FORGERIES: dict[str, tuple[Callable[[Record], Record], str]] = {
    "figure of the answer": (
        lambda one: replace(one, answer=one.answer.replace("3.0", "5.0")),
        "quotation [S1]",
    ),
    "quotation": (lambda one: quote(one, quote="The deficit ceiling is 5.0 per cent"), "quotation [S1]"),
    "place of the quotation": (lambda one: quote(one, start=0, end=5), "quotation [S1]"),
    "verified": (lambda one: quote(one, verified=False, reason="so it is"), "quotation [S1]"),
    "mark": (lambda one: quote(one, marks=((0.1, 0.9, 0.2, 0.95),)), "mark of [S1]"),
    "unknown key": (lambda one: quote(one, leaf=None), "quotation [S1]"),
    "page": (lambda one: leaf(one, page=2), "page Rules.pdf, p. 2"),
    "page beyond": (lambda one: leaf(one, page=900), "page Rules.pdf, p. 900"),
    "printed page": (lambda one: leaf(one, label="7"), "page Rules.pdf, p. 1"),
    "method": (lambda one: leaf(one, method="ocr"), "page Rules.pdf, p. 1"),
    "hash": (lambda one: leaf(one, sha256="0" * 64), "document Rules.pdf"),
    "path for a hash": (lambda one: leaf(one, sha256="../../../etc/passwd"), "document Rules.pdf"),
    "dpi": (lambda one: leaf(one, dpi=100_000), "image of Rules.pdf, p. 1"),
    "status": (lambda one: check(one, status="contradicted"), "figure 3.0 per cent"),
    "value": (lambda one: check(one, value=5.0), "figure 3.0 per cent"),
    "formula": (lambda one: check(one, formula="1 + 2 = 3.0", operands=("1", "2")), "figure 3.0 per cent"),
    "one check less": (lambda one: replace(one, checks=one.checks[1:]), ""),
    "one citation less": (lambda one: replace(one, quotes=one.quotes[1:]), "citations"),
    "source page": (
        lambda one: replace(
            one, sources=tuple(replace(source, page=3 - source.page) for source in one.sources)
        ),
        "quotation [S1]",
    ),
    "source beyond": (
        lambda one: replace(one, sources=tuple(replace(source, page=99) for source in one.sources)),
        "sources",
    ),
    "documents": (lambda one: replace(one, documents=()), "documents searched"),
    "all documents": (lambda one: replace(one, whole=False), "documents searched"),
    "period": (
        lambda one: replace(
            one, documents=tuple(replace(document, period="1999") for document in one.documents)
        ),
        "documents searched",
    ),
    "refused": (lambda one: replace(one, answered=False), "refusal"),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forgery_that_agrees_with_itself_is_found_in_the_documents(
    file: AuditFile, home: Path, tmp_path: Path, what: str
) -> None:
    change, where = FORGERIES[what]
    found = wrong(forged(file, change(file.record)), home)
    assert found and not {"digest", "visible part"} & {one.what for one in found}
    assert any(one.what.startswith(where) for one in found), found


def test_another_image_is_found(file: AuditFile, home: Path, tmp_path: Path) -> None:
    ((name, png),) = file.images.items()
    other = repainted(png)
    digest = hashlib.sha256(other).hexdigest()
    assert digest != name
    changed = written(tmp_path, file.data.replace(base64.b64encode(png), base64.b64encode(other)))
    assert [one.what for one in wrong(changed, home)] == ["visible part", "image of Rules.pdf, p. 1"]
    found = wrong(forged(file, leaf(file.record, image=digest), {digest: other}), home)
    assert [one.what for one in found] == ["image of Rules.pdf, p. 1"]


def repainted(png: bytes) -> bytes:
    """The page with a white stain over a few letters."""
    page = Image.open(io.BytesIO(png)).convert("RGB")
    page.paste((255, 255, 255), (190, 100, 230, 120))
    return encoded(page)


def encoded(page: Image.Image) -> bytes:
    output = io.BytesIO()
    page.save(output, "PNG")
    return output.getvalue()


def test_an_image_may_be_smoothed_otherwise_but_no_letter_may_differ(
    file: AuditFile, home: Path, tmp_path: Path
) -> None:
    images = []
    for figure in ("3.0", "3.8"):
        with Reader(make_pdf(tmp_path / "a.pdf", [PAGES[0].replace("3.0", figure)])) as reader:
            images.append(reader.png(1, dpi=110))
    assert not looks_alike(images[1], images[0])
    page = Image.open(io.BytesIO(images[0])).convert("RGB")
    assert looks_alike(encoded(page.point([min(255, value + 6) for value in range(256)] * 3)), images[0])
    assert not looks_alike(encoded(page.resize((page.width, page.height + 1))), images[0])
    assert not looks_alike(encoded(Image.new("RGB", (30_000, 1))), images[0])
    assert not looks_alike(b"GIF89a", images[0]) and not looks_alike(images[0][:500], images[0])


KEYS = [
    "[{a}]",
    "{a}",
    "({a})",
    "[{a}; {b}]",
    "[{a}, S9-00ff]",
    "[S1]",
    "[S7-abcd]",
    "see {b}",
    "[ {b} ][{a}]",
    "S1",
    "[x {a}]",
]
SAID = [
    "The deficit ceiling is 3.0 per cent",
    "It is 1,577 million crowns",
    "“reported to Parliament within 30 days”",
    "1 + 2 = 3",
    "- an item:",
    "",
    "Ms. A",
]
ENDS = [". ", " ", "\n", "\n\n", ", and "]


@hypothesis.given(
    st.lists(
        st.tuples(st.sampled_from(SAID), st.sampled_from(KEYS), st.sampled_from(ENDS)), min_size=1, max_size=6
    )
)
def test_an_answer_is_checked_again_as_it_was_checked_first(parts: list[tuple[str, str, str]]) -> None:
    keys = {"a": "S1-0a1b2c", "b": "S2-0a1b2c"}
    sources = {
        key: Hit("Rules.pdf", 1, at + 1, None, None, "text", None, "1:0", text, page_text=text)
        for at, (key, text) in enumerate(zip(keys.values(), PAGES, strict=True))
    }
    prompt = Prompt(QUESTION, QUESTION, sources, (), (), (), "")
    shown, citations, checks = check_answer(
        "".join(said + " " + key.format(**keys) + end for said, key, end in parts), prompt
    )
    quotes = [
        Quote(
            one.key, None if one.document is None else 0, one.quote, one.verified, None, 0, 0, None, False, ()
        )
        for one in citations
    ]
    again = check_answer(with_keys(shown, quotes, list(sources)), prompt)
    assert again[0] == shown
    assert [(one.key, one.page, one.verified) for one in again[1]] == [
        (one.key, one.page, one.verified) for one in citations
    ]
    assert again[2] == checks


# --- documents
# ------------------------------------------------------------------------------------------------------------


def test_documents_are_found_by_their_bytes_alone(make: Make, tmp_path: Path) -> None:
    file = audited(make(), tmp_path)
    elsewhere = tmp_path / "elsewhere" / "deep"
    elsewhere.mkdir(parents=True)
    (kept,) = (tmp_path / "home" / "documents").glob("*.pdf")
    (elsewhere / "any name.bin").write_bytes(kept.read_bytes())
    kept.write_bytes(make_pdf(tmp_path / "other.pdf", ["Other words"]).read_bytes())
    found = wrong(file, tmp_path)
    assert found and {one.status for one in found} == {UNKNOWN}
    assert "--documents" in found[0].detail
    assert wrong(file, tmp_path, elsewhere.parent) == []
    kept.unlink()
    assert wrong(file, tmp_path / "nothing", elsewhere.parent) == []


def test_a_title_counts_only_where_the_document_is_called_so(file: AuditFile, tmp_path: Path) -> None:
    reading = read_document(
        make_pdf(tmp_path / "a.pdf", ["Report\nTotal revenue came to 450.\nTotal cost came to 300."])
    )
    source = Source("S1-00ff", "a.pdf", "0" * 64, 1, 0, "Accounts (in millions)")
    quotes = (replace(file.record.quotes[0], leaf=0),)
    record = replace(
        file.record,
        question="?",
        answer="Total revenue came to 450 million [S1].",
        quotes=quotes,
        sources=(source,),
    )
    found = [
        check_again(record, {"0" * 64: reading}, {"0" * 64: titles}).checks[0].status
        for titles in ([source.title], ["a"], [])
    ]
    assert found[0] == "supported" and "supported" not in found[1:]


# --- what it shows of others
# ----------------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """What a browser would make of a file."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]


def test_nothing_of_others_takes_effect(make: Make, tmp_path: Path) -> None:
    name = "<b onclick=x>&amp; \u202eRules.pdf"
    document = Upload(
        make_pdf(
            tmp_path / "a.pdf",
            [PAGES[0] + "\n<script>alert(2)</script> The deficit ceiling is 4.0 per cent </pre>."],
        ),
        name,
    )
    chatbot = make(
        ScriptedModel(
            lambda messages: [*says(messages), "<script>alert(3)</script></pre><!-- \u202e </style>"]
        ),
        [document],
    )
    file = audited(chatbot, tmp_path, HOSTILE)
    assert wrong(file, tmp_path) == []
    text = file.data.decode()
    tags = Tags()
    tags.feed(text)
    assert tags.names.isdisjoint({"script", "b", "iframe", "object", "form", "input", "base", "video"})
    assert not [name for name in tags.attributes if name.startswith("on") or name == "style"]
    assert all(address.startswith(("#", "data:")) for address in tags.addresses)
    assert "\u202e" not in text and "‹U+202E›" in text
    assert (
        text.count(RECORD_START) == 1
        and json.loads(text.partition(RECORD_START)[2].partition(RECORD_END)[0])["question"]
        == file.record.question
    )
    assert "default-src 'none'" in text


def test_names_of_files_are_plain() -> None:
    at = time.mktime((2026, 11, 22, 12, 0, 0, 0, 0, -1))
    assert file_name("What is the contingency reserve?", at) == "audit-2026-11-22-contingency-reserve.html"
    assert file_name("../../<b>\u202e\n", at) == "audit-2026-11-22.html"
    assert (
        file_name("Öffentliche Schulden: " + "wort " * 5_000, at)
        == "audit-2026-11-22-offentliche-schulden-wort-wort-wort-wort.html"
    )
    assert len(file_name("x" * 100_000)) < 90


def test_the_page_of_a_format_stays_as_it_is() -> None:
    """Files made before are verified by drawing them anew. Where this fails, raise FORMAT, keep the code
    of the format before, and enter the new digest.
    """
    values: list[Any] = [
        *(
            1,
            "0.1.0",
            "2026-11-22T12:00:00+01:00",
            "2026-11-22T11:59:58+01:00",
            1.25,
            "What is it?",
            "What is it?",
            (("About", "it"),),
            True,
        ),
        *(
            "It is 3 [S1].\n\nOr [S9].",
            None,
            ("Note",),
            (),
            (FigureCheckRecord("3", 3.0, None, 1.0, None, "supported", "S1", None, "there", ()),),
        ),
        *(
            (
                PageImageRecord("a.pdf", "0" * 64, 1, "i", "text", "1" * 64, 110, ""),
                PageImageRecord("b.pdf", "2" * 64, 2, None, "ocr", None, 0, "Gone."),
            ),
            (1,),
        ),
        *(
            (Source("S1-00ff", "a.pdf", "0" * 64, 1, 0, "a"),),
            (Considered("a.pdf", 1, "i", 1.5, "meaning 0.50"),),
            ("a.pdf",),
        ),
        *(
            (Document("a.pdf", "0" * 64, "2025", "draft"),),
            False,
            "m",
            Sent("m", "h", (("system", "s"), ("user", "u")), ""),
        ),
        *((NoteRecord("cases", "here", "that"),), "Shortened.", "e", "index-0", "3" * 64),
    ]
    quotes = (
        Quote("S1", 0, "It is\n3", True, None, 0, 7, 88.0, True, ((0.1, 0.2, 0.3, 0.4),)),
        Quote("S9", None, "", False, "none", -1, -1, None, False, ()),
    )
    first = replace(Record(*values), quotes=quotes)
    stated = (
        StatementRecord("It is 3 [S1].", "cited_by_check", "S1"),
        StatementRecord("Or [S9].", "unsupported", None),
    )
    bold = "**It** is 3 [S1].\n\n| a | b |\n|---|---|\n| 1 | <i> |"
    formatted = replace(first, format=3, statements=stated, answer=bold)
    free = replace(quotes[0], verified=False, reason="compare", basis="reworded")
    reworded = replace(formatted, format=FORMAT, quotes=(free, replace(quotes[0], basis="figures")))
    texts = [
        render(one, {"1" * 64: b"image"})
        for one in (first, replace(first, format=2, statements=stated), formatted, reworded)
    ]
    assert all("<strong>" not in text and "basis" not in text for text in texts[:2])
    assert "[S1] ≈</a>" in texts[3] and "≈ compare" in texts[3] and "✓ figures confirmed" in texts[3]
    assert (
        '<strong>It</strong> is 3 <a class="key" href="#citation-1">[S1]</a>.' in texts[2]
        and "&lt;i&gt;</td>" in texts[2]
    )
    digests = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]
    assert (FORMAT, digests) == (
        4,
        ["8b2e60dd5ac06d34", "f2cbf3fc2f4b1db8", "e8c46710e8e69c79", "bc4d1437ef05bc8e"],
    )


# --- files that are no audit files
# ------------------------------------------------------------------------------------------------------


def shell(record: str) -> bytes:
    return f"<html>{RECORD_START}{record}{RECORD_END}</html>".encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.7",
        shell(""),
        shell("{"),
        shell("[" * 100_000),
        shell('{"a":' * 50_000),
        shell('{"format": 1}'),
        shell("[]"),
        shell('{"format": 2}'),
        shell('{"seconds": NaN}'),
        shell("9" * 10_000),
        shell('"' + "\u00e9" + '"'),
        RECORD_START.encode(),
        shell("{}") + shell("{}"),
    ],
    ids=range(14),
)
@pytest.mark.timed
def test_what_is_no_audit_file_is_said_to_be_none(tmp_path: Path, data: bytes) -> None:
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
    for change in (
        {"quotes": record.quotes * 2_000},
        {"answer": "1 " * 60_000},
        {"leaves": record.leaves * 100},
    ):
        with pytest.raises(DocumentError):
            sealed(replace(record, **change))
        with pytest.raises(AuditFileError):
            load(dump(replace(record, **change)))


def test_numbers_that_cannot_be_are_told_not_followed(file: AuditFile, home: Path) -> None:
    text = dump(file.record)
    for old, new in (('"seconds": ', '"seconds": 1e999, "x": '), ('"dpi": ', '"dpi": 1e99, "x": ')):
        with pytest.raises(AuditFileError):
            load(text.replace(old, new, 1))
    for old, new in (
        ('"page": 1,', '"page": 99999999999999999999,'),
        ('"page": 1,', '"page": -1,'),
        ('"leaf": 0', '"leaf": -1'),
        ('"end": ', '"end": -9'),
    ):
        changed = text.replace(old, new, 1)
        assert wrong(AuditFile(shell(changed), load(changed), file.images), home)


@pytest.mark.timed
def test_much_text_is_checked_in_little_time(file: AuditFile, home: Path) -> None:
    one = "The ceiling is 3.0 per cent “of it” [S1]. "
    record = replace(file.record, answer=one * 900, quotes=file.record.quotes[:1] * 900)
    begun = time.monotonic()
    assert wrong(forged(file, record), home)
    assert time.monotonic() - begun < 30
