"""Are the records complete, dated and identified (RFC 5.4, 7.3-7.7)? Sees each record once, in the order of the log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, counted
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import MalformedJson
from vibes_lsp.index.keys import key_of
from vibes_lsp.index.records import LogRecord
from vibes_lsp.model.hashing import IdVariant, explain_annotation_id
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.validation import record_problems
from vibes_lsp.model.vocabulary import AssuranceLevel

_AHEAD = timedelta(days=1)


class RecordChecks:
    """The checks of single records, and their sums.

    Attributes:
        ids: How many ids verify in which variant (R3).
        refused: Lines that the scan took for records, wrongly.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.ids: Counter[IdVariant] = Counter()
        self.refused: set[int] = set()
        self._first_id: dict[IdVariant, int] = {}
        self._below: list[int] = []
        self._explained: set[tuple[int, IdVariant]] = set()

    def see(self, record: LogRecord) -> Iterator[Finding]:
        """Findings about one record."""
        subject = self._subject
        for problem in record_problems(record.members):
            check = catalogue.TIMESTAMP if problem.kind == "timestamp" else catalogue.RECORD_FIELD
            where = f"{problem.field}: " if problem.field else ""
            yield subject.in_log(check, f"{where}{problem.message}", record.line, problem.field or None)
        moment = parse_timestamp(record.text("timestamp") or "")
        if moment is not None and moment > subject.now + _AHEAD:
            yield subject.in_log(catalogue.TIMESTAMP_FUTURE, f"{record.text('timestamp')} is ahead of now", record.line, "timestamp")
        variant = explain_annotation_id(record.members)[-1]
        explained = key_of(record.id), variant
        self.ids[variant] += explained not in self._explained  # two records with one id are one (R3)
        self._explained.add(explained)
        self._first_id.setdefault(variant, record.line)
        if variant == IdVariant.MISMATCH:
            yield subject.in_log(
                catalogue.ID_MISMATCH, "annotation_id does not belong to this record, in any known variant", record.line, "annotation_id"
            )
        if record.is_annotation and self._is_below(record):
            self._below.append(record.line)

    def refuse(self, line: int, problem: MalformedJson) -> Finding:
        """The finding about a line that the scan took for a record and the strict parser does not (R1, R12)."""
        self.refused.add(line)
        return self._subject.in_log(catalogue.LOG_LINE, problem.reason, line)

    def finish(self) -> Iterator[Finding]:
        """Findings about all records together."""
        subject, total = self._subject, self.ids.total()
        for variant, count in self.ids.items():
            if variant == IdVariant.ABSENT:
                message = f"{count:,} of {total:,} records carry no annotation_id"
                yield subject.in_log(catalogue.ID_ABSENT, message, self._first_id[variant], "annotation_id")
            elif variant not in (IdVariant.SPEC, IdVariant.MISMATCH):
                message = f"{count:,} of {total:,} annotation_ids verify as {variant!s}"
                yield subject.in_log(catalogue.ID_VARIANT, message, self._first_id[variant], "annotation_id")
        if self._below:
            message = f"{counted(len(self._below), 'annotation was', 'annotations were')} recorded below the project's level {subject.config.config.assurance_level}"
            yield subject.in_log(catalogue.LEVEL_BELOW, message, self._below[0], "assurance_level")

    def _is_below(self, record: LogRecord) -> bool:
        levels = list(AssuranceLevel)
        level = record.text("assurance_level")
        return level in levels and levels.index(AssuranceLevel(level)) < levels.index(self._subject.config.config.assurance_level)


def check_paths(subject: Subject, foreign: dict[str, str]) -> Iterator[Finding]:
    """Findings about the files that annotations name: one about those elsewhere, one about those not tracked (R19, R26)."""
    columns, tracking = subject.trail.log.columns, subject.config.tracking
    if foreign:
        count = sum(len(columns.annotations[path]) for path in foreign)
        reasons: dict[str, int] = defaultdict(int)
        for reason in foreign.values():
            reasons[reason] += 1
        listed = ", ".join(f"{number} {reason}" for reason, number in sorted(reasons.items()))
        message = f"not in this checkout: {_of_files(count, len(foreign))} ({listed})"
        yield subject.in_log(catalogue.PATH_FOREIGN, message, min(columns.annotations[path][0] for path in foreign), "file_path")
    untracked = [path for path in subject.trail.paths() if not tracking.tracks(path)]
    if untracked:
        count = sum(len(columns.annotations[path]) for path in untracked)
        message = f"not tracked by the project: {_of_files(count, len(untracked))}"
        yield subject.in_log(catalogue.PATH_UNTRACKED, message, min(columns.annotations[path][0] for path in untracked), "file_path")


def _of_files(annotations: int, files: int) -> str:
    return f"{counted(annotations, 'annotation', 'annotations')} of {counted(files, 'file', 'files')}"
