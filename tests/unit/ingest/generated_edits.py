"""Generated edits with their truth, and the payloads in which each agent would report them.

The payloads are built from texts and `difflib` alone, never with the code that reads them.
"""

from __future__ import annotations

import difflib
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER: Final = "/home/someone/project"
WORDS: Final = ("", "}", "    return None", "x = 1", "für = 'ß'", "# 変更 🙂", "\tend", "x = 1")


@dataclass
class GeneratedEdit:
    """An edit of one file.

    Attributes:
        path: The file, relative to the project.
        before: Its lines before; None for a new file.
        after: Its lines after.
        truth: The lines that were written: runs of numbers, 1-based and inclusive.
        hunks: What was replaced: start in the text before, old lines, new lines.
        newline: The line end.
        ends: Whether the last line has a line end, before and after.
    """

    path: str
    before: list[str] | None
    after: list[str]
    truth: list[tuple[int, int]]
    hunks: list[tuple[int, list[str], list[str]]] = field(default_factory=list)
    newline: str = "\n"
    ends: tuple[bool, bool] = (True, True)

    def text(self, lines: list[str], *, ends: bool = True, newline: str = "\n") -> str:
        """Return lines as a text."""
        return newline.join(lines) + (newline if ends and lines else "")

    @property
    def old(self) -> str:
        """The text before, as agents show it: with LF."""
        return self.text(self.before or [], ends=self.ends[0])

    @property
    def new(self) -> str:
        """The text after, as agents show it."""
        return self.text(self.after, ends=self.ends[1])

    @property
    def saved(self) -> str:
        """The file after the edit."""
        return self.text(self.after, ends=self.ends[1], newline=self.newline)

    @property
    def diff(self) -> str:
        """A unified diff as JavaScript's `diff` writes it."""
        shown = difflib.unified_diff(
            self.old.splitlines(keepends=True), self.new.splitlines(keepends=True), "a", "b", n=4
        )
        lines = [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in shown
        ]
        return f"Index: {self.path}\n{'=' * 67}\n{''.join(lines)}"

    def replaced(self) -> tuple[str, str]:
        """Return old and new text of a tool that replaces a text that occurs once."""
        assert self.before is not None
        [(start, old, new)] = self.hunks
        first, last = start, start + len(old)
        while True:
            ends = self.ends[0] or last < len(self.before)
            shown = self.text(self.before[first:last], ends=ends)
            if first < last and self.old.count(shown) == 1 and not overlaps(shown, self.old):
                break
            assert first > 0 or last < len(self.before)
            first, last = max(0, first - 1), min(len(self.before), last + 1)
        head, tail = self.before[first:start], self.before[start + len(old) : last]
        return self.text(head + old + tail, ends=ends), self.text(head + new + tail, ends=ends)

    def patch(self, context: int = 2) -> list[str]:
        """Return the lines of an `apply_patch` patch for this file."""
        if self.before is None:
            return [f"*** Add File: {self.path}", *(f"+{line}" for line in self.after)]
        shown = [f"*** Update File: {self.path}"]
        end = 0
        for number, (start, old, new) in enumerate(self.hunks):
            following = (
                self.hunks[number + 1][0] if number + 1 < len(self.hunks) else len(self.before)
            )
            first = max(end, start - context)
            last = min(following, start + len(old) + context)
            shown.append("@@")
            shown += [f" {line}" for line in self.before[first:start]]
            shown += [f"-{line}" for line in old] + [f"+{line}" for line in new]
            shown += [f" {line}" for line in self.before[start + len(old) : last]]
            end = last
        return shown


def overlaps(part: str, text: str) -> bool:
    """Whether a part occurs a second time, overlapping the first."""
    first = text.find(part)
    return text.find(part, first + 1) >= 0


