"""The trail of a public project, as its tool wrote it, in three files."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from tests.server.profiles import PROFILES
from tests.server.sessions import log_of, session

PATHS: Final = (
    "src/main/vibes/vibes-coordinator.ts",
    "src/shared/vibes-types.ts",
    "src/renderer/components/vibes/VibesPanel.tsx",
)
STAND_IN: Final = "".join(f"export const value{number} = {number};\n" for number in range(1, 2001))
"""Not the files that were annotated, which are not ours to copy: what has anchors is lost in it, the rest cannot be verified."""


@pytest.fixture
def maestro(real_trail: Path, tmp_path: Path) -> Path:
    """A project with that trail and three stand-in files."""
    root = tmp_path / "maestro"
    shutil.copytree(real_trail, root / ".ai-audit", copy_function=shutil.copyfile)
    (root / ".ai-audit").chmod(0o755)
    for path in PATHS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(STAND_IN.encode())
    return root


def recorded(root: Path, path: str) -> list[dict[str, Any]]:
    """Return what the log says of a file, each claim once."""
    lines = (root / ".ai-audit" / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    found = [record for record in map(json.loads, lines) if record.get("file_path") == path]
    return list({(each["line_start"], each["line_end"]): each for each in found}.values())


@pytest.mark.parametrize("profile", PROFILES)
async def test_each_claim_of_a_file_is_told(maestro: Path, tmp_path: Path, profile: str) -> None:
    async with session(tmp_path, [maestro], profile=profile) as editor:
        for path in PATHS:
            uri = editor.open(maestro / path)
            claims = recorded(maestro, path)
            placements = (await editor.provenance(uri))["placements"]
            assert {
                (each["recordedLineStart"], each["recordedLineEnd"]) for each in placements
            } == {(each["line_start"], each["line_end"]) for each in claims}
            for each in placements:
                anchored = maestro_record(claims, each).get("anchor_hash") is not None
                assert each["state"] == ("lost" if anchored else "unverified")
                assert each["lineStart"] == (None if anchored else each["recordedLineStart"])
                assert each["tool"]["name"] == "Claude Code"
                assert each["model"]["name"].startswith("claude-")
            starts = [each["lineStart"] for each in placements if each["lineStart"] is not None]
            assert starts == sorted(starts)
    assert "ERROR" not in log_of(tmp_path)


def maestro_record(claims: list[dict[str, Any]], placement: dict[str, Any]) -> dict[str, Any]:
    return next(each for each in claims if each["line_start"] == placement["recordedLineStart"])


@pytest.mark.parametrize("profile", PROFILES)
async def test_hovers_lenses_and_lines_agree(maestro: Path, tmp_path: Path, profile: str) -> None:
    async with session(tmp_path, [maestro], profile=profile) as editor:
        for path in PATHS:
            uri = editor.open(maestro / path)
            answer = await editor.provenance(uri, lines=True)
            placed = [each for each in answer["placements"] if each["lineStart"] is not None]
            lenses = await editor.lenses(uri)
            starts = Counter(each["lineStart"] for each in placed)
            assert [line for line, _ in lenses] == sorted(starts)
            for line, title in lenses:
                edits = "AI edit" if starts[line] == 1 else f"{starts[line]} AI edits"
                assert title.startswith(f"{edits} (claimed) ·")
            owners = {line["line"]: line["annotationId"] for line in answer["lines"]}
            assert set(owners) == {
                line for each in placed for line in range(each["lineStart"], each["lineEnd"] + 1)
            }
            by_id = {each["annotationId"]: each for each in placed}
            for each in placed:
                owner = by_id[owners[each["lineStart"]]]
                told = await editor.hover(uri, each["lineStart"])
                title = f"{owner['model']['name']} · {owner['tool']['name']} · {owner['age']}"
                assert told.replace("`", "").startswith(title)
                assert owner["stateText"] in told
            lost = len(answer["placements"]) - len(placed)
            assert [each.code for each in await editor.diagnostics(uri)] == ["lost"] * bool(lost)
    assert "ERROR" not in log_of(tmp_path)


async def test_the_audit_files_themselves(maestro: Path, tmp_path: Path) -> None:
    async with session(tmp_path, [maestro]) as editor:
        report = await editor.run("vibes.check")
        assert report["project"] == "Maestro"
        assert (report["records"]["line"], report["records"]["broken"]) == (484, 0)
        assert report["contextHashes"]["mismatch"] == 0
        uri = editor.open(maestro / ".ai-audit" / "annotations.jsonl")
        found = await editor.diagnostics(uri)
        assert len(found) == min(
            200, sum(each["file"] == ".ai-audit/annotations.jsonl" for each in report["findings"])
        )
        assert (await editor.hover(uri, 1)).startswith("**session**")
    assert "ERROR" not in log_of(tmp_path)
