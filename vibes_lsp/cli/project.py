"""Opens the project that a command works on: its audit directory, log, policy and files.

Every command imports this module, so what only some need is imported when they use it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vibes_lsp.cli.output import print_warning, progress
from vibes_lsp.errors import UnreadableFile, VibesError
from vibes_lsp.ingest.hook import has_waiting_events
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir, named_audit_dir
from vibes_lsp.store.config import LoadedConfig, load_config
from vibes_lsp.store.files import real_path_in, regular_file_stamp
from vibes_lsp.store.versions import unsupported_versions
from vibes_lsp.store.waiting import has_mark, waiting_place
from vibes_lsp.store.waiting_lines import NOT_READ
from vibes_lsp.trail.committed_waiting import committed_waiting
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vibes_lsp.placing.live_risk import Scorer
    from vibes_lsp.placing.project_locator import ProjectLocator
    from vibes_lsp.recording import Recorder


WAITING_HINT = "they enter the log with the commit of their lines; `vibes flush` writes them now"


def audit_directory(audit_dir: Path | None) -> AuditDir:
    """Return the audit directory that `--audit-dir` names, else the nearest one.

    What our hook added to a commit that was given up is taken back (R4).

    Raises:
        AuditDirNotFound: There is none.
    """
    directory = named_audit_dir(audit_dir) if audit_dir is not None else find_audit_dir(Path.cwd())
    if has_mark(directory):
        from vibes_lsp.git.given_up_commits import take_back  # noqa: PLC0415

        take_back(directory)
    return directory


def path_in_project(file: Path, project: Path) -> str:
    """Return a file's path relative to the project, with forward slashes, as git has it.

    A link inside the project stands for its file.

    Raises:
        UnreadableFile: It is outside the project.
    """
    try:
        path = absolute(file).relative_to(absolute(project)).as_posix()
        return real_path_in(absolute(project), path) or path
    except ValueError:
        raise UnreadableFile(
            f"{file} is outside the project {project}",
            hint="name its audit directory with --audit-dir",
        ) from None


def refuse_absent(file: str | None, project: Path) -> None:
    """Stop where nothing is found for a file or folder that does not exist.

    Args:
        file: Relative to the project; None if none was named.
        project: The project.

    Raises:
        UnreadableFile: It does not exist.
    """
    if file is not None and not os.path.lexists(project / file):
        raise UnreadableFile(
            f"{file} does not exist, and no annotation is about it",
            hint="name a file or folder of the project",
        )


def explain_nothing(locator: ProjectLocator) -> str:
    """Return why no annotation is in the files of a checkout, after a semicolon; else nothing."""
    if locator.annotated_files() or not (absent := len(set(locator.names.recorded))):
        return ""
    files = "the annotated file is" if absent == 1 else f"the {absent:,} annotated files are"
    return f"; {files} not in this checkout, `vibes log` lists the records"


def absolute(path: Path) -> Path:
    """Return a path absolute and without `..`; links are not resolved."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # Path.absolute keeps `..`


def fold_waiting_events(directory: AuditDir) -> None:
    """Record the agents' events that wait before a trail is shown, if that is possible."""
    if has_waiting_events(str(directory.waiting_events)):
        from vibes_lsp.ingest.fold import fold_for_reader  # noqa: PLC0415

        fold_for_reader(directory)