def generate(
    rng: random.Random,
    *,
    hunks: int = 1,
    creates: bool = False,
    repeats: bool = False,
    newlines: str = "always",
    path: str = "src/app.py",
) -> GeneratedEdit:
    """Return an edit with some number of hunks.

    Args:
        rng: Random numbers.
        hunks: How many places are edited.
        creates: Whether the file is new.
        repeats: Whether the same line is edited wherever it stands.
        newlines: Whether the file ends with a newline: `always`, `kept` as it is, or `any`.
        path: The file.
    """
    marks = iter(range(10**6))

    def fresh() -> str:
        return (
            rng.choice(["", "  "])
            + f"{rng.choice(['値', 'é', 'v'])}_{rng.randrange(10**6)}_{next(marks)}"
        )

    newline = rng.choice(["\n", "\n", "\r\n"])
    if creates:
        lines = [rng.choice([fresh(), *WORDS[1:]]) for _ in range(rng.randint(1, 9))]
        return GeneratedEdit(
            path, None, lines, [(1, len(lines))], newline=newline, ends=(True, rng.random() < 0.8)
        )
    count = rng.randint(4, 30) * hunks
    before = [rng.choice([*WORDS, f"def f{number}():"]) for number in range(count)]
    before[-1] = before[-1] or "end"  # an empty line without an end is none
    if repeats:
        return _repeated(rng, path, before, newline, fresh())
    places: list[tuple[int, list[str], list[str]]] = []
    for part in range(hunks):
        low, high = part * count // hunks, (part + 1) * count // hunks - 1
        if part == hunks - 1:  # also at the end
            high = count
        start = rng.randint(low, high - 1) if high < count else rng.randint(low, high)
        old = before[start : min(high, start + rng.choice([0, 0, 1, 1, 2, 3]))]
        places.append((start, old, [fresh() for _ in range(rng.randint(1, 4))]))
    after, truth = list(before), []
    for start, old, new in reversed(places):
        after[start : start + len(old)] = new
    shift = 0
    for start, old, new in places:
        truth.append((start + shift + 1, start + shift + len(new)))
        shift += len(new) - len(old)
    ends = (rng.random() < 0.5, rng.random() < 0.5)
    if newlines != "any":
        ends = (True, True) if newlines == "always" else (ends[0], ends[0])
    return GeneratedEdit(path, before, after, truth, places, newline, ends)


def _repeated(
    rng: random.Random, path: str, before: list[str], newline: str, new: str
) -> GeneratedEdit:
    old = "total = total + 1"
    for _ in range(rng.randint(2, 5)):
        before.insert(rng.randint(0, len(before)), old)
    after = [new if line == old else line for line in before]
    numbers = [number for number, line in enumerate(before, 1) if line == old]
    truth: list[tuple[int, int]] = []
    for number in numbers:
        if truth and truth[-1][1] == number - 1:
            truth[-1] = (truth[-1][0], number)
        else:
            truth.append((number, number))
    return GeneratedEdit(path, before, after, truth, [(0, [old], [new])], newline)


