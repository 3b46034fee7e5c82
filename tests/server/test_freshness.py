"""Whatever happens to a trail on disk, the next answer of the running server is right; clients that can are told to ask again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from functools import partial
from typing import Any

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.profiles import capabilities_of
from tests.server.project import AS_RECORDED, STORY, Project, let_records_wait
from tests.trails import Repository
from vibes_lsp.recording import Model, Origin, Recorder, Tool

APPEND = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"


def prompts(placements: list[dict[str, object]]) -> list[object]:
    return [each.get("prompt") for each in placements]


async def seen(editor: Editor, uri: str) -> list[object]:
    """Return the prompts of a document's annotations as the server knows them now."""
    return prompts((await editor.provenance(uri))["placements"])


async def test_a_record_appended_by_another_process(editor: Editor, project: Project) -> None:
    uri = await editor.open_settled(project.annotated())
    assert len(await editor.lens_places(uri)) == 1
    log = project.files.log
    before = log.read_bytes()
    project.line("a.py", 10, 13, text=STORY)
    whole = log.read_bytes()
    log.write_bytes(before)
    assert len(await editor.lens_places(uri)) == 1
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", APPEND, log, stdin=asyncio.subprocess.PIPE
    )
    await other.communicate(whole[len(before) :])
    assert other.returncode == 0
    assert [lens.range.start.line for lens in await editor.lens_places(uri)] == [3, 9]


async def test_a_record_written_in_two_parts(editor: Editor, project: Project) -> None:
    uri = await editor.open_settled(project.annotated())
    log = project.files.log
    before = log.read_bytes()
    project.line("a.py", 10, 13, text=STORY)
    whole = log.read_bytes()
    log.write_bytes(whole[: len(before) + 40])
    assert len(await editor.lens_places(uri)) == 1
    log.write_bytes(whole)
    assert len(await editor.lens_places(uri)) == 2


async def test_a_log_replaced_by_a_branch_switch(editor: Editor, project: Project) -> None:
    repository = Repository(project.root)
    project.annotated(prompt=project.prompt("Asked on main."))
    repository.commit("Add a.py")
    repository.switch("topic", create=True)
    project.line("a.py", 10, 13, text=STORY, prompt=project.prompt("Asked on topic."))
    repository.commit("More")
    uri = await editor.open_settled(project.root / "a.py")
    assert await seen(editor, uri) == ["Asked on main.", "Asked on topic."]
    repository.switch("main")
    assert await seen(editor, uri) == ["Asked on main."]
    repository.switch("topic")
    assert await seen(editor, uri) == ["Asked on main.", "Asked on topic."]


async def test_a_log_cut_short_emptied_and_removed(editor: Editor, project: Project) -> None:
    uri = await editor.open_settled(project.annotated())
    log = project.files.log
    first = log.read_bytes()
    project.line("a.py", 10, 13, text=STORY)
    both = log.read_bytes()
    assert len(await editor.lens_places(uri)) == 2
    os.truncate(log, len(first))
    assert len(await editor.lens_places(uri)) == 1
    os.truncate(log, 0)
    assert await editor.hover_whole(uri, 4) is None
    log.write_bytes(both)
    assert len(await editor.lens_places(uri)) == 2
    log.unlink()
    assert await editor.lens_places(uri) == []


async def test_a_log_rewritten_in_place_with_the_same_length(
    editor: Editor, project: Project
) -> None:
    uri = await editor.open_settled(project.annotated(action="create"))
    (placement,) = (await editor.provenance(uri))["placements"]
    assert placement["action"] == "create"
    log = project.files.log
    content = log.read_bytes().replace(b'"action":"create"', b'"action":"modify"')
    times = log.stat()
    with log.open("r+b") as stream:
        stream.write(content)
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
    (placement,) = (await editor.provenance(uri))["placements"]
    assert placement["action"] == "modify"


async def test_an_entry_that_moves_from_the_journal_into_the_manifest(
    editor: Editor, project: Project
) -> None:
    uri = await editor.open_settled(project.annotated(prompt=project.prompt("Asked.")))
    manifest = project.files.manifest
    whole = manifest.read_bytes()
    head, *entries, tail = whole.split(b"\n")[:-1]
    journal = project.files.write("wal/1.jsonl", b"{" + entries[1].strip(b",") + b"}\n")
    manifest.write_bytes(b"\n".join([head, entries[0], tail, b""]))
    assert await seen(editor, uri) == ["Asked."]
    journal.unlink()
    assert await seen(editor, uri) == [None]
    manifest.write_bytes(whole)
    assert await seen(editor, uri) == ["Asked."]


