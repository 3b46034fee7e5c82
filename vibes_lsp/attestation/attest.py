"""Check a trail and state what is true of it now: the content of an attestation (RFC 11.1).

Every number is computed from the files whose digests are signed. Nothing is signed or written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from vibes_lsp import __version__
from vibes_lsp.attestation.file_digest import FileDigest, digest_file
from vibes_lsp.attestation.merkle import ALGORITHM, entry_tree
from vibes_lsp.attestation.reformatting import canonical_digest, frame_digest
from vibes_lsp.attestation.statement import CLOCK_TOLERANCE, SUBJECT_NAMES, Statement, Subject
from vibes_lsp.checks.context import CheckContext, Progress, open_context
from vibes_lsp.checks.finding import Severity, pluralize
from vibes_lsp.checks.report import Report, check_trail, pass_or_fail
from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.model.members import Members, mapping
from vibes_lsp.model.timestamps import format_timestamp, parse_timestamp
from vibes_lsp.model.vocabulary import NO_MODEL, ContextType
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file, regular_file_stamp
from vibes_lsp.trail.rows import LogLineKind

_LAST_RECORDS: Final = 1000


@dataclass(frozen=True, slots=True)
class CheckedTrail:
    """A trail that was checked, with the statement about it.

    Attributes:
        context: What the checks read.
        report: The result of `vibes check`.
        statement: What can be signed.
    """

    context: CheckContext
    report: Report
    statement: Statement


def check_and_state(
    directory: AuditDir, now: datetime, progress: Progress | None = None, *, signs: bool = True
) -> CheckedTrail:
    """Check a trail, and state what was found about exactly these files.

    Args:
        directory: The trail.
        now: The current time, which becomes part of the statement.
        progress: Called as the work proceeds.
        signs: Whether the statement is to be signed, so that no entry may wait in the journal.

    Raises:
        RefusedWrite: Entries wait in the journal, or a file changed during the check: the result
            would not be about the digests.
        UnreadableFile: One of the three files is missing or cannot be read.
    """
    paths = [directory.path / name for name in SUBJECT_NAMES.values()]
    before = [regular_file_stamp(path) for path in paths]
    missing = [path.name for path, stamp in zip(paths, before, strict=True) if stamp is None]
    if missing:
        raise UnreadableFile(
            f"cannot attest without {', '.join(missing)}", hint="run `vibes check`"
        )
    context = open_context(directory, now, progress, waiting=False)
    waiting = len(context.trail.manifest.pending)
    if signs and waiting:
        raise RefusedWrite(
            f"{pluralize(waiting, 'entry waits', 'entries wait')} in the journal",
            hint="another program is writing; run it again",
        )
    report = check_trail(context)
    digests = {path.name: digest_file(path) for path in paths}
    statement = _statement(context, report, digests)
    if [regular_file_stamp(path) for path in paths] != before:
        raise RefusedWrite(
            "the trail changed while it was checked", hint="nothing was signed; run it again"
        )
    return CheckedTrail(context, report, statement)


def differing_claims(
    statement: Statement, trail: CheckedTrail
) -> Iterator[tuple[str, object, object]]:
    """Yield the claims of another person's statement that a check does not confirm.

    Facts of a file, such as its Merkle root, later decide what counts as covered. A false one would
    let another file pass as signed. What a statement leaves out claims nothing.

    Args:
        statement: The other person's statement; untrusted.
        trail: The trail with the same files.

    Returns:
        The name of each claim, what the statement says, and what was found.
    """
    checked = trail.statement
    for subject in checked.subjects:
        stated, actual = asdict(statement.facts(subject)), asdict(checked.facts(subject))
        for name, value in stated.items():
            if value is not None and value != actual[name]:
                yield f"{name} of {subject.name}", value, actual[name]
    for name in ("project", "assurance_level", "validation_result", "newest_record"):
        value = getattr(statement, name)
        if value is not None and value != getattr(checked, name):
            yield name, value, getattr(checked, name)
    stats, counted = (mapping(which.predicate, "stats") for which in (statement, checked))
    for name, value in stats.items():
        # where another tool states no records, this is their number, which was compared
        is_count = name == "total_annotations" and "annotations" not in statement.predicate
        if name in counted and value != counted[name] and not is_count:
            yield name, value, counted[name]
    if statement.commit is not None and not _is_in_history(statement.commit, trail.context):
        yield "commit", statement.commit, "HEAD or a commit before it"
    now = checked.attested_at
    at = statement.attested_at
    if at is not None and now is not None and at > now + CLOCK_TOLERANCE:
        yield "attested_at", format_timestamp(at), f"no later than {format_timestamp(now)}"


def _is_in_history(commit: str, context: CheckContext) -> bool:
    """Whether HEAD is a commit, given by its whole hash, or comes after it."""
    repository = context.repository
    known = None if repository is None else repository.objects.commit(commit)
    return (
        repository is not None
        and known is not None
        and known.id == commit
        and repository.is_ancestor(commit)
    )


def _statement(context: CheckContext, report: Report, digests: dict[str, FileDigest]) -> Statement:
    directory = context.directory
    head = context.repository.head() if context.repository is not None else None
    manifest = context.trail.manifest
    project: Members = {"name": report.project, "assurance_level": report.level}
    return Statement(
        tuple(Subject(subject, digests[name].sha256) for subject, name in SUBJECT_NAMES.items()),
        {
            "attested_at": format_timestamp(context.now),
            "validation": _validation(report),
            "project": project if head is None else {**project, "commit": head},
            "manifest": {
                "bytes": digests[directory.manifest.name].size,
                "entries": len(manifest.stored),
                "types": _numbers(report.entries),
                "canonical_sha256": canonical_digest(manifest.data),
                "frame_sha256": frame_digest(manifest.data),
                "merkle": _merkle(context),
            },
            "annotations": {
                "bytes": digests[directory.log.name].size,
                "records": context.trail.count(*set(LogLineKind) - {LogLineKind.BLANK}),
                "types": _numbers(report.records),
                "newest_record": _newest_record(context),
            },
            "config": {
                "bytes": digests[directory.config.name].size,
                "canonical_sha256": canonical_digest(read_file(directory.config) or b""),
            },
            "stats": _stats(context, report),
        },
    )


def _newest_record(context: CheckContext) -> str | None:
    """Return the latest time among the last records; the log is in order but for merges."""
    last = context.trail.line_count
    records = context.trail.log.records(range(max(1, last - _LAST_RECORDS), last + 1))
    times = [parse_timestamp(record.text("timestamp") or "") for record in records]
    newest = max((moment for moment in times if moment is not None), default=None)
    return None if newest is None else format_timestamp(newest)


def _validation(report: Report) -> Members:
    failed = Counter(
        finding.check.id for finding in report.findings if finding.severity == Severity.ERROR
    )
    return {
        "result": pass_or_fail(report.passed),
        "validator": "vibes-lsp",
        "version": __version__,
        **{f"{severity}s": report.count(severity) for severity in Severity},
        "failed_checks": _numbers(failed),
    }


def _stats(context: CheckContext, report: Report) -> Members:
    environments = [
        environment
        for environment in _environments(context)
        if environment.get("model_name") != NO_MODEL
    ]  # a person who reviews is neither model nor tool
    return {
        "total_annotations": report.records["line"] + report.records["function"],
        "annotated_files": len(context.trail.annotated_paths()),
        "unique_models": _number_of_texts(
            environment.get("model_name") for environment in environments
        ),
        "unique_tools": _number_of_texts(
            environment.get("tool_name") for environment in environments
        ),
    }


def _environments(context: CheckContext) -> list[Members]:
    manifest = context.trail.manifest
    return [
        manifest.entry(key) or {}
        for key, kind in context.entry_types.items()
        if kind == ContextType.ENVIRONMENT
    ]


def _number_of_texts(values: Iterable[object]) -> int:
    return len({value for value in values if isinstance(value, str)})


def _merkle(context: CheckContext) -> Members | None:
    if context.trail.manifest.problem is not None:
        return None
    tree = entry_tree(context.trail.manifest)
    return {"algorithm": ALGORITHM, "root": tree.root, "entries": tree.size}


def _numbers(counts: dict[str, int]) -> Members:
    return {name: count for name, count in counts.items() if count}
