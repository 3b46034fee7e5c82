"""Nothing is recorded about files of git and of audit trails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.recording.projects import MODEL, TOOL, Project, session_origin
from tests.unit.recording.request_builders import (
    Completion,
    function_request,
    reanchor_request,
    review_request,
)
from vibes_lsp.recording import (
    Origin,
    WrongArgument,
)
from vibes_lsp.recording.paths import is_bookkeeping

if TYPE_CHECKING:
    from collections.abc import Callable

PLACES = [
    ".git/hooks/run.py",
    ".GIT/config",
    ".ai-audit/config.json",
    "sub/.ai-audit/x.py",
    "lib/.git",
    "linked/config.json",
]
WAYS: dict[str, Callable[[Project, str], object]] = {
    "lines": lambda project, path: project.recorder.annotate_lines(
        path, 1, 1, "create", Origin(tool=TOOL, model=MODEL), text="x\n"
    ),
    "a function": lambda project, path: project.recorder.execute(
        function_request(
            path, "f", "create", Origin(tool=TOOL, model=MODEL), lines=(1, 1), text="x\n"
        )
    ),
    "an absolute path": lambda project, path: project.recorder.annotate_lines(
        project.root / path, 1, 1, "create", Origin(tool=TOOL, model=MODEL), text="x\n"
    ),
    "a completion": lambda project, path: project.recorder.execute(
        Completion(path, "1", (0, 0), (0, 0), "x\n", "").request(Origin(tool=TOOL, model=MODEL))
    ),
    "a review": lambda project, path: project.recorder.execute(
        review_request(verdict="approved", path=path, lines=(1, 1), text="x\n")
    ),
    "a correction": lambda project, path: project.recorder.execute(
        reanchor_request(str(project.records("line")[0]["annotation_id"]), path, (1, 1), "x\n")
    ),
}


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_files_of_git_and_of_trails_are_refused(
    project: Project, way: Callable[[Project, str], object], path: str
) -> None:
    (project.root / "linked").symlink_to(project.root / ".ai-audit", target_is_directory=True)
    project.recorder.annotate_lines("a.py", 4, 4, "modify", session_origin(project.session()))
    before = project.records()
    with pytest.raises(WrongArgument, match="belongs to git or to an audit trail"):
        way(project, path)
    assert project.records() == before


@pytest.mark.parametrize(
    "path",
    ["a.py", ".github/workflows/ci.yml", ".gitignore", "git/x.py", ".ai-audit.md", "x/.gitkeep"],
)
def test_files_with_similar_names_are_recorded(project: Project, path: str) -> None:
    assert not is_bookkeeping(project.root, path)
    project.file(path, "x\n")
    recorded = project.recorder.annotate_lines(path, 1, 1, "create", Origin(tool=TOOL, model=MODEL))
    assert recorded.annotation_id is not None or recorded.untracked
