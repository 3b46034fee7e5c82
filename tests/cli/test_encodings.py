"""Files that are not UTF-8: what an agent says in characters is compared with their bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.cli.run_vibes import vibes
from tests.trails import Repository
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import store_event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes

BEFORE: Final = "# café\nx = 1\n"
AFTER: Final = '# café\nx = 1\ny = "été"\nz = 2\n'
UNCHANGED: Final = ["unrecorded", "unrecorded", "ai", "ai"]
FULL: Final = {
    "tool_name": "Write",
    "tool_input": {"content": AFTER},
    "tool_response": {"type": "update", "originalFile": BEFORE, "structuredPatch": []},
}
DIFF: Final = {
    "tool_name": "Write",
    "tool_input": {"content": AFTER},
    "tool_response": {
        "structuredPatch": [
            {
                "newStart": 1,
                "lines": [" # café", " x = 1", '+y = "été"', "+z = 2"],
            }
        ]
    },
}
REPLACEMENT: Final = {
    "tool_name": "Edit",
    "tool_input": {"old_string": "x = 1\n", "new_string": 'x = 1\ny = "été"\nz = 2\n'},
    "tool_response": {},
}


def _name(value: object) -> str:
    """Return the name of a parameter of a test."""
    names = {id(FULL): "full", id(DIFF): "diff", id(REPLACEMENT): "replacement"}
    return names.get(id(value), repr(value[0] if isinstance(value, tuple) else value))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = new_project(tmp_path / "project", "low")
    Repository(project.root)
    return project


def edit(project: Project, call: dict[str, Any], encoding: str, end: str = "\n") -> None:
    """Give a file a new text as an agent, and record what its hook receives."""
    path = project.file("a.py", AFTER.replace("\n", end).encode(encoding))
    payload = {
        "session_id": "3d0e5c77-4f6f-4a66-a5a7-1f2d3c4b5a69",
        "cwd": str(project.root),
        "prompt_id": "p1",
        "hook_event_name": "PostToolUse",
        "tool_use_id": "t1",
        **call,
        "tool_input": {"file_path": str(path), **call["tool_input"]},
    }
    store_event(json.dumps(payload).encode(), lambda: "/")
    fold_events(project.recorder.directory)


def kinds(root: Path, run_vibes: RunVibes) -> list[str]:
    """Return the kind of each line; those of no annotation are `unrecorded`."""
    done = run_vibes("blame", "a.py", "--json", cwd=root)
    assert done.code == 0, done.err
    known = {each["line"]: each["kind"] for each in json.loads(done.out)["lines"]}
    return [known.get(number, "unrecorded") for number in range(1, 5)]


@pytest.mark.parametrize(
    ("call", "encoding"),
    [
        (FULL, "latin-1"),
        (DIFF, "latin-1"),
        (REPLACEMENT, "latin-1"),
        (FULL, "cp850"),
        (DIFF, "cp1252"),
        (REPLACEMENT, "utf-8-sig"),
    ],
    ids=_name,
)
def test_an_edit_in_another_encoding_is_verified(
    project: Project, run_vibes: RunVibes, tmp_path: Path, call: dict[str, Any], encoding: str
) -> None:
    project.file("a.py", BEFORE.encode(encoding))
    repository = Repository(project.root)
    repository.commit("before")
    edit(project, call, encoding)
    assert kinds(project.root, run_vibes) == UNCHANGED
    repository.commit("after")
    assert kinds(project.root, run_vibes) == UNCHANGED
    repository.git("clone", "-q", str(project.root), str(tmp_path / "clone"))
    assert kinds(tmp_path / "clone", run_vibes) == UNCHANGED


@pytest.mark.parametrize(
    ("call", "stored", "end"),
    [
        (FULL, ("ISO-8859-1", "latin-1"), "\n"),
        (REPLACEMENT, ("ISO-8859-1", "latin-1"), "\r\n"),
        (FULL, ("UTF-16", "utf-16"), "\r\n"),
        (DIFF, ("UTF-16", "utf-16"), "\n"),
        (REPLACEMENT, ("UTF-16LE", "utf-16-le"), "\n"),
        (FULL, ("UTF-16BE", "utf-16-be"), "\n"),
        (DIFF, ("UTF-32", "utf-32"), "\n"),
        (FULL, ("GB18030", "gb18030"), "\n"),
    ],
    ids=_name,
)
def test_a_file_that_git_converts_has_the_lines_that_git_has(
    project: Project,
    run_vibes: RunVibes,
    call: dict[str, Any],
    stored: tuple[str, str],
    end: str,
) -> None:
    attribute, encoding = stored
    project.file(".gitattributes", f"a.py working-tree-encoding={attribute}\n")
    project.file("a.py", BEFORE.replace("\n", end).encode(encoding))
    repository = Repository(project.root)
    repository.commit("before")
    edit(project, call, encoding, end)
    assert kinds(project.root, run_vibes) == UNCHANGED
    repository.commit("after")
    assert kinds(project.root, run_vibes) == UNCHANGED
    [line] = project.records("line")
    assert line["anchor_context"] == 'y = "été"\nz = 2'
    clone = project.root.parent / "clone"
    repository.git("clone", "-q", str(project.root), str(clone))
    assert kinds(clone, run_vibes) == UNCHANGED


def test_an_edit_in_an_unknown_encoding_is_claimed_by_no_line(
    project: Project, run_vibes: RunVibes
) -> None:
    project.file("a.py", BEFORE.encode("cp500"))
    edit(project, FULL, "cp500")
    assert "ai" not in kinds(project.root, run_vibes)
    assert "edited" not in kinds(project.root, run_vibes)
    assert "the encoding of the file is not known" in run_vibes("doctor", cwd=project.root).out


def test_a_text_that_is_given_is_compared_in_the_encoding_of_the_file(project: Project) -> None:
    project.file("a.py", AFTER.encode("latin-1"))
    members = {
        "file": "a.py",
        "lineStart": 4,
        "lineEnd": 5,
        "action": "create",
        "text": "# not saved\n" + AFTER,
        "tool": {"name": "t", "version": "1"},
        "model": {"name": "m", "version": "1"},
    }
    done = vibes("record", "annotate", cwd=project.root, given=json.dumps(members).encode())
    assert (done.code, done.err) == (0, "")
    shown = vibes(
        "blame", "a.py", "--json", "--contents", "-", cwd=project.root, given=AFTER.encode()
    )
    for done in (shown, vibes("blame", "a.py", "--json", cwd=project.root)):
        lines = json.loads(done.out)["lines"]
        assert {each["line"]: each["kind"] for each in lines} == {3: "ai", 4: "ai"}


@pytest.mark.parametrize("value", ["rot13", "base64", "unicode_escape", "no-such", "UTF-7", "\x01"])
def test_only_encodings_of_texts_are_used(
    project: Project, run_vibes: RunVibes, value: str
) -> None:
    project.file(".gitattributes", f"a.py working-tree-encoding={value}\n")
    project.file("a.py", AFTER)
    project.annotate(project.session(), 3, 4)
    assert kinds(project.root, run_vibes)[2:] == ["ai", "ai"]
