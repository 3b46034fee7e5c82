"""What a person records by hand: lines, a function, a decision; and sessions with what was run and read in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.demo.workspace import Workspace, build
from tests.editors.neovim.conftest import NEW, STABLE, Open
from tests.editors.recorded import newest, records

AUTHOR = """vim.g.vibes = {
  tool = { name = 'Some Tool', version = '1.0' },
  model = { name = 'some-model', version = '2026-01' },
}
"""


def sessions(audit: Path, event: str) -> list[dict[str, Any]]:
    return [
        record
        for record in records(audit)
        if record.get("event") == event and record.get("agent_type") != "human"
    ]


def build_edited(root: Path) -> Workspace:
    """Return the sample repository with lines 8 to 10 changed: text that git had is not an edit."""
    workspace = build(root)
    file = root / "src/auth.py"
    lines = file.read_text(encoding="utf-8").split("\n")
    lines[7:10] = [f"{line}  # noqa: F401" for line in lines[7:10]]
    file.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    return workspace


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_lines_are_recorded_as_an_ais(open_neovim: Open, tmp_path: Path, suite: str) -> None:
    workspace = build_edited(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", AUTHOR)
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.command(
        "8,10Vibes record create Which modules does this take? api_key=AKIAIOSFODNN7EXAMPLE"
    )
    editor.terminal.shows("vibes: recorded; secrets masked: 1")
    editor.until(
        lambda: [editor.signs().get(line) for line in (9, 10)] == ["│", "│"],
        "signs on what was recorded",
    )
    editor.hover(9, 1, "Which modules does this take?", "some-model")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_who_wrote_it_and_what_was_done_is_asked(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build_edited(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py")
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.begin("Vibes record function hash_password Use scrypt.")
    editor.answer("Name and version of the tool:", "nothing-but-a-name")
    editor.answer('Both are needed, as in "some-tool 1.0":', "Some Tool 1.0")
    editor.answer("Name and version of the model:", "some-model 2026-01")
    editor.terminal.shows("What was done with hash_password?")
    editor.choose("modify")
    editor.terminal.shows("vibes: recorded")
    editor.hover(24, 1, "hash_password", "some-model", "Some Tool")

    editor.begin("9,10Vibes record decision")
    editor.terminal.shows("tool: Some Tool 1.0")
    editor.terminal.keys("Enter")
    editor.terminal.shows("model: some-model 2026-01")
    editor.terminal.keys("Enter")
    editor.choose("create")
    editor.answer("What was decided?", "Which hash?")
    editor.answer("Option 1:", "scrypt")
    editor.answer("Option 2:", "Argon2")
    editor.answer("Another option, or nothing:", "")
    editor.choose("scrypt")
    editor.answer("Why?", "It is in the standard library.")
    editor.hover(9, 1, "Which hash?", "scrypt", "not “Argon2”")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_a_session_holds_what_is_recorded_until_it_ends(
    open_neovim: Open, tmp_path: Path, suite: str
) -> None:
    workspace = build_edited(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", AUTHOR)
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.command("Vibes record command make test")
    editor.terminal.shows("start a session first: :Vibes session start")
    editor.command("Vibes session start Tidy the module up")
    editor.terminal.shows("vibes: session started")
    session = sessions(workspace.audit, "start")[-1]
    assert session["description"] == "Tidy the module up"
    editor.command("Vibes session")
    editor.terminal.shows(f"current session: {session['session_id'][:12]}")

    editor.command("Vibes record command make test")
    editor.until(
        lambda: newest(workspace.audit, "caused_by")["target_type"] == "session", "the command"
    )
    editor.command(f"Vibes record read README.md {tmp_path}/elsewhere.md")
    editor.terminal.shows("vibes: recorded; not recorded: ", "elsewhere.md")
    editor.command("8,10Vibes record modify Sort them.")
    editor.until(lambda: editor.signs().get(9) == "│", "a sign on what was recorded")
    annotation = next(
        record for record in reversed(records(workspace.audit)) if record["type"] == "line"
    )
    read = newest(workspace.audit, "informed_by")
    assert annotation["session_id"] == read["session_id"] == session["session_id"]

    editor.go_to(9)
    editor.command(f"Vibes record relation informed_by {workspace.hashing[:12]}")
    editor.until(
        lambda: newest(workspace.audit, "informed_by")["target_ref"] == workspace.hashing,
        "the relation",
    )
    assert newest(workspace.audit, "informed_by")["source_ref"] == annotation["annotation_id"]
    editor.command("Vibes record delegation Write the tests.")
    editor.terminal.shows("the agent's session is ")
    handed = newest(workspace.audit, "delegated_to")
    assert (handed["source_ref"], handed["target_type"]) == (session["session_id"], "session")
    editor.command("2,3Vibes record delete Say less.")
    editor.until(
        lambda: (
            [
                each["line_start"]
                for each in records(workspace.audit)
                if each.get("action") == "delete"
            ]
            == [2]
        ),
        "the deletion",
    )
    editor.command("Vibes remap")
    editor.terminal.shows("vibes: 0 annotations remapped, 0 no longer found")

    editor.command("Vibes session end")
    editor.terminal.shows("vibes: session ended")
    assert sessions(workspace.audit, "end")[-1]["session_id"] == session["session_id"]
    entries = json.loads((workspace.audit / "manifest.json").read_text(encoding="utf-8"))[
        "entries"
    ].values()
    assert "make test" in {entry.get("command_text") for entry in entries}
    editor.command("Vibes session end")
    editor.terminal.shows("vibes: no session")


@pytest.mark.parametrize("suite", [STABLE, NEW])
def test_a_session_ends_with_neovim(open_neovim: Open, tmp_path: Path, suite: str) -> None:
    workspace = build_edited(tmp_path / "shop")
    editor = open_neovim(suite, workspace.root, "src/auth.py", AUTHOR)
    editor.until(lambda: editor.signs().get(23) == "■", "signs")
    editor.command("Vibes session start")
    editor.terminal.shows("vibes: session started")
    session = sessions(workspace.audit, "start")[-1]["session_id"]
    editor.begin("qall!")
    editor.terminal.until(
        lambda: (
            sessions(workspace.audit, "end")[-1:]
            and sessions(workspace.audit, "end")[-1]["session_id"] == session
        ),
        "its end",
    )
