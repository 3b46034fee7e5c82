"""Prompts that are recorded by themselves (RFC 9.1), and the annotations that name them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.unit.recording.projects import MODEL, PROMPT, TOOL, Project, new_project, session_origin
from vibes_lsp.recording import (
    Origin,
    Prompt,
    PromptType,
    Recorder,
    RecordPrompt,
    UnknownId,
    WrongArgument,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_prompt_is_recorded_before_any_edit(project: Project) -> None:
    session = project.session()
    recorded = project.recorder.execute(RecordPrompt(session_id=session, prompt=PROMPT))
    assert recorded.prompt_hash is not None
    assert project.entry(recorded.prompt_hash)["prompt_text"] == PROMPT.text
    assert project.edges("caused_by") == [(session, recorded.prompt_hash)]
    assert recorded.edges == tuple(edge["annotation_id"] for edge in project.records("edge"))


def test_an_annotation_names_the_latest_prompt_of_its_session(project: Project) -> None:
    one, other = project.session(), project.session()
    before = project.recorder.annotate_lines("a.py", 1, 1, "create", session_origin(one))
    first = project.recorder.execute(RecordPrompt(session_id=one, prompt=PROMPT)).prompt_hash
    second = project.recorder.execute(
        RecordPrompt(session_id=one, prompt=Prompt("Shorter.", PromptType.CHAT_MESSAGE))
    ).prompt_hash
    named = [
        project.recorder.annotate_lines("a.py", number, number, "modify", session_origin(session))
        for number, session in ((4, one), (5, one), (6, other))
    ]
    again = project.recorder.execute(RecordPrompt(session_id=one, prompt=PROMPT)).prompt_hash
    last = project.recorder.annotate_lines("a.py", 9, 9, "modify", session_origin(one))
    assert first == again != second
    assert [each.record.get("prompt_hash") for each in (before, *named, last) if each.record] == [
        None,
        second,
        second,
        None,
        first,
    ]
    caused = dict(project.edges("caused_by"))
    assert [caused[str(each.annotation_id)] for each in (*named, last)] == [
        second,
        second,
        other,
        first,
    ]


def test_an_annotation_may_have_its_own_prompt(project: Project) -> None:
    session = project.session()
    first = project.recorder.execute(RecordPrompt(session_id=session, prompt=PROMPT)).prompt_hash
    project.recorder.execute(
        RecordPrompt(session_id=session, prompt=Prompt("Shorter.", PromptType.CHAT_MESSAGE))
    )
    own = Prompt("Longer.", PromptType.CHAT_MESSAGE)
    origins = [
        session_origin(session, prompt=own),
        session_origin(session, prompt_hash=first),
        Origin(tool=TOOL, model=MODEL, prompt_hash=first),
    ]
    named = [
        project.recorder.annotate_lines("a.py", 4, 4, "modify", each).record for each in origins
    ]
    [longer] = [
        key for key, entry in project.entries("prompt").items() if entry["prompt_text"] == "Longer."
    ]
    assert [each["prompt_hash"] for each in named if each] == [longer, first, first]


def test_the_files_of_a_recorded_prompt_inform_annotations(
    tmp_path: Path,
) -> None:
    prompt = replace(PROMPT, context_files=("a.py",))
    apart, together = new_project(tmp_path / "apart"), new_project(tmp_path / "together")
    session = apart.session()
    apart.recorder.execute(RecordPrompt(session_id=session, prompt=prompt))
    apart.recorder.annotate_lines("a.py", 4, 4, "modify", session_origin(session))
    together.recorder.annotate_lines(
        "a.py", 4, 4, "modify", session_origin(together.session(), prompt=prompt)
    )
    informed = [{target for _, target in each.edges("informed_by")} for each in (apart, together)]
    assert informed[0] == informed[1] != set()


def test_at_the_low_level_no_prompt_is_stored(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project", "low")
    session = project.session()
    recorded = project.recorder.execute(
        RecordPrompt(
            session_id=session,
            prompt=Prompt("PROMPT", PromptType.OTHER, ("given.py",)),
            request_id="once",
        )
    )
    assert (recorded.prompt_hash, recorded.edges, recorded.withheld) == (None, (), ("prompt",))
    annotated = project.recorder.annotate_lines("a.py", 4, 4, "modify", session_origin(session))
    assert annotated.record is not None
    assert "prompt_hash" not in annotated.record
    assert annotated.withheld == ()
    assert not any(word in project.written() for word in (b"PROMPT", b"given.py"))


def test_an_earlier_prompt_is_not_named_at_the_low_level(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    session = project.session()
    key = project.recorder.execute(RecordPrompt(session_id=session, prompt=PROMPT)).prompt_hash
    config = project.root / ".ai-audit" / "config.json"
    config.write_text(config.read_text().replace('"medium"', '"low"'))
    for origin, withheld in (
        (session_origin(session), ()),
        (session_origin(session, prompt_hash=key), ("prompt",)),
    ):
        annotated = project.recorder.annotate_lines("a.py", 4, 4, "modify", origin)
        assert annotated.record is not None
        assert ("prompt_hash" in annotated.record, annotated.withheld) == (False, withheld)


def test_a_repeated_request_records_one_prompt(project: Project) -> None:
    session = project.session()
    one = project.recorder.execute(
        RecordPrompt(session_id=session, prompt=PROMPT, request_id="once")
    )
    assert (
        Recorder(project.root).execute(
            RecordPrompt(session_id=session, prompt=PROMPT, request_id="once")
        )
        == one
    )
    assert len(project.edges("caused_by")) == 1


def test_secrets_in_a_prompt_are_masked(project: Project) -> None:
    recorded = project.recorder.execute(
        RecordPrompt(
            session_id=project.session(), prompt=Prompt("use ghp_" + "a1B2" * 9, PromptType.OTHER)
        )
    )
    assert recorded.masked == 1
    assert b"ghp_" not in project.written()


def test_an_invalid_prompt_is_refused(project: Project) -> None:
    session = project.session()
    key = project.recorder.execute(RecordPrompt(session_id=session, prompt=PROMPT)).prompt_hash
    before = project.records()
    with pytest.raises(UnknownId):
        project.recorder.execute(RecordPrompt(session_id="nobody", prompt=PROMPT))
    for origin in (
        session_origin(session, prompt_hash="ab" * 32),
        session_origin(session, prompt=PROMPT, prompt_hash=key),
    ):
        with pytest.raises(WrongArgument, match="prompt_hash"):
            project.recorder.annotate_lines("a.py", 4, 4, "modify", origin)
    assert project.records() == before
