"""Find the attested bytes of a file among its versions in git.

After a merge the attested log is no longer the beginning of the present one. The version that was
attested is recognised by its digest, so git need not be trusted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git.file_changes import file_changes
from vibes_lsp.git.repository import Repository
from vibes_lsp.store.audit_dir import AuditDir

_MAX_VERSIONS: Final = 1000
_MAX_READ: Final = 1 << 30
"""Bytes of all versions of a file that are read."""


@dataclass(frozen=True)
class VersionsInGit:
    """The versions of a trail's files in the commits of all branches."""

    repository: Repository
    directory: AuditDir

    def content(self, name: str, sha256: str, size: int | None) -> bytes | None:
        """Return the newest version with this digest; None if git has none or cannot answer.

        Args:
            name: The file's name in the audit directory.
            sha256: The digest.
            size: Its length, if known.
        """
        read = 0
        try:
            for blob in self._blobs(name):
                content = self.repository.objects.contents(blob)
                if content is None:
                    continue
                read += len(content)
                matches = size is None or len(content) == size
                if matches and hashlib.sha256(content).hexdigest() == sha256:
                    return content
                if read > _MAX_READ:
                    return None
        except (HistoryUnavailable, ValueError):
            return None
        return None

    def is_unpublished(self, name: str) -> bool:
        """Whether git ignores a file, as a project does whose prompts stay private (RFC 13.1)."""
        return self.repository.is_ignored(self.directory.path / name)

    def _blobs(self, name: str) -> Iterator[str]:
        """Yield the object names of a file's versions, each once, newest first."""
        path = self.repository.relative_path(self.directory.path / name)
        seen: set[str] = set()
        for change in file_changes(self.repository, ["--all"], [path]):
            if change.blob not in seen:
                seen.add(change.blob)
                yield change.blob
            if len(seen) >= _MAX_VERSIONS:
                return
