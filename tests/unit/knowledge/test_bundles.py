"""Bundles that somebody else made: nothing they hold leaves the folder, exhausts memory or lies."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vibes_lsp.errors import InvalidObject, UnreadableFile
from vibes_lsp.knowledge import bundle_archive, bundles
from vibes_lsp.knowledge.bundles import check_bundle, import_bundle
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
CONTENT = b"the content"
SOURCE = hashlib.sha256(CONTENT).hexdigest()
META = f"id: {SOURCE}\nlocator: note\n".encode()
CLAIM = f"id: a-claim\ntext: A claim\nevidence: [{SOURCE}]\n".encode()
GOOD = {
    f"sources/{SOURCE}/meta.yaml": META,
    f"sources/{SOURCE}/content": CONTENT,
    "claims/a-claim.yaml": CLAIM,
}


@pytest.fixture
def knowledge(tmp_path: Path) -> KnowledgeBase:
    return create_knowledge_base(tmp_path)


def regular(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def bundle(
    folder: Path,
    contents: dict[str, bytes],
    *,
    listed: dict[str, bytes] | None = None,
    extra: Callable[[tarfile.TarFile], None] | None = None,
) -> Path:
    path = folder / "bundle.tar.gz"
    files = [
        {"path": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in (contents if listed is None else listed).items()
    ]
    manifest = {"version": "0.1", "generated_at": "2026-01-01T00:00:00Z", "kb_name": "x"}
    with tarfile.open(path, "w:gz") as archive:
        regular(archive, "manifest.json", json.dumps({**manifest, "files": files}).encode())
        for name, data in contents.items():
            regular(archive, name, data)
        if extra is not None:
            extra(archive)
    return path


def test_a_good_bundle_is_imported_whole(knowledge: KnowledgeBase, tmp_path: Path) -> None:
    path = bundle(tmp_path, GOOD)
    assert check_bundle(path, knowledge).issues == ()
    result = import_bundle(knowledge, path, actor="a", now=NOW)
    assert set(result["written"]) == set(GOOD)
    assert all((knowledge.path / name).read_bytes() == data for name, data in GOOD.items())


def link(archive: tarfile.TarFile) -> None:
    member = tarfile.TarInfo("claims/linked.yaml")
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    archive.addfile(member)


def hard_link(archive: tarfile.TarFile) -> None:
    member = tarfile.TarInfo("claims/linked.yaml")
    member.type, member.linkname = tarfile.LNKTYPE, "../../secret"
    archive.addfile(member)


def device(archive: tarfile.TarFile) -> None:
    member = tarfile.TarInfo("claims/device.yaml")
    member.type = tarfile.CHRTYPE
    archive.addfile(member)


def twice(archive: tarfile.TarFile) -> None:
    regular(archive, "claims/a-claim.yaml", b"another")


def other_case(archive: tarfile.TarFile) -> None:
    regular(archive, "claims/A-CLAIM.yaml", b"another")


@pytest.mark.parametrize("extra", [link, hard_link, device, twice, other_case])
def test_a_strange_member_stops_the_import(
    knowledge: KnowledgeBase, tmp_path: Path, extra: Callable[[tarfile.TarFile], None]
) -> None:
    path = bundle(tmp_path, GOOD, extra=extra)
    assert check_bundle(path, knowledge).issues
    with pytest.raises(InvalidObject):
        import_bundle(knowledge, path, actor="a", now=NOW)
    assert not (knowledge.path / "claims/a-claim.yaml").exists()


CLAIM_FILE = "claims/a-claim.yaml"


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ({CLAIM_FILE: CLAIM}, "which is missing"),
        ({**GOOD, CLAIM_FILE: b"id: other\ntext: x\n"}, "as its file is named"),
        ({**GOOD, CLAIM_FILE: b"id: a-claim\ntext: x\nevidence: []\n"}, "at least one citation"),
        ({**GOOD, CLAIM_FILE: b"id: [\n"}, "no YAML"),
        ({**GOOD, f"sources/{SOURCE}/content": b"other"}, "not the id of the source"),
        ({**GOOD, "hooks/post-commit": b"#!/bin/sh"}, "is not a file of a knowledge base"),
        ({**GOOD, "proposed/a.yaml": b"id: a"}, "is not a file of a knowledge base"),
        ({**GOOD, "claims/.hidden.yaml": b"id: a"}, "is not a file of a knowledge base"),
        ({**GOOD, "claims/con.yaml": b"id: con"}, "is not a file of a knowledge base"),
        ({**GOOD, "state.db": b"x"}, "is not a file of a knowledge base"),
        ({**GOOD, "audit.log.jsonl": b"{}"}, "is not a file of a knowledge base"),
    ],
)
def test_an_invalid_object_stops_the_import(
    knowledge: KnowledgeBase, tmp_path: Path, contents: dict[str, bytes], reason: str
) -> None:
    path = bundle(tmp_path, contents)
    assert reason in " ".join(check_bundle(path, knowledge).issues)
    with pytest.raises(InvalidObject):
        import_bundle(knowledge, path, actor="a", now=NOW)


def test_a_file_that_the_manifest_lacks_or_has_too_many_is_found(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    fewer = bundle(tmp_path, GOOD, listed={CLAIM_FILE: CLAIM})
    assert "not in the manifest" in " ".join(check_bundle(fewer, knowledge).issues)
    more = bundle(tmp_path, GOOD, listed={**GOOD, "claims/b.yaml": b""})
    assert "claims/b.yaml: missing" in check_bundle(more, knowledge).issues


def test_a_bundle_that_unpacks_to_too_much_is_refused(
    knowledge: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_archive, "_MAX_BYTES", 1 << 20)
    path = bundle(tmp_path, {f"claims/c{number}.yaml": b"0" * (1 << 18) for number in range(8)})
    assert path.stat().st_size < 1 << 14
    with pytest.raises(UnreadableFile, match="too large"):
        check_bundle(path, knowledge)


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive", gzip.compress(b"no archive"), gzip.compress(b"x" * 2000)[:-9]],
    ids=["empty", "text", "compressed text", "cut"],  # compressed bytes contain the time
)
def test_what_is_no_archive_is_refused(
    knowledge: KnowledgeBase, tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "bundle.tar.gz"
    path.write_bytes(data)
    with pytest.raises(UnreadableFile):
        check_bundle(path, knowledge)


def test_the_settings_of_a_bundle_are_not_taken_over(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    settings = (knowledge.path / "config.yaml").read_bytes()
    hostile = b"review: {approver_role: trusted-agent}\n"
    import_bundle(knowledge, bundle(tmp_path, {**GOOD, "config.yaml": hostile}), actor="a", now=NOW)
    assert (knowledge.path / "config.yaml").read_bytes() == settings


def test_a_folder_that_is_a_link_is_not_written_to(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    knowledge = create_knowledge_base(project)
    outside = tmp_path / "outside"
    outside.mkdir()
    (knowledge.path / "claims").rmdir()
    (knowledge.path / "claims").symlink_to(outside)
    with pytest.raises(Exception, match=r"folder|link"):
        import_bundle(knowledge, bundle(tmp_path, GOOD), actor="a", now=NOW)
    assert list(outside.iterdir()) == []


def long_header(archive: tarfile.TarFile) -> None:
    """Add a name of 64 MiB, which readers hold in memory before they know whose it is."""
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 64 << 20
    archive.addfile(member, io.BytesIO(bytes(64 << 20)))


def long_attributes(archive: tarfile.TarFile) -> None:
    member = tarfile.TarInfo("attributes")
    member.type, member.size = tarfile.XHDTYPE, 64 << 20
    archive.addfile(member, io.BytesIO(bytes(64 << 20)))


def sparse(archive: tarfile.TarFile) -> None:
    """Add a file of which 8 GiB are holes, in the form of the first version of GNU tar."""
    member = tarfile.TarInfo("sources/" + "a" * 64 + "/content")
    member.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    block[483:495] = tarfile.itn(8 << 30, 12, tarfile.GNU_FORMAT)  # type: ignore[attr-defined]
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\x00 " % sum(block)
    assert archive.fileobj is not None
    archive.fileobj.write(bytes(block))
    archive.offset += len(block)


def endless_map(archive: tarfile.TarFile) -> None:
    """Add a sparse file whose map goes on in 100,000 further blocks."""
    member = tarfile.TarInfo("sources/" + "a" * 64 + "/content")
    member.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    block[482] = 1
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\x00 " % sum(block)
    further = bytearray(512)
    further[504] = 1
    assert archive.fileobj is not None
    archive.fileobj.write(bytes(block) + bytes(further) * 100_000)
    archive.offset += 512 * 100_001


def false_size(archive: tarfile.TarFile) -> None:
    """Add a member that says it has 8 EiB."""
    member = tarfile.TarInfo("claims/large.yaml")
    member.size = 1 << 62
    archive.addfile(member)


@pytest.mark.parametrize(
    "extra",
    [long_header, long_attributes, sparse, endless_map, false_size],
    ids=lambda f: f.__name__,
)
def test_a_bomb_takes_little_memory(
    knowledge: KnowledgeBase, tmp_path: Path, extra: Callable[[tarfile.TarFile], None]
) -> None:
    path = bundle(tmp_path, GOOD, extra=extra)
    assert path.stat().st_size < 1 << 18
    tracemalloc.start()
    try:
        with pytest.raises((InvalidObject, UnreadableFile)):
            import_bundle(knowledge, path, actor="a", now=NOW)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 24 << 20
    assert not (knowledge.path / CLAIM_FILE).exists()


def test_captured_bytes_are_not_all_in_memory(knowledge: KnowledgeBase, tmp_path: Path) -> None:
    many, content = {}, b""
    for number in range(12):
        content = bytes([number]) * (8 << 20)
        identifier = hashlib.sha256(content).hexdigest()
        many[f"sources/{identifier}/content"] = content
        many[f"sources/{identifier}/meta.yaml"] = f"id: {identifier}\nlocator: x\n".encode()
    path = bundle(tmp_path, many)
    names = list(many)
    many.clear()
    content = b""
    tracemalloc.start()
    try:
        result = import_bundle(knowledge, path, actor="a", now=NOW)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert set(result["written"]) == set(names)
    assert most < 48 << 20


def test_members_without_end_are_counted(
    knowledge: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_archive, "_MAX_FILES", 1000)

    def folders(archive: tarfile.TarFile) -> None:
        for number in range(1100):
            member = tarfile.TarInfo(f"claims/{number}")
            member.type = tarfile.DIRTYPE
            archive.addfile(member)

    with pytest.raises(UnreadableFile, match="too large"):
        check_bundle(bundle(tmp_path, GOOD, extra=folders), knowledge)


def test_an_archive_that_changes_after_the_check_is_not_believed(
    knowledge: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = bundle(tmp_path, GOOD)
    checked = check_bundle(path, knowledge)
    bundle(tmp_path, {**GOOD, f"sources/{SOURCE}/content": b"other"})
    monkeypatch.setattr(bundles, "check_bundle", lambda *_: checked)
    with pytest.raises(UnreadableFile, match="has changed"):
        import_bundle(knowledge, path, actor="a", now=NOW)
    assert not (knowledge.path / CLAIM_FILE).exists()
