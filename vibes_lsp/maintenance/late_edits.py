"""Waiting edits whose lines HEAD has already: no hook saw their commit (R29)."""

from __future__ import annotations

from contextlib import closing, suppress

from vibes_lsp.errors import RefusedWrite, UnreadableFile
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import replace_file, write_temporary
from vibes_lsp.store.git_folders import first_line, read_head
from vibes_lsp.store.waiting import WaitingPlace, waiting_place
from vibes_lsp.trail.committed_waiting import read_uncommitted_waiting


def note_seen(place: WaitingPlace, tree: str) -> None:
    """Note the tree of the commit that the hook sees; a failure only costs the next one time."""
    with suppress(RefusedWrite):
        content = f"{tree}\n".encode()
        replace_file(write_temporary(place.seen.parent, content, durable=False), place.seen)


def is_seen(place: WaitingPlace, repository: Repository) -> bool:
    """Whether the commit of HEAD is what the hook saw last: then no edit is late."""
    head = repository.head()
    commit = None if head is None else repository.objects.commit(head)
    return commit is not None and bool(commit.tree) and first_line(place.seen) == commit.tree


def late_edits(directory: AuditDir) -> tuple[str, ...]:
    """Return the ids of the waiting annotations that the next hook or `vibes flush` writes.

    Git is asked only if an edit waits that was made before HEAD.

    Raises:
        UnreadableFile: The log cannot be read.
    """
    place = waiting_place(directory)
    if place is None or not place.records.is_file():
        return ()
    head, waiting = read_head(place.root), read_uncommitted_waiting(directory)
    if (
        all(record.head == head for record in waiting.records if record.members.is_annotation)
        and head is not None
    ):
        return ()
    # reading git's objects takes time that most looks need not spend
    from vibes_lsp.maintenance.due_hunks import late_records  # noqa: PLC0415
    from vibes_lsp.maintenance.waiting_into_log import (  # noqa: PLC0415
        read_logged,
        waiting_files_of,
    )

    logged = read_logged(directory, waiting)
    repository = open_repository(directory.project)
    if repository is None:
        return ()
    with closing(repository):
        if is_seen(place, repository):
            return ()
        edits = waiting_files_of(directory, waiting, logged)
        prefix = repository.prefix_of(directory.project)
        return tuple(late_records(edits, repository, prefix))


def late_notice(directory: AuditDir) -> str:
    """Return what commands and editors say of late edits; empty without any."""
    try:
        late = len(late_edits(directory))
    except UnreadableFile:  # which is said elsewhere
        return ""
    if not late:
        return ""
    edits = "1 edit is" if late == 1 else f"{late:,} edits are"
    return (
        f"{edits} in commits that the pre-commit hook did not see: your next commit records them,"
        " or `vibes flush --commit`"
    )
