"""Programs and servers record into one trail at once: no record is lost or written twice."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from tests.requirements import REPOSITORY, in_nightly
from tests.server.editor import Editor
from tests.server.project import STORY, Project
from tests.server.sessions import session
from tests.trails import annotation_id, context_hash
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

PROGRAMS: Final = 16 if in_nightly() else 4
RECORDS: Final = int(os.environ.get("VIBES_CONCURRENT_RECORDS", "12"))
TOOL: Final = {"name": "Some Tool", "version": "1"}
MODEL: Final = {"name": "some-model", "version": "1"}
PROGRAM: Final = """
import sys
from vibes_lsp.recording import EndSession, Model, Origin, Prompt, PromptType, Recorder
from vibes_lsp.recording import StartSession, Tool
root, own, records = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Recorder(root) as recorder:
    session = recorder.execute(
        StartSession(tool=Tool("Some Tool", "1"), model=Model("some-model", own))
    ).session_id
    for number in range(records):
        text = f"{own if number % 2 else 'all'} {number}"
        origin = Origin(session_id=session, prompt=Prompt(text, PromptType.CHAT_MESSAGE))
        print(recorder.annotate_lines(f"p{own}.py", 4, 7, "modify", origin).annotation_id, flush=True)
    recorder.execute(EndSession(session_id=session))
"""


async def program(root: Path, own: int) -> list[str]:
    """Run a program that records; return what it was told."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    arguments = (sys.executable, "-c", PROGRAM, str(root), str(own), str(RECORDS))
    run = await asyncio.create_subprocess_exec(
        *arguments, env=environment, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await run.communicate()
    assert run.returncode == 0
    return out.decode().split()


async def edits(editor: Editor, file: Path, own: int) -> list[str]:
    """Record through a server, whole edits and inline completions; return what it was told."""
    uri = editor.open(file)
    told = []
    for number in range(RECORDS):
        prompt = {
            "text": f"server {own if number % 2 else 'all'} {number}",
            "type": "inline_completion",
        }
        by = {"uri": uri, "tool": TOOL, "model": MODEL, "prompt": prompt}
        where = {"start": {"line": 3, "character": 0}, "end": {"line": 7, "character": 0}}
        answer = await editor.run(
            "vibes.recordAnnotation", {**by, "range": where, "action": "modify"}
        )
        told.append(answer["annotationId"])
        at = {"start": {"line": 8, "character": 0}, "end": {"line": 8, "character": 0}}
        new = f"new_{own}_{number} = {number}\n"
        version = editor.insert(uri, 8, new)
        completion = {
            **by,
            "version": version - 1,
            "range": at,
            "newText": new,
            "completionId": f"{own} {number}",
        }
        told.append((await editor.run("vibes.recordInlineCompletion", completion))["annotationId"])
    return told


async def read(directory: AuditDir, until: asyncio.Event) -> None:
    """Read again and again: a record is never there before the entries that it names."""
    trail, seen = Trail(directory), 0
    while not until.is_set():
        trail.refresh()
        records = [
            record
            for line in range(seen + 1, trail.line_count + 1)
            if (record := trail.log.record(line)) is not None
        ]
        assert all(
            hash_of in trail.manifest for record in records for hash_of in _named(record.members)
        )
        seen = trail.line_count
        await asyncio.sleep(0)


def _named(record: dict[str, Any]) -> list[str]:
    return [record[name] for name in ("environment_hash", "prompt_hash") if record.get(name)]


@pytest.mark.timeout(600 + 6 * RECORDS)
async def test_every_record_is_there_once_and_names_what_is_there(tmp_path: Path) -> None:
    """`VIBES_CONCURRENT_RECORDS` says how many each of the programs makes, and how many of two kinds each server."""
    project = Project(tmp_path / "project")
    project.config()
    directory = AuditDir(project.root / ".ai-audit")
    names = [f"p{own}.py" for own in range(PROGRAMS)] + ["s0.py", "s1.py"]
    files = {name: project.file(name, STORY) for name in names}
    done = asyncio.Event()
    async with AsyncExitStack() as stack:
        editors = []
        for own in range(2):
            (tmp_path / str(own)).mkdir()
            editors.append(
                await stack.enter_async_context(session(tmp_path / str(own), [project.root]))
            )
        reader = asyncio.create_task(read(directory, done))
        programs = [program(project.root, own) for own in range(PROGRAMS)]
        told = await asyncio.gather(
            *programs,
            *(edits(editor, files[f"s{own}.py"], own) for own, editor in enumerate(editors)),
        )
        done.set()
        await reader
    lines = [json.loads(line) for line in (directory.log).read_bytes().splitlines()]
    times = Counter(record["annotation_id"] for record in lines)
    assert set(times.values()) == {1}
    assert all(annotation_id(record) == record["annotation_id"] for record in lines)
    acknowledged = [identifier for some in told for identifier in some]
    assert len(set(acknowledged)) == len(acknowledged) == (PROGRAMS + 4) * RECORDS
    assert set(acknowledged) == {
        record["annotation_id"] for record in lines if record["type"] == "line"
    }
    entries = json.loads(directory.manifest.read_bytes())["entries"]
    assert all(context_hash(entry) == key for key, entry in entries.items())
    assert {key for record in lines for key in _named(record)} <= set(entries)
    assert not (directory.journal / "entries.jsonl").exists(), (
        "the trail is quiet, and all is folded"
    )
