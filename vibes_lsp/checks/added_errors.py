"""What `vibes check` calls an error, in what a change brings: in lines of the log and entries of the manifest that the base does not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.checkout import read_trail
from vibes_lsp.checks.entries import HashCounts, check_blobs, check_entries, check_level
from vibes_lsp.checks.files import check_config, check_log, check_manifest
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.records import RecordChecks, ReferenceChecks, check_remaps
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import MalformedJson
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.columns import Kind
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.store.config import LoadedConfig, parse_config
from vibes_lsp.store.layout import CONFIG_NAME, LOG_NAME, MANIFEST_NAME
from vibes_lsp.store.manifest import Manifest, parse_manifest

_WANTED = {
    catalogue.PROMPTS_ABSENT.id: ContextType.PROMPT,
    catalogue.REASONING_ABSENT.id: ContextType.REASONING,
}


def check_brought(
    subject: Subject, repository: Repository, base: str, lines: Collection[int]
) -> Iterator[Finding]:
    """Errors about what is new since a base.

    Args:
        subject: The trail as it is.
        repository: Where the base is.
        base: A commit, a whole hash.
        lines: The lines of the log that are new.
    """
    held = {
        name: read_trail(repository, subject.directory, base, name)
        for name in (CONFIG_NAME, LOG_NAME, MANIFEST_NAME)
    }
    before = parse_manifest(held[MANIFEST_NAME])
    fresh = frozenset(
        key for key in subject.trail.manifest if _is_new(key, subject.trail.manifest, before)
    )
    known = _known(
        subject,
        before,
        LoadedConfig() if held[CONFIG_NAME] is None else parse_config(held[CONFIG_NAME]),
    )
    if held[LOG_NAME] is None:
        known |= {(catalogue.LOG_MISSING.id, None, "annotations.jsonl is missing")}
    had_annotations = bool((held[LOG_NAME] or b"").strip())
    for finding in _found(subject, lines, fresh):
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


def _found(subject: Subject, lines: Collection[int], fresh: Collection[str]) -> Iterator[Finding]:
    yield from check_config(subject)
    yield from check_manifest(subject)
    yield from (
        finding for finding in check_log(subject) if finding.line is None or finding.line in lines
    )
    yield from check_level(subject)
    if fresh:
        yield from check_entries(subject, HashCounts(), fresh)
        yield from check_blobs(subject, fresh)
    kinds = subject.trail.log.columns.kinds
    held = sorted(
        line
        for line in lines
        if line <= len(kinds) and kinds[line - 1] not in {Kind.BLANK, Kind.BROKEN}
    )
    if not held:
        return
    records, references = RecordChecks(subject), ReferenceChecks(subject)
    has_remaps = False
    for line, record in subject.trail.log.decoded(held):
        if isinstance(record, MalformedJson):
            subject.trail.log.refused[line] = record.reason
        else:
            yield from records.see(record)
            yield from references.see(record)
            has_remaps = has_remaps or (record.text("action") or "").startswith("rebase_")
    if has_remaps:  # it decodes all annotations
        yield from (finding for finding in check_remaps(subject) if finding.line in lines)


def _is_new(key: str, now: Manifest, before: Manifest) -> bool:
    return key not in before or before.raw(key) != now.raw(key)


def _known(
    subject: Subject, before: Manifest, config: LoadedConfig
) -> frozenset[tuple[str, str | None, str]]:
    """Return what was wrong with the manifest and the policy of the base as files."""
    trail = Trail(subject.directory)
    trail.manifest = before
    then = Subject(trail, config, subject.repository, subject.now)
    found = [*check_config(then), *check_manifest(then)]
    return frozenset((each.check.id, each.field, each.message) for each in found)
