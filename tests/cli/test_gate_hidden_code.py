"""`vibes gate --base`: a branch adds records to hide its code or lower its risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.gate_project import BLOCKED, GateProject, checks, decisions, members
from tests.server.project import STORY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

COVERS = {"reason": "covers"}
BLOCK = "".join(STORY.splitlines(keepends=True)[3:7])
EDITED = STORY.replace("    seen = hashlib.sha256(payload)\n", "    seen = hashlib.sha1(payload)\n")
REWRITTEN = STORY.replace(
    BLOCK,
    "def hashed(load: bytes) -> str:\n"
    '    """Return a hash."""\n'
    "    found = hashlib.sha1(load)\n"
    "    return found.hexdigest().upper()\n",
)


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


def test_replacing_a_risky_annotation_does_not_hide_its_text(
    project: GateProject, run_vibes: RunVibes
) -> None:
    risky = project.write()
    calm = project.write(risky=False)
    project.edge("supersedes", calm, risky, target_type="annotation", metadata=COVERS)
    project.commit()
    found = project.gate_json(run_vibes)
    assert sorted(item["decision"] for item in found["items"]) == ["block", "flag"]
    assert (found["result"], checks(found)) == ("FAIL", {"gate-hidden"})


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (REWRITTEN, ("PASS", ["flag"], set())),
        (EDITED, ("FAIL", ["block", "flag"], set())),  # three of the four lines still stand
    ],
    ids=["rewritten", "a line edited"],
)
def test_code_is_superseded_as_far_as_it_is_gone(
    project: GateProject, run_vibes: RunVibes, now: str, expected: tuple[str, list[str], set[str]]
) -> None:
    project.write()
    project.base = project.commit()
    calm = project.write(risky=False, text=now)
    project.file("a.py", now)
    project.edge(
        "supersedes",
        calm,
        members(project.log_lines()[1])["annotation_id"],
        target_type="annotation",
        metadata=COVERS,
    )
    project.commit()
    found = project.gate_json(run_vibes)
    gated = sorted(item["decision"] for item in found["items"])
    assert (found["result"], gated, checks(found)) == expected


def test_what_the_base_superseded_is_not_gated(project: GateProject, run_vibes: RunVibes) -> None:
    risky = project.write()
    calm = project.write(risky=False)
    project.edge("supersedes", calm, risky, target_type="annotation", metadata=COVERS)
    project.base = project.commit()
    project.file("a.py", STORY + "x = 1\n")
    project.commit()
    assert (project.gate_json(run_vibes)["result"], decisions(project.gate_json(run_vibes))) == (
        "PASS",
        {"a.py": ("flag", False)},
    )


def test_marking_lost_does_not_hide_lines_that_are_there(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.base = project.commit()
    project.file("a.py", EDITED.replace("digest", "hashed").replace("payload", "load"))
    project.remap(identifier, commit=None, action="rebase_orphan", reason="orphan")
    project.commit()
    lost = decisions(project.gate_json(run_vibes))
    project.file("a.py", EDITED)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (decisions(found), lost) == (BLOCKED, {})
    assert found["result"] == "FAIL"


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize(
    "now", [f"# one\n{BLOCK}\n# two\n{BLOCK}", f"# one\n{EDITED}"], ids=["a copy", "a line edited"]
)
def test_marking_lost_after_a_crafted_edit_does_not_hide_lines(
    project: GateProject, run_vibes: RunVibes, now: str, committed: bool
) -> None:
    identifier = project.write()
    if committed:
        project.base = project.commit()
    project.file("a.py", now)
    project.remap(identifier, commit=None, action="rebase_orphan", reason="orphan")
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("FAIL", BLOCKED)


def test_lost_lines_that_the_branch_added_are_a_warning(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    project.commit()
    project.file("a.py", "print('something else')\n")
    project.commit()
    found = project.gate_json(run_vibes)
    assert (found["result"], decisions(found)) == ("PASS", {})
    assert [(each["check"], each["severity"]) for each in found["findings"]] == [
        ("gate-lost", "warning")
    ]


def test_lines_of_the_base_that_are_lost_are_a_note(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.write()
    project.base = project.commit()
    project.file("a.py", "print('something else')\n")
    project.commit()
    found = project.gate_json(run_vibes)
    assert [(each["check"], each["severity"]) for each in found["findings"]] == [
        ("gate-lost", "note")
    ]


def test_a_deletion_record_does_not_hide_lines_that_are_there(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    project.base = project.commit()
    project.file("a.py", STORY + "x = 1\n")
    project.remap(identifier, commit=None, action="delete", timestamp="2020-01-01T00:00:00Z")
    project.commit()
    found = project.gate_json(run_vibes)
    assert decisions(found) == BLOCKED
    assert checks(found) == {"gate-hidden", "gate-remade"}


def test_a_deletion_that_claims_to_cover_does_not_hide_lines(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    removal = project.line("a.py", 4, 7, action="delete", text=STORY, environment=project.calm)
    project.edge("supersedes", removal, identifier, target_type="annotation", metadata=COVERS)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found)) == (BLOCKED, set())


def test_a_remap_to_other_lines_does_not_shrink_what_is_gated(
    project: GateProject, run_vibes: RunVibes
) -> None:
    project.policy(review_rules=[{"condition": "scope_lines >= 4", "action": "block"}])
    identifier = project.write()
    project.base = project.commit()
    project.file("a.py", EDITED)
    project.remap(identifier, commit=None, reason="rewrite", start=1, end=1, text=EDITED)
    project.commit()
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found)) == (BLOCKED, set())
    assert (found["items"][0]["lineStart"], found["items"][0]["lineEnd"]) == (4, 7)


@pytest.mark.parametrize(
    "change", ["environment_hash", "session_id", "assurance_level", "risk_factors", "timestamp"]
)
def test_a_remap_that_changes_how_code_was_made_is_found_and_ignored(
    project: GateProject, run_vibes: RunVibes, change: str
) -> None:
    identifier = project.write()
    values: dict[str, Any] = {
        "environment_hash": project.calm, "session_id": "another", "assurance_level": "high", "risk_factors": [], "timestamp": "2020-01-01T00:00:00Z",
    }  # fmt: skip
    project.remap(identifier, commit=None, **{change: values[change]})
    project.commit()
    found = project.gate_json(run_vibes)
    assert (decisions(found), checks(found, "error")) == (BLOCKED, {"gate-remade"})


def test_a_backfill_does_not_change_how_code_was_made(
    project: GateProject, run_vibes: RunVibes
) -> None:
    identifier = project.write()
    commit = project.commit()
    renewed = project.remap(identifier, commit=commit)
    project.commit("Back-fill")
    found = project.gate_json(run_vibes)
    assert (found["result"], checks(found), found["items"][0]["annotationId"]) == (
        "FAIL",
        set(),
        renewed,
    )
