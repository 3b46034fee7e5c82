"""Attestations in an editor: tier and coverage on the audit files, warnings where they do not hold."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.cli.attested_project import AttestedProject
from tests.server.editor import without_age
from tests.server.sessions import session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.server.editor import Editor

AUDIT_FILES = ("attestation.json", "annotations.jsonl", "manifest.json", "config.json")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AttestedProject:
    project = AttestedProject.create(tmp_path)
    monkeypatch.setenv("HOME", str(project.home))
    monkeypatch.setenv("USERPROFILE", str(project.home))
    return project


@asynccontextmanager
async def _opened(
    project: AttestedProject, name: str, profile: str = "vscode_current"
) -> AsyncIterator[tuple[Editor, str]]:
    """Open an audit file in a session of its own."""
    async with session(project.root.parent, [project.root], profile=profile) as editor:
        yield editor, editor.open(project.audit / name)


async def _lenses(editor: Editor, uri: str) -> list[tuple[int, str]]:
    """Return the lenses about the attestation: 1-based line and title."""
    places = ("now at ", "superseded, ", "not found in ")
    return [each for each in await editor.lenses(uri) if not each[1].startswith(places)]


async def _title(editor: Editor, uri: str, beginning: str) -> str:
    """Return the title of the file's lens once it begins with this; asking starts the work."""
    while True:
        after = len(editor.client.sent)
        lenses = await _lenses(editor, uri)
        assert [line for line, _ in lenses] in ([], [1])
        if lenses and lenses[0][1].startswith(beginning):
            return lenses[0][1]
        await editor.told(uri, after=after)


async def _run(editor: Editor, command: str, **arguments: Any) -> Any:
    return await editor.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command, [arguments])
    )


async def _warnings(editor: Editor, uri: str) -> list[str]:
    return [each.message for each in await editor.diagnostics(uri) if each.code == "attestation"]


@pytest.mark.parametrize("profile", ["vscode_current", "nothing"])
async def test_the_lens_of_an_audit_file_says_whose_word_it_is(
    own: AttestedProject, profile: str
) -> None:
    async with _opened(own, "attestation.json", profile) as (editor, uri):
        assert await _title(editor, uri, "self") == "self-attested, AGE"
        report = await editor.hover(uri, 2) if profile == "nothing" else await editor.hover(uri, 1)
        assert "Trust tier: self-attested (only a user signed it)" in report
        assert "  .ai-audit/config.json  equal" in report
        assert "Not proven: that the records are true" in report
        for name in AUDIT_FILES[1:]:
            other = editor.open(own.audit / name)
            assert await _lenses(editor, other) == [(1, "self-attested: equal")]
            assert await _warnings(editor, other) == []


async def test_a_hover_in_an_attestation_is_about_the_text_that_was_verified(
    own: AttestedProject,
) -> None:
    async with _opened(own, "attestation.json") as (editor, uri):
        await _title(editor, uri, "self")
        text = (own.audit / "attestation.json").read_text(encoding="utf-8")
        envelope = json.loads(text)
        key = envelope["signatures"][0]["keyid"]

        async def hover(part: str) -> str:
            return without_age(await editor.hover(uri, 1, text.index(part) + 3))

        report = await hover(key)
        assert "Trust tier: self-attested" in report
        assert re.search(rf"{key} +good", report), report
        assert "Not verified" not in report
        for part in ("keyid", 'sig"', "payloadType", envelope["payload"]):
            assert await hover(part) == report
        at = (0, text.index(key))
        editor.replace(uri, at, at, "f")
        assert "the text is not the attestation as saved" in await hover(key)
        log = editor.open(own.audit / "annotations.jsonl")
        assert "Trust tier" not in await editor.hover(log, 1, 1)


@pytest.mark.parametrize("index", ["x", "-1", "9" * 5000])
async def test_signatures_that_are_no_list_are_not_explained(
    own: AttestedProject, index: str
) -> None:
    async with _opened(own, "attestation.json") as (editor, uri):
        await _title(editor, uri, "self")
        length = len((own.audit / "attestation.json").read_text(encoding="utf-8"))
        text = json.dumps({"signatures": {index: {"keyid": "k"}}})
        editor.replace(uri, (0, 0), (0, length), text)
        assert "Trust tier: self" in await editor.hover(uri, 1, text.index("keyid"))


