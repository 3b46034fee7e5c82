"""Choose the policy and the files of a gate run: those of the work tree, or those of a base.

With a base, the policy and the tracked files come from the base, so that a branch cannot change its
own rules, and only what the branch adds is gated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from vibes_lsp.checks.base_comparison import check_base, policy_at
from vibes_lsp.checks.catalogue import CONFLICT_MARKER, LOG_LINE
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, Severity, pluralize
from vibes_lsp.checks.report import check_added
from vibes_lsp.errors import HistoryUnavailable, PrismOff
from vibes_lsp.gate.annotations import is_behind_a_link
from vibes_lsp.gate.catalogue import UNREAD, UNUSABLE, WORKTREE
from vibes_lsp.gate.changed_files import ChangedFiles, is_of_the_trail
from vibes_lsp.gate.trail_diff import TrailDiff
from vibes_lsp.git.contributors import require_whole_branch
from vibes_lsp.git.repository import open_repository
from vibes_lsp.model.paths import normal_path
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.trail.records import LogRecord
from vibes_lsp.trail.rows import ANNOTATION_KINDS
from vibes_lsp.trail.trail import Trail

_REPORTED_AS_UNREAD: Final = frozenset({LOG_LINE.id, CONFLICT_MARKER.id})
_GATE_MEMBERS: Final = ("risk_scoring", "tracked_extensions", "exclude_patterns")


@dataclass(frozen=True)
class GateInputs:
    """The policy, the trail and the changes that a gate judges.

    Attributes:
        trail: The trail on disk.
        config: The policy that applies.
        base: The revision of the policy, a whole hash; None for the work tree.
        trail_diff: The records that the branch adds; None without a base.
        changed_files: The files that the branch changes; None without a base.
    """

    trail: Trail
    config: LoadedConfig
    base: str | None = None
    trail_diff: TrailDiff | None = None
    changed_files: ChangedFiles | None = None

    def files_in_scope(self) -> frozenset[str]:
        """Return the files of the branch that changed, are behind a link or have new annotations.

        Raises:
            HistoryUnavailable: Git cannot answer.
        """
        if self.trail_diff is None or self.changed_files is None:
            return frozenset()
        project = self.trail.directory.project
        files = set(self.changed_files.names())
        files |= {
            normal_path(path)
            for path in self.trail.annotated_paths()
            if is_behind_a_link(project, path)
        }
        return frozenset(
            path
            for path in files | self._newly_annotated()
            if not is_of_the_trail(self.trail.directory, path)
        )

    def _newly_annotated(self) -> set[str]:
        """Return the files with new annotations; a remapped annotation is not new."""
        new = frozenset[int]() if self.trail_diff is None else self.trail_diff.new_lines
        log = self.trail.log
        lines = (line for line in log.lines_of(*ANNOTATION_KINDS) if line in new)
        return {
            normal_path(record.text("file_path") or "")
            for record in log.records(lines)
            if _is_an_edit(record)
        }

    def findings(self, now: datetime) -> Iterator[Finding]:
        """Yield findings about the policy and the trail, such as unreadable or changed records.

        Raises:
            HistoryUnavailable: Git cannot answer.
        """
        directory = self.trail.directory
        for problem in self.config.problems:
            if problem.field.split(".")[0] in _GATE_MEMBERS:
                where = f"{directory.path.name}/{CONFIG_NAME}"
                # the branch cannot fix the policy of its base
                override = None if self.trail_diff is None else Severity.WARNING
                message = f"{problem.field}: {problem.message}" + (
                    "" if self.base is None else f" (at {self.base[:8]})"
                )
                yield Finding(UNUSABLE, message, where, None, problem.field, override)
        if self.trail_diff is not None and self.changed_files is not None:
            context = CheckContext(
                self.trail, load_config(directory), self.trail_diff.repository, now
            )
            yield from check_base(context, self.trail_diff.commit, self.changed_files.committed)
            added = check_added(
                context,
                self.trail_diff.repository,
                self.trail_diff.commit,
                self.trail_diff.new_lines,
            )
            yield from (finding for finding in added if finding.check.id not in _REPORTED_AS_UNREAD)
            yield from self._uncommitted_lines(self.trail_diff)
        yield from self._unreadable_lines()

    def _uncommitted_lines(self, diff: TrailDiff) -> Iterator[Finding]:
        """Yield notes about records that no commit has: in the log, and those that wait for one."""
        where, log = f"{self.trail.directory.path.name}/{LOG_NAME}", self.trail.log
        waiting = sum(map(log.is_waiting, diff.uncommitted))
        in_log = [line for line in diff.uncommitted if not log.is_waiting(line)]
        if in_log:
            lines_are = pluralize(len(in_log), "line is", "lines are")
            yield Finding(WORKTREE, f"{lines_are} not committed", where, in_log[0])
        if waiting:
            records_wait = pluralize(waiting, "record waits", "records wait")
            yield Finding(WORKTREE, f"{records_wait} for a commit", where)

    def _unreadable_lines(self) -> Iterator[Finding]:
        """Yield lines that are not records: an error, or a warning if the base has them."""
        log, where = self.trail.log, f"{self.trail.directory.path.name}/{LOG_NAME}"
        broken = (broken_line.line for broken_line in self.trail.broken_lines())
        lines = sorted(line for line in {*broken, *log.undecodable} if not log.is_waiting(line))
        if log.incomplete_tail().strip():
            lines.append(self.trail.line_count + 1)
        added = (
            lines
            if self.trail_diff is None
            else [line for line in lines if line in self.trail_diff.new_lines]
        )
        for unreadable, override in (
            (added, None),
            ([line for line in lines if line not in set(added)], Severity.WARNING),
        ):
            if unreadable:
                invalid = pluralize(
                    len(unreadable), "line is not a valid record", "lines are not valid records"
                )
                message = f"{invalid} and not gated; `vibes check` lists the errors"
                yield Finding(UNREAD, message, where, unreadable[0], None, override)


def load_inputs(trail: Trail, base: str | None) -> GateInputs:
    """Return the inputs of a gate run.

    The policy is that of `base` itself; changes are those since the merge base with HEAD.

    Args:
        trail: The trail on disk.
        base: A revision; None to judge the work tree by its own policy.

    Raises:
        HistoryUnavailable: The revision, the repository or the history back to the base is missing.
        PrismOff: Risk scoring is off in the policy that applies.
    """
    directory = trail.directory
    if base is None:
        inputs = GateInputs(trail, load_config(directory))
        _require_prism(inputs.config, f"{directory.path.name}/{CONFIG_NAME}")
        return inputs
    repository = open_repository(directory.project)
    if repository is None:
        raise HistoryUnavailable("--base requires a git repository", hint="run it in a work tree")
    tip = repository.resolve(base)
    config = policy_at(repository, directory, tip)
    _require_prism(config, f"{directory.path.name}/{CONFIG_NAME} at {base[:60]}")
    head = repository.resolve("HEAD")
    commit = repository.merge_base(tip, head)
    require_whole_branch(repository, head, commit)
    return GateInputs(
        trail,
        config,
        tip,
        TrailDiff(repository, trail, commit, head),
        ChangedFiles(repository, directory, commit, head),
    )


def _require_prism(config: LoadedConfig, where: str) -> None:
    """Raise `PrismOff` if the policy has no risk scoring to gate by (R27)."""
    if config.problem is not None:
        raise PrismOff(
            f"PRISM is off: {where} cannot be read: {config.problem.message}",
            hint="correct the file; `vibes check` has the details",
        )
    if not config.policy.enabled:
        raise PrismOff(
            f"PRISM is off in {where}", hint="turn it on with `vibes init --prism`, and commit that"
        )


def _is_an_edit(record: LogRecord) -> bool:
    return not (record.text("action") or "").startswith("rebase_")
