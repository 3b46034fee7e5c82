"""Bundles: a knowledge base as one archive with a manifest of hashes, both ways (vouch 8).

A bundle is untrusted. It is imported only if each object is valid, with the hash of the manifest,
and with what it refers to either in the bundle or in the knowledge base. Captured bytes are hashed
as they pass, and read again when they are imported, so that memory holds one source at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from vibes_lsp.errors import InvalidObject, MalformedJson, RefusedWrite, UnreadableFile, VibesError
from vibes_lsp.knowledge.bundle_archive import (
    KINDS,
    MANIFEST,
    SETTINGS,
    BundleMember,
    members_of,
    pack,
    place,
    unpack,
)
from vibes_lsp.knowledge.changes import Change, changing
from vibes_lsp.knowledge.knowledge_base import MAX_SOURCE, KnowledgeBase
from vibes_lsp.knowledge.object_format import MAX_OBJECT
from vibes_lsp.knowledge.objects import (
    Claim,
    Evidence,
    Kind,
    KnowledgeObject,
    Page,
)
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.store.files import read_file, replace_file, write_temporary

RECORD_FOLDERS: Final = frozenset({".vouch", ".ai-audit", ".git"})
"""Folders in which no bundle is written."""
_FORMAT: Final = "0.1"
_MAX_ISSUES: Final = 100
_MAX_EVENT_IDS: Final = 5_000

OnConflict: TypeAlias = Literal["skip", "overwrite", "fail"]


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
    contents: Mapping[str, BundleMember]
    new: tuple[str, ...]
    conflicting: tuple[str, ...]
    identical: tuple[str, ...]
    issues: tuple[str, ...]


def export_bundle(
    knowledge: KnowledgeBase,
    target: Path,
    *,
    actor: str,
    now: datetime,
    with_decisions: bool = True,
) -> dict[str, Any]:
    """Write all objects and settings to an archive, which replaces an older bundle at most.

    Args:
        knowledge: The knowledge base.
        target: The archive, a `.tar.gz`.
        actor: Who does it.
        now: When.
        with_decisions: Whether to include decisions; version 1.4 and newer of the reference
            implementation refuses them.

    Returns:
        How many files and bytes it has, and a hash of the hashes of its files.

    Raises:
        RefusedWrite: The target is another file than a bundle, or in a folder of records.
        VibesError: A file cannot be read, or the archive not written.
    """
    _check_target(target)
    with changing(knowledge, actor, now) as change:
        contents = dict(_contents(knowledge, with_decisions=with_decisions))
        hashes = {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
        manifest = {
            "version": _FORMAT,
            "generated_at": now.isoformat().replace("+00:00", "Z"),
            "kb_name": knowledge.config().kb_name or knowledge.project.name,
            "files": [
                {"path": path, "sha256": hashes[path], "bytes": len(contents[path])}
                for path in sorted(contents)
            ],
        }
        archive = pack({MANIFEST: json.dumps(manifest, indent=1).encode(), **contents}, now)
        folder = target.absolute().parent
        if not folder.is_dir():
            raise RefusedWrite(f"cannot write {target}: no such folder")
        replace_file(write_temporary(folder, archive), target)
        change.record("bundle.export", [], {"path": target.name, "files": len(contents)})
    return {"files": len(contents), "bytes": len(archive), "bundle_id": _bundle_id(hashes)}


def _check_target(target: Path) -> None:
    """Refuse to replace what is no bundle, and to write where git or a trail keep their files.

    Raises:
        RefusedWrite: The target is such a file.
    """
    folder = target.absolute().parent.resolve()
    if {part.casefold() for part in folder.parts} & RECORD_FOLDERS:
        raise RefusedWrite(
            f"cannot write {target.name}: its folder is one of {', '.join(sorted(RECORD_FOLDERS))}",
            hint="name a file outside of them",
        )
    if os.path.lexists(target) and not _is_bundle(target):
        raise RefusedWrite(
            f"cannot write {target.name}: it exists and is not a bundle", hint="name a new file"
        )


def _is_bundle(path: Path) -> bool:
    with suppress(UnreadableFile):
        for name, blocks in members_of(path, []):
            if name == MANIFEST:
                return True
            deque(blocks, maxlen=0)
    return False


def check_bundle(path: Path, knowledge: KnowledgeBase | None = None) -> CheckedBundle:
    """Return what is in a bundle, and what is wrong with it; nothing is written.

    Args:
        path: The archive.
        knowledge: The knowledge base to import it to; None checks the bundle alone.

    Raises:
        UnreadableFile: It is no archive, has no manifest, or exceeds the limits.
    """
    issues: list[str] = []
    packed = unpack(path, issues)
    manifest = packed.pop(MANIFEST, None)
    expected = _manifest(None if manifest is None else manifest.content, issues)
    contents: dict[str, BundleMember] = {}
    for name, member in packed.items():
        if name not in expected:
            issues.append(f"{name}: not in the manifest")
        elif member.sha256 != expected[name]:
            issues.append(f"{name}: its hash is not that of the manifest")
        else:
            contents[name] = member
    issues += [f"{name}: missing" for name in expected if name not in packed]
    contents.pop(SETTINGS, None)  # the settings of another project are not taken over
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
) -> dict[str, Any]:
    """Import the files of a bundle, and return what became of them.

    Args:
        knowledge: The knowledge base.
        path: The archive.
        actor: Who does it.
        now: When.
        on_conflict: What becomes of a file that is there with another content. Captured bytes of
            sources, evidence and decisions are never overwritten: they are final.

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
        final = (Kind.DECISION.value, Kind.SOURCE.value, Kind.EVIDENCE.value)
        overwritten = tuple(
            name
            for name in checked.conflicting
            if on_conflict == "overwrite" and not name.startswith(final)
        )
        _write(change, path, checked, {*checked.new, *overwritten})
        skipped = tuple(name for name in checked.conflicting if name not in overwritten)
        details = {
            "imported": len(checked.new),
            "skipped": len(skipped),
            "overwritten": len(overwritten),
            "decided": _decisions(checked.new),
        }
        change.record("bundle.import", [path.name], details)
    return {
        "imported": len(checked.new),
        "skipped": len(skipped),
        "overwritten": len(overwritten),
        "written": [*checked.new, *overwritten],
        "skipped_conflicts": list(skipped),
        "on_conflict": on_conflict,
    }


