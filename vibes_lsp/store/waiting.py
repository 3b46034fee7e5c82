"""Where records wait for the commit that contains what they are about (R29).

They lie in git's common folder, in one file for each work tree and trail, so that nothing that git
tracks changes while work is done. Each line is a record as in the log or an entry as in the
journal, in the order of receipt. `maintenance.waiting_records` writes them into a commit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import replace_file, write_error, write_temporary
from vibes_lsp.store.git_folders import first_line, git_folders, nearest_marker

RETENTION_DAYS: Final = 30
"""How long a record waits after a line of it last stood anywhere; then it is dropped."""
VERDICTS_WAIT: Final = "verdicts wait for your next commit; `vibes flush --commit` commits them now"
HEAD: Final = "head"
"""The only member of a line that says on which commit the records after it were made."""
_FOLDER: Final = "ai-audit"
_SUFFIX: Final = ".jsonl"
_WRITTEN: Final = ".written"
_LINKED: Final = "worktree-"
_MAIN: Final = "main"
_MAX_NAME: Final = 150


@dataclass(frozen=True)
class WaitingPlace:
    """The part of git's common folder that belongs to a trail in one work tree.

    Attributes:
        root: The top of the work tree.
        git: The git directory of the work tree.
        common: The git directory that all its work trees share.
        trail: The trail's folder, relative to the top of the work tree, as a file name.
    """

    root: Path
    git: Path
    common: Path
    trail: str

    @cached_property
    def folder(self) -> Path:
        """The folder of all that waits in this repository."""
        return self.common / _FOLDER

    @cached_property
    def records(self) -> Path:
        """The records and entries that wait here."""
        return self._trail_folder / f"{self._work_tree}{_SUFFIX}"

    @cached_property
    def lock(self) -> Path:
        """The lock for writing `records`."""
        return self._trail_folder / f"{self._work_tree}.lock"

    @property
    def blobs(self) -> Path:
        """The folder of external entries that wait."""
        return self.folder / "blobs"

    @property
    def texts(self) -> Path:
        """The folder of the texts that waiting records were made in."""
        return self.folder / "texts"

    @property
    def staged(self) -> Path:
        """What the hook added to the commit that it last saw; see `maintenance.staged_records`."""
        return self.git / _FOLDER / self.trail

    @cached_property
    def registration(self) -> Path:
        """The file that names the hook which writes this trail's records into commits."""
        return self.folder / "hooks" / self.trail

    def other_records(self) -> list[Path]:
        """Return the files of records of other work trees, existing or removed."""
        with suppress(OSError), os.scandir(self._trail_folder) as entries:
            return sorted(
                Path(entry)
                for entry in entries
                if entry.name.endswith(_SUFFIX) and entry.name != self.records.name
            )
        return []

    def is_abandoned(self, records: Path) -> bool:
        """Whether the work tree that a file of records belongs to was removed."""
        name = records.name.removesuffix(_SUFFIX)
        return name.startswith(_LINKED) and not os.path.lexists(
            self.common / "worktrees" / name.removeprefix(_LINKED)
        )

    @property
    def written(self) -> Path:
        """The hunks that were written into commits of this work tree, which may be given up."""
        return self.records.with_suffix(_WRITTEN)

    def all_written(self) -> list[Path]:
        """Return the hunks that were written in any work tree."""
        with suppress(OSError), os.scandir(self._trail_folder) as entries:
            return sorted(Path(entry) for entry in entries if entry.name.endswith(_WRITTEN))
        return []

    @property
    def seen(self) -> Path:
        """The file that names the tree of the commit that the hook saw last."""
        return self.staged.with_name(f"{self.trail}.seen")

    @cached_property
    def _trail_folder(self) -> Path:
        return self.folder / "waiting" / self.trail

    @property
    def _work_tree(self) -> str:
        is_main = self.git.name == ".git" or self.git.parent.name != "worktrees"
        return _MAIN if is_main else f"{_LINKED}{self.git.name}"


def waiting_place(directory: AuditDir) -> WaitingPlace | None:
    """Return the place in git's folder that belongs to a trail; None outside a work tree."""
    project = os.path.realpath(directory.path.parent)  # links resolved: one name for one trail
    marker = nearest_marker(project)
    if marker is None:
        return None
    git, common = git_folders(marker)
    name = (Path(project) / directory.path.name).relative_to(marker.parent).as_posix()
    return WaitingPlace(marker.parent, git, common, _as_file_name(name))


def place_of_waiting(directory: AuditDir) -> WaitingPlace | None:
    """Return where a record made now waits; None where records are written at once.

    They wait only where a hook writes them into commits: it was installed, or it has run.
    """
    place = waiting_place(directory)
    if place is None:
        return None
    hook = first_line(place.registration)
    return place if hook and os.path.lexists(place.common / hook) else None


def has_mark(directory: AuditDir) -> bool:
    """Whether a hook has left a mark of what it added; see `git.given_up_commits`."""
    place = waiting_place(directory)
    return place is not None and os.path.lexists(place.staged)


def register_hook(place: WaitingPlace, hook: Path) -> None:
    """Let the records of a trail wait from now on, because this hook writes them into commits.

    Its path is kept relative to git's folder, so that the repository may be moved.

    Raises:
        RefusedWrite: Git's folder cannot be written.
    """
    name = os.path.relpath(os.path.realpath(hook.parent), os.path.realpath(place.common))
    name = os.path.join(name, hook.name)  # noqa: PTH118
    if first_line(place.registration) == name or "\n" in name:
        return
    make_private_folder(place, place.registration.parent)
    make_private_folder(place, place.records.parent)  # editors miss the first file of a new folder
    replace_file(
        write_temporary(place.registration.parent, os.fsencode(f"{name}\n")), place.registration
    )


def unregister_hook(place: WaitingPlace) -> None:
    """Let records be written at once from now on.

    Raises:
        RefusedWrite: Git's folder cannot be written.
    """
    try:
        place.registration.unlink(missing_ok=True)
    except OSError as error:
        raise write_error(place.registration, error) from error


def make_private_folder(place: WaitingPlace, folder: Path) -> None:
    """Create a folder in git's folder that only the user can read.

    Raises:
        RefusedWrite: Git's folder cannot be written, or a link is in the way.
    """
    missing = [
        ancestor for ancestor in (folder, *folder.parents) if ancestor.is_relative_to(place.folder)
    ]
    for part in reversed(missing):
        try:
            part.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise write_error(part, error) from error
        if part.is_symlink():
            raise RefusedWrite(f"{part} is a link", hint="remove it: expected a folder")


def records_in_journal(directory: AuditDir) -> Path:
    """Return where records wait if git's folder cannot be written, as in an agent's sandbox."""
    return directory.journal / "waiting"


def waiting_files(directory: AuditDir) -> list[Path]:
    """Return the files of waiting records that this work tree's readers show, oldest place first.

    They may not exist.
    """
    place = waiting_place(directory)
    within = records_in_journal(directory)
    return [within] if place is None else [place.records, within]


def waiting_blobs(directory: AuditDir) -> Iterator[Path]:
    """Yield the folders of external entries that wait."""
    place = waiting_place(directory)
    if place is not None:
        yield place.blobs
    yield directory.journal / "blobs"


def _as_file_name(path: str) -> str:
    name = path.replace("%", "%25").replace("/", "%2F").replace("\\", "%5C").replace(":", "%3A")
    if len(os.fsencode(name)) <= _MAX_NAME:
        return name
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
    return f"%{digest}"
