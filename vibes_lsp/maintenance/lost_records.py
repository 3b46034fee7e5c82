"""Keep a commit from losing records: put back what HEAD's trail has and the staged one lacks.

A commit that would remove a whole trail is stopped instead, since it is rarely meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Final

from vibes_lsp.errors import VibesError
from vibes_lsp.git.process import run_git
from vibes_lsp.git.staging import CommitIndex
from vibes_lsp.store.audit_dir import LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.files import make_ignored_folder, read_file, replace_file, write_temporary
from vibes_lsp.store.locks import append_lock, fold_lock
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME

_LOGS: Final = f":(top,glob)**/{AUDIT_DIR_NAME}/{LOG_NAME}"


class RemovedTrail(VibesError):
    """A commit would remove a whole trail."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back into a commit.

    Attributes:
        records: How many records.
        before: The entries of the index before, as `MODE HASH`, of the files that have them now.
    """

    records: int = 0
    before: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _StagedTrail:
    """A trail in HEAD and in the commit being made.

    Attributes:
        directory: The trail; its folder may be missing.
        index: The index of the commit.
        head: The commit of HEAD.
    """

    directory: AuditDir
    index: CommitIndex
    head: str

    def name(self, file: str) -> str:
        """Return git's path of a file of the trail."""
        project = self.index.repository.relative_path(self.directory.project)
        prefix = "" if project == "." else f"{project}/"
        return f"{prefix}{self.directory.path.name}/{file}"

    def in_head(self, file: str) -> bytes | None:
        """Return a file as HEAD has it; None if it has none or it cannot be read."""
        return self.index.repository.objects.contents(f"{self.head}:{self.name(file)}")

    def staged(self, pathspec: str) -> dict[str, str]:
        """Return the blobs that the commit has, by path."""
        root, index = self.index.repository.root, self.index.index_files[0]
        listed = run_git(root, "ls-files", "-s", "-z", "--", pathspec, index=index)
        blobs: dict[str, str] = {}
        for line in listed.split(b"\0")[:-1]:
            entry, _, path = line.partition(b"\t")
            blobs[path.decode("utf-8", "surrogateescape")] = entry.split(b" ")[1].decode("ascii")
        return blobs


def refuse_removed_trail(index: CommitIndex, directory: AuditDir, changed: Collection[str]) -> None:
    """Stop a commit that would remove a whole trail.

    Args:
        index: The index of the commit.
        directory: The trail; its folder may be missing.
        changed: The files that the commit changes.

    Raises:
        RemovedTrail: It would.
        HistoryUnavailable: Git fails.
    """
    trail = _open(index, directory)
    if trail is None or trail.name(LOG_NAME) not in changed:
        return
    log, path = trail.in_head(LOG_NAME), trail.name("")[:-1]
    if log is None or trail.staged(f":(top,literal){path}") or _is_moved(trail, log):
        return
    restoring = "git reset -q HEAD" if directory.log.is_file() else "git checkout HEAD"
    raise RemovedTrail(
        f"this commit would remove the audit trail {path} with all of its records",
        hint=f"restore it: {restoring} -- {path}; to remove it for good: git commit --no-verify",
    )


def restore_lost_records(
    index: CommitIndex, directory: AuditDir, changed: Collection[str], staged: Collection[str]
) -> Restored:
    """Put back the records that HEAD's log has and the staged one lacks, and their entries.

    A merge is left alone: what it lacks may have been removed on the other side. So are files with
    a filter: the commit has another text than the disk.

    Args:
        index: The index of the commit.
        directory: The trail.
        changed: The files that the commit changed before ours were staged.
        staged: The files that were staged as they are on disk.

    Returns:
        What was put back, on the disk and in the commit.

    Raises:
        VibesError: Git fails, or a file cannot be merged or written.
    """
    trail = _open(index, directory)
    name = "" if trail is None else trail.name(LOG_NAME)
    if trail is None or (name not in changed and name not in staged) or index.is_merging:
        return Restored()
    now = read_file(directory.log) if name in staged else _staged_content(trail, LOG_NAME)
    lost = _lost_lines(trail.in_head(LOG_NAME), now)
    names = [name, trail.name(MANIFEST_NAME)]
    if not lost or index.filtered(names):
        return Restored()
    staged_before = index.entries(names)
    for file in (MANIFEST_NAME, LOG_NAME):
        _put_back(trail, file)
    return Restored(lost, {file_name: staged_before.get(file_name, "") for file_name in names})


