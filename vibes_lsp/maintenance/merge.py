"""Merge a trail with another version of it (`vibes merge`, R13): git's conflicts, or a revision.

No record or entry of either side is lost or changed. A file that cannot be merged stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Final

from vibes_lsp.errors import HistoryUnavailable, RefusedWrite, VibesError
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.git.staging import (
    UnmergedFile,
    mark_resolved,
    unmerged_files,
)
from vibes_lsp.store.appending import repair_partial_line
from vibes_lsp.store.audit_dir import CONFIG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.config import parse_config
from vibes_lsp.store.files import make_ignored_folder, read_file, replace_file, write_temporary
from vibes_lsp.store.journal import entries_file
from vibes_lsp.store.locks import append_lock, fold_lock
from vibes_lsp.store.manifest import parse_manifest
from vibes_lsp.store.three_way_merge import (
    MERGE_FUNCTIONS,
    MergeSides,
    has_conflict_markers,
    remove_conflict_markers,
)
from vibes_lsp.store.versions import refuse_unsupported

_REGULAR: Final = frozenset({"100644", "100755"})


class MergeOutcome(StrEnum):
    """The result for a file."""

    MERGED = "merged"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class MergedFile:
    """A file of the trail after the merge.

    Attributes:
        name: Its name in the audit directory.
        outcome: The result.
        resolved: Whether its conflict was resolved.
        problem: Why it is unchanged.
    """

    name: str
    outcome: MergeOutcome
    resolved: bool = False
    problem: VibesError | None = None


def merge_trail(directory: AuditDir, revision: str | None) -> list[MergedFile]:
    """Merge git's conflicts, and everything a revision has, into the trail on disk.

    Args:
        directory: The trail.
        revision: A branch, tag or commit; None for the conflicts only.

    Raises:
        HistoryUnavailable: The project is outside a git work tree, or there is no such revision.
        RefusedWrite: The trail cannot be locked.
        UnsupportedVersion: A version of the trail must not be changed (R11).
    """
    repository = open_repository(directory.project)
    if repository is None:
        raise HistoryUnavailable(
            f"{directory.project} is not in a git work tree",
            hint="`vibes merge` needs git's history",
        )
    conflicts = unmerged_files(directory.path)
    commit = None if revision is None else repository.resolve(revision)
    common = None
    with suppress(HistoryUnavailable):
        common = repository.merge_base("HEAD", commit) if commit is not None else None

    def sides(name: str) -> MergeSides:
        return _sides(repository, directory.path / name, conflicts.get(name), commit, common)

    links = [name for name in MERGE_FUNCTIONS if (directory.path / name).is_symlink()]
    names = [name for name in MERGE_FUNCTIONS if name not in links]
    _refuse_versions({name: sides(name) for name in names if name in {CONFIG_NAME, MANIFEST_NAME}})
    with fold_lock(directory).acquire(), append_lock(directory).acquire() as lock:
        repair_partial_line((directory.log, entries_file(directory)), lock)
        merged = [
            _merge(directory, name, sides(name), in_conflict=name in conflicts) for name in names
        ]
    merged += [_refuse_link(directory.path / name) for name in links]
    return [
        _mark_resolved(repository, directory, file, conflicts.get(file.name)) for file in merged
    ] + list(_refuse_other_files(conflicts))


def _sides(
    repository: Repository,
    path: Path,
    conflict: UnmergedFile | None,
    commit: str | None,
    common: str | None,
) -> MergeSides:
    current = read_file(path)
    clean = None if current is None else remove_conflict_markers(current)
    if conflict is not None:
        base, ours, theirs = (conflict.stages.get(stage) for stage in (1, 2, 3))
        by_hand = (
            current is not None
            and not has_conflict_markers(current)
            and current not in conflict.stages.values()
        )
        if by_hand and path.name == CONFIG_NAME:
            return MergeSides(current, current, current, current)
        return MergeSides(base, current if by_hand else ours, theirs, current)
    base = None if common is None else repository.read_file_below(common, path.parent, path.name)
    theirs = None if commit is None else repository.read_file_below(commit, path.parent, path.name)
    return MergeSides(base, clean, theirs if theirs is not None else base or clean, current)


def _merge(directory: AuditDir, name: str, sides: MergeSides, *, in_conflict: bool) -> MergedFile:
    path = directory.path / name
    try:
        if not in_conflict and sides.current == sides.ours == sides.theirs:
            return MergedFile(name, MergeOutcome.UNCHANGED)
        content = MERGE_FUNCTIONS[name](sides)
        if content == (sides.current or b""):
            return MergedFile(name, MergeOutcome.UNCHANGED)
        make_ignored_folder(directory.journal)
        replace_file(write_temporary(directory.journal, content, like=path), path)
    except VibesError as error:
        return MergedFile(name, MergeOutcome.REFUSED, problem=error)
    return MergedFile(name, MergeOutcome.MERGED)


def _refuse_link(path: Path) -> MergedFile:
    problem = RefusedWrite(
        f"{path} is a link",
        hint="put the file itself there: merging would replace the link",
    )
    return MergedFile(path.name, MergeOutcome.REFUSED, problem=problem)


def _mark_resolved(
    repository: Repository, directory: AuditDir, merged: MergedFile, conflict: UnmergedFile | None
) -> MergedFile:
    if conflict is None or merged.outcome is MergeOutcome.REFUSED:
        return merged
    if conflict.mode not in _REGULAR:
        no_file = RefusedWrite(
            f"{merged.name} is not a regular file in git", hint="resolve the conflict by hand"
        )
        return MergedFile(merged.name, MergeOutcome.REFUSED, problem=no_file)
    try:
        mark_resolved(repository, directory.path / merged.name, conflict.mode)
    except HistoryUnavailable as error:
        problem = HistoryUnavailable(
            f"{merged.name} is merged but not staged: {error.message}", hint="run `git add`"
        )
        return MergedFile(merged.name, MergeOutcome.REFUSED, problem=problem)
    return MergedFile(merged.name, merged.outcome, resolved=True)


def _refuse_other_files(conflicts: dict[str, UnmergedFile]) -> Iterator[MergedFile]:
    for name in sorted(set(conflicts) - set(MERGE_FUNCTIONS)):
        problem = RefusedWrite(
            f"{name} cannot be merged",
            hint="take one side with `git checkout --ours` or `--theirs`",
        )
        yield MergedFile(name, MergeOutcome.REFUSED, problem=problem)


def _refuse_versions(sides: dict[str, MergeSides]) -> None:
    configs, manifests = (
        [file_sides.ours, file_sides.theirs] if file_sides else [None]
        for file_sides in (sides.get(CONFIG_NAME), sides.get(MANIFEST_NAME))
    )
    for config, manifest in product(configs, manifests):
        refuse_unsupported(parse_config(config or b"{}"), parse_manifest(manifest))
