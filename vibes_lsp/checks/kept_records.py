"""Does the trail still hold, unchanged, what the commits since a base brought into it (RFC 12.2, 12.3)? An id proves a record only as far as it covers it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import msgspec

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.checkout import CheckoutSides, lines_of, log_on_disk, read_trail, same_entry
from vibes_lsp.checks.finding import Finding
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import MalformedJson
from vibes_lsp.history.file_versions import commits_of_file
from vibes_lsp.history.log_additions import added_lines, record_id_of
from vibes_lsp.index.records import LogRecord
from vibes_lsp.model.canonical import parse_object, same_value
from vibes_lsp.model.members import Members
from vibes_lsp.store.layout import LOG_NAME, MANIFEST_NAME
from vibes_lsp.store.manifest import parse_manifest


def check_carried(subject: Subject, sides: CheckoutSides) -> Iterator[Finding]:
    """Findings about records and entries that a commit since the base brought, and a later one changed or took away.

    Raises:
        HistoryUnavailable: Git cannot answer.
    """
    yield from _records(subject, sides)
    yield from _entries(subject, sides)


def check_copies(subject: Subject, sides: CheckoutSides) -> Iterator[Finding]:
    """Findings about records of one id that are not the same, if the base does not have them all: of these only the first is read (R3)."""
    log, now = subject.trail.log, log_on_disk(subject.directory)
    before = frozenset(
        lines_of(read_trail(sides.repository, subject.directory, sides.base, LOG_NAME))
    )
    kinds, keys = log.columns.kinds, log.columns.keys
    times = Counter(key for key in keys if key)
    again = [line for line, key in enumerate(keys, 1) if key and times[key] > 1 and kinds[line - 1]]
    first: dict[str, LogRecord] = {}
    for _, record in log.decoded(again):
        if isinstance(record, MalformedJson):
            continue
        known = first.setdefault(record.id, record)
        if known is record or all(now[each.line - 1] in before for each in (known, record)):
            continue
        if not same_value(known.members, record.members):
            message = (
                f"record {record.id[:16]} stands on line {known.line}, too, with another content"
            )
            yield subject.in_log(catalogue.BASE_RECORD, message, record.line)


def _records(subject: Subject, sides: CheckoutSides) -> Iterator[Finding]:
    there = frozenset(log_on_disk(subject.directory))
    missing: dict[str, dict[bytes, str]] = defaultdict(dict)
    for carried, commit in _carried(subject, sides):
        line = carried.rstrip(b"\r\n")
        if line not in there and (identifier := record_id_of(line)):
            missing[identifier].setdefault(line, commit)
    for identifier, lines in sorted(missing.items()):
        records = list(subject.trail.log.with_id(identifier))
        for line, commit in lines.items():
            where = f"record {identifier[:16]}, which {commit[:12]} of this change brought,"
            if not records:
                yield subject.in_log(catalogue.BASE_RECORD, f"{where} is gone")
                break
            if not any(same_value(_decoded(line), record.members) for record in records):
                yield subject.in_log(catalogue.BASE_RECORD, f"{where} was changed", records[0].line)


def _carried(subject: Subject, sides: CheckoutSides) -> Iterator[tuple[bytes, str]]:
    try:
        yield from added_lines(
            sides.repository, (sides.head, f"^{sides.base}"), subject.directory.log
        )
    except ValueError:  # the log is a link out of the repository, which is a finding of its own
        return


def _decoded(line: bytes) -> Members | None:
    try:
        return parse_object(line)
    except MalformedJson:
        return None


def _entries(subject: Subject, sides: CheckoutSides) -> Iterator[Finding]:
    manifest, directory, seen = subject.trail.manifest, subject.directory, set[tuple[str, bytes]]()
    name = f"{sides.repository.prefix_of(directory.project)}{directory.path.name}/{MANIFEST_NAME}"
    for commit in sorted(commits_of_file(sides.repository, (sides.head, f"^{sides.base}"), name)):
        for key, raw in _held(subject, sides, commit).items():
            if (key in manifest and manifest.raw(key) == bytes(raw)) or (key, bytes(raw)) in seen:
                continue
            seen.add((key, bytes(raw)))
            where = f"entry {key[:16]}, which {commit[:12]} of this change has,"
            if key not in manifest:
                yield Finding(catalogue.BASE_ENTRY, f"{where} is gone", subject.manifest_name)
            elif not same_entry(_decoded(bytes(raw)), manifest.entry(key)):
                yield subject.in_entry(catalogue.BASE_ENTRY, f"{where} was changed", key)


def _held(subject: Subject, sides: CheckoutSides, commit: str) -> Mapping[str, msgspec.Raw]:
    return parse_manifest(
        read_trail(sides.repository, subject.directory, commit, MANIFEST_NAME)
    ).stored
