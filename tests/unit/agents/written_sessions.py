"""Write session files as the agents do, for given edits.

They have the members that the readers use, and some that must not be mistaken for others. The forms follow Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code 0.24.4,
Copilot CLI 1.0.102 and opencode 1.18.33.
"""

from __future__ import annotations

import difflib
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "5b1cc6a0-9d1e-4c36-b0a6-3f2f1a4b7c11"
CHILD = "c0ffee0123456789a"


@dataclass(frozen=True)
class Step:
    """An edit of a file: its text before and after, and what was replaced.

    Attributes:
        path: Relative to the project.
        before: The text before; None for a new file.
        after: The text after.
        old: What was replaced; None where the whole file was written.
        new: What replaced it.
        prompt: A prompt before the edit.
        by_child: Whether a subagent made it.
        failed: Whether the tool failed.
    """

    path: str
    before: str | None
    after: str
    old: str | None = None
    new: str | None = None
    prompt: str | None = None
    by_child: bool = False
    failed: bool = False


def replace(path: str, before: str, old: str, new: str, **more: Any) -> Step:
    """Return the step that replaces a text."""
    return Step(path, before, before.replace(old, new), old, new, **more)


def write_claude_code(home: Path, project: Path, steps: Sequence[Step], start: datetime) -> None:
    """Write a session of Claude Code, and the file of its subagent."""
    folder = home / ".claude/projects" / str(project).replace("/", "-")
    files: dict[bool, list[Any]] = {False: [], True: []}
    for number, step in enumerate(steps):
        common = {
            "sessionId": SESSION,
            "cwd": str(project),
            "version": "2.1.330",
            "timestamp": _stamp(start, number),
            "isSidechain": step.by_child,
            **({"agentId": CHILD} if step.by_child else {}),
        }
        lines = files[step.by_child]
        if step.prompt:
            lines.append({**common, "type": "user", "isMeta": True, "message": {"content": "no"}})
            lines.append({**common, "type": "user", "message": {"content": step.prompt}})
        given: dict[str, Any] = {"file_path": str(project / step.path)}
        name = "Write" if step.old is None else "Edit"
        given |= (
            {"content": step.after}
            if step.old is None
            else {"old_string": step.old, "new_string": step.new or "", "replace_all": False}
        )
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        message = {"role": "assistant", "model": "claude-sonnet-4-5", "content": [use]}
        lines.append({**common, "type": "assistant", "message": message})
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": use["id"], "content": "ok"}
        if step.failed:
            result |= {"is_error": True, "content": "String to replace not found"}
        elif step.by_child:  # whose files have no structured results
            result["content"] = "File created successfully at: x" if step.before is None else "ok"
        answer = {**common, "type": "user", "message": {"role": "user", "content": [result]}}
        if not step.by_child and not step.failed:
            answer["toolUseResult"] = {
                "type": "create" if step.before is None else "update",
                "filePath": given["file_path"],
                "originalFile": step.before,
                "structuredPatch": [],
                "userModified": False,
            }
        lines.append(answer)
    _write_lines(folder / f"{SESSION}.jsonl", files[False])
    if files[True]:
        child = folder / SESSION / "subagents" / f"agent-{CHILD}.jsonl"
        _write_lines(child, files[True])
        child.with_suffix(".meta.json").write_text('{"agentType": "general-purpose"}')


def write_codex(home: Path, project: Path, steps: Sequence[Step], start: datetime) -> None:
    """Write a thread of Codex, and that of its subagent."""
    folder = home / ".codex/sessions" / start.strftime("%Y/%m/%d")
    for by_child in (False, True):
        if not any(step.by_child == by_child for step in steps):
            continue
        own = {"id": SESSION, "session_id": SESSION, "cwd": str(project), "cli_version": "0.169.0"}
        child = {**own, "id": CHILD, "parent_thread_id": SESSION}
        lines: list[Any] = [_codex(start, 0, "session_meta", child if by_child else own)]
        turn = {"cwd": str(project), "model": "gpt-5.5", "turn_id": "1"}
        lines.append(_codex(start, 0, "turn_context", turn))
        for number, step in enumerate(steps):
            if step.by_child != by_child:
                continue
            if step.prompt:
                content = [{"type": "text", "text": step.prompt}]
                said = {"item": {"type": "UserMessage", "content": content}}
                lines.append(_codex(start, number, "event_msg", {"type": "item_completed", **said}))
            patch = {"type": "custom_tool_call", "call_id": f"call_{number}", "name": "apply_patch"}
            lines.append(_codex(start, number, "response_item", {**patch, "input": _patch(step)}))
            change: dict[str, Any] = {"type": "add", "content": step.after}
            if step.before is not None:
                change = {"type": "update", "unified_diff": _diff(step), "move_path": None}
            item = {
                "type": "FileChange",
                "id": f"call_{number}",
                "changes": {str(project / step.path): change},
                "status": "failed" if step.failed else "completed",
            }
            done = {"type": "item_completed", "item": item}
            lines.append(_codex(start, number, "event_msg", done))
            told = "Exit code: 1" if step.failed else "Exit code: 0\nSuccess."
            output = {"type": "custom_tool_call_output", "call_id": f"call_{number}"}
            lines.append(_codex(start, number, "response_item", {**output, "output": told}))
        _write_lines(folder / f"rollout-x-{CHILD if by_child else SESSION}.jsonl", lines)


