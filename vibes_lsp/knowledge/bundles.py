"""Bundles: a knowledge base as one archive with a manifest of hashes, both ways (vouch 8).

A bundle is untrusted. Its members are read one by one within limits; only regular files with the
names of objects are accepted, each valid, with the hash of the manifest, and with what it refers to
either in the bundle or in the knowledge base.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from vibes_lsp.errors import InvalidObject, MalformedJson, RefusedWrite, UnreadableFile, VibesError
from vibes_lsp.knowledge.changes import Change, changing
from vibes_lsp.knowledge.knowledge_base import MAX_SOURCE, KnowledgeBase
from vibes_lsp.knowledge.object_format import MAX_OBJECT
from vibes_lsp.knowledge.objects import (
    Claim,
    Evidence,
    Kind,
    KnowledgeObject,
    Page,
    is_id,
    is_source_id,
)
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.store.files import read_file, replace_file, write_temporary

_FORMAT: Final = "0.1"
_MANIFEST: Final = "manifest.json"
_SETTINGS: Final = "config.yaml"
_KINDS: Final = tuple(kind for kind in Kind if kind is not Kind.PENDING)
_MAX_FILES: Final = 200_000
_MAX_BYTES: Final = 1 << 30
"""Most bytes of a bundle when unpacked."""
_MAX_MANIFEST: Final = 64 << 20
_MAX_ISSUES: Final = 100

OnConflict = Literal["skip", "overwrite", "fail"]


@dataclass(frozen=True, slots=True)
class ExportedBundle:
    """A bundle that was written.

    Attributes:
        path: The archive.
        files: How many files it has.
        size: Its size in bytes.
        bundle_id: A hash of the hashes of its files.
    """

    path: Path
    files: int
    size: int
    bundle_id: str


@dataclass(frozen=True, slots=True)
class CheckedBundle:
    """What an import would do.

    Attributes:
        bundle_id: A hash of the hashes of its files.
        contents: Its files by their paths.
        new: The paths that the knowledge base lacks.
        conflicting: Those where it has another content.
        identical: Those where it has the same.
        issues: What is wrong; a bundle with issues is not imported.
    """

    bundle_id: str
    contents: Mapping[str, bytes]
    new: tuple[str, ...]
    conflicting: tuple[str, ...]
    identical: tuple[str, ...]
    issues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportedBundle:
    """What an import did, as paths.

    Attributes:
        written: The new files.
        overwritten: Those that replaced another content.
        skipped: Those that conflict and were left out.
        identical: Those that were there.
    """

    written: tuple[str, ...]
    overwritten: tuple[str, ...]
    skipped: tuple[str, ...]
    identical: tuple[str, ...]


def export_bundle(
    knowledge: KnowledgeBase,
    target: Path,
    *,
    actor: str,
    now: datetime,
    with_decisions: bool = True,
) -> ExportedBundle:
    """Write all objects and settings to an archive, which replaces an older one.

    Args:
        knowledge: The knowledge base.
        target: The archive, a `.tar.gz`.
        actor: Who does it.
        now: When.
        with_decisions: Whether to include decisions; version 1.4 and newer of the reference
            implementation refuses them.

    Raises:
        VibesError: A file cannot be read, or the archive not written.
    """
    with changing(knowledge, actor, now) as change:
        contents = dict(_contents(knowledge, with_decisions=with_decisions))
        hashes = {path: hashlib.sha256(data).hexdigest() for path, data in contents.items()}
        manifest = {
            "version": _FORMAT,
            "generated_at": now.isoformat().replace("+00:00", "Z"),
            "kb_name": knowledge.config().kb_name or knowledge.project.name,
            "files": [
                {"path": path, "sha256": hashes[path], "bytes": len(contents[path])}
                for path in sorted(contents)
            ],
        }
        data = _pack({_MANIFEST: json.dumps(manifest, indent=1).encode(), **contents}, now)
        folder = target.absolute().parent
        if not folder.is_dir():
            raise RefusedWrite(f"cannot write {target}: no such folder")
        replace_file(write_temporary(folder, data), target)
        change.record("bundle.export", [], {"path": target.name, "files": len(contents)})
    return ExportedBundle(target, len(contents), len(data), _bundle_id(hashes))


def check_bundle(path: Path, knowledge: KnowledgeBase | None = None) -> CheckedBundle:
    """Return what is in a bundle, and what is wrong with it; nothing is written.

    Args:
        path: The archive.
        knowledge: The knowledge base to import it to; None checks the bundle alone.

    Raises:
        UnreadableFile: It is no archive, has no manifest, or exceeds the limits.
    """
    issues: list[str] = []
    packed = _unpack(path, issues)
    expected = _manifest(packed.pop(_MANIFEST, None), issues)
    contents: dict[str, bytes] = {}
    for name, data in packed.items():
        if name not in expected:
            issues.append(f"{name}: not in the manifest")
        elif hashlib.sha256(data).hexdigest() != expected[name]:
            issues.append(f"{name}: its hash is not that of the manifest")
        else:
            contents[name] = data
    issues += [f"{name}: missing" for name in expected if name not in packed]
    contents.pop(_SETTINGS, None)  # the settings of another project are not taken over
    if knowledge is not None:
        issues += _object_issues(knowledge, contents)
    new, conflicting, identical = _compare(knowledge, contents)
    return CheckedBundle(
        _bundle_id(expected), contents, new, conflicting, identical, tuple(issues[:_MAX_ISSUES])
    )


def import_bundle(
    knowledge: KnowledgeBase,
    path: Path,
    *,
    actor: str,
    now: datetime,
    on_conflict: OnConflict = "skip",
) -> ImportedBundle:
    """Import the files of a bundle.

    Args:
        knowledge: The knowledge base.
        path: The archive.
        actor: Who does it.
        now: When.
        on_conflict: What becomes of a file that is there with another content. Captured bytes of
            sources and decisions are never overwritten: they are final.

    Raises:
        InvalidObject: The bundle has issues, or files conflict and `on_conflict` is `fail`.
        VibesError: A file cannot be read or written.
    """
    with changing(knowledge, actor, now) as change:
        checked = check_bundle(path, knowledge)
        if checked.issues:
            more = f" and {len(checked.issues) - 1} more" if len(checked.issues) > 1 else ""
            raise InvalidObject(
                f"{path.name} is not imported: {checked.issues[0]}{more}",
                hint="`vibes kb import-check` lists all",
            )
        if checked.conflicting and on_conflict == "fail":
            raise InvalidObject(f"{path.name} is not imported: {checked.conflicting[0]} differs")
        final = (Kind.DECISION.value, Kind.SOURCE.value)
        overwritten = tuple(
            name
            for name in checked.conflicting
            if on_conflict == "overwrite" and not name.startswith(final)
        )
        for name in (*checked.new, *overwritten):
            _write(change, name, checked.contents[name])
        skipped = tuple(name for name in checked.conflicting if name not in overwritten)
        details = {
            "imported": len(checked.new),
            "skipped": len(skipped),
            "overwritten": len(overwritten),
        }
        change.record("bundle.import", [path.name], details)
    return ImportedBundle(checked.new, overwritten, skipped, checked.identical)


def _contents(knowledge: KnowledgeBase, *, with_decisions: bool) -> Iterator[tuple[str, bytes]]:
    for kind in _KINDS:
        if kind is Kind.DECISION and not with_decisions:
            continue
        for file in knowledge.files(kind):
            paths = [knowledge.file_of(kind, file.id)]
            if kind is Kind.SOURCE:
                paths.append(knowledge.content_file(file.id))
            for path in paths:
                data = read_file(path, limit=MAX_SOURCE)
                if data is not None and not path.is_symlink():
                    yield path.relative_to(knowledge.path).as_posix(), data
    data = read_file(knowledge.path / _SETTINGS, limit=MAX_OBJECT)
    if data is not None:
        yield _SETTINGS, data


def _pack(contents: Mapping[str, bytes], now: datetime) -> bytes:
    """Return an archive, the manifest first; equal for equal contents and times."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=int(now.timestamp())) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(contents, key=lambda each: (each != _MANIFEST, each)):
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(contents[name]), 0o644
            member.mtime = int(now.timestamp())
            archive.addfile(member, io.BytesIO(contents[name]))
    return buffer.getvalue()


