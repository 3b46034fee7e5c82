"""Recording by hand: every use case that has a selection or a session to speak of, by commands of the palette."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.demo.workspace import Workspace, build
from tests.editors.vscode.conftest import Open
from tests.editors.vscode.window import Window


def _log(workspace: Workspace) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for line in (workspace.audit / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
    ]


class Clerk:
    """Gives commands and answers their questions."""

    def __init__(self, code: Window, workspace: Workspace) -> None:
        self._code = code
        self._workspace = workspace

    def select(self, start: int, end: int) -> None:
        """Select whole lines."""
        self._code.go_to(start)
        for _ in range(end - start + 1):
            self._code.page.keyboard.press("Shift+ArrowDown")

    def give(
        self, title: str, *answers: tuple[str, str], until: Callable[[dict[str, Any]], bool]
    ) -> dict[str, Any]:
        """Give a command, answer each question, and return the newest record for which something holds."""
        before = len(_log(self._workspace))
        self._code.command(f"VIBES: {title}")
        for question, text in answers:
            self._code.answer(text, question)

        def found() -> dict[str, Any] | None:
            return next(
                (record for record in reversed(_log(self._workspace)[before:]) if until(record)),
                None,
            )

        return self._code.until(found, f"the record of {title!r}")

    def entry(self, key: str) -> dict[str, Any]:
        """Return a context, once it is in the manifest: it waits in the journal while somebody is at work."""
        file = self._workspace.audit / "manifest.json"
        return self._code.until(
            lambda: json.loads(file.read_text(encoding="utf-8"))["entries"].get(key),
            f"the entry {key}",
        )


def test_every_use_case_is_recorded_by_a_command(open_window: Open, tmp_path: Path) -> None:
    workspace = build(tmp_path / "shop")
    code = open_window(workspace.root, vibes__reviewer="Ada Example")
    code.open_file("src/auth.py")
    code.lens("critical risk")
    clerk = Clerk(code, workspace)
    author = [
        ("AI tool", "Hand"),
        ("Version of Hand", "1.0"),
        ("Model", "some-model"),
        ("Version of some-model", "7"),
    ]

    begun = clerk.give(
        "Start a Session…",
        *author,
        ("What is it about?", "Tidy up."),
        until=lambda each: each["type"] == "session",
    )
    session = begun["session_id"]

    def is_of(kind: str) -> Callable[[dict[str, Any]], bool]:
        return lambda each: each["type"] == kind and each.get("session_id") == session

    clerk.select(1, 3)
    asked = ("What was the AI asked?", "Explain the module.")
    written = clerk.give(
        "Record the Selection as Written by an AI…",
        ("What was done with lines 1 to 3?", "modify"),
        asked,
        until=is_of("line"),
    )
    assert (written["line_start"], written["line_end"], written["action"]) == (1, 3, "modify")

    clerk.select(5, 5)
    gone = clerk.give(
        "Record the Selection as Written by an AI…",
        ("What was done with line 5?", "delete"),
        ("What was the AI asked?", ""),
        until=is_of("line"),
    )
    assert (gone["line_start"], gone["line_end"], gone["action"]) == (5, 5, "delete")

    function = clerk.give(
        "Record a Function as Written by an AI…",
        ("Name of the function", "hash_password"),
        ("What was done with hash_password?", "review"),
        ("What was the AI asked?", ""),
        until=is_of("function"),
    )
    assert (function["function_name"], function["action"]) == ("hash_password", "review")

    clerk.select(23, 24)
    decided = clerk.give(
        "Record a Decision about the Selection…",
        ("What was done with lines 23 to 24?", "modify"),
        ("What was decided?", "How to hash."),
        ("First option", "Argon2"),
        ("Second option", "SHA-256"),
        ("Another option", ""),
        ("Which one was chosen?", "SHA-256"),
        ("Why?", "It is there."),
        until=is_of("line"),
    )

    ran = clerk.give(
        "Record a Command of the Session…",
        ("Command that was run", "make test"),
        ("What kind of command?", "shell"),
        until=is_of("edge"),
    )
    read = clerk.give("Record that the Session Read This File", until=is_of("edge"))

    delegated = clerk.give(
        "Record that the Session Delegated a Task…",
        ("What is the task?", "Write tests."),
        ("Name of the agent", "tester"),
        *author,
        until=lambda each: each["type"] == "delegation",
    )
    assert delegated["parent_session_id"] == session
    assert delegated["task_description"] == "Write tests."

    code.go_to(14)
    related = clerk.give(
        "Record a Relation of the Selection…",
        ("Relation of lines 13-20", "informed_by"),
        ("What was it informed by?", "The session that is open"),
        until=lambda each: each.get("edge_type") == "informed_by" and each["target_ref"] == session,
    )
    assert related["source_type"] == "annotation"

    clerk.give("End the Session", until=is_of("session"))
    assert clerk.entry(written["prompt_hash"])["prompt_text"] == "Explain the module."
    assert clerk.entry(decided["decision_hash"])["selected"] == "option-2"
    assert clerk.entry(ran["source_ref"])["command_text"] == "make test"
    assert clerk.entry(read["target_ref"])["command_text"] == "read src/auth.py"
    code.command("VIBES: Remap after a Rewrite of History")
    code.message("0 annotations remapped")