def _claude(tool: str, given: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    return {
        "session_id": "5b1c",
        "transcript_path": "/home/someone/.claude/projects/p/5b1c.jsonl",
        "cwd": FOLDER,
        "prompt_id": "p1",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_response": {"userModified": False, **response},
        "tool_use_id": "t1",
    }


def _structured(edit: GeneratedEdit) -> list[dict[str, Any]]:
    hunks: list[dict[str, Any]] = []
    for line in edit.diff.splitlines()[4:]:
        if line.startswith("@@"):
            start = line.split("+")[1].split(" ")[0].split(",")[0]
            hunks.append({"newStart": int(start), "lines": []})
        else:
            hunks[-1]["lines"].append(line)
    return hunks


def claude_edit(edit: GeneratedEdit, *, replace_all: bool = False) -> dict[str, Any]:
    old, new = (edit.hunks[0][1][0], edit.hunks[0][2][0]) if replace_all else edit.replaced()
    return _claude(
        "Edit",
        {
            "file_path": f"{FOLDER}/{edit.path}",
            "old_string": old,
            "new_string": new,
            "replace_all": replace_all,
        },
        {"originalFile": edit.old, "structuredPatch": _structured(edit)},
    )


def claude_edit_without_patch(edit: GeneratedEdit) -> dict[str, Any]:
    payload = claude_edit(edit)
    del payload["tool_response"]["structuredPatch"]
    return payload


def claude_write(edit: GeneratedEdit) -> dict[str, Any]:
    original = None if edit.before is None else edit.old
    kind = "create" if edit.before is None else "update"
    patch = [] if edit.before is None else _structured(edit)
    return _claude(
        "Write",
        {"file_path": f"{FOLDER}/{edit.path}", "content": edit.new},
        {"type": kind, "originalFile": original, "structuredPatch": patch},
    )


def _gemini(tool: str, given: dict[str, Any], edit: GeneratedEdit) -> dict[str, Any]:
    shown = {
        "fileDiff": edit.diff,
        "filePath": f"{FOLDER}/{edit.path}",
        "originalContent": edit.old,
        "newContent": edit.new,
        "isNewFile": edit.before is None,
    }
    return {
        "session_id": "6a2d",
        "transcript_path": "/home/someone/.gemini/tmp/p/chats/session-6a2d.jsonl",
        "cwd": FOLDER,
        "hook_event_name": "AfterTool",
        "timestamp": "2026-11-22T08:31:07.854Z",
        "tool_name": tool,
        "tool_input": {"file_path": edit.path, **given},
        "tool_response": {"llmContent": "done", "returnDisplay": shown},
    }


def gemini_replace(edit: GeneratedEdit, *, replace_all: bool = False) -> dict[str, Any]:
    old, new = (edit.hunks[0][1][0], edit.hunks[0][2][0]) if replace_all else edit.replaced()
    return _gemini(
        "replace", {"old_string": old, "new_string": new, "allow_multiple": replace_all}, edit
    )


def gemini_write(edit: GeneratedEdit) -> dict[str, Any]:
    return _gemini("write_file", {"content": edit.new}, edit)


def qwen_edit(edit: GeneratedEdit) -> dict[str, Any]:
    payload = gemini_replace(edit)
    return {
        **payload,
        "hook_event_name": "PostToolUse",
        "permission_mode": "yolo",
        "tool_name": "edit",
        "tool_call_id": "c1",
    }


def _patch(edits: list[GeneratedEdit]) -> str:
    lines = [line for edit in edits for line in edit.patch()]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def codex_patch(*edits: GeneratedEdit) -> dict[str, Any]:
    return {
        "session_id": "7c3e",
        "turn_id": "u1",
        "transcript_path": None,
        "cwd": FOLDER,
        "hook_event_name": "PostToolUse",
        "model": "gpt-5.5",
        "tool_name": "apply_patch",
        "tool_input": {"command": _patch(list(edits))},
        "tool_response": "Exit code: 0\nOutput:\nSuccess.",
        "tool_use_id": "t1",
    }


def _copilot(tool: str, given: object) -> dict[str, Any]:
    return {
        "sessionId": "8d4f",
        "timestamp": 1795336304916,
        "cwd": FOLDER,
        "toolName": tool,
        "toolArgs": given,
        "toolResult": {"resultType": "success", "textResultForLlm": "done"},
    }


def copilot_create(edit: GeneratedEdit) -> dict[str, Any]:
    return _copilot("create", {"path": f"{FOLDER}/{edit.path}", "file_text": edit.new})


def copilot_edit(edit: GeneratedEdit) -> dict[str, Any]:
    old, new = edit.replaced()
    return _copilot("edit", {"path": f"{FOLDER}/{edit.path}", "old_str": old, "new_str": new})


def copilot_patch(*edits: GeneratedEdit) -> dict[str, Any]:
    return _copilot("apply_patch", _patch(list(edits)))


def copilot_capital(edit: GeneratedEdit) -> dict[str, Any]:
    old, new = edit.replaced()
    return {
        "hook_event_name": "PostToolUse",
        "session_id": "8d4f",
        "timestamp": "2026-11-22T08:31:44.916Z",
        "cwd": FOLDER,
        "tool_name": "Edit",
        "tool_input": {"path": f"{FOLDER}/{edit.path}", "old_str": old, "new_str": new},
        "tool_result": {"result_type": "success", "text_result_for_llm": "done"},
    }


def opencode_edit(edit: GeneratedEdit, *, replace_all: bool = False) -> dict[str, Any]:
    old, new = (edit.hunks[0][1][0], edit.hunks[0][2][0]) if replace_all else edit.replaced()
    given = {
        "filePath": f"{FOLDER}/{edit.path}",
        "oldString": old,
        "newString": new,
        "replaceAll": replace_all,
    }
    return {
        "opencode": "tool.execute.after",
        "cwd": FOLDER,
        "input": {"tool": "edit", "sessionID": "ses_1", "callID": "c1", "args": given},
        "output": {"metadata": {"diff": edit.diff}, "output": "done"},
    }


def opencode_create(edit: GeneratedEdit) -> dict[str, Any]:
    given = {"filePath": f"{FOLDER}/{edit.path}", "content": edit.new}
    return {
        "opencode": "tool.execute.after",
        "cwd": FOLDER,
        "input": {"tool": "write", "sessionID": "ses_1", "callID": "c1", "args": given},
        "output": {"metadata": {"exists": False}, "output": "done"},
    }


def opencode_patch(edit: GeneratedEdit) -> dict[str, Any]:
    files = [{"filePath": f"{FOLDER}/{edit.path}", "patch": edit.diff}]
    return {
        "opencode": "tool.execute.after",
        "cwd": FOLDER,
        "input": {
            "tool": "apply_patch",
            "sessionID": "ses_1",
            "callID": "c1",
            "args": {"patchText": _patch([edit])},
        },
        "output": {"metadata": {"files": files}, "output": "done"},
    }


def cline_editor(edit: GeneratedEdit) -> dict[str, Any]:
    given = {"path": f"{FOLDER}/{edit.path}"}
    if edit.before is None:
        given["new_text"] = edit.new
    else:
        given["old_text"], given["new_text"] = edit.replaced()
    told = "File created successfully at: x" if edit.before is None else "Edited x"
    return {
        "clineVersion": "3.0.65",
        "timestamp": "2026-11-22T08:33:05.275Z",
        "taskId": "conv_1",
        "sessionContext": {"rootSessionId": "9e5a"},
        "workspaceRoots": [FOLDER],
        "agent_id": "agent_1",
        "parent_agent_id": None,
        "hookName": "tool_result",
        "tool_result": {
            "id": "c1",
            "name": "editor",
            "input": given,
            "output": {"result": told, "success": True},
        },
    }


KINDS: Final[dict[str, tuple[dict[str, Any], Callable[[GeneratedEdit], dict[str, Any]]]]] = {
    "claude-edit": ({"newlines": "kept"}, claude_edit),
    "claude-edit-without-patch": ({"newlines": "kept"}, claude_edit_without_patch),
    "claude-replace-all": ({"repeats": True}, lambda edit: claude_edit(edit, replace_all=True)),
    "claude-create": ({"creates": True}, claude_write),
    "claude-write": ({"hunks": 3, "newlines": "any"}, claude_write),
    "codex-patch": ({"hunks": 3}, codex_patch),
    "codex-create": ({"creates": True}, codex_patch),
    "gemini-replace": ({"newlines": "kept"}, gemini_replace),
    "gemini-replace-all": ({"repeats": True}, lambda edit: gemini_replace(edit, replace_all=True)),
    "gemini-create": ({"creates": True}, gemini_write),
    "gemini-write": ({"hunks": 3, "newlines": "any"}, gemini_write),
    "copilot-create": ({"creates": True}, copilot_create),
    "copilot-edit": ({"newlines": "kept"}, copilot_edit),
    "copilot-capital": ({"newlines": "kept"}, copilot_capital),
    "copilot-patch": ({"hunks": 2}, copilot_patch),
    "qwen-edit": ({"newlines": "kept"}, qwen_edit),
    "opencode-edit": ({"newlines": "kept"}, opencode_edit),
    "opencode-replace-all": ({"repeats": True}, lambda edit: opencode_edit(edit, replace_all=True)),
    "opencode-create": ({"creates": True}, opencode_create),
    "opencode-patch": ({"hunks": 3}, opencode_patch),
    "cline-edit": ({"newlines": "kept"}, cline_editor),
    "cline-create": ({"creates": True}, cline_editor),
}
"""What each kind of payload edits, and how it reports that."""
