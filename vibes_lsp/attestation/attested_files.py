"""What an attestation still covers of each file of a trail (R24).

A log grows by appending, so the attested bytes stay its beginning; a merge may put other records
between them; a formatter changes bytes and no value. Each has its own status, with what proves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from vibes_lsp.attestation.file_digest import (
    FileDigest,
    digest_with_prefix,
    line_ends,
)
from vibes_lsp.attestation.merkle import attested_tree, entry_tree
from vibes_lsp.attestation.reformatting import frame_digest, is_reformatted, is_reformatted_log
from vibes_lsp.attestation.statement import SUBJECT_NAMES, FileFacts, Statement, Subject
from vibes_lsp.attestation.versions_in_git import VersionsInGit
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import parse_object, parse_raw_members
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.manifest import ManifestForm, conflicting_keys, parse_manifest

_MANIFEST_ENDING: Final = b"}}\n"
"""The end of a manifest as we write it; new entries come before it."""

_ENCRYPTED: Final = b"\0GITCRYPT\0"
"""How a file starts that git-crypt has encrypted."""

_ENTRY_LINE: Final = re.compile(rb',?"[0-9a-f]{64}":(\{.*\})')

_MAX_SEARCHED: Final = 64 << 20
"""Largest log, in bytes, in which attested records are searched."""


class FileStatus(StrEnum):
    """How a file relates to the one that was attested.

    Attributes:
        EQUAL: Byte by byte the same.
        PREFIX: Everything attested is its beginning; records or entries were added at the end.
        SUBSET: Everything attested is still in it, with others in between, as after a merge.
        REFORMATTED: The same JSON in another format.
        CHANGED: Something attested is not in it as it was, or that cannot be excluded.
        MISSING: There is no such file, or the attestation does not name it.
        UNCHECKED: It cannot be read, or it is none of the three files.
    """

    EQUAL = "equal"
    PREFIX = "prefix"
    SUBSET = "subset"
    REFORMATTED = "reformatted"
    CHANGED = "changed"
    MISSING = "missing"
    UNCHECKED = "unchecked"


COVERED: Final = frozenset(
    {FileStatus.EQUAL, FileStatus.PREFIX, FileStatus.SUBSET, FileStatus.REFORMATTED}
)
"""The statuses in which everything that was attested is still there."""


@dataclass(frozen=True, slots=True)
class AttestedFile:
    """What an attestation covers of one file.

    Attributes:
        name: The subject's name, such as `.ai-audit/annotations.jsonl`.
        status: How it relates to the attested file.
        reason: The same in words, as a sentence without a full stop.
        attested_sha256: The digest that was attested; None if the attestation does not name it.
        present_sha256: The digest of the present file, if it can be read.
        attested: The number of records or entries that are covered, if known.
        added: The number of those that were added since, if known.
        end: Where what was attested ends, in bytes, if it is the beginning of the file.
    """

    name: str
    status: FileStatus
    reason: str
    attested_sha256: str | None
    present_sha256: str | None = None
    attested: int | None = None
    added: int | None = None
    end: int | None = None

    @property
    def is_covered(self) -> bool:
        """Whether everything that was attested is still there."""
        return self.status in COVERED

    def as_json(self) -> Members:
        """Return the object of `vibes verify --json`."""
        return {
            "name": self.name,
            "status": self.status.value,
            "reason": self.reason,
            "attestedSha256": self.attested_sha256,
            "presentSha256": self.present_sha256,
            "attested": self.attested,
            "added": self.added,
        }


def check_files(
    statement: Statement, directory: AuditDir, versions: VersionsInGit | None = None
) -> tuple[AttestedFile, ...]:
    """Compare all files of a trail with a statement; its subjects first, in their order.

    Args:
        statement: What was attested.
        directory: The trail.
        versions: Where to look for attested bytes that are not there any more.
    """
    named = {subject.name for subject in statement.subjects}
    return (
        *(_check(statement, subject, directory, versions) for subject in statement.subjects),
        *(
            AttestedFile(name, FileStatus.MISSING, "the attestation does not name it", None)
            for name in SUBJECT_NAMES
            if name not in named
        ),
    )


def _check(
    statement: Statement, subject: Subject, directory: AuditDir, versions: VersionsInGit | None
) -> AttestedFile:
    name = SUBJECT_NAMES.get(subject.name)
    if name is None:
        reason = "it is none of the files that an attestation of VIBES is about"
        return AttestedFile(subject.name, FileStatus.UNCHECKED, reason, subject.sha256)
    comparison = _Comparison(subject, name, statement.facts(subject), directory, versions)
    try:
        return comparison.result()
    except UnreadableFile as error:
        status, reason = FileStatus.UNCHECKED, error.message
        if not (directory.path / name).exists():
            if versions is not None and versions.is_unpublished(name):
                reason = "it is not published: git ignores it"
            else:
                status = FileStatus.MISSING
        return AttestedFile(subject.name, status, reason, subject.sha256)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One file beside its attested digest."""

    subject: Subject
    name: str
    facts: FileFacts
    directory: AuditDir
    versions: VersionsInGit | None

    def result(self) -> AttestedFile:
        path = self.directory.path / self.name
        match self.name:
            case name if name == LOG_NAME:
                digest = digest_with_prefix(path, self.facts.size)
            case name if name == MANIFEST_NAME:
                digest = digest_with_prefix(path, self.facts.size, _MANIFEST_ENDING)
            case _:
                digest = digest_with_prefix(path, None)
        if digest.sha256 == self.subject.sha256:
            return self._attested_file(FileStatus.EQUAL, "equal", digest, self.facts.count, 0)
        if digest.prefix_sha256 == self.subject.sha256:
            return self._prefix(digest, digest.added, self.facts.count)
        if self.name == LOG_NAME and self.facts.size is None:
            for number, (end, sha256) in enumerate(line_ends(path), 1):
                if sha256 == self.subject.sha256:
                    prefix_digest = digest_with_prefix(path, end)
                    return self._prefix(prefix_digest, prefix_digest.added, number)
        return self._changed(digest)

    def _prefix(self, digest: FileDigest, added: int, count: int | None) -> AttestedFile:
        if self.name == MANIFEST_NAME:
            added -= 1  # the line that closes the manifest
            content = read_file(self.directory.manifest) or b""
            if conflicting_keys(content):  # the second value would replace the attested one
                return self._attested_file(
                    FileStatus.CHANGED,
                    "changed: an entry was added under a key that it has",
                    digest,
                )
            tail = content[(self.facts.size or 0) - len(_MANIFEST_ENDING) :]
            if (
                not _are_entry_lines(tail)
                or parse_manifest(content).form is not ManifestForm.OBJECT
            ):
                return self._changed(digest)
        elif not digest.at_line_end:
            return self._attested_file(
                FileStatus.CHANGED, "changed: the last attested record was continued", digest
            )
        what = self._parts_name
        known = f"the first {count:,} {what}" if count is not None else f"its first {what}"
        reason = f"valid for {known}; {added:,} added since"
        file = self._attested_file(FileStatus.PREFIX, reason, digest, count, added)
        return replace(file, end=digest.prefix_size)

    def _changed(self, digest: FileDigest) -> AttestedFile:
        """Return the result for a file that neither is the attested one nor begins with it."""
        changed = self._attested_file(FileStatus.CHANGED, "changed since it was attested", digest)
        if self.name == LOG_NAME and digest.size > _MAX_SEARCHED:
            reason = "changed since it was attested; too large to search for what is left of it"
            return self._attested_file(FileStatus.CHANGED, reason, digest)
        content = read_file(self.directory.path / self.name) or b""
        if content.startswith(_ENCRYPTED):
            reason = "it is encrypted: unlock it with `git-crypt unlock`"
            return self._attested_file(FileStatus.UNCHECKED, reason, digest)
        if self._is_reformatted(content):
            reason = "reformatted: another format, the same values as attested"
            return self._attested_file(FileStatus.REFORMATTED, reason, digest, self.facts.count, 0)
        if self.name == CONFIG_NAME:
            return changed
        if self.name == MANIFEST_NAME:
            grown = self._grown_tree(content)
            if grown is not None:
                return self._subset(digest, *grown)
        attested = (
            self.versions.content(self.name, self.subject.sha256, self.facts.size)
            if self.versions is not None
            else None
        )
        return changed if attested is None else self._beside_attested(digest, content, attested)

    def _beside_attested(self, digest: FileDigest, content: bytes, attested: bytes) -> AttestedFile:
        """Return the result for a file whose attested bytes are known."""
        if self.name == MANIFEST_NAME and frame_digest(content) != frame_digest(attested):
            return self._attested_file(
                FileStatus.CHANGED, "changed: other members than the entries differ", digest
            )
        before, now = _parts(self.name, attested), _parts(self.name, content)
        known, present = dict.fromkeys(before), dict.fromkeys(now)
        lost = len(known.keys() - present.keys())
        if lost:
            problem = f"{lost:,} of {len(known):,} attested {self._parts_name} are not in it"
        elif self.name == LOG_NAME and not _is_in_order(known, now):
            problem = "attested records are in another order"
        elif self.name == LOG_NAME and _first_by_id(known).items() - _first_by_id(present).items():
            problem = "a record with the id of an attested one was added before it"
        else:
            return self._subset(digest, len(known), len(present) - len(known))
        return self._attested_file(FileStatus.CHANGED, f"changed: {problem}", digest)

    def _grown_tree(self, content: bytes) -> tuple[int, int] | None:
        """Return the numbers of attested and of added entries, if the signed root proves them."""
        root, size = self.facts.merkle_root, self.facts.count
        frame = self.facts.frame_sha256
        if root is None or size is None or frame is None or frame_digest(content) != frame:
            return None
        manifest = parse_manifest(content)
        if manifest.form is not ManifestForm.OBJECT:
            return None
        try:
            tree = entry_tree(manifest)
        except MalformedJson:
            return None
        attested = attested_tree(manifest, tree, root, size)
        return None if attested is None else (size, tree.size - size)

    def _subset(self, digest: FileDigest, attested: int, added: int) -> AttestedFile:
        reason = f"all {attested:,} attested {self._parts_name} are in it; {added:,} added since"
        return self._attested_file(FileStatus.SUBSET, reason, digest, attested, added)

    @property
    def _parts_name(self) -> str:
        return "entries" if self.name == MANIFEST_NAME else "records"

    def _is_reformatted(self, content: bytes) -> bool:
        if self.name == LOG_NAME:
            return is_reformatted_log(content, self.subject.sha256)
        return is_reformatted(content, self.subject.sha256, self.facts.canonical_sha256)

    def _attested_file(
        self,
        status: FileStatus,
        reason: str,
        digest: FileDigest,
        attested: int | None = None,
        added: int | None = None,
    ) -> AttestedFile:
        return AttestedFile(
            self.subject.name,
            status,
            reason,
            self.subject.sha256,
            digest.sha256,
            attested,
            added,
        )


