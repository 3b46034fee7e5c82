"""RFC 10 on exports of trails with edits by people and AIs; each line names its author."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from tests.queries import texts
from tests.queries.programs import bash, in_duckdb, in_sqlite
from tests.queries.story import PATH
from tests.requirements import in_nightly
from tests.trails import Repository, TrailWriter
from vibes_lsp.maintenance.export import current_trail
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.initialise import export_trail
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

_BY = re.compile(r"# (?:created by (?P<created>\d+))?.*?(?:changed by (?P<changed>\d+))?$")


@dataclass
class EditedFile:
    """A file that people and AIs edit; each line names who created it and who changed it last.

    Attributes:
        risks: The risk of each edit, by its number.
        prompts: The hashes of the prompts.
    """

    root: Path
    chance: random.Random
    lines: list[str] = field(default_factory=list)
    risks: list[float] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.repository = Repository(self.root)
        self.trail = TrailWriter(self.root)
        self.trail.config()
        self.trail.housekeeping()
        self.trail.environment()
        self.person(4)

    def fresh(self, by: str) -> str:
        self.count += 1
        return f"value_{self.count} = compute_{self.count * 7919}({self.count})  # {by}\n"

    def save(self) -> str:
        self.repository.write(PATH, "".join(self.lines))
        return "".join(self.lines)

    def person(self, number: int) -> None:
        """Insert lines of a person."""
        place = self.chance.randint(0, len(self.lines))
        self.lines[place:place] = [self.fresh("a person's") for _ in range(number)]
        self.save()

    def removed(self) -> None:
        """Remove a line."""
        del self.lines[self.chance.randrange(len(self.lines))]
        self.save()

    def created(self, number: int) -> None:
        """Insert lines of an AI."""
        place = self.chance.randint(0, len(self.lines))
        self.lines[place:place] = [
            self.fresh(f"created by {len(self.risks)}") for _ in range(number)
        ]
        self.record(place + 1, place + number, "create")

    def changed(self) -> None:
        """Change a line that an AI created and no AI has changed, as an AI."""
        free = [
            number
            for number, line in enumerate(self.lines)
            if "created" in line and "changed" not in line
        ]
        if not free:
            return
        place = self.chance.choice(free)
        by = self.lines[place].partition("# ")[2].rstrip("\n")
        self.lines[place] = self.fresh(f"{by}, changed by {len(self.risks)}")
        self.record(place + 1, place + 1, "modify")

    def record(self, start: int, end: int, action: str) -> None:
        risk = self.chance.choice([0.2, 0.4, 0.7, 0.9])
        prompt = self.trail.prompt(f"Prompt {len(self.risks)}")
        factors = [{"signal": "temperature", "value": risk, "weight": 1}]
        self.trail.line(
            PATH,
            start,
            end,
            action=action,
            prompt=prompt,
            text=self.save(),
            risk_score=risk,
            risk_factors=factors,
        )
        self.risks.append(risk)
        self.prompts.append(prompt)

    def edit_randomly(self, number: int) -> None:
        for step in range(number):
            action = self.chance.choice(
                ["create", "create", "person", "person", "change", "remove"]
            )
            if action == "create":
                self.created(self.chance.randint(2, 6))
            elif action == "person":
                self.person(self.chance.randint(1, 3))
            elif action == "change":
                self.changed()
            else:
                self.removed()
            self.repository.commit(f"Turn {step}")

    # the truth, by the files alone

    def creators(self) -> list[int | None]:
        """Return the edit that created each line; None for a person."""
        found = (_BY.search(line) for line in self.lines)
        return [int(each["created"]) if each and each["created"] else None for each in found]

    def changers(self) -> list[int | None]:
        """Return the edit that changed each line; None for none."""
        found = (_BY.search(line) for line in self.lines)
        return [int(each["changed"]) if each and each["changed"] else None for each in found]

    def standing_creations(self) -> dict[int, int]:
        """Return the edit of each line inside a creation, by line number.

        A changed line counts with the latest creation that has lines before and after it.
        """
        creators, changers = self.creators(), self.changers()
        own = {
            number: by
            for number, by in enumerate(creators, 1)
            if by is not None and changers[number - 1] is None
        }
        found: dict[int, int] = {}
        for edit in sorted(set(own.values())):
            lines = [number for number, by in own.items() if by == edit]
            for number in range(lines[0], lines[-1] + 1):
                if creators[number - 1] is not None:
                    found[number] = edit
        return found | own

    def ranges(self) -> list[tuple[int, int, int]]:
        """Return first line, last line and edit of each created block and changed line of an AI."""
        pairs = sorted(self.standing_creations().items())
        keys = [(edit, number - place) for place, (number, edit) in enumerate(pairs)]
        blocks = groupby(zip(pairs, keys, strict=True), key=lambda each: each[1])
        runs = [[pair for pair, _ in block] for _, block in blocks]
        return sorted(
            [(run[0][0], run[-1][0], run[0][1]) for run in runs]
            + [
                (number, number, by)
                for number, by in enumerate(self.changers(), 1)
                if by is not None
            ]
        )


def export(root: Path, folder: Path) -> Path:
    directory = AuditDir(root / ".ai-audit")
    trail = Trail(directory)
    trail.refresh()
    with ProjectLocator(trail) as locator:
        made = current_trail(locator)
    export_trail(folder, made.files(directory.config.read_bytes()), source=directory)
    return folder


@pytest.fixture(params=range(20 if in_nightly() else 2))
def edited(request: pytest.FixtureRequest, tmp_path: Path) -> EditedFile:
    made = EditedFile(tmp_path / "project", random.Random(request.param))
    made.created(5)
    made.repository.commit("Begin")
    made.edit_randomly(12)
    return made


def test_queries_match_the_authors_in_the_files(edited: EditedFile, tmp_path: Path) -> None:
    root = export(edited.root, tmp_path / "export")
    ai_lines = len(edited.standing_creations())
    assert in_duckdb(root, texts.AI_LINES) == [(PATH, ai_lines)]
    assert in_sqlite(root, texts.AI_LINES_IN_SQLITE) == [(PATH, ai_lines)]

    timeline = [row[1:3] for row in in_duckdb(root, texts.TIMELINE)]
    assert sorted(timeline) == [each[:2] for each in edited.ranges()]
    assert sorted(
        row[1:3] for row in in_sqlite(root, texts.without_the_read(texts.TIMELINE))
    ) == sorted(timeline)

    for edit, prompt in enumerate(edited.prompts):
        query = texts.OF_A_PROMPT.replace(texts.PROMPT, prompt)
        expected = [each[:2] for each in edited.ranges() if each[2] == edit]
        assert [row[1:3] for row in in_duckdb(root, query)] == expected
        assert [row[1:3] for row in in_sqlite(root, texts.without_the_read(query))] == expected

    risky = sorted(each[:2] for each in edited.ranges() if edited.risks[each[2]] >= 0.6)
    query = texts.HIGH_RISK_IN_A_COMMIT.replace(texts.COMMIT, "1 = 1")
    assert sorted(row[1:3] for row in in_duckdb(root, query)) == risky


def test_summaries_and_gates_count_ranges_of_lines(edited: EditedFile, tmp_path: Path) -> None:
    root = export(edited.root, tmp_path / "export")
    risks = [edited.risks[each[2]] for each in edited.ranges()]
    counted = [risk for risk in risks if risk >= 0.3]
    expected = (
        [f"{PATH} - max PRISM: {max(counted)} ({len(counted)} annotations)"] if counted else []
    )
    assert bash(root, texts.PR_SUMMARY)[1].splitlines() == expected
    critical = max(risks, default=0)
    assert bash(root, texts.SCORE_GATE)[0] == int(critical >= 0.8)
    hot = sum(risk > 0.9 for risk in risks)
    assert bash(root, texts.FACTOR_GATE) == (
        (1, f"BLOCKED: {hot} high-temp annotations.\n") if hot else (0, "")
    )
    by_edit = (
        "SELECT count(DISTINCT coalesce(source_annotation_id, annotation_id))"
        " FROM read_json_auto('.ai-audit/annotations.jsonl') WHERE type = 'line'"
    )
    assert in_duckdb(root, by_edit) == [(len({each[2] for each in edited.ranges()}),)], (
        "edits are counted by their origin"
    )
    code, out = bash(root, texts.ANNOTATIONS_OF_A_FILE)
    assert (code, len(re.findall(r'"type": "line"', out))) == (0, len(risks))


def test_lines_that_a_replaced_edit_still_has_are_counted(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "project")
    trail = TrailWriter(repository.path)
    trail.config()
    trail.environment()
    before = "import os\n\nos.system('reset')\n"
    repository.write(PATH, before)
    older = trail.line(PATH, 1, 3, text=before)
    repository.commit("One")
    after = "import shutil\n\nshutil.rmtree('cache')\n"
    repository.write(PATH, after)
    newer = trail.line(PATH, 1, 3, text=after, action="modify")
    covers = {"reason": "covers"}
    trail.edge("supersedes", newer, older, target_type="annotation", metadata=covers)
    repository.commit("Two")
    root = export(repository.path, tmp_path / "export")
    assert in_duckdb(root, texts.AI_LINES) == [(PATH, 3)]
    assert in_sqlite(root, texts.AI_LINES_IN_SQLITE) == [(PATH, 3)]


@pytest.mark.parametrize("records", ["none", "a line without anything optional", "only a function"])
def test_columns_that_no_record_has_exist(tmp_path: Path, records: str) -> None:
    repository = Repository(tmp_path / "project")
    repository.write(PATH, "def validate_signup():\n    return 1\n")
    trail = TrailWriter(repository.path)
    trail.config()
    environment = trail.environment()
    bare = {
        "file_path": PATH,
        "environment_hash": environment,
        "action": "create",
        "timestamp": "2026-02-04T10:00:00Z",
        "assurance_level": "low",
    }
    if records == "a line without anything optional":
        trail.record({"type": "line", **bare, "line_start": 1, "line_end": 2})
    elif records == "only a function":
        trail.record({"type": "function", **bare, "function_name": "validate_signup"})
    lines = [(PATH, 2)] if records.startswith("a line") else []
    functions = [("validate_signup", environment)] if records == "only a function" else []
    root = export(repository.path, tmp_path / "export")
    assert in_duckdb(root, texts.AI_LINES) == in_sqlite(root, texts.AI_LINES_IN_SQLITE) == lines
    assert (
        in_duckdb(root, texts.FUNCTIONS)
        == in_sqlite(root, texts.without_the_read(texts.FUNCTIONS))
        == functions
    )
    assert in_duckdb(root, texts.OF_A_PROMPT) == in_duckdb(root, texts.HIGH_RISK_IN_A_COMMIT) == []
    assert (
        len(in_duckdb(root, texts.TIMELINE)) == len(in_duckdb(root, texts.OF_A_FILE)) == len(lines)
    )
    assert [
        bash(root, gate) for gate in (texts.SCORE_GATE, texts.FACTOR_GATE, texts.PR_SUMMARY)
    ] == [(0, "")] * 3
    assert json.loads(bash(root, texts.ENVIRONMENTS)[1]) == ([environment] if lines else [])


@pytest.mark.parametrize(
    "table",
    ["line_annotations", "function_annotations", "sessions", "edges", "environments", "prompts"],
)
def test_tables_have_the_type_column(edited: EditedFile, table: str) -> None:
    names = {
        "line_annotations": "line",
        "function_annotations": "function",
        "sessions": "session",
        "edges": "edge",
        "environments": "environment",
        "prompts": "prompt",
    }
    rows = in_sqlite(edited.root, f"SELECT count(*) FROM {table} WHERE type = '{names[table]}'")
    assert rows == in_sqlite(edited.root, f"SELECT count(*) FROM {table}")
