"""Readings R17 to R19, R26 and R28: inferred commits, placeholders, paths, tracked files, times."""

from __future__ import annotations

import pytest

from tests.conformance import valid_records
from tests.conformance.requirement import spec_reading
from tests.conformance.trail_access import (
    audit_dir,
    check_project,
    finding_fields,
    finding_locations,
    open_trail,
    run_vibes,
    severities,
)
from tests.trails import AUDIT_DIR, OMIT, CompleteTrail, Repository, TrailWriter
from vibes_lsp.git.repository import open_repository
from vibes_lsp.placing.placements import deduplicate
from vibes_lsp.trail.trail import Trail

BARE = dict.fromkeys(("anchor_context", "anchor_hash", "file_content_hash"), OMIT)


@spec_reading(
    "R17",
    "without a commit and with the log outside git, the first later commit of the file is used",
)
@pytest.mark.parametrize(
    ("touched", "expected"), [("src/auth.py", set()), ("src/limits.py", {"warning"})]
)
def test_a_commit_is_inferred_from_the_history_of_the_file(
    trail: CompleteTrail, touched: str, expected: set[str]
) -> None:
    repository = Repository(trail.root)
    repository.write(".git/info/exclude", f"{AUDIT_DIR}/\n")
    repository.commit("Before", "2026-02-03T10:00:00+00:00")
    valid_records.append(trail, {**valid_records.line(trail), "commit_hash": None})
    assert severities(check_project(trail.root), "commit-unknown") == {"note"}, "newer than HEAD"
    repository.write(touched, "changed = True\n")
    repository.commit("After", "2026-02-03T12:00:00+00:00")
    assert severities(check_project(trail.root), "commit-unknown") == expected


@spec_reading(
    "R18",
    "repeated unanchored changes of line 1 stand for the file: one is shown, on no line",
)
def test_placeholders_are_shown_once(trail: CompleteTrail) -> None:
    stand_in = {**valid_records.line(trail), **BARE, "line_start": 1, "line_end": 1}
    ids = [
        trail.writer.record({**stand_in, "timestamp": f"2026-02-03T11:00:0{second}Z"})
        for second in range(3)
    ]
    shown = deduplicate(open_trail(trail.root).lineages_in("src/auth.py"))
    (one,) = (each for each in shown if each.is_placeholder)
    assert one.lineage.current.id == ids[-1]
    assert [each.current.id for each in one.duplicates] == ids[:-1]
    doctor = run_vibes(trail.root, "doctor", "src/auth.py", "--json").json["steps"][-1]
    assert "3 records name no real line" in doctor["message"]


@spec_reading("R18", "a single or anchored change of line 1 is a normal annotation")
@pytest.mark.parametrize("anchored", [True, False])
def test_a_single_change_of_line_1_is_no_placeholder(trail: CompleteTrail, anchored: bool) -> None:
    record = {
        **valid_records.line(trail),
        **({} if anchored else BARE),
        "line_start": 1,
        "line_end": 1,
    }
    for second in range(2 if anchored else 1):
        trail.writer.record({**record, "timestamp": f"2026-02-03T11:00:0{second}Z"})
    assert not any(
        each.is_placeholder
        for each in deduplicate(open_trail(trail.root).lineages_in("src/auth.py"))
    )


@spec_reading(
    "R19",
    "absolute, escaping and missing paths are one note with counts, not errors",
)
def test_paths_outside_the_project_are_summarized(trail: CompleteTrail) -> None:
    first = trail.writer.files.log.read_bytes().count(b"\n") + 1
    for path in (
        "/home/someone/a.py",
        "C:\\Users\\someone\\b.py",
        "../c.py",
        "src/../../d.py",
        "src/gone.py",
    ):
        valid_records.append(trail, {**valid_records.line(trail), "file_path": path})
    report = check_project(trail.root)
    assert report.passed
    (finding,) = (each for each in report.findings if each.check.id == "path-foreign")
    assert finding.line == first
    for part in ("5 annotations", "2 absolute", "2 outside the project", "1 missing"):
        assert part in finding.message


@spec_reading("R19", "different spellings of a path mean the same file")
@pytest.mark.parametrize(
    "spelling", ["./src/auth.py", "src//auth.py", "src\\auth.py", "src/x/../auth.py"]
)
def test_spellings_of_a_path_are_one_file(trail: CompleteTrail, spelling: str) -> None:
    before = len(open_trail(trail.root).lineages_in("src/auth.py"))
    assert (
        valid_records.record_findings(trail, valid_records.line(trail), file_path=spelling) == set()
    )
    assert len(open_trail(trail.root).lineages_in("src/auth.py")) == before + 1


