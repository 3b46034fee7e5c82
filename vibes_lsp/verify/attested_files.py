"""What an attestation still covers of each file of a trail (R24).

A log grows by appending, so the attested bytes stay its beginning; a merge may put other records
between them; a formatter changes bytes and no value. Each has its own status, with what proves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.files import read_file
from vibes_lsp.store.manifest import ManifestForm, conflicting_keys, parse_manifest
from vibes_lsp.verify.file_digest import (
    FileDigest,
    digest_with_prefix,
    line_ends,
    size_of_lines,
)
from vibes_lsp.verify.reformatting import is_reformatted, is_reformatted_log
from vibes_lsp.verify.statement import SUBJECT_NAMES, FileFacts, Statement, Subject

_MANIFEST_ENDING: Final = b"}}\n"
"""The end of a manifest as we write it; new entries come before it."""

_MAX_SEARCHED: Final = 64 << 20
"""Largest log, in bytes, in which the attested beginning is searched for line by line."""


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
    """

    name: str
    status: FileStatus
    reason: str
    attested_sha256: str | None
    present_sha256: str | None = None
    attested: int | None = None
    added: int | None = None

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


class AttestedVersions(Protocol):
    """Finds the attested bytes of a file, as git's history has them."""

    def content(self, name: str, sha256: str, size: int | None) -> bytes | None:
        """Return the version of a file with this digest; None if there is none.

        Args:
            name: The file's name in the audit directory.
            sha256: The attested digest.
            size: Its length, if known.
        """
        ...


def check_files(
    statement: Statement, directory: AuditDir, versions: AttestedVersions | None = None
) -> tuple[AttestedFile, ...]:
    """Compare all files of a trail with a statement; its subjects first, in their order.

    Args:
        statement: What was attested.
        directory: The trail.
        versions: Where to look for attested bytes that are not there any more.
    """
    named = {each.name for each in statement.subjects}
    return (
        *(_check(statement, each, directory, versions) for each in statement.subjects),
        *(
            AttestedFile(name, FileStatus.MISSING, "the attestation does not name it", None)
            for name in SUBJECT_NAMES
            if name not in named
        ),
    )


def _check(
    statement: Statement, subject: Subject, directory: AuditDir, versions: AttestedVersions | None
) -> AttestedFile:
    name = SUBJECT_NAMES.get(subject.name)
    if name is None:
        reason = "it is none of the files that an attestation of VIBES is about"
        return AttestedFile(subject.name, FileStatus.UNCHECKED, reason, subject.sha256)
    comparison = _Comparison(subject, name, statement.facts(subject), directory, versions)
    try:
        return comparison.result()
    except UnreadableFile as error:
        status = FileStatus.UNCHECKED if (directory.path / name).exists() else FileStatus.MISSING
        return AttestedFile(subject.name, status, error.message, subject.sha256)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One file beside its attested digest."""

    subject: Subject
    name: str
    facts: FileFacts
    directory: AuditDir
    versions: AttestedVersions | None

    def result(self) -> AttestedFile:
        path = self.directory.path / self.name
        match self.name:
            case n if n == LOG_NAME:
                size = self.facts.size
                if size is None and self.facts.count is not None:
                    size = size_of_lines(path, self.facts.count)
                digest = digest_with_prefix(path, size)
            case n if n == MANIFEST_NAME:
                digest = digest_with_prefix(path, self.facts.size, _MANIFEST_ENDING)
            case _:
                digest = digest_with_prefix(path, None)
        if digest.sha256 == self.subject.sha256:
            return self._found(FileStatus.EQUAL, "equal", digest, self.facts.count, 0)
        if digest.prefix_sha256 == self.subject.sha256:
            return self._prefix(digest, digest.added, self.facts.count)
        if self.name == LOG_NAME and digest.size <= _MAX_SEARCHED:
            for number, (end, sha256) in enumerate(line_ends(path), 1):
                if sha256 == self.subject.sha256:
                    found = digest_with_prefix(path, end)
                    return self._prefix(found, found.added, number)
        return self._changed(digest)

    def _prefix(self, digest: FileDigest, added: int, count: int | None) -> AttestedFile:
        if self.name == MANIFEST_NAME:
            what = "entries"
            added -= 1  # the line that closes the manifest
            # A second value for a key would replace the attested one when it is read.
            if conflicting_keys(read_file(self.directory.manifest) or b""):
                return self._found(
                    FileStatus.CHANGED, "changed: an entry was added with a key that it has", digest
                )
        else:
            what = "records"
            if not digest.at_line_end:
                return self._found(
                    FileStatus.CHANGED, "the last attested record was continued", digest
                )
        known = f"the first {count:,} {what}" if count is not None else f"its first {what}"
        reason = f"valid for {known}; {added:,} added since"
        return self._found(FileStatus.PREFIX, reason, digest, count, added)

    def _changed(self, digest: FileDigest) -> AttestedFile:
        """Return the result for a file that neither is the attested one nor begins with it."""
        data = None
        if digest.size <= _MAX_SEARCHED or self.name != LOG_NAME:
            data = read_file(self.directory.path / self.name)
        if data is not None and self._is_reformatted(data):
            reason = "reformatted: another format, the same values as attested"
            return self._found(FileStatus.REFORMATTED, reason, digest, self.facts.count, 0)
        attested = (
            self.versions.content(self.name, self.subject.sha256, self.facts.size)
            if self.versions is not None
            else None
        )
        if data is None or attested is None or self.name not in {LOG_NAME, MANIFEST_NAME}:
            return self._found(FileStatus.CHANGED, "changed since it was attested", digest)
        before, now = _parts(self.name, attested), _parts(self.name, data)
        what = "records" if self.name == LOG_NAME else "entries"
        lost = sum(1 for key in before if key not in now)
        if lost:
            reason = f"changed: {lost:,} of {len(before):,} attested {what} are not in it any more"
            return self._found(FileStatus.CHANGED, reason, digest)
        added = len(now) - len(before)
        reason = f"valid for {len(before):,} {what} among others; {added:,} added since"
        return self._found(FileStatus.SUBSET, reason, digest, len(before), added)

    def _is_reformatted(self, data: bytes) -> bool:
        if self.name == LOG_NAME:
            return is_reformatted_log(data, self.subject.sha256)
        return is_reformatted(data, self.subject.sha256, self.facts.canonical_sha256)

    def _found(
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


def _parts(name: str, data: bytes) -> frozenset[bytes]:
    """Return the records or entries of a file, each as its bytes."""
    return frozenset(_records(data) if name == LOG_NAME else _entries(data))


def _records(data: bytes) -> Iterator[bytes]:
    return (line for each in data.split(b"\n") if (line := each.strip()))


def _entries(data: bytes) -> Iterator[bytes]:
    manifest = parse_manifest(data)
    if manifest.form is not ManifestForm.BROKEN:
        for key in manifest:
            yield key.encode("utf-8", "replace") + b":" + manifest.raw(key).strip()
