"""`vibes verify`: what an attestation still covers of a trail that lived on, and exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import simulate_terminal, vibes
from tests.trails import TrailWriter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    assert vibes("keys", "generate", "--keys-dir", folder, cwd=tmp_path).code == 0
    return folder


@pytest.fixture
def attested(project: Project, keys: Path) -> Project:
    """A project whose attestation is committed."""
    assert vibes("attest", "--keys-dir", keys, cwd=project.root).code == 0
    project.repository.commit("Attest")
    return project


def files(project: Project, keys: Path) -> dict[str, dict[str, Any]]:
    done = vibes("verify", "--keys-dir", keys, "--json", cwd=project.root)
    assert done.err == ""
    return {each["name"].rpartition("/")[2]: each for each in done.json["files"]}


def reasons(project: Project, keys: Path) -> list[str]:
    found = files(project, keys)
    return [found[name]["reason"] for name in ("annotations.jsonl", "manifest.json", "config.json")]


def records(project: Project) -> int:
    return (project.audit / "annotations.jsonl").read_bytes().count(b"\n")


def entries(project: Project) -> int:
    return len(json.loads((project.audit / "manifest.json").read_bytes())["entries"])


@pytest.mark.parametrize("arguments", [["verify"], ["attest", "--dry-run"]], ids=" ".join)
def test_sentences_and_prompts_fit_the_terminal(
    attested: Project,
    keys: Path,
    run_vibes: RunVibes,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    attested.writer.prompt("One more prompt, which is longer than a line. " * 3)
    simulate_terminal(monkeypatch)
    done = run_vibes(*arguments, "--keys-dir", keys, cwd=attested.root)
    assert done.code == 0
    assert max(map(len, done.lines)) <= 80


def test_a_trail_that_grew_is_valid_up_to_what_was_attested(attested: Project, keys: Path) -> None:
    logged, known = records(attested), entries(attested)
    attested.writer.prompt("One more prompt.")
    attested.writer.line("src/auth.py", 1, 2, environment=attested.trail.environment)
    assert reasons(attested, keys) == [
        f"valid for the first {logged} records; 1 added since",
        f"valid for the first {known} entries; 1 added since",
        "equal",
    ]
    assert vibes("verify", "--keys-dir", keys, cwd=attested.root).code == 0


def test_back_fill_only_adds(attested: Project, keys: Path) -> None:
    """A new annotation of a committed line gets its commit by a record of its own (R4)."""
    text = "def greet() -> str:\n    return 'hello'\n"
    attested.repository.write("src/greeting.py", text)
    attested.writer.line(
        "src/greeting.py",
        1,
        2,
        environment=attested.trail.environment,
        session=attested.trail.session,
        text=text,
    )
    vibes("attest", "--keys-dir", keys, "--allow-failed", cwd=attested.root)
    logged = records(attested)
    attested.repository.commit("Record")
    attested.repository.commit("The one before it may be back-filled")
    done = vibes("backfill", cwd=attested.root)
    assert done.code == 0, done.err
    added = records(attested) - logged
    assert added > 0
    assert reasons(attested, keys)[0] == (
        f"valid for the first {logged} records; {added} added since"
    )


@pytest.mark.parametrize("attests", ["main", "branch"])
def test_a_merge_keeps_everything_attested_on_either_side(
    project: Project, keys: Path, attests: str
) -> None:
    repository, logged, known = project.repository, 0, 0
    repository.git("switch", "--quiet", "--create", "branch")
    for side in ("branch", "main"):
        repository.git("switch", "--quiet", side)
        writer = TrailWriter(
            project.root, level="high", start=f"2026-02-0{len(side)}T11:00:00.000Z"
        )
        writer.prompt(f"A prompt on {side}.")
        writer.line("src/auth.py", 1, 2, environment=project.trail.environment)
        if side == attests:
            done = vibes("attest", "--allow-failed", "--keys-dir", keys, cwd=project.root)
            assert done.code == 0, done.err
            logged, known = records(project), entries(project)
        repository.commit(f"Record on {side}")
    repository.git("merge", "--quiet", "--no-edit", "branch")
    found = files(project, keys)
    added = records(project) - logged
    assert added == 1
    for name, total, plus in (
        ("annotations.jsonl", logged, added),
        ("manifest.json", known, entries(project) - known),
    ):
        # Ours come first in a union merge, so what theirs attested is no beginning any more.
        assert found[name]["status"] == ("prefix" if attests == "main" else "subset")
        assert (found[name]["attested"], found[name]["added"]) == (total, plus)


def test_a_record_that_was_removed_is_named_a_change(attested: Project, keys: Path) -> None:
    log = attested.audit / "annotations.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:3], *lines[4:]]))
    assert reasons(attested, keys)[0] == (
        f"changed: 1 of {len(lines)} attested records are not in it"
    )
    assert vibes("verify", "--keys-dir", keys, cwd=attested.root).code == 1


def test_an_entry_that_was_changed_is_named_a_change(attested: Project, keys: Path) -> None:
    manifest = attested.audit / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b"Create a sign-up", b"Delete a sign-up"))
    assert reasons(attested, keys)[1] == (
        f"changed: 1 of {entries(attested)} attested entries are not in it"
    )


def test_a_formatter_changes_no_value(attested: Project, keys: Path) -> None:
    for name in ("config.json", "manifest.json"):
        path = attested.audit / name
        path.write_text(json.dumps(json.loads(path.read_bytes()), indent=3, sort_keys=True))
    log = attested.audit / "annotations.jsonl"
    log.write_bytes(log.read_bytes().replace(b"\n", b"\r\n"))
    envelope = attested.audit / "attestation.json"
    envelope.write_text(json.dumps(json.loads(envelope.read_bytes()), indent="\t"))
    assert {each["status"] for each in files(attested, keys).values()} == {"reformatted"}
    done = vibes("verify", "--keys-dir", keys, cwd=attested.root)
    assert (done.code, "Result: PASS" in done.out) == (0, True)


def test_exit_codes_tell_bad_from_could_not_check(
    attested: Project, keys: Path, tmp_path: Path, run_vibes: RunVibes
) -> None:
    def code(*arguments: str | Path) -> int:
        return run_vibes("verify", *arguments, cwd=attested.root).code

    assert code("--keys-dir", keys) == 0
    nobody = ("--keys-dir", tmp_path / "none")
    assert code(*nobody) == 3
    assert code("--public-key", keys / "vibescheck.pub", *nobody) == 0
    assert code(tmp_path / "missing.json", "--keys-dir", keys) == 2
    (attested.audit / "config.json").write_text("{}")
    assert code(*nobody) == 1


def test_a_trail_without_an_attestation_says_what_to_do(
    project: Project, keys: Path, run_vibes: RunVibes
) -> None:
    done = run_vibes("verify", "--keys-dir", keys, cwd=project.root)
    assert (done.code, "make one with `vibes attest`" in done.err) == (2, True)
    done = run_vibes("verify", "src/auth.py", cwd=project.root)
    assert (done.code, "name an envelope that `vibes attest` wrote" in done.err) == (2, True)


def test_hostile_members_draw_nothing(attested: Project, keys: Path, run_vibes: RunVibes) -> None:
    envelope = attested.audit / "attestation.json"
    content = json.loads(envelope.read_bytes())
    content["signatures"][0]["keyid"] = "\x1b[2J\u202e" * 20
    envelope.write_text(json.dumps(content))
    done = run_vibes("verify", "--keys-dir", keys, cwd=attested.root)
    assert done.code == 3
    assert not {"\x1b", "\u202e"} & set(done.out)


def test_the_attestation_of_a_public_project_is_explained(real_trail: Path, tmp_path: Path) -> None:
    args = ("verify", "--audit-dir", real_trail, "--keys-dir", tmp_path)
    done = vibes(*args, "--json", cwd=tmp_path)
    found = done.json
    assert done.code == 1
    assert [(each["verdict"], each["reason"]) for each in found["signatures"]] == [
        ("unchecked", "no public key is known")
    ]
    by_name = {each["name"]: each for each in found["files"]}
    log = by_name[".ai-audit/annotations.jsonl"]
    assert (log["status"], log["attested"], log["added"]) == ("prefix", 695, 18)
    assert log["reason"] == "valid for the first 695 records; 18 added since"
    assert by_name[".ai-audit/config.json"]["status"] == "reformatted"
    assert by_name[".ai-audit/manifest.json"]["status"] == "changed"
    assert (found["tier"], found["project"], found["validation"]) == ("none", "Maestro", "PASS")
    text = vibes(*args, cwd=tmp_path).out
    assert "977b0858ea4cdcac  could not check: no public key is known" in text
