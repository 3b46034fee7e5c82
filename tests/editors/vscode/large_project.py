"""A project with so many annotations that wait that no list may build all rows at once."""

from __future__ import annotations

from pathlib import Path

from tests.server.project import Project

FILES, EDITS = 400, 50
COUNT = FILES * EDITS


def build(root: Path) -> Project:
    """Write a project in which `COUNT` annotations wait, ten thousands of lines in all."""
    project = Project(root)
    project.config()
    project.environment()
    prompt = project.prompt("Write the steps.")
    for number in range(FILES):
        text = "".join(
            f"def step_{number}_{edit}(value: int) -> int:\n    total = value * {edit}\n    return total - {number}\n\n\n"
            for edit in range(EDITS)
        )
        path = f"part{number // 20:02}/module{number:03}.py"
        for edit in range(EDITS):
            score = (number * EDITS + edit) % 97 / 100
            start = 5 * edit + 1
            project.line(path, start, start + 2, text=text, prompt=prompt, risk_score=score)
        project.file(path, text)
    return project