def remove_repeated(directory: AuditDir) -> None:
    """Remove from the log the lines that a merge of texts has repeated byte for byte.

    Raises:
        RefusedWrite: The log cannot be locked or written.
        UnreadableFile: It cannot be read.
    """
    content = read_file(directory.log) or b""
    if len(_without_repeated(content)) == len(content):
        return
    with append_lock(directory).acquire():
        kept = _without_repeated(read_file(directory.log) or b"")
        make_ignored_folder(directory.journal)
        replace_file(write_temporary(directory.journal, kept, like=directory.log), directory.log)


def _without_repeated(log: bytes) -> bytes:
    lines = BytesIO(log).readlines()  # a lone \r ends no record
    kept = dict.fromkeys(lines)
    if lines and lines[-1] + b"\n" in kept:  # the last one has no line end, and repeats another
        del kept[lines[-1]]
    return b"".join(kept)


def _open(index: CommitIndex, directory: AuditDir) -> _StagedTrail | None:
    head = index.repository.head()
    if head is None:
        return None
    if not directory.path.absolute().is_relative_to(index.repository.root.absolute()):
        return None
    return _StagedTrail(directory, index, head)


def _is_moved(trail: _StagedTrail, log: bytes) -> bool:
    """Return whether the commit has the records in another folder, which was renamed."""
    objects = trail.index.repository.objects
    return any(
        not _lost_lines(log, objects.contents(blob)) for blob in trail.staged(_LOGS).values()
    )


def _staged_content(trail: _StagedTrail, file: str) -> bytes | None:
    blobs = trail.staged(f":(top,literal){trail.name(file)}")
    return next(map(trail.index.repository.objects.contents, blobs.values()), None)


def _lost_lines(before: bytes | None, now: bytes | None) -> int:
    """Return how many lines of a log another one lacks."""
    if before is None or (now or b"").startswith(before):
        return 0
    there = set(_lines(now or b""))
    return sum(line not in there for line in _lines(before))


def _lines(log: bytes) -> Iterator[bytes]:
    return (line.rstrip(b"\r") for line in log.split(b"\n") if line.strip())


def _put_back(trail: _StagedTrail, file: str) -> None:
    """Merge HEAD's version of a file into the staged one and into that on the disk."""
    # few commits lack a record, and each waits for what is imported
    from vibes_lsp.store.three_way_merge import MERGE_FUNCTIONS, MergeSides  # noqa: PLC0415

    before = trail.in_head(file)
    if before is None:
        return
    merge, path = MERGE_FUNCTIONS[file], trail.directory.path / file
    staged = _staged_content(trail, file)
    merged = merge(MergeSides(None, before, before if staged is None else staged, staged))
    with fold_lock(trail.directory).acquire(), append_lock(trail.directory).acquire():
        current = read_file(path)
        if current is not None:
            merged_on_disk = merge(MergeSides(None, before, current, current))
            make_ignored_folder(trail.directory.journal)
            replace_file(write_temporary(trail.directory.journal, merged_on_disk, like=path), path)
    root = trail.index.repository.root
    blob = run_git(root, "hash-object", "-w", "--stdin", stdin=merged).decode("ascii").strip()
    entry = f"100644,{blob},{trail.name(file)}"
    for index in trail.index.index_files:
        run_git(root, "update-index", "--add", "--cacheinfo", entry, index=index)
