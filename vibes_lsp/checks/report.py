"""All checks over one trail, and the sum of what they found: the guide's seven lines, the counts, the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.base_comparison import check_base, read_audit_file
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.files import (
    check_config,
    check_git_setup,
    check_log,
    check_manifest,
    existing_files,
)
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.manifest_entries import (
    HashCounts,
    check_blobs,
    check_entries,
    check_level,
    check_privacy,
)
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
from vibes_lsp.errors import MalformedJson
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.log_columns import LogLineKind
from vibes_lsp.index.project_files import foreign_paths
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.hashing import ContextVariant, IdVariant
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import ContextType, RecordType
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME
from vibes_lsp.store.config import LoadedConfig, parse_config
from vibes_lsp.store.manifest import Manifest, parse_manifest

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
            "result": pass_or_fail(self.passed),
            "project": self.project,
            "assuranceLevel": self.level,
            "records": dict(self.records),
            "entries": dict(self.entries),
            "contextHashes": dict(self.context_hashes),
            "annotationIds": dict(self.annotation_ids),
            "findings": [finding.as_json() for finding in self.findings],
        }


def pass_or_fail(passed: bool) -> str:  # noqa: FBT001  # the guide's pass_or_fail for a boolean
    """Return PASS or FAIL."""
    return "PASS" if passed else "FAIL"


def check_trail(context: CheckContext, base: str | None = None) -> Report:
    """Run all checks.

    Args:
        context: The trail and all that belongs to it.
        base: A revision whose records must all still be there (RFC 12.2).

    Raises:
        HistoryUnavailable: `base` was given and git cannot answer.
    """
    hashes, records = HashCounts(), RecordChecks(context)
    findings = list(_findings(context, hashes, records))
    if base is not None:
        findings.extend(check_base(context, base))
    kinds, keys = context.trail.log.columns.kinds, context.trail.log.columns.keys
    counts = Counter(
        kind
        for kind, _ in {
            _identity(*each, records.rejected_lines)
            for each in enumerate(zip(kinds, keys, strict=True), 1)
        }
    )
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
        context_hashes={variant.value: hashes.counts[variant] for variant in ContextVariant},
        annotation_ids={variant.value: records.ids[variant] for variant in IdVariant},
        findings=tuple(sorted(findings, key=lambda finding: finding.sort_key)),
    )


def _findings(
    context: CheckContext, hashes: HashCounts, records: RecordChecks
) -> Iterator[Finding]:
    yield from check_config(context)
    yield from check_manifest(context)
    yield from check_log(context)
    yield from check_git_setup(context)
    yield from check_entries(context, hashes)
    yield from check_level(context)
    yield from check_blobs(context)
    yield from check_privacy(context)
    yield from _record_findings(context, records)
    yield from check_paths(
        context, foreign_paths(context.trail.annotated_paths(), context.directory.project)
    )
    yield from check_causes(context)
    yield from check_remaps(context)
    yield from check_sessions(context)
    yield from check_delegations(context)
    yield from check_commits(context)


def _identity(line: int, kind_and_key: tuple[int, int], refused: set[int]) -> tuple[int, int]:
    """What counts as one record: an id, but of what is none every line."""
    kind, key = kind_and_key
    return (LogLineKind.BROKEN, -line) if line in refused else (kind, key or -line)


def _record_findings(context: CheckContext, records: RecordChecks) -> Iterator[Finding]:
    log, references = context.trail.log, ReferenceChecks(context)
    kinds = log.columns.kinds
    for line, record in log.decode(
        line
        for line, kind in enumerate(kinds, 1)
        if kind not in (LogLineKind.BLANK, LogLineKind.BROKEN)
    ):
        if line % 1000 == 0:
            context.progress("records", line, len(kinds))
        if isinstance(record, MalformedJson):
            yield records.reject_line(line, record)
        elif (
            record.type in _KNOWN or not record.type
        ):  # those of later versions follow rules of their own (RFC 12.2, R12)
            yield from records.check(record)
            yield from references.check(record)
            yield from check_risk(context, record)
    yield from records.finish()
    yield from references.finish()


_WANTED = {
    catalogue.PROMPTS_ABSENT.id: ContextType.PROMPT,
    catalogue.REASONING_ABSENT.id: ContextType.REASONING,
}


def check_added(
    context: CheckContext, repository: Repository, base: str, lines: Collection[int]
) -> Iterator[Finding]:
    """Errors about what is new since a base.

    Args:
        context: The trail as it is.
        repository: Where the base is.
        base: A commit, a whole hash.
        lines: The lines of the log that are new.
    """
    held = {
        name: read_audit_file(repository, context.directory, base, name)
        for name in (CONFIG_NAME, LOG_NAME, MANIFEST_NAME)
    }
    before = parse_manifest(held[MANIFEST_NAME])
    fresh = frozenset(
        key for key in context.trail.manifest if _is_new(key, context.trail.manifest, before)
    )
    known = _base_problems(
        context,
        before,
        LoadedConfig() if held[CONFIG_NAME] is None else parse_config(held[CONFIG_NAME]),
    )
    if held[LOG_NAME] is None:
        known |= {(catalogue.LOG_MISSING.id, None, "annotations.jsonl is missing")}
    had_annotations = bool((held[LOG_NAME] or b"").strip())
    for finding in _added_findings(context, lines, fresh):
        if (
            finding.severity != Severity.ERROR
            or (finding.check.id, finding.field, finding.message) in known
        ):
            continue
        wanted = _WANTED.get(finding.check.id)
        if (
            wanted is not None
            and had_annotations
            and not any(before.type_of(key) == wanted for key in before)
        ):
            continue
        yield finding


def _added_findings(
    context: CheckContext, lines: Collection[int], fresh: Collection[str]
) -> Iterator[Finding]:
    yield from check_config(context)
    yield from check_manifest(context)
    yield from (
        finding for finding in check_log(context) if finding.line is None or finding.line in lines
    )
    yield from check_level(context)
    if fresh:
        yield from check_entries(context, HashCounts(), fresh)
        yield from check_blobs(context, fresh)
    kinds = context.trail.log.columns.kinds
    held = sorted(
        line
        for line in lines
        if line <= len(kinds) and kinds[line - 1] not in {LogLineKind.BLANK, LogLineKind.BROKEN}
    )
    if not held:
        return
    records, references = RecordChecks(context), ReferenceChecks(context)
    has_remaps = False
    for line, record in context.trail.log.decode(held):
        if isinstance(record, MalformedJson):
            context.trail.log.undecodable[line] = record.reason
        else:
            yield from records.check(record)
            yield from references.check(record)
            has_remaps = has_remaps or (record.text("action") or "").startswith("rebase_")
    if has_remaps:  # it decodes all annotations
        yield from (finding for finding in check_remaps(context) if finding.line in lines)


def _is_new(key: str, now: Manifest, before: Manifest) -> bool:
    return key not in before or before.raw(key) != now.raw(key)


def _base_problems(
    context: CheckContext, before: Manifest, config: LoadedConfig
) -> frozenset[tuple[str, str | None, str]]:
    """Return what was wrong with the manifest and the policy of the base as files."""
    trail = Trail(context.directory)
    trail.manifest = before
    then = CheckContext(trail, config, context.repository, context.now)
    found = [*check_config(then), *check_manifest(then)]
    return frozenset((each.check.id, each.field, each.message) for each in found)
