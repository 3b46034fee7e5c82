"""Projects to check: a sound one in a real repository, and a minimal one."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.trails import SOURCES, CompleteTrail, Repository, TrailWriter, complete
from tests.trails.complete_trail import LIMITS_BEFORE
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.report import Report, check_trail
from vibes_lsp.store.audit_dir import AuditDir

if TYPE_CHECKING:
    from pathlib import Path

NOW: Final = datetime(2026, 2, 3, 12, tzinfo=UTC)
CONFIG: Final = ".ai-audit/config.json"
MANIFEST: Final = ".ai-audit/manifest.json"
LOG: Final = ".ai-audit/annotations.jsonl"
LEVELS: Final = ("low", "medium", "high")


class Seen(NamedTuple):
    """The visible parts of a finding."""

    check: str
    severity: str
    file: str
    line: int | None
    field: str | None
    message: str


@dataclass(frozen=True)
class Project:
    """A project with its repository and a writer that appends to its trail."""

    root: Path
    repository: Repository
    writer: TrailWriter
    trail: CompleteTrail
    head: str

    @property
    def audit(self) -> Path:
        """The audit directory."""
        return self.root / ".ai-audit"

    def report(self, base: str | None = None) -> Report:
        """Check the project."""
        return check(self.root, base)

    def seen(self, base: str | None = None) -> list[Seen]:
        """Check the project and return its findings."""
        return seen(self.report(base))

    def line(
        self, path: str = "src/auth.py", *, prompt: str | None = None, **members: object
    ) -> str:
        """Append a sound annotation with some members changed; return its id."""
        known: dict[str, Any] = {
            "session_id": self.trail.session,
            "commit_hash": self.head,
            **members,
        }
        identifier = self.writer.line(path, 1, 2, prompt=prompt or self.trail.prompt, **known)
        self.writer.cause(identifier, self.trail.command, session=self.trail.session)
        return identifier

    def external_reasoning(self, blob_path: str) -> str:
        """Write an entry of external reasoning by hand; return its key."""
        entry = {
            "type": "reasoning",
            "external": True,
            "blob_path": blob_path,
            "reasoning_model": "m",
            "created_at": self.writer.now(),
        }
        return self.writer.entry(entry)

    def contents(self) -> dict[str, bytes | str]:
        """Return the contents of the audit directory, see `contents`."""
        return contents(self.audit)

    def last_line(self, file: str) -> int:
        """Return the number of the last line of a file."""
        return (self.root / file).read_bytes().count(b"\n") + 1

    def last(self, back: int = 0) -> int:
        """Return the number of the last line of the log, or of one `back` lines before it."""
        return (self.root / LOG).read_bytes().count(b"\n") - back

    def place(self, text: str, file: str = MANIFEST) -> int:
        """Return the number of the first line of a file that contains a text."""
        lines = (self.root / file).read_text(encoding="utf-8").split("\n")
        return next(number for number, line in enumerate(lines, 1) if text in line)


def contents(folder: Path) -> dict[str, bytes | str]:
    """Return everything in a folder by path: bytes of files, targets of links, else the kind.

    The notes of our hook on the last commit are left out: the next program removes them.
    """
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and path.parent.name == "ai-audit":
            continue
        if path.is_symlink():
            found[name] = f"to {path.readlink()}"
        elif path.is_file():
            found[name] = (
                path.read_bytes() if os.access(path, os.R_OK) else f"{path.stat().st_size} bytes"
            )
        else:
            found[name] = "no file"
    return found


def build(root: Path, level: str) -> CompleteTrail:
    """Create a repository with a sound trail of a level, all committed."""
    repository = Repository(root)
    repository.write("src/limits.py", LIMITS_BEFORE)
    earlier = repository.commit("Add limits")
    for path, text in SOURCES.items():
        repository.write(path, text)
    commit = repository.commit("Add the rest")
    trail = complete(root, level, commit=commit, earlier_commit=earlier)
    repository.commit("Add the trail")
    return trail


def copied(template: CompleteTrail, root: Path) -> Project:
    """Copy a project of `build`, so that a test may modify it."""
    shutil.copytree(template.root, root)
    repository = Repository(root)
    writer = TrailWriter(root, level=template.level, start="2026-02-03T11:00:00.000Z")
    writer.last_environment = template.environment
    return Project(root, repository, writer, template, repository.head())


def smallest(root: Path, level: str) -> TrailWriter:
    """Create a repository whose trail has one annotation, without prompt and reasoning."""
    repository = Repository(root)
    repository.write("a.py", "one\ntwo\n")
    commit = repository.commit("Add a.py")
    writer = TrailWriter(root, level=level)
    writer.config()
    writer.housekeeping()
    writer.environment()
    session = writer.session_start()
    annotation = writer.line("a.py", 1, 2, commit=commit, session=session)
    writer.cause(annotation, writer.command("a.py", type="file_write"), session=session)
    writer.session_end(session)
    return writer


def check(root: Path, base: str | None = None) -> Report:
    """Check the trail of the project at `root`."""
    return check_trail(open_context(AuditDir(root / ".ai-audit"), NOW), base)


def seen(report: Report) -> list[Seen]:
    """Return the visible parts of the findings of a report."""
    return [
        Seen(each.check.id, each.severity.value, each.file, each.line, each.field, each.message)
        for each in report.findings
    ]
