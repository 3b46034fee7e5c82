"""The demonstration's repository, with what `make demo` and the tests do to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.trails.repository import Repository
from vibes_lsp.demo.story import create_demo


@dataclass(frozen=True)
class Workspace:
    """Where the repository lies, and two records that the demonstration speaks of."""

    root: Path
    hashing: str
    review: str

    @property
    def audit(self) -> Path:
        """Its audit directory."""
        return self.root / ".ai-audit"

    def tamper(self) -> None:
        """Change a recorded prompt, and take the review out of the log."""
        manifest, log = self.audit / "manifest.json", self.audit / "annotations.jsonl"
        manifest.write_bytes(
            manifest.read_bytes().replace(b"Store passwords safely", b"Store passwords")
        )
        kept = [
            line
            for line in log.read_bytes().splitlines(keepends=True)
            if self.review.encode() not in line
        ]
        log.write_bytes(b"".join(kept))

    def restore(self) -> None:
        """Put the trail back as it was committed."""
        Repository(self.root).git("checkout", "--quiet", "--", ".ai-audit")


def build(root: Path) -> Workspace:
    """Make the repository in an empty folder, as `vibes demo` does.

    Args:
        root: The folder; created when it is not there.
    """
    demo = create_demo(root.absolute())
    return Workspace(demo.root, demo.hashing, demo.review)