def _unpack(path: Path, issues: list[str]) -> dict[str, bytes]:
    """Return the regular files of an archive; what else it has is an issue."""
    found: dict[str, bytes] = {}
    folded: set[str] = set()
    size = 0
    try:
        with tarfile.open(path, mode="r:gz") as archive:
            for member in archive:
                name = member.name
                if member.isdir():
                    continue
                problem = _member_issue(member)
                if problem is None and name.casefold() in folded:
                    problem = "another member has this name"
                size += member.size
                if len(found) >= _MAX_FILES or size > _MAX_BYTES:
                    raise UnreadableFile(f"{path.name} is too large when unpacked")
                if problem is not None:
                    issues.append(f"{name[:200]!r}: {problem}")
                    continue
                file = archive.extractfile(member)
                found[name] = b"" if file is None else file.read()
                folded.add(name.casefold())
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no .tar.gz archive"
        raise UnreadableFile(f"{path.name} cannot be read: {reason}") from None
    return found


def _member_issue(member: tarfile.TarInfo) -> str | None:
    if not member.isreg():
        return "is no regular file"
    limit = _MAX_MANIFEST if member.name == _MANIFEST else MAX_SOURCE
    if member.size > limit:
        return f"{member.size:,} bytes, expected at most {limit:,}"
    if member.name not in (_MANIFEST, _SETTINGS) and _place(member.name) is None:
        return "is no file of a knowledge base"
    return None


