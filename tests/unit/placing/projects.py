"""A repository whose edits are recorded, and written by a hook as the product's will."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.git_life.placing import Placing
from tests.git_life.subject import Edit
from tests.trails import Repository


class Project:
    """A repository with a trail; edits are named by what the AI was asked."""

    def __init__(self, folder: Path) -> None:
        self.repository = Repository(folder / "a project")
        home = folder / "home"
        home.mkdir()
        self._placing = Placing({"HOME": str(home)})
        self.repository.write("kept.txt", "kept\n")
        self._placing.init(self.repository.path)
        self.repository.commit("Start")

    def close(self) -> None:
        """End the hook."""
        self._placing.close()

    def person(self, path: str, *lines: str) -> None:
        """Let a person write a file."""
        self.repository.write(path, "".join(f"{line}\n" for line in lines))

    def ai(self, name: str, path: str, *lines: str, wrote: tuple[int, int] | None = None) -> None:
        """Let an AI write a file; by default all of it."""
        file = self.repository.path / path
        before = file.read_bytes() if file.exists() else None
        self.person(path, *lines)
        span = wrote or (1, len(lines))
        self._placing.record(
            self.repository.path, Edit(name, path, before, file.read_bytes(), [span])
        )

    def commit(self, message: str = "Change") -> str:
        """Commit everything."""
        return self.repository.commit(message, date=_now())

    def git(self, *arguments: str) -> str:
        """Run git at the present time."""
        return self.repository.git(*arguments, date=_now())

    def owners(self, path: str, folder: Path | None = None) -> list[str]:
        """Return the kind and the edit of each line: `ai one`; only the kind without an edit."""
        root = folder or self.repository.path
        claims = self._placing.owners(root, path)
        count = len((root / path).read_text("utf-8").splitlines())
        return [
            " ".join(claims[number]) if number in claims else "unrecorded"
            for number in range(1, count + 1)
        ]

    def log(self) -> list[str]:
        """Return the lines of the log in HEAD."""
        return self.repository.git("show", "HEAD:.ai-audit/annotations.jsonl").splitlines()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
