"""A project for `vibes gate`: risky AI lines in a repository, with commits of several authors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tests.cli.run_vibes import vibes
from tests.server.project import STORY, Project
from tests.trails import OMIT, Repository
from tests.trails.repository import AUTHOR

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.cli.run_vibes import CommandResult, RunVibes

RULES: Final = [{"condition": "temperature > 0.8", "action": "block"}]
BEGIN: Final = "import hashlib\n"
BO: Final = ("Bo Example", "bo@example.org")
BLOCKED: Final = {"a.py": ("block", False)}
RELEASED: Final = {"a.py": ("block", True)}
"""What `decisions` returns while the lines of `a.py` are blocked, and after an approval."""


class GateProject(Project):
    """A project with PRISM on and one commit, `base`, without AI lines.

    Commits are Ada's unless an author is given.
    """

    def __init__(self, root: Path, **risk: Any) -> None:
        super().__init__(root)
        self.repository = Repository(root, start="2026-02-05T09:00:00+00:00")
        self.repository.set_user(*AUTHOR)
        self.policy(**risk)
        self.housekeeping()
        self.calm = self.environment(parameters={"temperature": 0.1})
        self.risky = self.environment(parameters={"temperature": 0.9})
        self.prompt("Hash a payload.")
        self.file("a.py", BEGIN)
        self.base = self.repository.commit("Begin")

    def policy(
        self,
        *,
        level: str = "medium",
        tracked: object = OMIT,
        excluded: object = OMIT,
        **risk: object,
    ) -> None:
        """Write the configuration; by default, a rule blocks AI lines of a high temperature."""
        given = {"enabled": True, "review_rules": RULES, **risk}
        self.config(
            risk_scoring=given,
            assurance_level=level,
            tracked_extensions=tracked,
            exclude_patterns=excluded,
        )

    def write(
        self,
        path: str = "a.py",
        start: int = 4,
        end: int = 7,
        *,
        risky: bool = True,
        **members: Any,
    ) -> str:
        """Write a file with AI lines and record them; return the id of the annotation."""
        session = members.pop("session", None) or self.session_start(
            environment=self.risky if risky else self.calm
        )
        environment = self.risky if risky else self.calm
        identifier = self.line(
            path,
            start,
            end,
            text=members.pop("text", STORY),
            environment=environment,
            session=session,
            **members,
        )
        self.file(path)
        return identifier

    def commit(
        self,
        message: str = "Go on",
        by: tuple[str, str] = AUTHOR,
        committer: tuple[str, str] | None = None,
    ) -> str:
        """Commit everything; return the commit."""
        return self.repository.commit(message, by=by, committer=committer)

    def commit_review(
        self,
        identifier: str,
        by: tuple[str, str] = BO,
        committer: tuple[str, str] | None = None,
        **members: Any,
    ) -> None:
        """Approve an annotation, and commit that as the reviewer."""
        self.review(identifier, reviewer=by[0], **members)
        self.commit("Review", by, committer)

    def gate(self, run_vibes: RunVibes, *arguments: str) -> CommandResult:
        """Run the gate against the base."""
        return run_vibes("gate", "--base", self.base, *arguments, cwd=self.root)

    def gate_json(self, run_vibes: RunVibes, *arguments: str) -> Any:
        """Run the gate against the base and return its JSON."""
        done = self.gate(run_vibes, *arguments, "--json")
        assert done.err == ""
        assert done.code == (0 if done.json["result"] == "PASS" else 1)
        return done.json

    def review_by_command(self, identifier: str) -> Any:
        """Approve an annotation by `vibes record review` as the git user; return its output."""
        given = json.dumps({"verdict": "approved", "annotationIds": [identifier]})
        done = vibes("record", "review", cwd=self.root, given=given)
        assert done.code == 0, done.err
        return done.json

    def log_lines(self) -> list[bytes]:
        """Return the lines of the log."""
        return (self.root / ".ai-audit/annotations.jsonl").read_bytes().splitlines(keepends=True)

    def write_log(self, lines: list[bytes]) -> None:
        """Replace the log."""
        (self.root / ".ai-audit/annotations.jsonl").write_bytes(b"".join(lines))


def use_ci_user(project: GateProject) -> GateProject:
    """Set the user of git to a CI runner, which wrote no code."""
    project.repository.set_user("Runner", "runner@example.org")
    return project


def change_last_records(
    project: GateProject, change: Callable[[bytes], bytes], count: int = 1
) -> None:
    """Change the last lines of the log."""
    lines = project.log_lines()
    project.write_log(lines[:-count] + [change(line) for line in lines[-count:]])


def decisions(result: Any) -> dict[str, tuple[str, bool]]:
    """Return decision and release of each item, by its file."""
    return {item["filePath"]: (item["decision"], item["released"]) for item in result["items"]}


def checks(result: Any, *severities: str) -> set[str]:
    """Return the ids of the findings, of some severities or of all."""
    return {
        each["check"]
        for each in result["findings"]
        if not severities or each["severity"] in severities
    }


def members(record: bytes) -> Mapping[str, Any]:
    """Return a line of the log decoded."""
    found: dict[str, Any] = json.loads(record)
    return found