def _place(name: str) -> tuple[Kind, str] | None:
    """Return the kind and id that a path of a bundle stands for; None for any other path."""
    parts = name.split("/")
    try:
        kind = Kind(parts[0])
    except ValueError:
        return None
    if kind is Kind.SOURCE:
        is_file = len(parts) == 3 and parts[2] in ("meta.yaml", "content")
        return (kind, parts[1]) if is_file and is_source_id(parts[1]) else None
    ending = ".md" if kind is Kind.PAGE else ".yaml"
    if kind not in _KINDS or len(parts) != 2 or not parts[1].endswith(ending):
        return None
    identifier = parts[1].removesuffix(ending)
    return (kind, identifier) if is_id(identifier) else None


def _manifest(data: bytes | None, issues: list[str]) -> dict[str, str]:
    """Return the hashes of the files by their paths."""
    try:
        files: Any = parse_object(data or b"")["files"]
        return {str(each["path"]): str(each["sha256"]) for each in files}
    except (MalformedJson, KeyError, TypeError):
        issues.append(f"{_MANIFEST}: missing, or not of the expected form")
        return {}


def _object_issues(knowledge: KnowledgeBase, contents: Mapping[str, bytes]) -> Iterator[str]:
    found: dict[tuple[Kind, str], KnowledgeObject] = {}
    for name, data in contents.items():
        kind, identifier = _place(name) or (Kind.SOURCE, "")
        if name.endswith("/content"):
            if hashlib.sha256(data).hexdigest() != identifier:
                yield f"{name}: its hash is not the id of the source"
            continue
        try:
            found[kind, identifier] = knowledge.parse(kind, identifier, data)
        except InvalidObject as error:
            yield error.message

    def exists(kind: Kind, identifier: str) -> bool:
        return (kind, identifier) in found or knowledge.exists(kind, identifier)

    for (kind, identifier), each in found.items():
        for missing in _dangling(each, exists):
            yield f"{kind}/{identifier}: refers to {missing}, which is missing"
        if isinstance(each, Claim) and not each.evidence:
            yield f"{kind}/{identifier}: a claim needs at least one citation"


def _dangling(found: KnowledgeObject, exists: Any) -> list[str]:
    """Return what an object refers to and neither side has."""
    if isinstance(found, Evidence):
        return [] if exists(Kind.SOURCE, found.source_id) else [found.source_id]
    if isinstance(found, Claim):
        cited = [
            each
            for each in found.evidence
            if not exists(Kind.SOURCE, each) and not exists(Kind.EVIDENCE, each)
        ]
        linked = [*found.supersedes, *found.contradicts]
        linked += [found.superseded_by] if found.superseded_by else []
        return cited + [each for each in linked if not exists(Kind.CLAIM, each)]
    if isinstance(found, Page):
        return [each for each in found.claims if not exists(Kind.CLAIM, each)]
    return []


def _compare(
    knowledge: KnowledgeBase | None, contents: Mapping[str, bytes]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the paths that are new, conflicting and identical."""
    new: list[str] = []
    conflicting: list[str] = []
    identical: list[str] = []
    for name, data in sorted(contents.items()):
        present = None
        if knowledge is not None:
            try:
                present = read_file(knowledge.path / name, limit=MAX_SOURCE)
            except VibesError:
                present = b""
        (new if present is None else identical if present == data else conflicting).append(name)
    return tuple(new), tuple(conflicting), tuple(identical)


def _write(change: Change, name: str, data: bytes) -> None:
    kind, identifier = _place(name) or (Kind.SOURCE, "")
    if name.endswith("/content"):
        change.write_content(identifier, data)
    else:
        change.write(kind, identifier, data)


def _bundle_id(hashes: Mapping[str, str]) -> str:
    joined = "".join(hashes[path] for path in sorted(hashes))
    return hashlib.sha256(joined.encode()).hexdigest()
