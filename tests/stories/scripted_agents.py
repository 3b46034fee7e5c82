"""Agents that follow a script in a real repository: they edit its files and call `vibes hook`.

Their payloads have the members of captured ones. Texts and differences are made here with `difflib`,
never with the code that reads them.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import time
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests import forked
from tests.cli.run_vibes import vibes
from tests.trails import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKS: Final = {"ai": "+", "claimed": "?", "edited": "~", "human": "|"}
"""How `AgentProject.blame` shows the kind of a line; a space for a line without annotation."""


class AgentProject:
    """A repository with a trail and the installed git hook, in which people and agents work."""

    def __init__(self, root: Path) -> None:
        self.repository = Repository(root)
        self.root: Final = root.resolve()
        done = vibes(
            "init", "--git-hooks", "--assurance-level", "medium", "--project-name", "p",
            cwd=self.root,
        )  # fmt: skip
        assert (done.code, done.err) == (0, "")

    def write(self, path: str, text: str) -> None:
        """Write a file as a person does: no agent reports it."""
        self.repository.write(path, text)

    def text(self, path: str) -> str:
        """Return a file's text, newlines unchanged; empty if there is none."""
        file = self.root / path
        return file.read_bytes().decode() if file.exists() else ""

    def git(self, *arguments: str) -> str:
        """Run git now, with the hook; its records are then as old as they are in real life."""
        path = os.environ.get("PATH", "")
        os.environ["PATH"] = os.pathsep.join([str(forked.program().parent), path])
        try:
            return self.repository.git(
                "-c", "core.editor=true", *arguments,
                date=datetime.now(UTC).isoformat(timespec="seconds"),
            )  # fmt: skip
        finally:
            os.environ["PATH"] = path

    def commit(self, *paths: str) -> str:
        """Commit files, by default the whole work tree, and return the commit."""
        self.git("add", *(paths or ["--all"]))
        self.git("commit", "--quiet", "--allow-empty", "--message", "A change")
        return self.repository.head()

    def record(self) -> None:
        """Record the waiting events, or wait for the process that does."""
        assert vibes("hook", "--wait", cwd=self.root).code == 0

    def placements(self, path: str) -> Any:
        """Return what `vibes blame --json` prints after the waiting events are recorded."""
        self.record()
        done = vibes("blame", path, "--json", cwd=self.root)
        assert (done.code, done.err) == (0, "")
        return done.json

    def blame(self, path: str) -> str:
        """Return the file with the mark of its kind before each line."""
        kinds = {each["line"]: each["kind"] for each in self.placements(path)["lines"]}
        return "\n".join(
            f"{MARKS[kinds[number]] if number in kinds else ' '} {line}".rstrip()
            for number, line in enumerate(self.text(path).splitlines(), 1)
        )

    def tools(self, path: str) -> dict[int, str]:
        """Return the agent of each line that has one."""
        found = self.placements(path)
        tools = {each["annotationId"]: each["tool"]["name"] for each in found["placements"]}
        return {each["line"]: tools[each["annotationId"]] for each in found["lines"]}


class _Agent:
    """An agent with one session in a project."""

    _numbers: Final[Iterator[int]] = count(1)

    def __init__(self, project: AgentProject, session: str = "5b1c8a44") -> None:
        self.project, self.session = project, session
        self.root = project.root

    def _send(self, payload: dict[str, Any]) -> None:
        done = vibes("hook", cwd=self.root, given=json.dumps(payload))
        assert (done.code, done.out, done.err) == (0, "", "")

    def _number(self) -> str:
        return f"{next(self._numbers):06}"

    def _replace(self, path: str, old: str, new: str) -> tuple[str, str]:
        """Replace the only occurrence of a text; return the file before and after, with LF."""
        text = self.project.text(path)
        before = text.replace("\r\n", "\n")
        assert before.count(old) == 1, "agents refuse a text that occurs more than once"
        after = before.replace(old, new)
        self.project.write(path, after.replace("\n", "\r\n") if "\r\n" in text else after)
        return before, after


def _hunks(before: str, after: str) -> list[tuple[str, list[str]]]:
    """Return the hunks of a unified diff with three lines of context: header and lines."""
    hunks: list[tuple[str, list[str]]] = []
    for line in list(difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm=""))[2:]:
        if line.startswith("@@"):
            hunks.append((line, []))
        else:
            hunks[-1][1].append(line)
    return hunks


