"""What every place of kept copies does alike, a folder and object stores; and how these fail."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from io import BytesIO
from itertools import count
from pathlib import Path

import pytest

from chatbot.errors import DocumentError, SettingsError, StoreError
from chatbot.store.copy_files import CopyFiles
from chatbot.store.kept_copies import Copies, KeptName
from chatbot.store.object_files import ObjectFiles
from tests.answering_server import AnsweringServer
from tests.served_objects import ServedObjects

NUMBERS = count(1)
FIRST, SECOND = b"%PDF The deficit ceiling.", b"The debt anchor." * 400_000
# Opens the same copies with another cache: open(cache).
Open = Callable[..., Copies]


@pytest.fixture(params=["folder", "s3", "file"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Copies in a folder, in a real S3 server, and in a folder as if it were an object store."""
    prefix = f"prefix {next(NUMBERS)}/copies"

    def copies(cache: str = "cache", room: int = 10**9) -> Copies:
        if request.param == "folder":
            return Copies(tmp_path / "documents", 100)
        if request.param == "file":
            address, endpoint = f"file://{tmp_path}/objects", ""
        else:
            server: ServedObjects = request.getfixturevalue("objects")
            address, endpoint = f"s3://{server.bucket}/{prefix}", server.endpoint
        files = ObjectFiles(address, tmp_path / cache, endpoint=endpoint, room=room)
        return Copies(tmp_path / "documents", 100, files)

    return copies


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_copy_is_there_with_its_names_under_its_hash(opened: Open) -> None:
    copies = opened()
    assert copies.take(BytesIO(FIRST), "Rules.pdf") == digest_of(FIRST)
    assert copies.take(BytesIO(SECOND), "Debt.pdf") == digest_of(SECOND)
    again = opened("elsewhere")
    for content, name in ((FIRST, "Rules.pdf"), (SECOND, "Debt.pdf")):
        digest = digest_of(content)
        assert again.has(digest)
        assert again.size(digest) == len(content)
        assert again.path_to_read(digest).read_bytes() == content
        assert again.sound(digest)
        assert again.beside(digest).names == (KeptName(name, None),)
    assert sorted(again.all()) == sorted(map(digest_of, (FIRST, SECOND)))
    assert again.total_bytes() > len(FIRST) + len(SECOND)


def test_what_was_deleted_is_gone_everywhere(opened: Open) -> None:
    copies, other = opened(), opened("elsewhere")
    digest = copies.take(BytesIO(FIRST), "Rules.pdf")
    kept = other.path_to_read(digest)
    assert kept.exists()
    copies.drop(digest)
    copies.drop(digest)
    assert not copies.has(digest)
    assert copies.path(digest) is None
    assert copies.beside(digest).names == ()
    assert not other.sound(digest)
    assert other.all() == []
    assert not kept.exists()


def test_a_copy_that_changes_meanwhile_is_never_seen(opened: Open) -> None:
    copies = opened()
    with pytest.raises(DocumentError, match="changed"):
        copies.take(BytesIO(FIRST), "Rules.pdf", unchanged=lambda: False)
    assert copies.all() == []
    assert copies.drop_partials() == 0


def test_what_an_ended_process_left_is_swept(opened: Open, tmp_path: Path) -> None:
    copies = opened()
    copies.take(BytesIO(FIRST), "Rules.pdf")
    folder = tmp_path / ("cache" if (tmp_path / "cache").exists() else "documents")
    (folder / "incoming-x.partial").write_bytes(b"half")
    assert copies.drop_partials() == 1
    assert copies.all() == [digest_of(FIRST)]