def write_gemini_cli(home: Path, project: Path, steps: Sequence[Step], start: datetime) -> None:
    """Write a session of Gemini CLI, and the file of its subagent."""
    folder = home / ".gemini/tmp/project"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".project_root").write_text(str(project))
    for by_child in (False, True):
        if not any(step.by_child == by_child for step in steps):
            continue
        header = {"sessionId": CHILD if by_child else SESSION, "projectHash": "0"}
        lines: list[Any] = [{**header, "kind": "subagent" if by_child else "main"}]
        for number, step in enumerate(steps):
            if step.by_child != by_child:
                continue
            moment = {"timestamp": _stamp(start, number)}
            if step.prompt:
                lines.append({**moment, "type": "user", "content": [{"text": step.prompt}]})
            answer = {**moment, "type": "gemini", "model": "gemini-2.5-pro", "content": ""}
            lines.append(answer)  # again with the calls, when they are done
            call: dict[str, Any] = {
                "id": f"call-{number}",
                "name": "write_file" if step.old is None else "replace",
                "args": {"file_path": step.path},  # as the model wrote it
                "status": "error" if step.failed else "success",
                "resultDisplay": _display(project, step),
                **moment,
            }
            if step.old is not None:
                call["args"] |= {"old_string": step.old, "new_string": step.new}
            lines += [{**answer, "toolCalls": [call]}] * 2
            lines.append({"$set": {"lastUpdated": _stamp(start, number)}})
        name = f"{SESSION}/{CHILD}.jsonl" if by_child else "session-1.jsonl"
        _write_lines(folder / "chats" / name, lines)


def write_qwen_code(home: Path, project: Path, steps: Sequence[Step], start: datetime) -> None:
    """Write a session of Qwen Code, and the file of its subagent."""
    folder = home / ".qwen/projects/x"
    files: dict[bool, list[Any]] = {False: [], True: []}
    for number, step in enumerate(steps):
        common = {
            "sessionId": SESSION,
            "timestamp": _stamp(start, number),
            "cwd": str(project),
            "version": "0.24.4",
            **({"agentId": CHILD, "agentName": "general"} if step.by_child else {}),
        }
        lines = files[step.by_child]
        if step.prompt:
            said = {"role": "user", "parts": [{"text": step.prompt}]}
            lines.append({**common, "type": "user", "message": said})
        given = {"file_path": str(project / step.path)}
        given |= (
            {"content": step.after}
            if step.old is None
            else {"old_string": step.old, "new_string": step.new or ""}
        )
        name = "write_file" if step.old is None else "edit"
        call = {"functionCall": {"id": f"call_{number}", "name": name, "args": given}}
        answer = {**common, "type": "assistant", "message": {"parts": [call]}}
        lines.append(answer if step.by_child else {**answer, "model": "qwen3-coder-plus"})
        told = {"error": "not found"} if step.failed else {"output": "done"}
        if step.by_child and step.before is None:
            told = {"output": "Successfully created and wrote to new file: x."}
        response = {"functionResponse": {"id": f"call_{number}", "name": name, "response": told}}
        result: dict[str, Any] = {"callId": f"call_{number}"}
        if not step.by_child:
            result["status"] = "error" if step.failed else "success"
            result["resultDisplay"] = {} if step.failed else _display(project, step)
        done = {**common, "type": "tool_result", "message": {"parts": [response]}}
        lines.append({**done, "toolCallResult": result})
    _write_lines(folder / "chats" / f"{SESSION}.jsonl", files[False])
    if files[True]:
        _write_lines(folder / "subagents" / SESSION / f"agent-{CHILD}.jsonl", files[True])