def _are_entry_lines(tail: bytes) -> bool:
    """Whether the end of a manifest has entries only, one on each line, and then closes it."""
    if not tail.endswith(b"\n" + _MANIFEST_ENDING):
        return False
    for line in tail.removesuffix(b"\n" + _MANIFEST_ENDING).split(b"\n"):
        match = _ENTRY_LINE.fullmatch(line)
        if match is None or parse_raw_members(match[1]) is None:
            return False
    return True


def _parts(name: str, content: bytes) -> list[bytes]:
    """Return the records or entries of a file, each as its bytes."""
    return list(_records(content) if name == LOG_NAME else _entries(content))


def _records(content: bytes) -> Iterator[bytes]:
    return (record for line in content.split(b"\n") if (record := line.strip()))


def _is_in_order(parts: Iterable[bytes], all_parts: Iterable[bytes]) -> bool:
    """Whether some parts occur among others in the same order."""
    remaining = iter(all_parts)
    return all(part in remaining for part in parts)


def _first_by_id(records: Iterable[bytes]) -> dict[str, bytes]:
    """Return the records that count: of several with one id, the first (R3)."""
    first: dict[str, bytes] = {}
    for raw_record in records:
        with suppress(MalformedJson):
            record = parse_object(raw_record)
            first.setdefault(text(record, "annotation_id") or annotation_id(record), raw_record)
    return first


def _entries(content: bytes) -> Iterator[bytes]:
    manifest = parse_manifest(content)
    if manifest.form is not ManifestForm.BROKEN:
        for key in manifest:
            yield key.encode("utf-8", "replace") + b":" + manifest.raw(key).strip()
