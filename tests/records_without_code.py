"""A project with a record that claims no code: a review, or anchors of text older than the edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.server.project import STORY, Project
from tests.trails import Repository
from tests.trails.repository import AUTHOR

if TYPE_CHECKING:
    from pathlib import Path

SCORING: Final = {
    "enabled": True,
    "review_rules": [{"condition": "scope_lines >= 1", "action": "block"}],
}
"""Blocks every line of an AI."""
LATE: Final = "2026-03-09T12:00:00Z"
FILE: Final = "a.py"
KINDS: Final = ("review", "contradicted")
"""Kinds of records that are not gate items."""


def project_with_record(root: Path, kind: str, **members: Any) -> tuple[Project, str]:
    """Return a project with a person's file, and the id of its only line record, on lines 4-7."""
    project = Project(root)
    project.config(risk_scoring=SCORING, tracked_extensions=[".py"])
    project.environment()
    project.file(FILE)
    repository = Repository(project.root, start="2026-02-03T09:00:00+00:00")
    repository.set_user(*AUTHOR)
    repository.commit("A person's file")
    action = "review" if kind == "review" else "modify"
    given = {
        "action": action,
        "risk_score": 0.95,
        "timestamp": LATE,
        "prompt": project.prompt("Change it."),
        **members,
    }
    return project, project.line(FILE, 4, 7, text=STORY, **given)
