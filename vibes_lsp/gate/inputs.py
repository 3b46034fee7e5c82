"""What the gate goes by: the policy and the tracked files, of the work tree or of the base that a change is judged against."""

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
from vibes_lsp.history.objects import GitObjects
from vibes_lsp.history.repository import open_repository
from vibes_lsp.index.records import LogRecord
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.paths import normal_path
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME
from vibes_lsp.store.config import LoadedConfig, load_config

_UNREAD: Final = frozenset({LOG_LINE.id, CONFLICT_MARKER.id})
"""What the gate has a finding of its own for."""
_JUDGING: Final = ("risk_scoring", "tracked_extensions", "exclude_patterns")


@dataclass(frozen=True)
class GateInputs:
    """What a gate goes by.

    Attributes:
        trail: As it is now.
        config: The policy that counts.
        base: The revision whose policy it is, a whole hash; None for that of the work tree.
        trail_diff: The change that is judged; None where the whole work tree is.
        changed_files: Its files; None where the whole work tree is judged.
    """

    trail: Trail
    config: LoadedConfig
    base: str | None = None
    trail_diff: TrailDiff | None = None
    changed_files: ChangedFiles | None = None

    def files_in_scope(self) -> frozenset[str]:
        """Return the files of the change, relative to the project: those that differ, are links now, or have new annotations.

        Raises:
            HistoryUnavailable: Git cannot answer.
        """
        if self.trail_diff is None or self.changed_files is None:
            return frozenset()
        project = self.trail.directory.project
        with GitObjects(self.trail_diff.repository.root) as blobs:
            found = set(self.changed_files.names(blobs))
        found |= {
            normal_path(path)
            for path in self.trail.annotated_paths()
            if is_behind_a_link(project, path)
        }
        return frozenset(
            path
            for path in found | self._annotated()
            if not is_of_the_trail(self.trail.directory, path)
        )

    def _annotated(self) -> set[str]:
        """Return the files that new annotations are about, if they are not old ones with another place."""
        columns = self.trail.log.columns
        found: set[str] = set()
        for path, lines in columns.annotations.items():
            new = [
                line
                for line in lines
                if self.trail_diff is not None and line in self.trail_diff.new_lines
            ]
            if any(
                any(map(_is_an_edit, self.trail.log.records(some))) for some in (new[:1], new[1:])
            ):  # the first one will do
                found.add(normal_path(path))
        return found

    def findings(self, now: datetime) -> Iterator[Finding]:
        """Give what is wrong with the inputs themselves: what a change did to the trail and the policy, and what of the policy is of no use.

        Raises:
            HistoryUnavailable: Git cannot answer.
        """
        directory = self.trail.directory
        for problem in self.config.problems:
            if problem.field.split(".")[0] in _JUDGING:
                where = f"{directory.path.name}/{CONFIG_NAME}"
                override = (
                    None if self.trail_diff is None else Severity.WARNING
                )  # the base's fault, which no change can mend by itself
                said = f"{problem.field}: {problem.message}" + (
                    "" if self.base is None else f" (at {self.base[:12]})"
                )
                yield Finding(UNUSABLE, said, where, None, problem.field, override)
        if self.trail_diff is not None:
            context = CheckContext(
                self.trail, load_config(directory), self.trail_diff.repository, now
            )
            yield from check_base(context, self.trail_diff.commit)
            added = check_added(
                context,
                self.trail_diff.repository,
                self.trail_diff.commit,
                self.trail_diff.new_lines,
            )
            yield from (finding for finding in added if finding.check.id not in _UNREAD)
            if self.trail_diff.uncommitted:
                said = pluralize(
                    len(self.trail_diff.uncommitted),
                    "line is in no commit",
                    "lines are in no commit",
                )
                yield Finding(
                    WORKTREE,
                    said,
                    f"{directory.path.name}/{LOG_NAME}",
                    self.trail_diff.uncommitted[0],
                )
        yield from self._unread()

    def _unread(self) -> Iterator[Finding]:
        """Give what of the log is no record, and so not gated: an error, but for lines that the base has, which no change can mend by itself."""
        log, where = self.trail.log, f"{self.trail.directory.path.name}/{LOG_NAME}"
        lines = sorted({*(each.line for each in log.columns.broken), *log.undecodable})
        if log.incomplete_tail().strip():
            lines.append(len(log.columns) + 1)
        fresh = (
            lines
            if self.trail_diff is None
            else [line for line in lines if line in self.trail_diff.new_lines]
        )
        for some, override in (
            (fresh, None),
            ([line for line in lines if line not in set(fresh)], Severity.WARNING),
        ):
            if some:
                said = f"{pluralize(len(some), 'line is no record', 'lines are no records')}, and not gated; `vibes check` says why"
                yield Finding(UNREAD, said, where, some[0], None, override)


def load_inputs(trail: Trail, base: str | None) -> GateInputs:
    """Return what the gate goes by.

    A base counts as it is; what is judged is what was added since HEAD left it.

    Args:
        trail: As it is now.
        base: A revision; None for the work tree alone.

    Raises:
        HistoryUnavailable: There is no such revision, no repository, or too little of its history.
        PrismOff: The policy that counts has no risk scoring that is on.
    """
    directory = trail.directory
    if base is None:
        inputs = GateInputs(trail, load_config(directory))
        _require_prism(inputs.config, f"{directory.path.name}/{CONFIG_NAME}")
        return inputs
    repository = open_repository(directory.project)
    if repository is None:
        raise HistoryUnavailable(
            "--base needs a git repository", hint="run it inside the work tree"
        )
    tip = repository.resolve(base)
    config = policy_at(repository, directory, tip)
    _require_prism(config, f"{directory.path.name}/{CONFIG_NAME} at {base[:60]}")
    head = repository.resolve("HEAD")
    commit = tip if repository.is_ancestor(tip) else repository.merge_base(tip, head)
    return GateInputs(
        trail,
        config,
        tip,
        TrailDiff(repository, trail, commit),
        ChangedFiles(repository, directory, commit, head),
    )


def _require_prism(config: LoadedConfig, where: str) -> None:
    """Raise where there is nothing to gate by (R27)."""
    if config.problem is not None:
        raise PrismOff(
            f"PRISM is off: {where} cannot be read: {config.problem.message}",
            hint="mend it; `vibes check` says more",
        )
    if not config.policy.enabled:
        raise PrismOff(
            f"PRISM is off in {where}", hint='turn it on by "risk_scoring": {"enabled": true}'
        )


def _is_an_edit(record: LogRecord) -> bool:
    return not (record.text("action") or "").startswith("rebase_")
