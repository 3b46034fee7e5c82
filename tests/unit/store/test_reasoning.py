"""Reasoning in its three forms (RFC 6.7, R8), and what other and hostile tools store."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from typing import TYPE_CHECKING

import pytest

from tests.trails import TrailWriter, context_hash, file_hash, gzipped, quirks
from vibes_lsp.errors import BrokenBlob, EscapingBlob, MissingBlob
from vibes_lsp.store import reasoning as reasoning_module
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.reasoning import (
    blob_file,
    blob_name_matches,
    inline_entry,
    read_blob,
    reasoning_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members

TEXT = "Größe und Maß. " * 20


@pytest.fixture
def writer(tmp_path: Path) -> TrailWriter:
    return TrailWriter(tmp_path, level="high")


def entry_of(writer: TrailWriter, key: str) -> Members:
    entry = read_manifest(AuditDir(writer.files.audit)).entry(key)
    assert entry is not None
    return entry


def directory(writer: TrailWriter) -> AuditDir:
    return AuditDir(writer.files.audit)


@pytest.mark.parametrize("form", ["inline", "compressed", "external"])
def test_each_form_has_the_same_text_and_inline_form(writer: TrailWriter, form: str) -> None:
    entry = entry_of(writer, writer.reasoning(TEXT, form=form, tokens=7, later="kept"))  # type: ignore[arg-type]
    assert reasoning_text(entry, directory(writer)) == TEXT
    inline = inline_entry(entry, directory(writer))
    wanted = {
        "type": "reasoning",
        "reasoning_text": TEXT,
        "reasoning_token_count": 7,
        "reasoning_model": "claude-opus-4-5",
    }
    if form != "external":  # a blob holds the entry as it was before
        wanted["later"] = "kept"
    assert {name: value for name, value in inline.items() if name != "created_at"} == wanted


def packed(data: bytes) -> Members:
    return {
        "type": "reasoning",
        "reasoning_text_compressed": base64.b64encode(data).decode(),
        "compressed": True,
    }


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"type": "reasoning", "reasoning_text_compressed": "not base64!"}, "not base64"),
        ({"type": "reasoning", "reasoning_text_compressed": "größe"}, "not base64"),
        ({"type": "reasoning", "reasoning_text_compressed": "AAA"}, "not base64"),
        (packed(b""), "truncated gzip data"),
        (packed(b"plain text, which is no gzip"), "not gzip data"),
        (packed(gzipped(b"x" * 100)[:-12]), "truncated gzip data"),
        (packed(gzipped(b"x" * 100)[:-4]), "truncated gzip data"),
        (packed(gzipped(b"x" * 100)[:-8] + bytes(8)), "not gzip data"),
        (packed(zlib.compress(b"no gzip header")), "not gzip data"),
        (packed(gzipped(b"\xff\xfe")), "not UTF-8 at byte 0"),
        ({"type": "reasoning"}, "neither text, compressed text nor a blob"),
        ({"type": "reasoning", "reasoning_text": None, "blob_path": 5}, "neither text"),
    ],
)
def test_an_undecodable_text_has_a_reason(writer: TrailWriter, entry: Members, reason: str) -> None:
    with pytest.raises(BrokenBlob, match=reason):
        reasoning_text(entry, directory(writer))


def test_decompression_has_a_limit(writer: TrailWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reasoning_module, "MAX_TEXT", 1000)
    assert reasoning_text(packed(gzipped(b"x" * 999)), directory(writer)) == "x" * 999
    with pytest.raises(BrokenBlob, match="unpacks to more than 1,000 bytes"):
        reasoning_text(packed(gzipped(bytes(10_000_000))), directory(writer))


def test_a_decompression_bomb_is_not_unpacked(
    writer: TrailWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reasoning_module, "MAX_TEXT", 100_000)
    writer.files.write("blobs/bomb.json.gz", gzipped(bytes(50_000_000)))
    with pytest.raises(BrokenBlob, match="unpacks to more than"):
        read_blob("blobs/bomb.json.gz", directory(writer))


def test_a_blob_that_is_itself_too_large_is_not_read(
    writer: TrailWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reasoning_module, "MAX_TEXT", 10)
    writer.files.write("blobs/raw.txt", b"x" * 11)
    with pytest.raises(BrokenBlob, match="is too large: 11 bytes, expected at most 10"):
        read_blob("blobs/raw.txt", directory(writer))


ESCAPES = [
    "../secret.txt",
    "blobs/../../secret.txt",
    "..\\secret.txt",
    "blobs\\..\\..\\secret.txt",
    "/etc/hostname",
    "a\0b",
    "\ud800/../..",
]


@pytest.mark.parametrize("path", ESCAPES)
def test_a_blob_path_may_not_leave_the_audit_directory(writer: TrailWriter, path: str) -> None:
    (writer.root / "secret.txt").write_text("secret")
    with pytest.raises(EscapingBlob, match="leaves the audit directory"):
        reasoning_text(
            {"type": "reasoning", "external": True, "blob_path": path}, directory(writer)
        )


def test_a_link_may_not_leave_the_audit_directory(writer: TrailWriter) -> None:
    (writer.root / "secret.txt").write_text("secret")
    (writer.files.audit / "blobs").mkdir()
    try:
        (writer.files.audit / "blobs/file.txt").symlink_to(writer.root / "secret.txt")
        (writer.files.audit / "out").symlink_to(writer.root, target_is_directory=True)
        (writer.files.audit / "loop").symlink_to(writer.files.audit / "loop")
    except OSError:
        pytest.skip("this account may not make symbolic links here")
    for path in ("blobs/file.txt", "out/secret.txt"):
        with pytest.raises(EscapingBlob):
            blob_file(path, directory(writer))
    with pytest.raises(BrokenBlob):
        read_blob("loop/x", directory(writer))


def test_a_link_that_stays_inside_is_followed(writer: TrailWriter) -> None:
    writer.files.write("blobs/real.txt", b"text")
    try:
        (writer.files.audit / "blobs/link.txt").symlink_to(writer.files.audit / "blobs/real.txt")
    except OSError:
        pytest.skip("this account may not make symbolic links here")
    assert read_blob("blobs/link.txt", directory(writer)) == b"text"


def test_a_missing_blob_has_its_own_error(writer: TrailWriter) -> None:
    with pytest.raises(MissingBlob, match=r"blob blobs/none\.json\.gz does not exist"):
        read_blob("blobs/none.json.gz", directory(writer))


@pytest.mark.parametrize("path", ["", ".", "blobs", "x" * 5000, "annotations.jsonl/x"])
def test_a_blob_path_that_names_no_file_is_broken(writer: TrailWriter, path: str) -> None:
    writer.files.write("blobs/x", b"")
    with pytest.raises(BrokenBlob):
        read_blob(path, directory(writer))


def test_a_raw_text_blob_of_another_tool_is_read(tmp_path: Path) -> None:
    made = quirks(tmp_path / "project")
    quirk = made["raw-blob"]
    entry = entry_of(made.writer, quirk.keys[0])
    assert reasoning_text(entry, directory(made.writer)).startswith("A width is never negative.\n")
    assert inline_entry(entry, directory(made.writer))["reasoning_token_count"] == 240
    assert blob_name_matches(
        quirk.paths[0], read_blob(quirk.paths[0], directory(made.writer)), entry
    )


@pytest.mark.parametrize(
    "content", [b"{ braces } are no JSON", b'{"text": "some other JSON"}', b"\n {\n"]
)
def test_text_that_starts_like_json_is_text(writer: TrailWriter, content: bytes) -> None:
    writer.files.write("blobs/x.json.gz", gzip.compress(content))
    assert (
        reasoning_text(
            {"type": "reasoning", "external": True, "blob_path": "blobs/x.json.gz"},
            directory(writer),
        )
        == content.decode()
    )


def test_a_blob_without_text_is_invalid(writer: TrailWriter) -> None:
    writer.files.write("blobs/x.json.gz", gzip.compress(b'{"reasoning_text": 5}'))
    with pytest.raises(BrokenBlob, match="has no reasoning_text"):
        reasoning_text(
            {"type": "reasoning", "external": True, "blob_path": "blobs/x.json.gz"},
            directory(writer),
        )


INLINE: Members = {"type": "reasoning", "reasoning_text": TEXT, "reasoning_model": "m"}
STORED: Members = {"type": "reasoning", "external": True, "reasoning_model": "m"}


@pytest.mark.parametrize("length", [64, 16, 20])
def test_a_blob_name_is_the_hash_of_its_inline_entry_or_a_prefix(
    length: int,
) -> None:
    name = context_hash(INLINE)[:length]
    content = json.dumps({**INLINE, "created_at": "2026-02-03T10:00:00Z"}).encode()
    assert blob_name_matches(f"blobs/{name}.json.gz", content, STORED)
    assert not blob_name_matches(f"blobs/{name}.json.gz", content.replace(b"und", b"and"), STORED)


def test_a_raw_blob_name_is_the_hash_of_its_text_or_entry() -> None:
    for name in (file_hash(TEXT), file_hash(TEXT)[:16], context_hash(INLINE)):
        assert blob_name_matches(f"blobs/{name}.txt", TEXT.encode(), STORED)
        assert not blob_name_matches(f"blobs/{name}.txt", TEXT.encode() + b".", STORED)


def test_a_name_without_a_digest_matches() -> None:
    for name in ("thoughts.txt", "ab.json.gz", file_hash(TEXT), file_hash(TEXT).upper() + ".txt"):
        assert blob_name_matches(f"blobs/{name}", b"anything", STORED)


def test_binary_content_may_match_its_name() -> None:
    content = b"\xff\xfe"
    assert blob_name_matches(f"blobs/{file_hash(content)}.bin", content, STORED)
    with pytest.raises(BrokenBlob, match="not UTF-8"):
        blob_name_matches(f"blobs/{file_hash(b'')}.bin", content, STORED)