def test_files_are_alike_whatever_holds_them(tmp_path: Path) -> None:
    holders: list[CopyFiles] = [
        CopyFiles(tmp_path / "folder"),
        ObjectFiles(f"file://{tmp_path}/objects", tmp_path / "cache"),
        ObjectFiles("memory:///", tmp_path / "other cache"),
    ]
    for files in holders:
        assert files.size("x.json") is None
        with pytest.raises(FileNotFoundError):
            files.read("x.json")
        prepared = files.incoming / "prepared"
        prepared.write_bytes(b"{}")
        files.put(prepared, "x.json")
        assert not prepared.exists()
        assert files.read("x.json") == b"{}"
        assert [(name, size) for name, _, size in files.listed()] == [("x.json", 2)]
        files.delete("x.json")
        assert list(files.listed()) == []


def local(tmp_path: Path, room: int = 10**9) -> Copies:
    """Copies in an object store that is a folder."""
    files = ObjectFiles(f"file://{tmp_path}/objects", tmp_path / "cache", room=room)
    return Copies(tmp_path / "documents", 100, files)


def test_what_was_not_used_for_longest_leaves_the_cache_first(tmp_path: Path) -> None:
    copies = local(tmp_path, room=250)
    digests = [copies.take(BytesIO(bytes([number]) * 100), "Some.pdf") for number in range(3)]
    assert all((tmp_path / "cache" / f"{digest}.pdf").exists() for digest in digests)
    long_ago = time.time() - 10_000
    for age, digest in enumerate(reversed(digests)):
        os.utime(tmp_path / "cache" / f"{digest}.pdf", (long_ago - age, long_ago - age))
    copies.path(digests[0])
    fourth = copies.take(BytesIO(b"x" * 100), "Fourth.pdf")
    cached = {path.stem for path in (tmp_path / "cache").glob("*.pdf")}
    assert cached == {digests[0], fourth}
    assert copies.path_to_read(digests[1]).read_bytes() == bytes([1]) * 100


def test_a_copy_with_other_bytes_is_refused(tmp_path: Path) -> None:
    copies = local(tmp_path)
    digest = copies.take(BytesIO(FIRST), "Rules.pdf")
    (tmp_path / "cache" / f"{digest}.pdf").unlink()
    (tmp_path / "objects" / f"{digest}.pdf").write_bytes(b"something else")
    assert not copies.sound(digest)
    with pytest.raises(StoreError, match="damaged"):
        copies.path(digest)
    assert list((tmp_path / "cache").iterdir()) == []


def test_names_that_another_server_is_writing_just_now_stay(tmp_path: Path) -> None:
    copies = local(tmp_path)
    name = f"{digest_of(FIRST)}.json"
    (tmp_path / "objects" / name).write_text("{}")
    assert copies.drop_partials() == 0
    os.utime(tmp_path / "objects" / name, (1.0, 1.0))
    assert copies.drop_partials() == 1


def test_a_missing_bucket_and_a_server_that_is_down_are_named(objects: ServedObjects, tmp_path: Path) -> None:
    missing = Copies(tmp_path, 100, ObjectFiles("s3://missing/x", tmp_path / "a", endpoint=objects.endpoint))
    with pytest.raises(StoreError, match="s3://missing/x does not exist") as raised:
        missing.all()
    assert not raised.value.retryable
    with pytest.raises(DocumentError, match="does not exist"):
        missing.take(BytesIO(FIRST), "Rules.pdf")
    assert list((tmp_path / "a").iterdir()) == []


