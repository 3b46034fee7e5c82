"""All checks over one trail, and the sum of what they found: the guide's seven lines, the counts, the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.base import check_base
from vibes_lsp.checks.entries import (
    HashCounts,
    check_blobs,
    check_entries,
    check_level,
    check_privacy,
)
from vibes_lsp.checks.files import (
    check_config,
    check_housekeeping,
    check_log,
    check_manifest,
    found_files,
)
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.records import (
    RecordChecks,
    ReferenceChecks,
    check_causes,
    check_commits,
    check_delegations,
    check_paths,
    check_remaps,
    check_risk,
    check_sessions,
)
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import MalformedJson
from vibes_lsp.index.columns import Kind
from vibes_lsp.index.project_files import foreign_paths
from vibes_lsp.model.hashing import ContextVariant, IdVariant
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import RecordType

_KNOWN = frozenset(RecordType)
_SCHEMA = {
    check.id
    for check in (
        catalogue.FILE_UNREADABLE,
        catalogue.CONFLICT_MARKER,
        catalogue.CONFIG_MISSING,
        catalogue.CONFIG_JSON,
        catalogue.CONFIG_FIELD,
        catalogue.MANIFEST_MISSING,
        catalogue.MANIFEST_JSON,
        catalogue.MANIFEST_FRAME,
        catalogue.MANIFEST_DUPLICATE,
        catalogue.LOG_MISSING,
        catalogue.LOG_LINE,
        catalogue.RECORD_FIELD,
        catalogue.TIMESTAMP,
        catalogue.ENTRY_FIELD,
        catalogue.REFERENCE_TYPE,
    )
}
"""Checks whose errors make "Schema compliance" fail."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a check of a trail came to.

    Attributes:
        project: The project's name as its policy gives it, else its folder's.
        level: Its assurance level.
        files: Which of the three files are there.
        records: Number of records of each type; records with one id are one (R3).
        entries: Number of manifest entries of each type.
        context_hashes: Number of keys that verify in each variant (R2).
        annotation_ids: Number of ids that verify in each variant (R3).
        findings: Everything found, the weightiest first.
    """

    project: str
    level: str
    files: tuple[str, ...]
    records: dict[str, int]
    entries: dict[str, int]
    context_hashes: dict[str, int]
    annotation_ids: dict[str, int]
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether no finding is an error."""
        return not self.count(Severity.ERROR)

    @property
    def hashes_pass(self) -> bool:
        """Whether every key is explained (guide: hash integrity)."""
        return not self.context_hashes[ContextVariant.MISMATCH]

    @property
    def schema_passes(self) -> bool:
        """Whether every file, record and entry has the form that the RFC gives it (guide: schema compliance)."""
        return not any(
            finding.check.id in _SCHEMA and finding.severity == Severity.ERROR
            for finding in self.findings
        )

    def count(self, severity: Severity) -> int:
        """Return the number of findings of one severity."""
        return sum(finding.severity == severity for finding in self.findings)

    def as_json(self) -> Members:
        """Return the report in the shape that `vibes check --json` and `vibes.check` share."""
        return {
            "result": word(self.passed),
            "project": self.project,
            "assuranceLevel": self.level,
            "records": dict(self.records),
            "entries": dict(self.entries),
            "contextHashes": dict(self.context_hashes),
            "annotationIds": dict(self.annotation_ids),
            "findings": [finding.as_json() for finding in self.findings],
        }


def word(passed: bool) -> str:  # noqa: FBT001  # the guide's word for a boolean
    """Return PASS or FAIL."""
    return "PASS" if passed else "FAIL"


def check_trail(subject: Subject, base: str | None = None) -> Report:
    """Run all checks.

    Args:
        subject: The trail and all that belongs to it.
        base: A revision whose records must all still be there (RFC 12.2).

    Raises:
        HistoryUnavailable: `base` was given and git cannot answer.
    """
    hashes, records = HashCounts(), RecordChecks(subject)
    findings = list(_findings(subject, hashes, records))
    if base is not None:
        findings.extend(check_base(subject, base))
    kinds, keys = subject.trail.log.columns.kinds, subject.trail.log.columns.keys
    counts = Counter(
        kind
        for kind, _ in {
            _identity(*each, records.refused)
            for each in enumerate(zip(kinds, keys, strict=True), 1)
        }
    )
    named: Sequence[Kind] = (
        Kind.LINE,
        Kind.FUNCTION,
        Kind.SESSION,
        Kind.EDGE,
        Kind.DELEGATION,
        Kind.OTHER,
        Kind.BROKEN,
    )
    return Report(
        project=subject.config.config.project_name or subject.directory.project.name,
        level=subject.config.config.assurance_level.value,
        files=tuple(found_files(subject)),
        records={kind.name.lower(): counts[kind] for kind in named},
        entries=subject.entry_counts,
        context_hashes={variant.value: hashes.counts[variant] for variant in ContextVariant},
        annotation_ids={variant.value: records.ids[variant] for variant in IdVariant},
        findings=tuple(sorted(findings, key=lambda finding: finding.order)),
    )


def _findings(subject: Subject, hashes: HashCounts, records: RecordChecks) -> Iterator[Finding]:
    yield from check_config(subject)
    yield from check_manifest(subject)
    yield from check_log(subject)
    yield from check_housekeeping(subject)
    yield from check_entries(subject, hashes)
    yield from check_level(subject)
    yield from check_blobs(subject)
    yield from check_privacy(subject)
    yield from _record_findings(subject, records)
    yield from check_paths(subject, foreign_paths(subject.trail.paths(), subject.directory.project))
    yield from check_causes(subject)
    yield from check_remaps(subject)
    yield from check_sessions(subject)
    yield from check_delegations(subject)
    yield from check_commits(subject)


def _identity(line: int, kind_and_key: tuple[int, int], refused: set[int]) -> tuple[int, int]:
    """What counts as one record: an id, but of what is none every line."""
    kind, key = kind_and_key
    return (Kind.BROKEN, -line) if line in refused else (kind, key or -line)


def _record_findings(subject: Subject, records: RecordChecks) -> Iterator[Finding]:
    log, references = subject.trail.log, ReferenceChecks(subject)
    kinds = log.columns.kinds
    for line, record in log.decoded(
        line for line, kind in enumerate(kinds, 1) if kind not in (Kind.BLANK, Kind.BROKEN)
    ):
        if line % 1000 == 0:
            subject.step("records", line, len(kinds))
        if isinstance(record, MalformedJson):
            yield records.refuse(line, record)
        elif (
            record.type in _KNOWN or not record.type
        ):  # those of later versions follow rules of their own (RFC 12.2, R12)
            yield from records.see(record)
            yield from references.see(record)
            yield from check_risk(subject, record)
    yield from records.finish()
    yield from references.finish()
