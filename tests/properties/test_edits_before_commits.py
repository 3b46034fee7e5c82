"""Sessions in which an agent and a person take turns, with few commits: who wrote each line?

The truth is known by construction. No line of a person may be shown as verified, and the texts that
were kept make more of the agent's lines verified.
"""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import pytest

from tests.trails import Repository
from vibes_lsp.anchors.location import LineKind
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording import Model, Origin, Prompt, PromptType, Recorder, Tool
from vibes_lsp.reports.blame import line_kind, line_owners
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.initialise import initialise
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

COUNT: Final = int(os.environ.get("VIBES_EDIT_HISTORIES", "20"))
START: Final = datetime(2026, 2, 3, 10, tzinfo=UTC)
ORDINARY: Final = ("", "}", "    return None", "else:", "    pass")
"""Lines that an agent and a person both write."""
BY: Final = Origin(
    tool=Tool("Some Tool", "1"),
    model=Model("some-model", "1"),
    prompt=Prompt("Write it.", PromptType.USER_INSTRUCTION),
)
AGENT, PERSON = "agent", "person"


def written(rng: random.Random, count: int, who: str) -> list[tuple[str, str]]:
    """Return new lines with their author."""
    return [
        (
            rng.choice(ORDINARY)
            if rng.random() < 0.3
            else f"value_{rng.randrange(10**6)} = compute({rng.randrange(10**4)})",
            who,
        )
        for _ in range(count)
    ]


class Session:
    """A file that an agent and a person edit in turns."""

    def __init__(self, root: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.repository = Repository(root, start=START.isoformat())
        initialise(
            root,
            project_name="p",
            level=AssuranceLevel.MEDIUM,
            extensions=None,
            tool_version="0",
            now=START,
        )
        self.lines = written(self.rng, self.rng.randint(3, 25), PERSON)
        self.save()
        self.repository.commit("Begin")
        self.now = START + timedelta(hours=1)

    def save(self) -> None:
        self.repository.write("a.py", "".join(f"{line}\n" for line, _ in self.lines))

    def play(self) -> None:
        """Edit the file some times; record what the agent writes, and commit now and then."""
        with Recorder(self.repository.path, now=lambda: self.now) as recorder:
            for _ in range(self.rng.randint(3, 9)):
                self.now += timedelta(minutes=5)
                if self.rng.random() < 0.6:
                    start, end = self.write(AGENT)
                    self.save()
                    recorder.annotate_lines("a.py", start, end, "create", BY)
                else:
                    self.edit_as_person()
                    self.save()
                if self.rng.random() < 0.2:
                    moment = self.now + timedelta(minutes=1)
                    self.repository.commit("Change", date=moment.isoformat())

    def write(self, who: str) -> tuple[int, int]:
        """Insert lines, or replace some; return the first and the last new line."""
        place = self.rng.randint(0, len(self.lines))
        new = written(self.rng, self.rng.randint(1, 5), who)
        self.lines[place : place + self.rng.choice((0, 0, 1, 3))] = new
        return place + 1, place + len(new)

    def edit_as_person(self) -> None:
        place, count = self.rng.randint(0, len(self.lines)), self.rng.randint(1, 5)
        match self.rng.choice(("write", "delete", "move")):
            case "write":
                self.write(PERSON)
            case "delete":
                del self.lines[place : place + count]
            case "move":
                cut = self.lines[place : place + count]
                del self.lines[place : place + count]
                target = self.rng.randint(0, len(self.lines))
                self.lines[target:target] = cut

    def verified(self, *, use_kept_texts: bool) -> set[int]:
        """Return the lines that are shown as verified."""
        trail = Trail(AuditDir(self.repository.path / ".ai-audit"))
        trail.refresh()
        text = Text.from_bytes((self.repository.path / "a.py").read_bytes())
        with ProjectLocator(trail, use_kept_texts=use_kept_texts) as locator:
            owners = line_owners(list(locator.locate("a.py", text)))
        return {line for line, owner in owners.items() if line_kind(owner, line) == LineKind.AI}


@pytest.mark.timeout(600 + 10 * COUNT)
def test_kept_texts_verify_more_lines_and_none_of_a_person(tmp_path: Path) -> None:
    found = {True: 0, False: 0}
    for seed in range(COUNT):
        session = Session(tmp_path / f"project-{seed}", seed)
        session.play()
        for use_kept_texts in found:
            for line in session.verified(use_kept_texts=use_kept_texts):
                text, author = session.lines[line - 1]
                assert author == AGENT or text in ORDINARY, f"seed {seed}, line {line}: {text}"
                found[use_kept_texts] += author == AGENT
    assert found[True] > found[False] > 0