@spec_reading(
    "R26",
    "a path is tracked when its extension is listed and no exclude pattern matches it, as in a gitignore file",
)
@pytest.mark.parametrize(
    ("path", "tracked"),
    [
        ("src/auth.py", True),
        ("src/AUTH.PY", True),
        ("src/auth.pyc", False),
        ("Makefile", False),
        ("build/x.py", False),
        ("src/build/x.py", True),
        ("a/node_modules/b/c.py", False),
        ("node_modules/c.py", False),
        ("gen/x.py", False),
        ("gen/keep.py", True),
    ],
)
def test_tracking_follows_extension_and_patterns(
    trail: CompleteTrail, path: str, tracked: bool
) -> None:
    trail.writer.config(
        tracked_extensions=[".py"],
        exclude_patterns=["/build/", "**/node_modules/**", "gen/*", "!gen/keep.py"],
    )
    valid_records.append(trail, {**valid_records.line(trail), "file_path": path})
    report = check_project(trail.root)
    assert severities(report, "path-untracked") == (set() if tracked else {"note"})


@spec_reading("R26", "records about untracked files are shown and counted separately")
def test_records_of_untracked_files_are_counted_apart(trail: CompleteTrail) -> None:
    (trail.root / "plan.md").write_text("# Plan\n", encoding="utf-8")
    line = valid_records.append(trail, {**valid_records.line(trail), "file_path": "plan.md"})
    stats = run_vibes(trail.root, "stats", "--json").json
    assert (stats["files"], stats["untrackedFiles"], stats["foreignFiles"]) == (4, 1, 0)
    assert [
        each["line"]
        for each in run_vibes(trail.root, "log", "--file", "plan.md", "--json").json["records"]
    ] == [line]


@spec_reading(
    "R28",
    "timestamps with any offset are read, without one as UTC, and records sort by time",
)
def test_timestamps_with_any_offset_are_ordered_by_instant(trail: CompleteTrail) -> None:
    instants = [
        "2026-02-03T14:00:00+02:00",
        "2026-02-03T12:00:01",
        "2026-02-03T12:00:02.5Z",
        "20260203T120003Z",
        "2026-02-03T07:00:04-05:00",
        "2026-02-03 12:00:05Z",
    ]
    records = [
        trail.writer.record({**valid_records.line(trail), "timestamp": instant})
        for instant in reversed(instants)
    ]
    assert [lineage.current.id for lineage in open_trail(trail.root).lineages_in("src/auth.py")][
        -6:
    ] == records[::-1]
    assert not finding_locations(check_project(trail.root), "timestamp")


@spec_reading("R28", "a commit may be given by any unique prefix of its hash")
def test_a_commit_may_be_shortened(trail: CompleteTrail) -> None:
    repository = Repository(trail.root)
    near = repository.commit("One")
    original = trail.writer.record(valid_records.line(trail))
    here = trail.writer.remap(original, commit=near[:7], edge_timestamp="2026-02-03T12:00:00Z")
    trail.writer.remap(original, commit="bbbb" * 10, edge_timestamp="2026-02-03T13:00:00Z")
    work_tree = open_repository(trail.root)
    assert work_tree is not None
    trail_now = Trail(audit_dir(trail.root), nearest_commit=work_tree.nearest_ancestor)
    trail_now.refresh()
    lineage = trail_now.lineage_of(original)
    assert lineage is not None
    assert lineage.current.id == here
    assert (
        valid_records.record_findings(trail, valid_records.line(trail), commit_hash=near[:7])
        == set()
    )


@spec_reading(
    "R28",
    "`agent_type` is shown as written; only the model `none` marks a person",
)
@pytest.mark.parametrize("agent_type", ["human", "Claude-Code", "…"])
def test_the_agent_type_is_shown_verbatim(trail: CompleteTrail, agent_type: str) -> None:
    writer = TrailWriter(trail.root, level="high", start="2026-02-04T10:00:00Z")
    before = run_vibes(trail.root, "stats", "--by", "model", "--json").json["models"]
    session = writer.session_start(environment=trail.environment, agent_type=agent_type)
    record = {**valid_records.line(trail), "session_id": session}
    writer.cause(writer.record(record), trail.command)
    writer.session_end(session)
    assert finding_fields(check_project(trail.root)) == set()
    assert (
        run_vibes(trail.root, "show", session, "--json").json["record"]["agent_type"] == agent_type
    )
    after = run_vibes(trail.root, "stats", "--by", "model", "--json").json["models"]
    assert (
        sum(each["annotations"] for each in after)
        == sum(each["annotations"] for each in before) + 1
    )