class ClaudeCode(_Agent):
    """Claude Code: structured patches with line numbers, and the original file."""

    def prompt(self, text: str) -> None:
        self._event("UserPromptSubmit", prompt=text)

    def read(self, path: str) -> None:
        content = self.project.text(path)
        file = {"filePath": self._absolute(path), "content": content}
        given = {"file_path": self._absolute(path)}
        self._tool("Read", given, {"type": "text", "file": file})

    def write(self, path: str, content: str) -> None:
        is_new = not (self.root / path).exists()
        before = self.project.text(path)
        self.project.write(path, content)
        response = {
            "type": "create" if is_new else "update",
            "filePath": self._absolute(path),
            "content": content,
            "structuredPatch": [] if is_new else self._structured(before, content),
            "originalFile": None if is_new else before,
            "userModified": False,
        }
        self._tool("Write", {"file_path": self._absolute(path), "content": content}, response)

    def edit(self, path: str, old: str, new: str) -> None:
        before, after = self._replace(path, old, new)
        given = {"file_path": self._absolute(path), "old_string": old, "new_string": new}
        response = {
            "filePath": self._absolute(path),
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": self._structured(before, after),
            "userModified": False,
            "replaceAll": False,
        }
        self._tool("Edit", {**given, "replace_all": False}, response)

    def run(self, command: str) -> None:
        """Run a shell command."""
        start = time.monotonic()
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.root, capture_output=True, check=True, text=True
        )
        duration = int((time.monotonic() - start) * 1000)
        response = {"stdout": done.stdout, "stderr": "", "interrupted": False, "isImage": False}
        given = {"command": command, "description": "as asked"}
        self._tool("Bash", given, response, duration)

    def stop(self) -> None:
        """End the session."""
        self._event("SessionEnd", reason="other")

    def _absolute(self, path: str) -> str:
        return (self.root / path).as_posix()

    @staticmethod
    def _structured(before: str, after: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for header, lines in _hunks(before, after):
            starts = [int(each[1:].split(",")[0]) for each in header.split(" ")[1:3]]
            found.append({"oldStart": starts[0], "newStart": starts[1], "lines": lines})
        return found

    def _tool(
        self, name: str, given: dict[str, Any], response: dict[str, Any], duration: int = 1
    ) -> None:
        self._event(
            "PostToolUse",
            permission_mode="acceptEdits",
            duration_ms=duration,
            tool_name=name,
            tool_input=given,
            tool_response=response,
            tool_use_id=f"toolu_{self._number()}",
        )

    def _event(self, name: str, **members: Any) -> None:
        self._send(
            {
                "session_id": self.session,
                "transcript_path": f"/nowhere/{self.session}.jsonl",
                "cwd": self.root.as_posix(),
                "prompt_id": "62789df4",
                "hook_event_name": name,
                **members,
            }
        )


class Codex(_Agent):
    """Codex: patches without line numbers, and no whole text."""

    def prompt(self, text: str) -> None:
        self._event("UserPromptSubmit", prompt=text)

    def create(self, path: str, content: str) -> None:
        self.project.write(path, content)
        self._patch([f"*** Add File: {path}", *(f"+{each}" for each in content.splitlines())])

    def edit(self, path: str, old: str, new: str) -> None:
        before, after = self._replace(path, old, new)
        lines = [f"*** Update File: {path}"]
        for _, hunk in _hunks(before.removesuffix("\n"), after.removesuffix("\n")):
            lines += ["@@", *hunk]
        self._patch(lines)

    def run(self, command: str) -> None:
        """Run a shell command."""
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.root, capture_output=True, check=True, text=True
        )
        self._tool("Bash", command, done.stdout)

    def _patch(self, lines: list[str]) -> None:
        patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
        self._tool("apply_patch", patch, "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n")

    def _tool(self, name: str, command: str, response: str) -> None:
        self._event(
            "PostToolUse",
            tool_name=name,
            tool_input={"command": command},
            tool_response=response,
            tool_use_id=f"call_{self._number()}",
        )

    def _event(self, name: str, **members: Any) -> None:
        self._send(
            {
                "session_id": self.session,
                "turn_id": "01a20261-07cc",
                "transcript_path": f"/nowhere/rollout-{self.session}.jsonl",
                "cwd": self.root.as_posix(),
                "hook_event_name": name,
                "model": "gpt-5.5",
                "permission_mode": "bypassPermissions",
                **members,
            }
        )


class GeminiCli(_Agent):
    """Gemini CLI: a unified diff, and the file before and after."""

    def write(self, path: str, content: str) -> None:
        before = self.project.text(path)
        is_new = not (self.root / path).exists()
        self.project.write(path, content)
        self._edit("write_file", path, {"content": content}, (before, content), is_new=is_new)

    def edit(self, path: str, old: str, new: str) -> None:
        before, after = self._replace(path, old, new)
        given = {"instruction": "as asked", "old_string": old, "new_string": new}
        self._edit("replace", path, given, (before, after), is_new=False)

    def _edit(
        self, tool: str, path: str, given: dict[str, Any], texts: tuple[str, str], *, is_new: bool
    ) -> None:
        before, after = texts
        shown = difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), path, path
        )
        display = {
            "fileDiff": f"Index: {path}\n{'=' * 67}\n{''.join(shown)}",
            "fileName": Path(path).name,
            "filePath": (self.root / path).as_posix(),
            "originalContent": before,
            "newContent": after,
            "isNewFile": is_new,
        }
        self._send(
            {
                "session_id": self.session,
                "transcript_path": f"/nowhere/chats/session-{self.session}.jsonl",
                "cwd": self.root.as_posix(),
                "hook_event_name": "AfterTool",
                "timestamp": datetime.now(UTC).isoformat(timespec="microseconds"),
                "tool_name": tool,
                "tool_input": {"file_path": path, **given},
                "tool_response": {"llmContent": "done", "returnDisplay": display},
            }
        )


class CopilotCli(_Agent):
    """Copilot CLI: the replaced and the new text only."""

    def create(self, path: str, content: str) -> None:
        self.project.write(path, content)
        self._tool("create", {"path": (self.root / path).as_posix(), "file_text": content})

    def edit(self, path: str, old: str, new: str) -> None:
        self._replace(path, old, new)
        given = {"path": (self.root / path).as_posix(), "old_str": old, "new_str": new}
        self._tool("edit", given)

    def _tool(self, name: str, given: dict[str, Any]) -> None:
        self._send(
            {
                "sessionId": self.session,
                "timestamp": int(datetime.now(UTC).timestamp() * 1000) + next(self._numbers),
                "cwd": self.root.as_posix(),
                "toolName": name,
                "toolArgs": given,
                "toolResult": {"resultType": "success", "textResultForLlm": "done"},
            }
        )
