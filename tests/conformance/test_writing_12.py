"""RFC 12: writing to a trail of other versions and tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.conformance.requirement import rfc_writer
from tests.conformance.trail_access import LOG, MANIFEST, run_vibes, snapshot
from tests.trails import AUDIT_DIR, CompleteTrail
from tests.trails.complete_trail import LIMITS_BEFORE
from tests.unit.recording.projects import MODEL, PROMPT, TOOL, session_origin
from vibes_lsp.errors import UnsupportedVersion
from vibes_lsp.recording import EndSession, Recorder, StartSession

if TYPE_CHECKING:
    from pathlib import Path

LATER = {
    "type": "checkpoint",
    "timestamp": "2026-02-03T11:00:00Z",
    "state": {"b": [1, 1.0, None], "a": "ü"},
}
POLICY = {"type": "policy", "created_at": "2026-02-03T11:00:00Z", "rules": [{"id": 1, "x": 1.0}]}


def record(root: Path) -> str:
    """Record an edit with a prompt, and bring the manifest up to date."""
    with Recorder(root) as recorder:
        session = recorder.execute(StartSession(tool=TOOL, model=MODEL)).session_id
        recorder.annotate_lines(
            "src/auth.py", 1, 3, "modify", session_origin(session, prompt=PROMPT)
        )
        recorder.execute(EndSession(session_id=session))
    return session


@rfc_writer(
    "12.1", "MUST", "the versions of manifest and policy are checked before anything is written"
)
@rfc_writer("12.1", "MUST", "a trail of an unknown major version is not written to, by any command")
@rfc_writer("12.1", "SHOULD", "the error names the file and its version")
@pytest.mark.parametrize(
    ("file", "member"), [("manifest.json", "version"), ("config.json", "standard_version")]
)
def test_an_unknown_major_version_is_not_written_to(
    trail: CompleteTrail, tmp_path: Path, file: str, member: str
) -> None:
    path = trail.root / AUDIT_DIR / file
    path.write_bytes(json.dumps({**json.loads(path.read_bytes()), member: "2.0"}).encode())
    before = snapshot(trail.root)
    with pytest.raises(UnsupportedVersion, match=rf"unsupported version '2\.0' in {file}"):
        record(trail.root)
    assert run_vibes(trail.root, "export", "--current", str(tmp_path / "new")).code == 2
    after = snapshot(trail.root)
    assert {
        name: content for name, content in after.items() if not name.startswith("wal/")
    } == before


@rfc_writer("12.2", "MUST NOT", "recording only appends: existing bytes of the log stay")
def test_existing_records_stay(trail: CompleteTrail) -> None:
    trail.writer.record(LATER)
    trail.writer.raw_log(b'no record\n{ "type" : "edge" , "source_id":"x"}\n')
    before = (trail.root / LOG).read_bytes()
    record(trail.root)
    after = (trail.root / LOG).read_bytes()
    assert after.startswith(before)
    assert len(after) > len(before)


@rfc_writer(
    "12.2",
    "MUST",
    "unknown members are kept where records are copied, exports included",
)
def test_unknown_members_are_copied(trail: CompleteTrail, tmp_path: Path) -> None:
    unknown = {"x_tool": {"b": [1, 1.0, None, True]}, "zeta": None}
    moved = trail.writer.line(
        "src/limits.py",
        1,
        7,
        session=trail.session,
        text=LIMITS_BEFORE,
        **unknown,
    )
    trail.writer.remap(moved, commit=trail.commit, start=3, end=9)
    trail.writer.record(LATER)
    assert run_vibes(trail.root, "export", "--current", str(tmp_path / "new")).code == 0
    copied = [json.loads(line) for line in (tmp_path / "new" / LOG).read_bytes().splitlines()]
    [line] = [each for each in copied if "x_tool" in each]
    assert {name: line[name] for name in unknown} == unknown
    assert [
        {name: each[name] for name in LATER} for each in copied if each["type"] == "checkpoint"
    ] == [LATER]


@rfc_writer(
    "12.3",
    "MUST NOT",
    "unknown entries and manifest members keep their values when the manifest grows",
)
def test_unknown_entries_stay(trail: CompleteTrail) -> None:
    key = trail.writer.entry(POLICY)
    path = trail.root / MANIFEST
    before = {**json.loads(path.read_bytes()), "x_frame": [1.0, None]}
    path.write_bytes(json.dumps(before).encode())
    record(trail.root)
    after = json.loads(path.read_bytes())
    assert json.dumps(after["entries"][key]) == json.dumps(before["entries"][key])
    assert {name: after["entries"][name] for name in before["entries"]} == before["entries"]
    assert len(after["entries"]) > len(before["entries"])
    assert json.dumps(after["x_frame"]) == "[1.0, null]"


@rfc_writer("12.4", "stated", "a database with another schema is rebuilt, not migrated")
def test_a_database_with_another_schema_is_rebuilt(trail: CompleteTrail) -> None:
    (trail.root / AUDIT_DIR / "audit.db").write_bytes(b"of another program")
    done = run_vibes(trail.root, "query", "SELECT count(*) FROM line_annotations_all", "--json")
    assert (done.code, done.json["rows"]) == (0, [[6]])