def open_trail(audit_dir: Path | None, *, folds: bool = True, uses_saved: bool = True) -> Trail:
    """Read an audit trail, with progress on a terminal.

    Warns about a version of the standard that is not supported (RFC 12.1).

    Args:
        audit_dir: What `--audit-dir` names.
        folds: Whether to record agents' events that wait first, if that is possible.
        uses_saved: Whether to use and save the index of a large log: for commands that display,
            not for those that decide or publish.

    Raises:
        AuditDirNotFound: There is none.
        UnreadableFile: The log cannot be read.
    """
    directory = audit_directory(audit_dir)
    if folds:
        fold_waiting_events(directory)

    def nearest(commits: Sequence[str]) -> str | None:
        from vibes_lsp.git.repository import nearest_ancestor  # noqa: PLC0415

        return nearest_ancestor(directory.project, commits)

    trail = Trail(directory, nearest_commit=nearest, uses_saved=uses_saved)
    log = regular_file_stamp(trail.directory.log)
    with progress() as step:
        trail.refresh(progress=lambda done: step("log", done, log.size if log else 0))
    if trail.log.problem is not None:
        raise trail.log.problem
    for sentence in unsupported_versions(load_config(trail.directory), trail.manifest):
        print_warning(f"{sentence}; it is read as far as possible")
    if file := committed_waiting(directory):
        print_warning(f"{file} {NOT_READ}")
    _warn_of_late(directory)
    return trail


def _warn_of_late(directory: AuditDir) -> None:
    """Say which edits no hook has written into their commit (R29)."""
    place = waiting_place(directory)
    if place is not None and place.records.is_file():
        from vibes_lsp.maintenance.late_edits import late_notice  # noqa: PLC0415

        if notice := late_notice(directory):
            print_warning(notice)


def read_text_input() -> str:
    """Return the text on standard input.

    Raises:
        VibesError: It is not UTF-8.
    """
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise VibesError(
            f"standard input is not UTF-8: byte {error.start + 1:,}", hint="save it as UTF-8"
        ) from None


def now() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class OpenProject:
    """An audit trail that was read, with the project's policy."""

    trail: Trail
    config: LoadedConfig

    @property
    def scorer(self) -> Scorer:
        """Scores annotations by the project's policy."""
        from vibes_lsp.placing.live_risk import Scorer as Opened  # noqa: PLC0415

        return Opened(self.trail, self.config.policy)

    def locator(
        self, *, use_git: bool = True, use_cache: bool = False, use_kept_texts: bool = True
    ) -> ProjectLocator:
        """Return a context manager that locates annotations in the project's files.

        Args:
            use_git: Whether to search git's history.
            use_cache: See `ProjectLocator`.
            use_kept_texts: See `ProjectLocator`.
        """
        from vibes_lsp.placing.project_locator import ProjectLocator as Opened  # noqa: PLC0415

        return Opened(
            self.trail, use_git=use_git, use_cache=use_cache, use_kept_texts=use_kept_texts
        )


def open_project(
    audit_dir: Path | None, near: Path | None = None, *, uses_saved: bool = True
) -> OpenProject:
    """Read an audit trail and the project's policy.

    Args:
        audit_dir: What `--audit-dir` names.
        near: A file; without `audit_dir`, the nearest audit directory above it is used.
        uses_saved: See `open_trail`.

    Raises:
        AuditDirNotFound: There is none.
        UnreadableFile: The log cannot be read.
    """
    trail_path = (
        find_audit_dir(absolute(near).parent).path
        if audit_dir is None and near is not None
        else audit_dir
    )
    trail = open_trail(trail_path, uses_saved=uses_saved)
    return OpenProject(trail, load_config(trail.directory))


def open_recorder(directory: AuditDir) -> Recorder:
    """Return a recorder; agents' events that wait are recorded first.

    If that fails, it is a warning: they go on waiting.
    """
    from vibes_lsp.recording import Recorder as Opened  # noqa: PLC0415

    if has_waiting_events(str(directory.waiting_events)):
        from vibes_lsp.ingest.fold import fold_events  # noqa: PLC0415

        try:
            fold_events(directory)
        except VibesError as error:
            print_warning(f"agents' events are not recorded yet: {error.message}")
    return Opened(directory)


def finish_recording(recorder: Recorder, *, wait: bool = True) -> None:
    """Fold the journal and flush the disk after a command has recorded.

    A failure is a warning only: what was recorded is safe.

    Args:
        recorder: The recorder of the command.
        wait: Whether to wait for another program that folds.
    """
    problem = recorder.finish(wait=wait)
    if problem is not None:
        hint = f"; {problem.hint}" if problem.hint else ""
        print_warning(f"recorded, but {problem.message}{hint}")
