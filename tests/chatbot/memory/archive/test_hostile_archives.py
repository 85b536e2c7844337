"""Archives that nobody's export made: each is refused with the file, the line and the reason, and the store
stays as it was.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chatbot.errors import NotFoundError
from chatbot.memory.archive.archive_file import ArchiveError
from chatbot.settings import Settings
from chatbot.store.api_keys import open_api_keys
from tests.chatbot.memory.archive.filled_store import export, given_keys, import_into, lines_of, opened

DIGEST = "a" * 64
KEY = {
    "id": 1,
    "name": "one",
    "digest": DIGEST,
    "scope": "ask",
    "created_at": 1.0,
    "expires_at": None,
    "used_at": None,
}
DOCUMENT = {"sha256": DIGEST, "name": "a.pdf", "title": None, "added_at": 1.0, "removed_at": None}
TALK = {
    "id": "talk",
    "owner": "local",
    "begun_at": 1.0,
    "changed_at": 2.0,
    "title": None,
    "deleted_at": None,
    "compresses": True,
    "recalls_others": False,
    "off": "",
}
EXCHANGE = {
    "conversation": "talk",
    "number": 1,
    "question": "How much?",
    "answer": "Three.",
    "at": 1.5,
    "state": "complete",
    "cited": None,
    "full_tokens": None,
    "kept_tokens": None,
    "chunks": None,
    "details": None,
    "prompt_tokens": None,
    "answer_tokens": None,
    "estimated": None,
    "seconds": None,
    "first_seconds": None,
    "cost": None,
}
RATING = {"shelf": "0" * 32, "case": {"question": "How much?", "plan": "Three."}}
SITUATION = {"owner": "local", "scope": "", "situation": "oil falls", "recommendation": "wait", "at": 1.0}
SETTING = {"owner": "local", "name": "window", "value": "7"}
RECORDS: dict[str, dict[str, Any]] = {
    "keys": KEY,
    "documents": DOCUMENT,
    "conversations": TALK,
    "exchanges": EXCHANGE,
    "ratings": RATING,
    "situations": SITUATION,
    "settings": SETTING,
}
DEEP = "[" * 100_000 + "]" * 100_000


def write(path: Path, files: Mapping[str, bytes], *, stored: bool = False, **manifest: Any) -> Path:
    """Write an archive of these files, with a manifest that is right but for what is given."""
    listed = [
        {
            "name": name,
            "lines": data.count(b"\n") if name.endswith(".jsonl") else 0,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        for name, data in files.items()
    ]
    how = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps({"format": 1, "members": listed} | manifest))
    return path


def with_records(path: Path, **lines: list[Any]) -> Path:
    """Write an archive in which each kind has these lines: a record, or what stands there instead."""
    members = {}
    for kind, records in lines.items():
        texts = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in records]
        members[f"{kind}.jsonl"] = b"".join(text + b"\n" for text in texts)
    return write(path, members)


@pytest.fixture
def store(tmp_path: Path) -> Settings:
    """A store with a conversation in it."""
    settings = Settings(home=tmp_path / "home")
    with opened(settings) as chatbot:
        chatbot.conversations.start(chatbot.conversations.begin("local", "mine"), "Mine?")
    return settings


def refused(store: Settings, path: Path, tmp_path: Path) -> str:
    """Import an archive that is refused; the message."""
    export(store, tmp_path / "before.zip")
    with pytest.raises(ArchiveError) as raised:
        import_into(store, path)
    export(store, tmp_path / "after.zip")
    assert lines_of(tmp_path / "after.zip") == lines_of(tmp_path / "before.zip")
    assert "Nothing was imported." in raised.value.hint
    assert len(str(raised.value)) < 500
    return raised.value.message


def test_sound_records_are_taken(store: Settings, tmp_path: Path) -> None:
    path = with_records(tmp_path / "sound.zip", **{kind: [record] for kind, record in RECORDS.items()})
    taken = import_into(store, path)
    assert {kind: taken[kind].done for kind in RECORDS} == dict.fromkeys(RECORDS, 1)


@pytest.mark.parametrize("size", [0, 10, 50, 200])
def test_a_file_that_is_cut_off_is_no_archive(store: Settings, tmp_path: Path, size: int) -> None:
    path = with_records(tmp_path / "cut.zip", keys=[KEY])
    path.write_bytes(path.read_bytes()[:size])
    assert "is no archive, or its end is missing" in refused(store, path, tmp_path)
    with pytest.raises(NotFoundError, match="No such file"):
        import_into(store, tmp_path / "none.zip")


@pytest.mark.parametrize("place", [60, 80, 120])
def test_damage_inside_is_found(store: Settings, tmp_path: Path, place: int) -> None:
    path = with_records(tmp_path / "damaged.zip", keys=[KEY], documents=[DOCUMENT])
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)
    assert "damaged" in refused(store, path, tmp_path)


KEY_LINE = json.dumps(KEY).encode() + b"\n"


def member(**changes: object) -> dict[str, Any]:
    """A manifest that says something else of the file of keys."""
    digest = hashlib.sha256(KEY_LINE).hexdigest()
    right = {"name": "keys.jsonl", "lines": 1, "bytes": len(KEY_LINE), "sha256": digest}
    return {"members": [right | changes]}


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ({"format": 2}, "It has format 2, but this program reads formats up to 1."),
        ({"format": 0}, "It has format 0"),
        ({"format": "1"}, "manifest.json: format: Input should be a valid integer"),
        ({"members": [{"name": "keys.jsonl"}]}, "manifest.json: members.0.lines: Field required"),
        ({"format": 10**30}, "manifest.json: format: Input should be less than"),
        ({"made_at": 1e999}, "manifest.json: made_at"),
        ({"keys_given": -1}, "manifest.json: keys_given: Input should be greater than or equal to 0"),
        ({"keys_given": 1_000_001}, "manifest.json: keys_given: no store has given more than 1,000,000 API"),
        ({"keys_given": 2**63 - 1}, "manifest.json: keys_given: Input should be less than"),
        ({"keys_given": 10**30}, "manifest.json: keys_given: Input should be less than"),
        ({"members": []}, "'keys.jsonl' is in the archive or in manifest.json, but not in both"),
        (
            member(sha256="b" * 64),
            "keys.jsonl is damaged or was changed: manifest.json has another hash for it",
        ),
        (member(lines=2), "keys.jsonl has 1 lines, but manifest.json says 2"),
        (member(lines=-5), "manifest.json: members.0.lines: Input should be greater than or equal to 0"),
        (member(lines=400_000_000), "'keys.jsonl' has more lines than bytes, says manifest.json"),
        (member(lines=0), "keys.jsonl has 1 lines, but manifest.json says 0"),
        (member(bytes=5), "bytes, but manifest.json says otherwise"),
    ],
)
def test_a_manifest_that_is_wrong_is_refused(
    store: Settings, tmp_path: Path, manifest: dict[str, Any], said: str
) -> None:
    path = write(tmp_path / "wrong.zip", {"keys.jsonl": KEY_LINE}, **manifest)
    assert said in refused(store, path, tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", DEEP, '{"format": 1e999}', "\ud800".encode("utf-8", "surrogatepass")]
)
def test_a_manifest_that_is_none_is_refused(store: Settings, tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", text)
    assert refused(store, path, tmp_path).startswith("manifest.json")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", text)
    assert "has no manifest.json" in refused(store, path, tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "../keys.jsonl",
        "/etc/passwd",
        "a/keys.jsonl",
        "keys.jsonl/",
        "documents/../../x.pdf",
        "KEYS.jsonl",
        "keys\njsonl",
        "x" * 5_000,
    ],
)
def test_names_that_lead_elsewhere_are_refused(store: Settings, tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "names.zip", {name: b""})
    assert "is no name of a file in an archive" in refused(store, path, tmp_path)
    assert not any("passwd" in one.name for one in tmp_path.rglob("*"))


def test_a_file_may_not_stand_there_twice(store: Settings, tmp_path: Path) -> None:
    path = with_records(tmp_path / "twice.zip", keys=[KEY])
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("keys.jsonl", b"")
    assert refused(store, path, tmp_path) == "It has a file twice."


def test_bombs_do_no_harm(store: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = b"0" * 300 * 2**20
    path = write(tmp_path / "bomb.zip", {"exchanges.jsonl": zeros})
    assert path.stat().st_size < 2**20
    assert refused(store, path, tmp_path) == "exchanges.jsonl, line 1: it has more than 67,108,864 bytes."
    # One that says it is small ends where it says.
    small = path.read_bytes().replace(struct.pack("<L", len(zeros)), struct.pack("<L", 100))
    path.write_bytes(small.replace(b'"bytes": 314572800', b'"bytes": 100      '))
    assert refused(store, path, tmp_path)
    # One of records that are sound, but more than the disk has room for.
    many = b"".join(json.dumps(SETTING | {"owner": str(at)}).encode() + b"\n" for at in range(9_000))
    monkeypatch.setattr("chatbot.store.sqlite_file.free_bytes", lambda folder: 100_000)
    path = write(tmp_path / "large.zip", {"settings.jsonl": many})
    assert "bytes, but only 100,000 are free on the disk." in refused(store, path, tmp_path)


def test_what_repeats_itself_without_end_is_no_bomb(store: Settings, tmp_path: Path) -> None:
    with opened(store) as chatbot:
        for _ in range(50):
            number = chatbot.conversations.start("mine", "How much? " * 2_000)
            chatbot.conversations.write("mine", number, "Three. " * 20_000, owner="local", state="stopped")
    export(store, tmp_path / "same.zip")
    assert sum(map(len, lines_of(tmp_path / "same.zip")["exchanges"])) > 50
    taken = import_into(Settings(home=tmp_path / "other"), tmp_path / "same.zip")
    assert taken["exchanges"].done == 51


def test_a_list_of_files_that_fits_into_no_memory_is_not_read(store: Settings, tmp_path: Path) -> None:
    path = with_records(tmp_path / "list.zip", keys=[KEY])
    many = write(tmp_path / "many.zip", {f"{'a' * 20}{number}.jsonl": b"{}\n" for number in range(3_000)})
    assert "lists more files than any archive has" in refused(store, many, tmp_path)
    data = bytearray(path.read_bytes())
    struct.pack_into("<L", data, len(data) - 10, 2**31)
    path.write_bytes(data)
    assert "lists more files than any archive has" in refused(store, path, tmp_path)
    large = struct.pack("<4sQHHLLQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, 2**40, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(data), 1)
    path.write_bytes(data[:-22] + large + locator + data[-22:])
    assert "lists more files than any archive has" in refused(store, path, tmp_path)


def test_files_that_overlap_are_refused(store: Settings, tmp_path: Path) -> None:
    data = bytes(range(256)) * 100
    path = write(tmp_path / "overlap.zip", {"news.jsonl": data, "keys.jsonl": data}, stored=True)
    whole = path.read_bytes()
    # The second one's data are cut out, and its entry leads to the first one's.
    first, second = whole.index(b"PK\3\4"), whole.index(b"PK\3\4", 10)
    third = whole.index(b"PK\3\4", second + 10)
    cut = whole[:second] + whole[third:]
    removed = third - second
    entries = [at for at in range(len(cut)) if cut.startswith(b"PK\1\2", at)]
    changed = bytearray(cut)
    struct.pack_into("<L", changed, entries[1] + 42, first)
    struct.pack_into("<L", changed, entries[2] + 42, third - removed)
    struct.pack_into("<L", changed, len(changed) - 6, entries[0])
    path.write_bytes(changed)
    assert "overlap" in refused(store, path, tmp_path)


@pytest.mark.parametrize("change", [(8, 1), (10, 12)], ids=["encrypted", "bzip2"])
def test_only_plain_compression_is_read(store: Settings, tmp_path: Path, change: tuple[int, int]) -> None:
    path = with_records(tmp_path / "odd.zip", keys=[KEY])
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, data.index(b"PK\1\2") + change[0], change[1])
    path.write_bytes(data)
    assert "encrypted, or compressed in a way that is not read" in refused(store, path, tmp_path)


ANSWER = {"question": "q", "search_query": "q", "text": "t", "answered": True}
WRONG: list[tuple[str, Any, str]] = [
    ("keys", b"{", "Invalid JSON"),
    ("keys", b"[1]", "Input should be an object"),
    ("keys", b"\xff\xfe", "Invalid JSON"),
    ("keys", DEEP.encode(), "Invalid JSON: recursion limit exceeded"),
    ("keys", b'{"id": ' + b"9" * 6_000 + b"}", "id"),
    ("keys", KEY | {"id": 0}, "id: Input should be greater than or equal to 1"),
    ("keys", KEY | {"id": True}, "id: Input should be a valid integer"),
    ("keys", KEY | {"id": 2**70}, "id"),
    ("keys", KEY | {"id": 1_000_001}, "id: no store has given more than 1,000,000 API keys"),
    ("keys", KEY | {"digest": "a" * 63}, "digest: String should match pattern"),
    ("keys", KEY | {"digest": DIGEST + "\n"}, "digest: String should match pattern"),
    ("keys", KEY | {"scope": "root"}, "scope: Input should be 'read', 'ask' or 'manage'"),
    ("keys", KEY | {"name": "a\x1b[31mb"}, "name: Value error, it has control characters"),
    ("keys", KEY | {"later": 1}, "it has the field 'later', which this version of the program does not know"),
    ("keys", {name: KEY[name] for name in list(KEY)[1:]}, "id: Field required"),
    ("keys", json.dumps(KEY).replace("1.0", "NaN").encode(), "created_at"),
    ("keys", json.dumps(KEY).replace("1.0", "1e999").encode(), "created_at"),
    ("documents", DOCUMENT | {"name": "../../etc/passwd"}, "its name is a path, too long, or has"),
    ("documents", DOCUMENT | {"name": "a\u202efdp.exe"}, "name: Value error, it has control characters"),
    ("documents", DOCUMENT | {"name": "a" * 300}, "its name is a path, too long, or has"),
    ("documents", DOCUMENT | {"name": 5}, "name: Input should be a valid string"),
    ("documents", DOCUMENT | {"sha256": "../" + "a" * 61}, "sha256: String should match pattern"),
    ("documents", json.dumps(DOCUMENT).replace('"a.pdf"', '"\\ud800"').encode(), "Invalid JSON"),
    ("documents", DOCUMENT | {"removed_at": -1}, "removed_at"),
    ("corrections", {"sha256": DIGEST, "period": "soon", "status": None}, "its period or status is none"),
    ("corrections", {"sha256": DIGEST, "period": "", "status": "final\n"}, "its period or status is none"),
    ("conversations", TALK | {"id": "../talk"}, "its id is none that a conversation has"),
    ("conversations", TALK | {"id": "private-talk"}, "its id is none that a conversation has"),
    ("conversations", TALK | {"id": "key-1.talk"}, "its id is that of another owner"),
    ("conversations", TALK | {"owner": ""}, "owner: String should have at least 1 character"),
    ("conversations", TALK | {"owner": "x" * 2_000}, "owner: String should have at most 1000 characters"),
    ("conversations", TALK | {"compresses": "yes"}, "compresses: Input should be a valid boolean"),
    ("conversations", TALK | {"off": ["cases"]}, "off: Input should be a valid string"),
    ("exchanges", EXCHANGE | {"state": "open"}, "state: Input should be"),
    ("exchanges", EXCHANGE | {"details": {"answer": {}, "files": {}}}, "Field required"),
    ("exchanges", EXCHANGE | {"details": {"answer": ANSWER, "files": {"1": "x"}}}, "details.files.1"),
    ("exchanges", EXCHANGE | {"details": {"answer": ANSWER, "files": {"x": DIGEST}}}, "details.files"),
    ("exchanges", EXCHANGE | {"details": {"answer": ANSWER | {"text": 5}, "files": {}}}, "text"),
    ("exchanges", EXCHANGE | {"details": {"answer": ANSWER | {"seconds": math.nan}, "files": {}}}, "range"),
    ("exchanges", EXCHANGE | {"chunks": -1}, "chunks: Input should be greater"),
    ("exchanges", EXCHANGE | {"cost": 1.0, "seconds": 1.0}, "it lacks some of what a chat model used for it"),
    ("ratings", RATING | {"shelf": "../x"}, "shelf: String should match pattern"),
    ("ratings", RATING | {"shelf": "file"}, "shelf: String should match pattern"),
    ("ratings", RATING | {"case": {"question": "q"}}, "it has none of the pairs of fields"),
    ("ratings", RATING | {"case": {"question": "q", "plan": ["x"]}}, "its plan is not text"),
    ("situations", SITUATION | {"situation": "x" * 200_000}, "the limit is 100,000"),
    ("situations", SITUATION | {"recommendation": " "}, "is not a pair of a situation and a recommendation"),
    ("settings", SETTING | {"value": 7}, "value: Input should be a valid string"),
    ("settings", SETTING | {"value": "{"}, "Expecting property name"),
    ("settings", SETTING | {"value": DEEP}, "recursion"),
    ("switches", {"name": "chat", "value": True}, "name: Input should be 'on'"),
    ("news", {"text": "x", "tellings": [], "readings": []}, "tellings: Tuple should have at least 1 item"),
    ("removed_news", {"sha256": "x", "removed_at": 1.0}, "sha256: String should match pattern"),
]


@pytest.mark.parametrize(("kind", "line", "said"), WRONG)
def test_a_wrong_record_is_named_by_its_line(
    store: Settings, tmp_path: Path, kind: str, line: Any, said: str
) -> None:
    others = {name: [record] for name, record in RECORDS.items() if name != kind}
    path = with_records(tmp_path / "wrong.zip", **(others | {kind: [*_sound(kind), line]}))
    message = refused(store, path, tmp_path)
    assert message.startswith(f"{kind}.jsonl, line {len(_sound(kind)) + 1}: ")
    assert said in message


def _sound(kind: str) -> list[Any]:
    """A record of the kind under another key than the wrong one."""
    other: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "keys": lambda record: record | {"id": 2, "digest": "b" * 64},
        "documents": lambda record: record | {"name": "b.pdf"},
        "conversations": lambda record: record | {"id": "other"},
        "exchanges": lambda record: record | {"number": 2},
    }
    return [other[kind](RECORDS[kind])] if kind in other else []


@pytest.mark.parametrize(
    ("kind", "other"),
    [*RECORDS.items(), ("keys", KEY | {"digest": "b" * 64})],
    ids=lambda value: str(value)[:9],
)
def test_a_record_may_not_stand_there_twice(
    store: Settings, tmp_path: Path, kind: str, other: dict[str, Any]
) -> None:
    path = with_records(tmp_path / "twice.zip", **{kind: [RECORDS[kind], other]})
    assert refused(store, path, tmp_path) == f"{kind}.jsonl, line 2: it is there twice."


def test_what_belongs_to_somebody_else_is_left_alone(store: Settings, tmp_path: Path) -> None:
    stolen = TALK | {"id": "mine", "owner": "thief", "changed_at": 4e9}
    path = with_records(
        tmp_path / "thief.zip",
        conversations=[stolen],
        exchanges=[EXCHANGE | {"conversation": "mine", "number": 2}, EXCHANGE | {"conversation": "none"}],
    )
    taken = import_into(store, path)
    assert taken["conversations"].done == taken["exchanges"].done == 0
    why = "its conversation is not in the archive, or belongs to somebody else here"
    assert (taken["exchanges"].skipped, taken["exchanges"].called) == ({why: 2}, {why: ["mine 2", "none 1"]})
    with opened(store) as chatbot:
        assert [said.user for said in chatbot.conversations.said("mine", "local")] == ["Mine?"]


@pytest.mark.timed
def test_lines_that_nobody_knows_are_only_counted(store: Settings, tmp_path: Path) -> None:
    data = b"\n" * 20_000_000
    path = write(tmp_path / "lines.zip", {"moods.jsonl": data}, keys_given=1_000_000)
    tracemalloc.start()
    taken = import_into(store, path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken["moods"].skipped.total() == len(data)
    assert most < 50 * 2**20
    (key,) = given_keys(store, "next")
    with closing(open_api_keys(store)) as keys:
        assert keys.find(key).id == 1_000_001


def test_what_a_later_version_added_is_named_and_left(store: Settings, tmp_path: Path) -> None:
    path = with_records(tmp_path / "later.zip", keys=[KEY], moods=[{"a": 1}, {"b": 2}])
    taken = import_into(store, path)
    assert taken["keys"].done == 1
    assert taken["moods"].skipped == {"this version of the program does not know it": 2}
    later = with_records(
        tmp_path / "setting.zip", settings=[SETTING | {"name": "mood"}, SETTING | {"value": "-5"}]
    )
    taken = import_into(store, later)
    assert taken["settings"].done == 0
    assert taken["settings"].skipped.total() == 2
