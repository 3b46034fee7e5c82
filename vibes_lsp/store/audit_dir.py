"""Where things lie in an audit directory (RFC 4.1), and how a project's directory is found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vibes_lsp.errors import AuditDirNotFound

AUDIT_DIR_NAME: Final = ".ai-audit"
LOG_NAME: Final = "annotations.jsonl"
MANIFEST_NAME: Final = "manifest.json"
CONFIG_NAME: Final = "config.json"


@dataclass(frozen=True, slots=True)
class AuditDir:
    """One audit directory; `path` is the `.ai-audit/` itself."""

    path: Path

    @property
    def project(self) -> Path:
        """The project root that recorded paths are relative to."""
        return self.path.parent

    @property
    def log(self) -> Path:
        """The annotation log (RFC 7)."""
        return self.path / LOG_NAME

    @property
    def manifest(self) -> Path:
        """The manifest (RFC 6)."""
        return self.path / MANIFEST_NAME

    @property
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

    @property
    def journal(self) -> Path:
        """The folder of entries that are not folded into the manifest yet (RFC 9.3, R10)."""
        return self.path / "wal"

    @property
    def spool(self) -> Path:
        """The folder of requests that may come twice; git ignores it (R13)."""
        return self.path / "spool"

    @property
    def pending_completions(self) -> Path:
        """The folder of inline completions that were accepted, and wait for their last part to be recorded."""
        return self.spool / "held"

    @property
    def gitignore(self) -> Path:
        """Keeps derived files out of git (RFC 4.2, R13)."""
        return self.path / ".gitignore"

    @property
    def gitattributes(self) -> Path:
        """Keeps git from rewriting or conflicting the trail (R13)."""
        return self.path / ".gitattributes"


def find_audit_dir(start: Path) -> AuditDir:
    """Return the nearest audit directory at `start` or above it.

    Raises:
        AuditDirNotFound: There is none up to the file system's root.
    """
    begin = start.absolute()
    for folder in (begin, *begin.parents):
        candidate = folder if folder.name == AUDIT_DIR_NAME else folder / AUDIT_DIR_NAME
        if candidate.is_dir():
            return AuditDir(candidate)
    raise AuditDirNotFound(
        f"no {AUDIT_DIR_NAME}/ in {begin} or above it",
        hint="run `vibes init` in the project, or name one with --audit-dir",
    )


def named_audit_dir(path: Path) -> AuditDir:
    """Return the audit directory that the user named; any folder name will do.

    Raises:
        AuditDirNotFound: It is not a folder.
    """
    folder = path.absolute()
    if (folder / AUDIT_DIR_NAME).is_dir():
        return AuditDir(folder / AUDIT_DIR_NAME)
    if not folder.is_dir():
        raise AuditDirNotFound(
            f"{path} is not a folder", hint=f"give the path of an {AUDIT_DIR_NAME}/ folder"
        )
    return AuditDir(folder)
