"""A project of one test's own: a trail to write, and the files that it speaks of."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from tests.trails import TrailWriter
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.waiting import register_hook, waiting_place

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import Repository

STORY: Final = """import hashlib


def digest(payload: bytes) -> str:
    \"\"\"Return the digest of a payload.\"\"\"
    seen = hashlib.sha256(payload)
    return seen.hexdigest()


def same(one: bytes, other: bytes) -> bool:
    left = digest(one)
    right = digest(other)
    return left == right
"""
"""A file whose functions, on lines 4-7 and 10-13, cannot be mistaken for each other."""
EDITED: Final = STORY.replace('    """Return', '    # what for?\n    """Return').replace(
    "seen.hexdigest()", "seen.hexdigest().lower()"
)
"""The story with a line put into lines 4 to 7, and another one changed."""
AS_RECORDED: Final = {"enabled": True, "algorithm": "our-own"}
"""PRISM with an algorithm that nobody here knows: scores show as they were recorded, and none is computed (R27)."""
MOSTLY_CRITICAL: Final = {
    "enabled": True,
    "thresholds": {"low": 0, "medium": 0.01, "high": 0.02, "critical": 0.03},
}
"""A configuration of PRISM in which every score above 0.03 is critical."""


class Project(TrailWriter):
    """A trail writer that also writes the annotated files."""

    def file(self, path: str, text: str | bytes = STORY) -> Path:
        """Write a file of the project, newlines as given, and return its path."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def hashed(self, path: str, start: int, end: int, text: str = STORY, **members: Any) -> str:
        """Annotate lines with anchors and the hashes of the lines; return the id."""
        lines = text.splitlines()[start - 1 : end]
        hashes = "".join(sha256(line.encode()).hexdigest()[:8] for line in lines)
        return self.line(path, start, end, text=text, line_hashes=hashes, **members)

    def annotated(
        self, path: str = "a.py", start: int = 4, end: int = 7, text: str = STORY, **members: Any
    ) -> Path:
        """Write a file and annotate lines of it, with anchors; return its path."""
        self.line(path, start, end, text=text, **members)
        return self.file(path, text)


def let_records_wait(repository: Repository) -> Path:
    """Install a hook that writes records into commits; return the file where they wait for it."""
    hook = repository.hooks() / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n", encoding="utf-8")
    place = waiting_place(AuditDir(repository.path / ".ai-audit"))
    assert place is not None
    register_hook(place, hook)
    return place.records
