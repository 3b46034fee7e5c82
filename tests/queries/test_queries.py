"""The queries of RFC 10 over a log with a history, and over its `vibes export --current`.

On the log, queries for lines, functions, environments and the risk of a commit are right; those
that list annotations also list history. On `audit.db` none lists history; lines are as recorded. On
the export all are right about lines, too.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.queries import texts
from tests.queries.programs import bash, in_duckdb, in_sqlite
from tests.queries.story import OTHER, PATH, Story, tell
from tests.requirements import require

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return tell(tmp_path_factory.mktemp("queries") / "project")


@pytest.fixture(scope="module")
def export(story: Story, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("queries") / "current"
    done = vibes("export", "--current", folder, cwd=story.root)
    assert done.code == 0, done.err
    return folder


@pytest.fixture(params=["log", "export"])
def root(request: pytest.FixtureRequest, story: Story, export: Path) -> Path:
    """The log and the export, for queries with the same result on both."""
    return story.root if request.param == "log" else export


def short(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row without its time."""
    return tuple(value for value in row if not hasattr(value, "year"))


def as_in_sqlite(value: object) -> object:
    """Return a value of DuckDB as `audit.db` has it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, list):  # DuckDB adds the members that another record has
        return json.dumps([{k: v for k, v in each.items() if v is not None} for each in value])
    return value


def test_ai_lines_of_a_file(root: Path) -> None:
    assert in_duckdb(root, texts.AI_LINES) == [(PATH, 14)]
    assert in_sqlite(root, texts.AI_LINES_IN_SQLITE) == [(PATH, 14)]


def test_lines_of_an_ai_are_those_of_blame(story: Story) -> None:
    done = vibes("blame", PATH, "--json", cwd=story.root)
    lines = [each for each in done.json["lines"] if each["kind"] not in {None, "human"}]
    assert in_sqlite(story.root, texts.AI_LINES_IN_SQLITE) == [(PATH, len(lines))]


@pytest.mark.parametrize(
    "query",
    [
        texts.AI_LINES,
        texts.FUNCTIONS,
        texts.OF_A_PROMPT,
        texts.TIMELINE,
        texts.HIGH_RISK_IN_A_COMMIT,
    ],
)
def test_tables_of_all_records_give_the_rows_of_the_log(
    root: Path, story: Story, query: str
) -> None:
    asked = query.replace(texts.PROMPT, story.prompts[1][:16]).replace(texts.COMMIT, "1 = 1")
    in_table = in_sqlite(root, texts.of_all_records(texts.without_the_read(asked)))
    assert in_table
    found = [tuple(map(as_in_sqlite, row)) for row in in_duckdb(root, asked)]
    assert sorted(map(repr, in_table)) == sorted(map(repr, found))


def test_models_of_a_function(root: Path, story: Story) -> None:
    assert in_duckdb(root, texts.FUNCTIONS) == [("validate_signup", story.first_environment)]
    assert in_sqlite(root, texts.without_the_read(texts.FUNCTIONS)) == [
        ("validate_signup", story.first_environment)
    ]


def test_environments(root: Path, story: Story) -> None:
    code, out = bash(root, texts.ENVIRONMENTS)
    assert (code, json.loads(out)) == (
        0,
        sorted([story.first_environment, story.second_environment]),
    )


def test_high_risk_of_a_commit_in_the_log(story: Story) -> None:
    found = in_duckdb(
        story.root,
        texts.HIGH_RISK_IN_A_COMMIT.replace(texts.COMMIT, f"commit_hash = '{story.commits[0]}'"),
    )
    assert [row[:4] for row in found] == [(OTHER, 1, 3, 0.82), (PATH, 1, 10, 0.7)]
    found = in_duckdb(
        story.root,
        texts.HIGH_RISK_IN_A_COMMIT.replace(texts.COMMIT, f"commit_hash = '{story.commits[1]}'"),
    )
    assert [row[:4] for row in found] == [(PATH, 11, 14, 0.65)]


def test_high_risk_of_a_commit_in_the_export(export: Path, story: Story) -> None:
    found = in_duckdb(
        export,
        texts.HIGH_RISK_IN_A_COMMIT.replace(texts.COMMIT, f"commit_hash = '{story.commits[0]}'"),
    )
    assert [row[:4] for row in found] == [(PATH, 3, 12, 0.7)]
    assert (
        in_duckdb(
            export,
            texts.HIGH_RISK_IN_A_COMMIT.replace(
                texts.COMMIT, f"commit_hash = '{story.commits[1]}'"
            ),
        )
        == []
    )


def test_annotations_of_a_file(root: Path, export: Path) -> None:
    code, out = bash(root, texts.ANNOTATIONS_OF_A_FILE)
    found = [json.loads(text) for text in out.replace("}\n{", "}\n\0{").split("\0")]
    assert (code, len(found)) == (0, 4 if root == export else 9)
    assert len(in_duckdb(root, texts.OF_A_FILE)) == (3 if root == export else 7)
    assert {record["file_path"] for record in found} == {PATH}


def test_annotations_of_a_prompt(root: Path, story: Story, export: Path) -> None:
    query = texts.OF_A_PROMPT.replace(texts.PROMPT, story.prompts[1][:16])
    now = [(PATH, 4, 6, "modify")]
    history = [
        (PATH, 2, 4, "modify"),
        (PATH, 2, 4, "rebase_remap"),
        (PATH, 11, 14, "create"),
        (PATH, 11, 14, "rebase_remap"),
    ]
    assert sorted(map(short, in_duckdb(root, query))) == (now if root == export else history)
    in_view = [row[:4] for row in in_sqlite(root, texts.without_the_read(query))]
    assert in_view == (now if root == export else [(PATH, 2, 4, "modify")])


def test_timeline_of_a_file(root: Path, story: Story, export: Path) -> None:
    one, two = story.first_environment, story.second_environment
    first, second, third = story.commits
    now = [
        (3, 12, "create", one, first),
        (4, 6, "modify", two, second),
        (13, 16, "create", one, third),
    ]
    found = [short(row) for row in in_duckdb(root, texts.TIMELINE)]
    in_view = [row[1:] for row in in_sqlite(root, texts.without_the_read(texts.TIMELINE))]
    if root == export:
        assert found == in_view == now
    else:
        assert in_view == [
            (1, 10, "create", one, first),
            (2, 4, "modify", two, second),
            (11, 14, "create", one, None),
        ]
        assert sorted({row[:3] for row in found}) == [
            (1, 10, "create"),
            (1, 10, "rebase_remap"),
            (2, 4, "modify"),
            (2, 4, "rebase_remap"),
            (11, 14, "create"),
            (11, 14, "modify"),
            (11, 14, "rebase_remap"),
        ]


def test_summary_of_a_pull_request(root: Path, export: Path) -> None:
    code, out = bash(root, texts.PR_SUMMARY)
    now = [f"{PATH} - max PRISM: 0.7 (3 annotations)"]
    history = [
        f"{OTHER} - max PRISM: 0.82 (2 annotations)",
        f"{PATH} - max PRISM: 0.7 (7 annotations)",
    ]
    assert (code, out.splitlines()) == (0, now if root == export else history)


@pytest.mark.skipif(os.name == "nt", reason="bc is not to be had there")
def test_gates_fail_on_the_log_and_pass_on_the_export(root: Path, export: Path) -> None:
    require("bc", "the gate compares with it")
    blocked = [(1, "BLOCKED: Critical risk (0.82).\n"), (1, "BLOCKED: 2 high-temp annotations.\n")]
    assert [bash(root, gate) for gate in (texts.SCORE_GATE, texts.FACTOR_GATE)] == (
        [(0, ""), (0, "")] if root == export else blocked
    )


def test_vibes_query_gives_the_rows_of_sqlite(root: Path) -> None:
    done = vibes("query", texts.AI_LINES_IN_SQLITE, "--json", cwd=root)
    assert (done.code, done.json) == (
        0,
        {"columns": ["file_path", "ai_lines"], "rows": [[PATH, 14]], "truncated": False},
    )


def test_vibes_check_passes_on_the_export(export: Path) -> None:
    done = vibes("check", "--json", cwd=export)
    assert (done.code, done.json["result"]) == (0, "PASS")
    assert {finding["check"] for finding in done.json["findings"]} <= {"path-foreign"}, (
        "its sources lie elsewhere"
    )