def _contents(knowledge: KnowledgeBase, *, with_decisions: bool) -> Iterator[tuple[str, bytes]]:
    for kind in KINDS:
        if kind is Kind.DECISION and not with_decisions:
            continue
        for identifier in knowledge.ids(kind):
            paths = [knowledge.file_of(kind, identifier)]
            if kind is Kind.SOURCE:
                paths.append(knowledge.content_file(identifier))
            for path in paths:
                content = read_file(path, limit=MAX_SOURCE)
                if content is not None and not path.is_symlink():
                    yield path.relative_to(knowledge.path).as_posix(), content
    content = read_file(knowledge.path / SETTINGS, limit=MAX_OBJECT)
    if content is not None:
        yield SETTINGS, content


def _manifest(content: bytes | None, issues: list[str]) -> dict[str, str]:
    """Return the hashes of the files by their paths."""
    try:
        files: Any = parse_object(content or b"")["files"]
        return {str(entry["path"]): str(entry["sha256"]) for entry in files}
    except (MalformedJson, KeyError, TypeError):
        issues.append(f"{MANIFEST}: missing, or not of the expected form")
        return {}


def _object_issues(knowledge: KnowledgeBase, contents: Mapping[str, BundleMember]) -> Iterator[str]:
    objects: dict[tuple[Kind, str], KnowledgeObject] = {}
    for name, member in contents.items():
        kind, identifier = place(name) or (Kind.SOURCE, "")
        if member.content is None:
            if member.sha256 != identifier:
                yield f"{name}: its hash is not the id of the source"
            continue
        try:
            objects[kind, identifier] = knowledge.parse(kind, identifier, member.content)
        except InvalidObject as error:
            yield error.message

    def exists(kind: Kind, identifier: str) -> bool:
        return (kind, identifier) in objects or knowledge.exists(kind, identifier)

    for (kind, identifier), knowledge_object in objects.items():
        for missing in _dangling(knowledge_object, exists):
            yield f"{kind}/{identifier}: refers to {missing}, which is missing"
        if isinstance(knowledge_object, Claim) and not knowledge_object.evidence:
            yield f"{kind}/{identifier}: a claim needs at least one citation"


