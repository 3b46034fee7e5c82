"""agent-trace to VIBES and back keeps what the format can hold of an AI's ranges.

Not kept, because a trail has no place for them: ranges of people, of mixed or unknown authors, empty
members, and metadata or related resources of more than 4 KiB.
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trails import Repository
from vibes_lsp.exchange.export_agent_trace import export_traces
from vibes_lsp.exchange.import_agent_trace import read_agent_trace
from vibes_lsp.exchange.record_imports import record_imports
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording import Recorder
from vibes_lsp.store.initialise import initialise
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import SearchStrategy

BLOCK: Final = 12
"""Lines that each commit adds to each file, at its end or its beginning."""
FILES: Final = ("a.py", "sub folder/ä.py")
COMMITS: Final = 3


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[tuple[str, int]]]:
    """A repository, and for each commit its hash and the line before those that it added."""
    repository = Repository(tmp_path_factory.mktemp("traces") / "project")
    commits: list[tuple[str, int]] = []
    lines: list[str] = []
    for number in range(COMMITS):
        block = [f"value_{number}_{line} = {line}\n" for line in range(BLOCK)]
        first = 0 if number % 2 else len(lines)
        lines[first:first] = block
        for path in FILES:
            repository.write(path, "".join(lines))
        commits.append((repository.commit(f"Commit {number}"), first))
    return repository, commits


TEXT: Final = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12
)
URLS: Final = st.integers(1, 4).map("https://api.example.org/v1/conversations/{}".format)
MODELS: Final = st.sampled_from(
    ["anthropic/claude-opus-4-5-20251101", "openai/gpt-4o", "local-model", "a/b/c-20260101"]
)
METADATA: Final = st.dictionaries(
    TEXT.filter(lambda name: name != "vibes"),
    st.one_of(TEXT, st.integers(-9, 9), st.booleans(), st.lists(TEXT, min_size=1, max_size=2)),
    max_size=3,
)


def optional(strategy: SearchStrategy[Any]) -> SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


@st.composite
def lines_of_commit(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Return ranges of lines of a block, which do not overlap."""
    ends = sorted(draw(st.sets(st.integers(0, BLOCK), min_size=2, max_size=5)))
    return [(start + 1, end) for start, end in pairwise(ends)]


@st.composite
def conversations(draw: st.DrawFn, first: int) -> list[dict[str, Any]]:
    found = []
    for start, end in draw(lines_of_commit()):
        each = {"start_line": first + start, "end_line": first + end}
        digest = draw(optional(st.sampled_from(["murmur3:9f2e8a1b", "x"])))
        model = draw(optional(MODELS))
        members = {
            "url": draw(optional(URLS)),
            "contributor": {"type": "ai"} | ({"model_id": model} if model else {}),
            "ranges": [each | ({"content_hash": digest} if digest else {})],
            "related": draw(
                optional(st.just([{"type": "session", "url": "https://example.org/s"}]))
            ),
        }
        found.append({name: value for name, value in members.items() if value is not None})
    return found


@st.composite
def traces(draw: st.DrawFn, commits: list[tuple[str, int]]) -> list[dict[str, Any]]:
    """Return one record for some of the commits, and ranges that no trail keeps."""
    records = []
    for number, (commit, first) in enumerate(commits):
        paths = draw(st.sets(st.sampled_from(FILES)))
        if not paths:
            continue
        files: list[dict[str, Any]] = [
            {"path": path, "conversations": draw(conversations(first))} for path in sorted(paths)
        ]
        human = {"contributor": {"type": "human"}, "ranges": [{"start_line": 1, "end_line": 2}]}
        if draw(st.booleans()):
            files[0]["conversations"].append(human)
        members = {
            "version": "0.1.0",
            "id": str(draw(st.uuids())),
            "timestamp": f"2026-02-03T0{draw(st.integers(1, 8))}:00:0{number}{draw(st.sampled_from(['Z', '.5Z', '+00:00']))}",
            "vcs": {"type": "git", "revision": commit},
            "tool": draw(optional(st.just({"name": "cursor", "version": "2.4.0"}))),
            "files": files,
            "metadata": draw(optional(METADATA)),
        }
        records.append({name: value for name, value in members.items() if value is not None})
    return records


def kept(record: dict[str, Any], *, hashes: set[Any]) -> dict[str, Any]:
    """Return what a trail keeps of a record, in a form that can be compared.

    Args:
        record: The record.
        hashes: The places whose content hash is compared; an export adds hashes to others.
    """
    ranges = set()
    for file in record["files"]:
        for each in file["conversations"]:
            if each["contributor"]["type"] != "ai":
                continue
            common = (
                file["path"],
                each.get("url"),
                each["contributor"].get("model_id"),
                json.dumps(each.get("related")),
            )
            for lines in each["ranges"]:
                place = (*common, lines["start_line"], lines["end_line"])
                ranges.add((*place, lines["content_hash"] if place in hashes else None))
    members = {
        name: record[name]
        for name in ("id", "timestamp", "vcs", "tool", "metadata")
        if record.get(name)
    }
    return {**members, "ranges": ranges}


def hashed(record: dict[str, Any]) -> set[Any]:
    return {
        (
            file["path"],
            each.get("url"),
            each["contributor"].get("model_id"),
            json.dumps(each.get("related")),
            lines["start_line"],
            lines["end_line"],
        )
        for file in record["files"]
        for each in file["conversations"]
        for lines in each["ranges"]
        if "content_hash" in lines
    }


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_the_format_can_hold_survives(
    data: st.DataObject, history: tuple[Repository, list[tuple[str, int]]], tmp_path: Path
) -> None:
    repository, commits = history
    records = data.draw(traces(commits))
    shutil.rmtree(repository.path / ".ai-audit", ignore_errors=True)
    initialise(
        repository.path,
        project_name="traces",
        level=AssuranceLevel.MEDIUM,
        extensions=None,
        tool_version="1",
        now=datetime(2026, 2, 3, tzinfo=UTC),
    )
    file = tmp_path / "traces.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in records))
    with Recorder(repository.path) as recorder:
        result = record_imports(recorder, read_agent_trace([file]))
        assert (result.unverified, result.known) == (0, 0)
        again = record_imports(recorder, read_agent_trace([file]))
        assert (again.imported, again.known) == (0, result.imported)
        trail = Trail(recorder.directory)
        trail.refresh()
        with ProjectLocator(trail) as locator:
            exported = export_traces(locator)
    assert set(exported.left_out.values()) == {0}
    back = {str(each.members["id"]): each.as_json() for each in exported.records.values()}
    assert back.keys() == {each["id"] for each in records}
    for each in records:
        places = hashed(each)
        assert kept(back[each["id"]], hashes=places) == kept(each, hashes=places)