async def test_a_prompt_that_was_changed(editor: Editor, project: Project) -> None:
    uri = await editor.open_settled(project.annotated(prompt=project.prompt("Asked this.")))
    assert "Asked this." in await editor.hover(uri, 4)
    manifest = project.files.manifest
    manifest.write_bytes(manifest.read_bytes().replace(b"Asked this.", b"Asked that."))
    assert "Asked that." in await editor.hover(uri, 4)
    manifest.unlink()
    assert "context not published" in await editor.hover(uri, 4)


async def test_a_policy_that_was_changed(editor: Editor, project: Project) -> None:
    uri = await editor.open_settled(project.annotated(risk_score=0.5))
    assert await editor.diagnostics(uri) == []
    project.config(
        risk_scoring={
            **AS_RECORDED,
            "thresholds": {"low": 0, "medium": 0.1, "high": 0.2, "critical": 0.9},
        }
    )
    assert [each.code for each in await editor.diagnostics(uri)] == ["risk-high"]
    project.config(
        risk_scoring={
            **AS_RECORDED,
            "thresholds": {"low": 0, "medium": 0.1, "high": 0.2, "critical": 0.3},
        }
    )
    assert "0.50 critical" in await editor.hover(uri, 4)
    project.files.config.write_bytes(b"{")
    assert await editor.diagnostics(uri) == []


async def test_a_file_that_changes_while_it_is_not_open(editor: Editor, project: Project) -> None:
    file = project.annotated()
    uri = file.as_uri()
    assert (await editor.provenance(uri))["placements"][0]["lineStart"] == 4
    file.write_bytes(b"# one\n" + STORY.encode())
    found = await editor.provenance(uri)
    assert (found["version"], found["placements"][0]["lineStart"]) == (None, 5)
    file.unlink()
    assert await editor.hover_whole(uri, 4) is None


async def test_what_is_typed_counts_before_what_is_saved_until_it_is_closed(
    editor: Editor, project: Project
) -> None:
    file = project.annotated()
    uri = editor.open(file, "# one\n" + STORY)
    found = await editor.provenance(uri)
    assert (found["version"], found["placements"][0]["lineStart"]) == (1, 5)
    editor.close(uri)
    assert (await editor.provenance(uri))["placements"][0]["lineStart"] == 4


async def test_a_trail_that_appears_and_goes(editor: Editor, project: Project) -> None:
    file = project.annotated("inner/a.py")
    uri = await editor.open_settled(file)
    assert (await editor.provenance(uri))["placements"][0]["filePath"] == "inner/a.py"
    inner = Project(project.root / "inner")
    inner.config()
    inner.environment(model="nearer")
    inner.line("a.py", 4, 7, text=STORY)
    assert "nearer" in await editor.hover(uri, 4)
    inner.files.audit.rename(project.root / "inner" / "elsewhere")
    assert "claude-opus-4-5" in await editor.hover(uri, 4)


