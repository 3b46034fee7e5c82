"""A server that has run for long answers as one that was just started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.demo.workspace import copied
from tests.trails.repository import Repository
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.mcp.tool_catalogue import ASKING, Connection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vibes_lsp.trail.trail import Trail


TOOLS = {tool.name: tool for tool in ASKING}


def answers(connection: Connection, root: Path) -> list[Any]:
    """Return the answers of all tools, about every file."""
    files = sorted(path.relative_to(root).as_posix() for path in root.glob("[a-z]*/*.*"))
    about: list[tuple[str, Any]] = [
        (tool, {"file": file}) for file in files for tool in ("provenance_at", "why")
    ]
    whole: list[tuple[str, Any]] = [
        (tool, {"limit": 100}) for tool in ("risk", "review_queue", "find_prompts")
    ]
    return [TOOLS[tool].call(connection, given) for tool, given in (*about, *whole)]


def changes(root: Path) -> Iterator[str]:
    """Change the project step by step; yield the name of each step after it."""
    repository = Repository(root)
    auth, text = root / "src/auth.py", (root / "src/auth.py").read_text(encoding="utf-8")
    yield "nothing"
    auth.write_text("# A comment.\n\n" + text, encoding="utf-8")
    yield "lines above"
    lines = text.splitlines(keepends=True)
    auth.write_text("".join(lines[:12]), encoding="utf-8")
    (root / "src/passwords.py").write_text("".join(lines[12:]), encoding="utf-8")
    yield "moved to another file"
    repository.commit("Split the module")
    yield "committed"
    repository.git("mv", "src/passwords.py", "src/secrets_of_users.py")
    repository.commit("Rename a module")
    yield "renamed"
    repository.git("checkout", "--quiet", "HEAD~1")
    yield "an older commit"
    audit = root / ".ai-audit"
    audit.rename(root / "away")
    (root / "away").rename(audit)
    config = audit / "config.json"
    config.write_bytes(config.read_bytes().replace(b'"critical": 0.8', b'"critical": 0.9'))
    yield "another policy"


def test_a_running_server_answers_as_a_new_one(tmp_path: Path) -> None:
    root = copied(tmp_path / "project").root
    running = Connection(ServedProject(root))
    try:
        for step in changes(root):
            new = Connection(ServedProject(root))
            assert answers(running, root) == answers(new, root), step
            new.project.close()
    finally:
        running.project.close()


def test_an_answer_is_made_again_when_the_log_was_rewritten_meanwhile(tmp_path: Path) -> None:
    project = ServedProject(copied(tmp_path / "project").root)
    trails: list[Trail] = []

    def answer() -> int:
        trails.append(project.trail)
        if len(trails) == 1:
            raise OutdatedIndex("annotations.jsonl was rewritten")
        return project.trail.line_count

    assert project.answered(answer) > 0
    assert len(trails) == 2
    project.close()
