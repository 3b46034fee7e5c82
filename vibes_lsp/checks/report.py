"""Assemble the conformance report of `vibes check`: run all checks and count what they read.

`check_trail` checks a whole trail, `check_added` only what a branch adds to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.base_comparison import check_base, policy_at, read_audit_file
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.files import (
    check_config,
    check_git_setup,
    check_log,
    check_manifest,
    existing_files,
)
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.hidden_texts import check_hidden_texts
from vibes_lsp.checks.lineages import (
    all_facts,
    check_causes,
    check_commits,
    check_remap,
    joined_facts,
)
from vibes_lsp.checks.log_lines import has_log, lines_at
from vibes_lsp.checks.manifest_entries import (
    EntryTally,
    check_blobs,
    check_entry_tally,
    check_level,
    tally_entries,
)
from vibes_lsp.checks.paths import check_paths
from vibes_lsp.checks.private_keys import check_private_keys
from vibes_lsp.checks.records import (
    RecordChecks,
    RecordTally,
    check_delegations,
    check_risk,
    check_sessions,
    check_tally,
)
from vibes_lsp.errors import MalformedJson
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.hashing import ContextVariant, IdVariant
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import ContextType, EdgeType, RecordType
from vibes_lsp.store.audit_dir import MANIFEST_NAME
from vibes_lsp.store.config import LoadedConfig
from vibes_lsp.store.manifest import Manifest, parse_manifest
from vibes_lsp.trail.lineage_groups import LineageGroups
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

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
"""Checks whose errors fail the line "Schema compliance" of the report."""


@dataclass(frozen=True, slots=True)
class Report:
    """The conformance report of a trail.

    Attributes:
        project: The project's name in its policy, else the name of its folder.
        level: Its assurance level.
        files: The names of the audit files that exist.
        records: The number of records of each type; records with one id are one (R3).
        entries: The number of manifest entries of each type.
        context_hashes: The number of keys that match in each variant (R2).
        annotation_ids: The number of ids that match in each variant (R3).
        findings: All findings, the most severe first.
    """

    project: str
    level: str
    files: tuple[str, ...]
    records: dict[str, int]
    entries: dict[str, int]
    context_hashes: dict[str, int]
    annotation_ids: dict[str, int]
    findings: tuple[Finding, ...]

    def with_findings(self, more: Sequence[Finding]) -> Report:
        """Return the report with further findings."""
        findings = sorted((*self.findings, *more), key=lambda finding: finding.sort_key)
        return replace(self, findings=tuple(findings))

    @property
    def passed(self) -> bool:
        """Whether no finding is an error."""
        return not self.count(Severity.ERROR)

    @property
    def hashes_pass(self) -> bool:
        """Whether every key matches in some variant (guide: hash integrity)."""
        return not self.context_hashes[ContextVariant.MISMATCH]

    @property
    def schema_passes(self) -> bool:
        """Whether all files, records and entries have a valid format (guide: schema compliance)."""
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
            "result": pass_or_fail(self.passed),
            "project": self.project,
            "assuranceLevel": self.level,
            "records": dict(self.records),
            "entries": dict(self.entries),
            "contextHashes": dict(self.context_hashes),
            "annotationIds": dict(self.annotation_ids),
            "findings": [finding.as_json() for finding in self.findings],
        }


def pass_or_fail(passed: bool) -> str:  # noqa: FBT001
    """Return PASS or FAIL."""
    return "PASS" if passed else "FAIL"


def check_trail(context: CheckContext, base: str | None = None) -> Report:
    """Run all checks.

    Args:
        context: The trail to check.
        base: A revision whose records must all still exist (RFC 12.2).

    Raises:
        HistoryUnavailable: There is a base, and git cannot answer.
    """
    tally = _CheckedTrail(context)
    findings = list(tally.findings())
    if base is not None:
        findings.extend(check_base(context, base))
    counts, ids = tally.record_counts(), tally.records.id_counts()
    named: Sequence[LogLineKind] = (
        LogLineKind.LINE,
        LogLineKind.FUNCTION,
        LogLineKind.SESSION,
        LogLineKind.EDGE,
        LogLineKind.DELEGATION,
        LogLineKind.OTHER,
        LogLineKind.BROKEN,
    )
    return Report(
        project=context.config.config.project_name or context.directory.project.name,
        level=context.config.config.assurance_level.value,
        files=tuple(existing_files(context)),
        records={kind.name.lower(): counts[kind] for kind in named},
        entries=context.entry_counts,
        context_hashes={variant.value: tally.entries.hashes[variant] for variant in ContextVariant},
        annotation_ids={variant.value: ids[variant] for variant in IdVariant},
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
    )


class _CheckedTrail:
    """The checks of a whole trail, and what they count.

    Entries and records are checked some at a time, so that memory is bounded.
    """

    def __init__(self, context: CheckContext) -> None:
        self._context = context
        self._groups = LineageGroups(context.trail.log)
        self.entries = EntryTally()
        self.records = RecordTally()
        self.facts = joined_facts(context, self._groups)

    def findings(self) -> Iterator[Finding]:
        """Yield the findings of all checks."""
        context = self._context
        yield from check_config(context)
        yield from check_manifest(context)
        yield from check_log(context)
        yield from check_git_setup(context)
        yield from check_private_keys(context)
        self.entries = _tally_all_entries(context, list(context.trail.manifest))
        yield from check_entry_tally(context, self.entries)
        yield from check_blobs(context, self.entries.packed)
        yield from self._record_findings()
        yield from check_level(context, lambda: self.facts.imported == self.facts.count)
        yield from check_paths(context)
        yield from check_hidden_texts(context)
        yield from check_causes(context, self.facts)
        yield from check_sessions(context)
        yield from check_delegations(context)
        yield from check_commits(context, self.facts)

    def record_counts(self) -> Counter[LogLineKind]:
        """Return the number of records of each kind; those with one id are one (R3)."""
        count, rejected = self._context.trail.count, self.records.rejected_lines
        counts = Counter({kind: count(kind) for kind in LogLineKind})
        for line in rejected:
            counts[self._context.trail.log.kind(line)] -= 1
            counts[LogLineKind.BROKEN] += 1
        counts.subtract(self.records.repeated_records())
        return counts

    def _record_findings(self) -> Iterator[Finding]:
        context, groups, facts = self._context, self._groups, self.facts
        log = context.trail.log
        records = RecordChecks(context, groups, counts_repeated=True)
        self.records = records.tally
        pending, done, total = log.lines_of(*_RECORDS), 0, context.trail.count(*_RECORDS)
        while lines := list(islice(pending, _LINES_AT_ONCE)):
            caused = log.sources_among(lines, EdgeType.CAUSED_BY)
            for line, record in log.decode(lines):
                if isinstance(record, MalformedJson):
                    yield records.reject_line(line, record)
                    continue
                if record.is_annotation:
                    yield from check_remap(context, record, groups)
                    if not groups.is_joined(line):
                        facts.add_record(record, caused)
                # record types of later versions follow their own rules (RFC 12.2, R12)
                if record.type in _KNOWN or not record.type:
                    yield from records.check(record)
                    yield from check_risk(context, record)
                else:
                    records.count_repeated(record)
            yield from records.check_annotation_ends()
            done += len(lines)
            context.progress("records", done, total)
        yield from check_tally(context, records.tally)


_RECORDS = frozenset(LogLineKind) - {LogLineKind.BLANK, LogLineKind.BROKEN}
_LINES_AT_ONCE = 8_192
_ENTRIES_AT_ONCE = 512


def _tally_all_entries(context: CheckContext, keys: Sequence[str]) -> EntryTally:
    """Check some entries; the context then has the types of entries, if these are all."""
    tally = EntryTally()
    for start in range(0, len(keys), _ENTRIES_AT_ONCE):
        context.progress("entries", start, len(keys))
        tally_entries(context, keys[start : start + _ENTRIES_AT_ONCE], tally)
    if len(keys) == len(context.trail.manifest):
        context.entry_types = dict(zip(keys, tally.types, strict=True))
    return tally


_REQUIRED_BY_LEVEL = {
    catalogue.PROMPTS_ABSENT.id: ContextType.PROMPT,
    catalogue.REASONING_ABSENT.id: ContextType.REASONING,
}


def check_added(
    context: CheckContext, repository: Repository, base: str, lines: Collection[int]
) -> Iterator[Finding]:
    """Yield the errors of `check_trail` in what a branch adds and the base does not have.

    Args:
        context: The trail on disk.
        repository: The repository of the base.
        base: The base commit, a whole hash.
        lines: The added lines of the log.
    """
    directory = context.directory
    before = parse_manifest(read_audit_file(repository, directory, base, MANIFEST_NAME))
    added_keys = frozenset(
        key for key in context.trail.manifest if _is_new(key, context.trail.manifest, before)
    )
    base_problems = _base_problems(context, before, policy_at(repository, directory, base))
    if not has_log(repository, directory, base):
        base_problems |= {(catalogue.LOG_MISSING.id, None, "annotations.jsonl is missing")}
    had_annotations = any(line.strip() for line in lines_at(directory, repository, base))
    for finding in _added_findings(context, lines, added_keys):
        if (
            finding.severity != Severity.ERROR
            or (finding.check.id, finding.field, finding.message) in base_problems
        ):
            continue
        required = _REQUIRED_BY_LEVEL.get(finding.check.id)
        if (
            required is not None
            and had_annotations
            and not any(before.type_of(key) == required for key in before)
        ):
            continue
        yield finding


def _added_findings(
    context: CheckContext, lines: Collection[int], added_keys: Collection[str]
) -> Iterator[Finding]:
    yield from check_config(context)
    yield from check_manifest(context)
    yield from (
        finding for finding in check_log(context) if finding.line is None or finding.line in lines
    )
    yield from check_level(context, lambda: _are_all_imported(context))
    if added_keys:
        tally = _tally_all_entries(
            context, [key for key in context.trail.manifest if key in added_keys]
        )
        # of what is already public, only what a branch adds is its fault
        yield from (
            finding
            for finding in check_entry_tally(context, tally)
            if finding.check not in (catalogue.SECRET, catalogue.HOME_PATH)
        )
        yield from check_blobs(context, tally.packed)
    yield from _added_records(context, sorted(lines))


def _are_all_imported(context: CheckContext) -> bool:
    facts = all_facts(context)
    return facts.imported == facts.count


def _added_records(context: CheckContext, lines: Sequence[int]) -> Iterator[Finding]:
    """Yield findings about some records; few of them are repeated, so they count as they are."""
    log, groups = context.trail.log, LineageGroups(context.trail.log)
    records = RecordChecks(context, groups)
    readable = (line for line in lines if log.kind(line) in _RECORDS)
    while batch := list(islice(readable, _LINES_AT_ONCE)):
        for line, record in log.decode(batch):
            if isinstance(record, MalformedJson):
                log.undecodable[line] = record.reason
                continue
            yield from records.check(record)
            if record.is_annotation:
                yield from check_remap(context, record, groups)
        yield from records.check_annotation_ends()


def _is_new(key: str, now: Manifest, before: Manifest) -> bool:
    return key not in before or before.raw(key) != now.raw(key)


def _base_problems(
    context: CheckContext, before: Manifest, config: LoadedConfig
) -> frozenset[tuple[str, str | None, str]]:
    """Return check, field and message of each problem in the manifest and policy of the base."""
    trail = Trail(context.directory)
    trail.manifest = before
    base_context = CheckContext(trail, config, context.repository, context.now)
    findings = [*check_config(base_context), *check_manifest(base_context)]
    return frozenset((finding.check.id, finding.field, finding.message) for finding in findings)