async def test_a_changed_file_is_a_warning_and_growth_is_none(own: AttestedProject) -> None:
    async with _opened(own, "annotations.jsonl") as (editor, uri):
        await _title(editor, uri, "self-attested: equal")
        own.append_record()
        grown = "self-attested: valid for the first 59 records; 1 added since"
        assert await _title(editor, uri, "self-attested: valid") == grown
        assert await _warnings(editor, uri) == []
        log = own.audit / "annotations.jsonl"
        log.write_bytes(log.read_bytes().replace(b'"create"', b'"modify"', 1))
        await _title(editor, uri, "changed")
        [warning] = await _warnings(editor, uri)
        assert warning.startswith("annotations.jsonl is not as it was attested: ")
        config = editor.open(own.audit / "config.json")
        assert await _warnings(editor, config) == []
        attestation = editor.open(own.audit / "attestation.json")
        await _title(
            editor, attestation, "the attestation does not hold: .ai-audit/annotations.jsonl"
        )


async def test_editor_badge_and_command_line_agree_on_the_tier(own: AttestedProject) -> None:
    async with session(own.root.parent, [own.root]) as editor:
        for change in (None, own.append_record, own.append_superseding_edge, partial(_rename, own)):
            if change is not None:
                change()
            found = await _run(editor, "vibes.verify")
            shown = await asyncio.to_thread(_tiers_elsewhere, own)
            assert shown == (found["tier"], found["tier"])


def _rename(project: AttestedProject) -> None:
    config = json.loads((project.audit / "config.json").read_bytes())
    config["project_name"] = "another"
    (project.audit / "config.json").write_text(json.dumps(config))


def _tiers_elsewhere(project: AttestedProject) -> tuple[str, str]:
    badge = project.run("badge", "--json").json["tier"]
    code = 0 if badge != "none" else 1
    return badge, project.run("verify", "--json", code=code).json["tier"]


async def test_the_editor_attests_after_a_preview(own: AttestedProject) -> None:
    _rename(own)
    async with _opened(own, "attestation.json") as (editor, uri):
        assert not (await _run(editor, "vibes.verify", uri=uri))["holds"]
        before = (own.audit / "attestation.json").read_bytes()
        preview = await _run(editor, "vibes.attest", uri=uri, preview=True)
        assert {"type", "hash", "text"} <= preview["public"]["texts"][0].keys()
        assert preview["attested"] is False
        assert (own.audit / "attestation.json").read_bytes() == before
        assert (await _run(editor, "vibes.attest", uri=uri))["attested"] is True
        found = await _run(editor, "vibes.verify", uri=uri)
        assert (found["tier"], found["holds"]) == ("self-attested", True)
        assert found["verification"] == own.run("verify", "--json").json


async def test_a_trail_without_an_attestation_says_so_and_starts_nothing(
    own: AttestedProject,
) -> None:
    (own.audit / "attestation.json").unlink()
    async with session(own.root.parent, [own.root]) as editor:
        uri = editor.open(own.audit / "config.json")
        assert await editor.lens_places(uri) == []
        found = await _run(editor, "vibes.verify", uri=uri)
        assert (found["attested"], found["tier"], found["summary"]) == (
            False,
            "none",
            "not attested",
        )


async def test_what_is_no_envelope_is_named(own: AttestedProject) -> None:
    (own.audit / "attestation.json").write_text('{"payloadType": "x"}')
    async with _opened(own, "attestation.json") as (editor, uri):
        await _title(
            editor, uri, "attestation not verified: attestation.json: signatures is missing"
        )


async def test_a_module_of_the_workspace_is_never_imported(own: AttestedProject) -> None:
    for package in ("vibes_lsp", "click", "cryptography"):
        (own.root / f"{package}.py").write_text("raise SystemExit(7)\n")
    async with session(own.root.parent, [own.root]) as editor:
        assert (await _run(editor, "vibes.verify"))["tier"] == "self-attested"