class TestTelling:
    """A client is told to ask again, whether it or the server noticed the change first."""

    @pytest.mark.every_profile
    async def test_after_a_watched_change(self, editor: Editor, project: Project) -> None:
        uri = await editor.open_settled(project.annotated())
        assert len(await editor.lens_places(uri)) == 1
        after = len(editor.client.sent)
        project.line("a.py", 10, 13, text=STORY)
        editor.watched(project.files.log)
        await editor.told(uri, after=after)
        assert len(await editor.lens_places(uri)) == 2
        await self._refreshed(editor, after)

    async def test_after_an_answer_that_noticed_it_though_nothing_is_watched(
        self, editor: Editor, project: Project
    ) -> None:
        uri = await editor.open_settled(project.annotated())
        assert len(await editor.lens_places(uri)) == 1
        after = len(editor.client.sent)
        project.line("a.py", 10, 13, text=STORY)
        assert len(await editor.lens_places(uri)) == 2
        await editor.told(uri, after=after)
        await self._refreshed(editor, after)

    @pytest.mark.every_profile
    async def test_after_another_program_has_recorded(
        self, editor: Editor, project: Project
    ) -> None:
        """A client that does not watch files is told without a request, too."""
        uri = await editor.open_settled(project.annotated())
        after = len(editor.client.sent)
        project.line("a.py", 10, 13, text=STORY)
        if editor.profile == "vscode_current":
            editor.watched(project.files.log)
        await editor.told(uri, after=after)
        await self._refreshed(editor, after)

    @pytest.mark.every_profile
    async def test_after_another_program_has_recorded_what_waits(
        self, editor: Editor, project: Project
    ) -> None:
        file = project.annotated()
        repository = Repository(project.root)
        repository.commit("Begin")
        records = let_records_wait(repository)
        uri = await editor.open_settled(file)
        after = len(editor.client.sent)
        project.line("a.py", 4, 4, text=STORY)
        if editor.profile == "vscode_current":
            editor.watched(project.files.log)
        await editor.told(uri, after=after)  # so the server has looked at the trail before
        await editor.final(uri)
        await editor.caught_up()
        after, log = len(editor.client.sent), project.files.log.read_bytes()
        by = Origin(tool=Tool("Some Tool", "1"), model=Model("some-model", "1"))
        with Recorder(project.root) as recorder:
            recorder.annotate_lines("a.py", 10, 13, "modify", by)
        assert project.files.log.read_bytes() == log
        if editor.profile == "vscode_current":
            editor.watched(records)
        await editor.told(uri, after=after)
        await self._refreshed(editor, after)

    async def test_after_a_trail_has_appeared(self, editor: Editor, project: Project) -> None:
        file = project.file("inner/a.py")
        uri = await editor.open_settled(file)
        assert await editor.lens_places(uri) == []
        inner = Project(file.parent)
        inner.config()
        inner.environment()
        inner.line("a.py", 4, 7, text=STORY)
        after = len(editor.client.sent)
        editor.watched(inner.files.log, types.FileChangeType.Created)
        await editor.told(uri, after=after)
        assert len(await editor.lens_places(uri)) == 1

    @pytest.mark.every_profile
    async def test_nobody_is_told_of_nothing(self, editor: Editor, project: Project) -> None:
        await editor.open_settled(project.annotated(commit="c0ffee" * 6))
        editor.watched(
            project.files.log
        )  # tells what is still to be told of the projects of other tests
        await editor.caught_up()
        after = len(editor.client.sent)
        editor.watched(project.files.log)
        await editor.caught_up()
        assert editor.client.sent[after:] == []

    @pytest.mark.every_profile
    async def test_a_client_that_is_pushed_to_gets_diagnostics_with_it(
        self, editor: Editor, project: Project
    ) -> None:
        project.config(risk_scoring=AS_RECORDED)
        uri = await editor.open_settled(project.annotated())
        assert await editor.diagnostics(uri) == []
        after = len(editor.client.sent)
        project.line("a.py", 10, 13, text=STORY, risk_score=0.9)
        editor.watched(project.files.log)
        await editor.told(uri, after=after)
        if editor.pulls:
            assert [each.code for each in await editor.diagnostics(uri)] == ["risk-critical"]
        else:
            found = await editor.pushed(uri, 2, after=after)
            assert [each.code for each in found] == ["risk-critical"]

    @pytest.mark.every_profile
    async def test_whether_it_asks_to_watch_depends_on_the_client(self, editor: Editor) -> None:
        if editor.profile == "vscode_current":
            await editor.client.until(lambda sent: bool(_watchers(*sent)))
            below = '{"watchers": [{"globPattern": "**/{.ai-audit,.git/ai-audit}/**"}]}'
            assert [
                each
                for sent in editor.client.sent
                for each in _watchers(*sent)
                if "baseUri" not in each
            ] == [below]
        else:
            assert [
                method
                for method, _ in editor.client.sent
                if method == types.CLIENT_REGISTER_CAPABILITY
            ] == []

    async def _refreshed(self, editor: Editor, after: int) -> None:
        """Check that the client was asked to refresh what it can refresh, and nothing else."""
        workspace = capabilities_of(editor.profile).workspace
        refreshable = (
            ()
            if workspace is None
            else (
                (types.WORKSPACE_CODE_LENS_REFRESH, workspace.code_lens),
                (types.WORKSPACE_DIAGNOSTIC_REFRESH, workspace.diagnostics),
                (types.WORKSPACE_INLAY_HINT_REFRESH, workspace.inlay_hint),
            )
        )
        wanted = {method for method, client in refreshable if client and client.refresh_support}
        for method in wanted:
            await editor.client.until(partial(_is, method), after=after)
        refreshed = {
            method for method, _ in editor.client.sent[after:] if method.endswith("/refresh")
        }
        assert refreshed == wanted


def _is(method: str, sent: tuple[str, object]) -> bool:
    return sent[0] == method


def _watchers(method: str, params: Any) -> list[str]:
    """Return what a message asks the client to watch."""
    asked = params.registrations if method == types.CLIENT_REGISTER_CAPABILITY else ()
    return [
        json.dumps(each.register_options)
        for each in asked
        if each.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    ]