def write_copilot_cli(home: Path, project: Path, steps: Sequence[Step], start: datetime) -> None:
    """Write a session of Copilot CLI with its subagent."""
    context = {"cwd": str(project), "gitRoot": str(project)}
    session = {"sessionId": SESSION, "copilotVersion": "1.0.102", "context": context}
    lines: list[Any] = [{"type": "session.start", "data": session, "timestamp": _stamp(start, 0)}]
    for number, step in enumerate(steps):
        common = {
            "timestamp": _stamp(start, number),
            **({"agentId": CHILD} if step.by_child else {}),
        }
        if step.prompt:
            lines.append({**common, "type": "user.message", "data": {"content": step.prompt}})
        given = {"path": str(project / step.path)}
        given |= (
            {"file_text": step.after}
            if step.old is None
            else {"old_str": step.old, "new_str": step.new or ""}
        )
        call = {"toolCallId": f"call_{number}", "model": "claude-sonnet-4.5"}
        begun = {**call, "toolName": "create" if step.old is None else "edit", "arguments": given}
        lines.append({**common, "type": "tool.execution_start", "data": begun})
        done = {**call, "success": not step.failed}
        lines.append({**common, "type": "tool.execution_complete", "data": done})
    _write_lines(home / ".copilot/session-state" / SESSION / "events.jsonl", lines)


def write_opencode(home: Path, project: Path, steps: Sequence[Step], start: datetime) -> None:
    """Write opencode's database with a session and its subagent's."""
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE session (id, parent_id, directory, version);"
        "CREATE TABLE message (id, session_id, time_created, data);"
        "CREATE TABLE part (id, message_id, session_id, time_created, data);"
    )
    for name, parent in ((SESSION, None), (CHILD, SESSION)):
        row = (name, parent, str(project), "1.18.33")
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?)", row)
    for number, step in enumerate(steps):
        session = CHILD if step.by_child else SESSION
        moment = int((start + timedelta(seconds=number)).timestamp() * 1000)
        parts: list[tuple[dict[str, Any], dict[str, Any]]] = []
        if step.prompt:
            parts.append(({"role": "user"}, {"type": "text", "text": step.prompt}))
        given = {"filePath": str(project / step.path)}
        metadata: dict[str, Any] = {"exists": step.before is not None}
        if step.old is None:
            given["content"] = step.after
        else:
            given |= {"oldString": step.old, "newString": step.new or ""}
            metadata = {"diff": _diff(step)}
        state = {
            "status": "error" if step.failed else "completed",
            "input": given,
            "metadata": metadata,
            "time": {"start": moment, "end": moment},
        }
        tool = {"type": "tool", "tool": "write" if step.old is None else "edit", "state": state}
        model = {"role": "assistant", "modelID": "glm-5"}
        parts.append((model, {**tool, "callID": f"call_{number}"}))
        for place, (message, part) in enumerate(parts):
            key = f"msg_{number:04}_{place}"
            at = moment - len(parts) + place
            first = (key, session, at, json.dumps(message))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?)", first)
            whole = (f"prt_{key}", key, session, at, json.dumps(part))
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", whole)
    database.commit()
    database.close()


WRITERS: Mapping[str, Callable[[Path, Path, Sequence[Step], datetime], None]] = {
    "claude-code": write_claude_code,
    "codex": write_codex,
    "gemini-cli": write_gemini_cli,
    "qwen-code": write_qwen_code,
    "copilot-cli": write_copilot_cli,
    "opencode": write_opencode,
}


def _stamp(start: datetime, number: int) -> str:
    moment = start + timedelta(seconds=number)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _codex(start: datetime, number: int, kind: str, payload: Any) -> dict[str, Any]:
    return {"timestamp": _stamp(start, number), "type": kind, "payload": payload}


def _diff(step: Step) -> str:
    before, after = (step.before or "").splitlines(), step.after.splitlines()
    lines = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
    return "".join(f"{line}\n" for line in lines)


def _patch(step: Step) -> str:
    if step.before is None:
        body = "".join(f"+{line}\n" for line in step.after.splitlines())
        return f"*** Begin Patch\n*** Add File: {step.path}\n{body}*** End Patch\n"
    body = "".join(line for line in _diff(step).splitlines(keepends=True) if line[0] != "@")
    return f"*** Begin Patch\n*** Update File: {step.path}\n@@\n{body}*** End Patch\n"


def _display(project: Path, step: Step) -> dict[str, Any]:
    return {
        "fileDiff": "",
        "filePath": str(project / step.path),
        "originalContent": step.before or "",
        "newContent": step.after,
        "isNewFile": step.before is None,
        "diffStat": {"user_added_lines": 0, "user_removed_lines": 0},
    }


def _write_lines(path: Path, lines: Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines))
