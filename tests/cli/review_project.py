"""A project with a review queue: two files with three annotations of two prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.server.project import STORY, Project
from tests.trails import Repository
from tests.trails.repository import AUTHOR

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes


class ReviewProject(Project):
    """Recorded risks: 0.9 (lines 4-7 of `a.py`), 0.5 (lines 10-13) and 0.7 (`b/c.py`)."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        Repository(root).set_user(*AUTHOR)
        self.config(risk_scoring={"enabled": True, "algorithm": "our-own"})
        self.environment()
        store, compare = self.prompt("Store it."), self.prompt("Compare.")
        self.digest = self.line(
            "a.py",
            4,
            7,
            text=STORY,
            prompt=store,
            risk_score=0.9,
            session="one",
            decision=self.choice(),
        )
        self.same = self.line("a.py", 10, 13, text=STORY, prompt=compare, risk_score=0.5)
        self.other = self.line("b/c.py", 4, 7, text=STORY, prompt=store, risk_score=0.7)
        self.file("a.py")
        self.file("b/c.py")

    def choice(self) -> str:
        options: list[dict[str, Any]] = [
            {"id": "one", "description": "SHA-256"},
            {"id": "two", "description": "BLAKE2"},
        ]
        return self.decision("Which digest", options, selected="one", rationale="It was asked for.")

    def verdicts(self) -> list[tuple[str, str, str | None]]:
        """Return the reviews of the log: annotation, verdict, note."""
        edges = [
            each
            for each in self.files.records()
            if each["type"] == "edge" and each["edge_type"] == "reviewed_by"
        ]
        found: list[Any] = [(each["source_ref"], each["metadata"]) for each in edges]
        return [(source, said["verdict"], said.get("note")) for source, said in found]


def queue(run_vibes: RunVibes, story: ReviewProject, *arguments: str) -> list[tuple[str, int]]:
    done = run_vibes("review", "--json", *arguments, cwd=story.root)
    assert (done.code, done.err) == (0, "")
    return [(each["filePath"], each["lineStart"]) for each in done.json["placements"]]
