"""The files of an audit directory (RFC 4.1), and how to find the directory of a project."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from vibes_lsp.errors import AuditDirNotFound
from vibes_lsp.store.trail_search import (
    AUDIT_DIR_NAME,
    RefusedTrail,
    check_links,
    search_trail,
)

LOG_NAME: Final = "annotations.jsonl"
MANIFEST_NAME: Final = "manifest.json"
CONFIG_NAME: Final = "config.json"
AUDIT_FILES: Final = (CONFIG_NAME, LOG_NAME, MANIFEST_NAME)


@dataclass(frozen=True)
class AuditDir:
    """An audit directory; `path` is the `.ai-audit/` folder itself.

    What every answer looks at is joined once: a path costs as much as looking at its file.
    """

    path: Path

    @cached_property
    def project(self) -> Path:
        """The project root; recorded paths are relative to it."""
        return self.path.parent

    @cached_property
    def log(self) -> Path:
        """The annotation log (RFC 7)."""
        return self.path / LOG_NAME

    @cached_property
    def manifest(self) -> Path:
        """The manifest (RFC 6)."""
        return self.path / MANIFEST_NAME

    @cached_property
    def config(self) -> Path:
        """The project's policy (RFC 8)."""
        return self.path / CONFIG_NAME

    @property
    def database(self) -> Path:
        """The derived database (RFC 7.8)."""
        return self.path / "audit.db"

    @property
    def blobs(self) -> Path:
        """The folder of external entries (RFC 6.7)."""
        return self.path / "blobs"

    @cached_property
    def journal(self) -> Path:
        """The folder of entries that are not in the manifest yet (RFC 9.3, R10)."""
        return self.path / "wal"

    @cached_property
    def spool(self) -> Path:
        """The folder of requests that may be repeated; git ignores it (R13)."""
        return self.path / "spool"

    @cached_property
    def pending_completions(self) -> Path:
        """The folder of accepted inline completions whose last part is pending."""
        return self.spool / "held"

    @cached_property
    def waiting_events(self) -> Path:
        """The folder of agents' events that are not recorded yet."""
        return self.spool / "events"

    @property
    def agent_events(self) -> Path:
        """The folder of the log of agents' events."""
        return self.spool / "agents"

    @property
    def kept_texts(self) -> Path:
        """The folder of texts that annotations were made in and git may never have."""
        return self.spool / "texts"

    @property
    def gitignore(self) -> Path:
        """Keeps derived files out of git (RFC 4.2, R13)."""
        return self.path / ".gitignore"

    @property
    def gitattributes(self) -> Path:
        """Keeps git from changing line ends, and makes it merge the growing files (R13)."""
        return self.path / ".gitattributes"


def find_audit_dir(start: Path) -> AuditDir:
    """Return the nearest audit directory at `start` or above it; see `trail_search`.

    Raises:
        AuditDirNotFound: There is none that may be used.
    """
    try:
        path = search_trail(str(start.absolute()))
    except RefusedTrail as refusal:
        raise _refused(refusal) from None
    if path is None:
        raise AuditDirNotFound(
            f"no {AUDIT_DIR_NAME}/ in {start.absolute()} or above it",
            hint="run `vibes init` in the project, or name one with --audit-dir",
        )
    return AuditDir(Path(path))


def _refused(refusal: RefusedTrail) -> AuditDirNotFound:
    if refusal.is_link:
        return AuditDirNotFound(
            f"{refusal.path} is a link out of the project: it names another project's audit trail",
            hint="remove the link, and run `vibes init` for a trail of this project",
        )
    return AuditDirNotFound(
        f"{refusal.path} is owned by another user, so the audit trail there is not used",
        hint="if you trust it: git config --global --add safe.directory "
        f"{shlex.quote(refusal.top)}",
    )


def nearest_audit_dir(folder: str) -> AuditDir | None:
    """Return the audit directory that owns an absolute path; None without one to use."""
    try:
        path = search_trail(folder)
    except RefusedTrail:
        return None
    return None if path is None else AuditDir(Path(path))


def named_audit_dir(path: Path) -> AuditDir:
    """Return the audit directory at a path that the user gave; its folder may have any name.

    Raises:
        AuditDirNotFound: It is not a folder, has no file of an audit trail, or is a link out of
            the project.
    """
    folder = path.absolute()
    if (folder / AUDIT_DIR_NAME).is_dir():
        folder /= AUDIT_DIR_NAME
    if folder.name == AUDIT_DIR_NAME:
        try:
            check_links(str(folder))
        except RefusedTrail as refusal:
            raise _refused(refusal) from None
    if not folder.is_dir():
        raise AuditDirNotFound(
            f"{path} is not a folder", hint=f"give the path of an {AUDIT_DIR_NAME}/ folder"
        )
    directory = AuditDir(folder)
    files = (directory.config, directory.manifest, directory.log)
    if folder.name != AUDIT_DIR_NAME and not any(map(os.path.lexists, files)):
        names = ", ".join(file.name for file in files)
        raise AuditDirNotFound(
            f"{path} has none of {names}", hint=f"give the path of an {AUDIT_DIR_NAME}/ folder"
        )
    return directory