def test_a_store_that_is_down_is_met_again_by_itself(objects: ServedObjects, tmp_path: Path) -> None:
    files = ObjectFiles(f"s3://{objects.bucket}/down", tmp_path / "cache", endpoint=objects.endpoint)
    copies = Copies(tmp_path / "documents", 100, files)
    digest = copies.take(BytesIO(FIRST), "Rules.pdf")
    objects.stop()
    with pytest.raises(StoreError, match="cannot be reached") as raised:
        copies.beside(digest)
    assert raised.value.retryable
    assert copies.path_to_read(digest).read_bytes() == FIRST
    with pytest.raises(DocumentError, match="cannot be reached") as refused:
        copies.take(BytesIO(SECOND), "Debt.pdf")
    assert refused.value.retryable
    objects.start()
    assert copies.beside(digest).names == (KeptName("Rules.pdf", None),)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (403, "<Error><Code>InvalidAccessKeyId</Code></Error>", "refused the keys"),
        (403, "<Error><Code>AccessDenied</Code></Error>", "does not allow"),
        (507, "", "is full"),
        (400, "<Error><Code>Strange</Code></Error>", "failed"),
    ],
)
def test_each_refusal_says_what_to_do(status: int, body: str, words: str, tmp_path: Path, keys: None) -> None:
    with AnsweringServer([(status, body)] * 8) as server:
        files = ObjectFiles("s3://bucket/x", tmp_path, endpoint=server.address)
        with pytest.raises(StoreError, match=words) as raised:
            files.read("x.json")
    assert raised.value.hint


@pytest.mark.parametrize("address", ["bucket", "ftp://user:secret@host/x", "s3:/", ""])
def test_an_address_that_is_none_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="FINPOLICY_FILES") as raised:
        ObjectFiles(address, tmp_path)
    assert "secret" not in str(raised.value)


def test_plain_http_is_only_for_this_machine(tmp_path: Path, keys: None) -> None:
    files = ObjectFiles("s3://bucket/x", tmp_path, endpoint="http://192.0.2.1:9")
    with pytest.raises(StoreError, match="plain http"):
        files.read("x.json")


def test_what_is_no_sha_256_is_the_name_of_no_file(tmp_path: Path) -> None:
    copies = Copies(tmp_path / "documents", 100)
    victim = tmp_path / "victim.pdf"
    victim.write_bytes(FIRST)
    beside = victim.with_suffix(".json")
    beside.write_text("{}")
    for digest in ("../victim", "..", "", "A" * 64, f"{'a' * 64}/../../victim"):
        assert not copies.has(digest)
        assert copies.path(digest) is None
        assert not copies.sound(digest)
        copies.write_beside(digest, names=(KeptName("Rules.pdf", None),))
        copies.drop(digest)
    assert victim.read_bytes() == FIRST
    assert beside.read_text() == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["documents", "victim.json", "victim.pdf"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_copy_that_is_no_plain_file_is_not_opened(tmp_path: Path, kind: str) -> None:
    copies = Copies(tmp_path / "documents", 100)
    digest = copies.take(BytesIO(FIRST), "Rules.pdf")
    outside = tmp_path / "outside.pdf"
    outside.write_bytes(FIRST)
    for path in (copies.path_to_read(digest), copies.folder / f"{digest}.json"):
        path.unlink()
        if kind == "link":
            path.symlink_to(outside)
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir()
    assert not copies.has(digest)
    assert copies.size(digest) == 0
    assert not copies.sound(digest)
    assert copies.beside(digest).names == ()
    assert copies.all() == []
    assert [path.suffix for path in sorted(copies.strange())] == [".json", ".pdf"]
    with pytest.raises(DocumentError, match="The kept copy of the file is not in"):
        copies.path_to_read(digest)
    if kind != "folder":
        assert copies.take(BytesIO(FIRST), "Rules.pdf") == digest
        assert copies.path_to_read(digest).read_bytes() == FIRST
    assert outside.read_bytes() == FIRST


def test_damaged_names_are_no_names(tmp_path: Path) -> None:
    copies = Copies(tmp_path / "documents", 100)
    digest = copies.take(BytesIO(FIRST), "Rules.pdf")
    beside = copies.folder / f"{digest}.json"
    written = beside.read_text()
    unchecked = '{"names": [{"name": "Rules.pdf", "removed_at": null}]}'
    for damaged in (
        written.replace("Rules", "Rulez"),
        written[:-5],
        "",
        "[" * 100_000,
        "7",
        '{"names": 7}',
        unchecked,
    ):
        beside.write_text(damaged)
        assert copies.beside(digest).names == ()