def _dangling(referrer: KnowledgeObject, exists: Any) -> list[str]:
    """Return what an object refers to and neither side has."""
    if isinstance(referrer, Evidence):
        return [] if exists(Kind.SOURCE, referrer.source_id) else [referrer.source_id]
    if isinstance(referrer, Claim):
        cited = [
            identifier
            for identifier in referrer.evidence
            if not exists(Kind.SOURCE, identifier) and not exists(Kind.EVIDENCE, identifier)
        ]
        linked = [*referrer.supersedes, *referrer.contradicts]
        linked += [referrer.superseded_by] if referrer.superseded_by else []
        return cited + [identifier for identifier in linked if not exists(Kind.CLAIM, identifier)]
    if isinstance(referrer, Page):
        return [identifier for identifier in referrer.claims if not exists(Kind.CLAIM, identifier)]
    return []


def _compare(
    knowledge: KnowledgeBase | None, contents: Mapping[str, BundleMember]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the paths that are new, conflicting and identical."""
    new: list[str] = []
    conflicting: list[str] = []
    identical: list[str] = []
    for name in sorted(contents):
        present = None if knowledge is None else _present_hash(knowledge, name)
        is_same = present == contents[name].sha256
        (new if present is None else identical if is_same else conflicting).append(name)
    return tuple(new), tuple(conflicting), tuple(identical)


def _present_hash(knowledge: KnowledgeBase, name: str) -> str | None:
    """Return the hash of the file that is there; empty for one that cannot be read."""
    try:
        content = read_file(knowledge.path / name, limit=MAX_SOURCE)
    except VibesError:
        return ""
    return None if content is None else hashlib.sha256(content).hexdigest()


def _write(change: Change, path: Path, checked: CheckedBundle, names: set[str]) -> None:
    """Write files of a bundle, whose captured bytes are read from the archive again.

    Raises:
        VibesError: The archive changed meanwhile, or a file cannot be written.
    """
    for name in sorted(names):
        kind, identifier = place(name) or (Kind.SOURCE, "")
        object_content = checked.contents[name].content
        if object_content is not None:
            change.write(kind, identifier, object_content)
    left = {name for name in names if name.endswith("/content")}
    if left:
        for name, blocks in members_of(path, []):
            if name in left:
                content = b"".join(blocks)
                identifier = name.split("/")[1]
                if hashlib.sha256(content).hexdigest() != identifier:
                    break
                change.write_content(identifier, content)
                left.remove(name)
    if left:
        raise UnreadableFile(f"{path.name} has changed since it was checked")


def _decisions(names: Iterable[str]) -> list[str]:
    """Return the proposals that come with their decisions, for the audit log."""
    folder = f"{Kind.DECISION}/"
    files = (name for name in names if name.startswith(folder))
    return [name.removeprefix(folder).removesuffix(".yaml") for name in files][:_MAX_EVENT_IDS]


def _bundle_id(hashes: Mapping[str, str]) -> str:
    joined = "".join(hashes[path] for path in sorted(hashes))
    return hashlib.sha256(joined.encode()).hexdigest()
