"""The sample repository, with the changes that `make demo` and the tests make to it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.trails.repository import Repository
from vibes_lsp.demo.story import create_demo


@dataclass(frozen=True)
class Workspace:
    """The repository, and two records that the demonstration uses."""

    root: Path
    hashing: str
    review: str

    @property
    def audit(self) -> Path:
        """Its audit directory."""
        return self.root / ".ai-audit"

    @property
    def sign_up(self) -> str:
        """The commit that brought the risky function, as people see it."""
        git = Repository(self.root).git
        return git("log", "--format=%H", "--grep=Let people sign up")[:8]

    def tamper(self) -> None:
        """Change a recorded prompt and delete a review from the log."""
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
        """Restore the committed audit trail."""
        Repository(self.root).git("checkout", "--quiet", "--", ".ai-audit")


def copied(root: Path) -> Workspace:
    """Copy the repository to a folder; it is created once in a process."""
    demo = _demo()
    shutil.copytree(demo.root, root, symlinks=True, dirs_exist_ok=True)
    return Workspace(root.absolute(), demo.hashing, demo.review)


@cache
def _demo() -> Workspace:
    folder = tempfile.mkdtemp(prefix="vibes-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return build(Path(folder, "demo"))


def build(root: Path) -> Workspace:
    """Create the repository in an empty folder, as `vibes demo` does.

    Args:
        root: The folder; created if missing.
    """
    demo = create_demo(root.absolute())
    return Workspace(demo.root, demo.hashing, demo.review)
