"""Claude Code's hook payloads (tried with 2.1.330). Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from vibes_lsp.agents.claude_like import (
    absolute_path,
    exit_code,
    files_edited,
    files_read,
    read_claude_like_event,
    replacement,
)
from vibes_lsp.agents.events import (
    Action,
    Agent,
    AgentEvent,
    Choice,
    ChoicesMade,
    CommandRun,
    FileEdit,
)
from vibes_lsp.agents.patches import read_structured_patch
from vibes_lsp.model.members import Members, mapping, objects, text

_EXIT_CODE: Final = re.compile(r"\AExit code (\d+)\b")


def read_event(payload: Members) -> AgentEvent | None:
    """Return what happened; None for nothing to record."""
    return read_claude_like_event(Agent.CLAUDE_CODE, payload, _tool_use)


def _tool_use(payload: Members) -> Action | None:
    folder, members = text(payload, "cwd") or "", mapping(payload, "tool_input")
    response = mapping(payload, "tool_response")
    is_failure = text(payload, "hook_event_name") == "PostToolUseFailure"
    is_staged = response.get("staged") is True  # the file is unchanged
    match text(payload, "tool_name"):
        case "Bash":
            command = text(members, "command")
            error = text(payload, "error")
            code = exit_code(_EXIT_CODE, error) if is_failure else None
            if not is_failure and response.get("interrupted") is False:
                code = None if text(response, "backgroundTaskId") else 0
            output = error if is_failure else text(response, "stdout")
            return CommandRun(command, code, output) if command else None
        case "Read" if not is_failure:
            return files_read(folder, text(members, "file_path"))
        case "Edit" | "MultiEdit" | "Write" if not is_failure and not is_staged:
            return files_edited(_edit(folder, members, response))
        case "AskUserQuestion" if not is_failure:
            return _choices(members, response)
        case "NotebookEdit" if not is_failure and not is_staged:
            return files_edited(_notebook_edit(folder, members, response))
    return None


def _choices(members: Members, response: Members) -> ChoicesMade | None:
    """Return the answers that are one of the options; other answers are the person's own words.

    None if no person answered: after a time, Claude Code goes on by itself.
    """
    if "afkTimeoutMs" in response:
        return None
    answers, notes = mapping(response, "answers"), mapping(response, "annotations")
    choices: list[Choice] = []
    for each in objects(members.get("questions")):
        question = text(each, "question") or ""
        options = tuple(
            (label, text(option, "description") or label)
            for option in objects(each.get("options"))
            if (label := text(option, "label"))
        )
        answer = None if "unanswered" in mapping(notes, question) else text(answers, question)
        if question and answer and answer in dict(options) and each.get("multiSelect") is not True:
            choices.append(Choice(question, options, answer))
    return ChoicesMade(tuple(choices)) if choices else None


def _edit(folder: str, members: Members, response: Members) -> FileEdit | None:
    path, content = text(members, "file_path"), text(members, "content")
    if not path:
        return None
    names = ("file_path", "old_string", "new_string")
    edit = (
        FileEdit(absolute_path(folder, path), after=content)
        if content is not None
        else replacement(folder, members, names, replace_all="replace_all")
    )
    original = text(response, "originalFile")
    return replace(
        edit or FileEdit(absolute_path(folder, path)),
        before=original,
        creates=original is None and (text(response, "type") == "create" or _is_new(members)),
        after=content if content is not None else _created(members, original, response),
        hunks=read_structured_patch(response.get("structuredPatch")),
        changed_by_person=response.get("userModified") is True,
    )


def _notebook_edit(folder: str, members: Members, response: Members) -> FileEdit | None:
    path = text(members, "notebook_path")
    if not path or text(response, "error"):
        return None
    before, after = text(response, "original_file"), text(response, "updated_file")
    return FileEdit(absolute_path(folder, path), before=before, after=after)


def _is_new(members: Members) -> bool:
    """Return whether an edit creates a file: it replaces nothing."""
    return text(members, "old_string") == ""


def _created(members: Members, original: str | None, response: Members) -> str | None:
    is_created = _is_new(members) and (not original) and "originalFile" in response
    return text(members, "new_string") if is_created else None
