"""What the tool calls of several agents have in common: paths, replaced texts, patches. Pure.

A tool of an MCP server is known by its name, in which agents put that of the server first. Of an
edit by such a tool only what the reference file server publishes is read: `path` with `edits` of
`oldText` and `newText`, or with `content`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Final

from vibes_lsp.agents.events import FileEdit, FilesEdited, FilesRead
from vibes_lsp.agents.patches import read_patch, read_unified_diff
from vibes_lsp.model.members import JsonValue, Members, mapping, objects, text
from vibes_lsp.model.paths import PathKind, path_kind

_REPLACED: Final = ("path", "old_string", "new_string")
_ALL: Final = "replace_all"
_SERVER_EDIT: Final = re.compile(
    r"[\w.:/ -]*[\w.]"
    r"(?:__|[_./:-])(?:append|create|edit|insert|modify|overwrite|patch|replace|save|update|write)"
    r"_(?:text_)?files?",
    re.ASCII,
)
_WRAPPERS: Final = ("content", "text", "llmContent", "returnDisplay", "output")
"""The members in which agents store the answer of an MCP tool."""
_MAX_DEPTH: Final = 6


def absolute_path(folder: str, path: str) -> str:
    """Return a path absolute, links and `..` as they are."""
    if path_kind(path) == PathKind.ABSOLUTE:
        return path
    kind = PureWindowsPath if "\\" in folder else PurePosixPath
    return str(kind(folder) / path)


def files_read(folder: str | None, *paths: str | None) -> FilesRead | None:
    """Return the reading of the files that are named; None if none is."""
    files = tuple(absolute_path(folder or "", path) for path in paths if path)
    return FilesRead(files) if files else None


def files_edited(*edits: FileEdit | None) -> FilesEdited | None:
    """Return the edit of the files that are known; None if none is."""
    known = tuple(edit for edit in edits if edit is not None)
    return FilesEdited(known) if known else None


def patched_files(folder: str | None, patch: str) -> FilesEdited:
    """Return the edits of an `apply_patch` patch."""
    return FilesEdited(
        tuple(
            replace(edit, path=absolute_path(folder or "", edit.path)) for edit in read_patch(patch)
        )
    )


def replacement(
    folder: str | None, members: Members, names: Iterable[str], *, replace_all: str | None = None
) -> FileEdit | None:
    """Return the edit of a tool that replaces a text.

    Args:
        folder: The current folder.
        members: The tool's input.
        names: The names of the members for path, old and new text.
        replace_all: The name of the member that replaces all occurrences.
    """
    path, old, new = (text(members, name) for name in names)
    if not path or old is None or new is None:
        return None
    return FileEdit(
        absolute_path(folder or "", path),
        old=old,
        new=new,
        replace_all=replace_all is not None and members.get(replace_all) is True,
    )


def replaced_texts(path: str, edits: Iterable[Members]) -> FilesEdited | None:
    """Return the edits of a file by texts that were replaced one after the other; None for none.

    A replaced text that is empty may mean a new file, an insertion or a file that was overwritten.
    """
    return files_edited(
        *(
            replace(edit, may_overwrite=edit.old == "")
            for replaced in edits
            if (edit := replacement(None, {**replaced, "path": path}, _REPLACED, replace_all=_ALL))
        )
    )


def exit_code(pattern: re.Pattern[str], output: str | None) -> int | None:
    """Return the exit code in the last match of a pattern in an output."""
    codes = [match[1] for match in pattern.finditer(output or "")]
    return int(codes[-1]) if codes and len(codes[-1]) < 12 else None


def inner(members: Members, *names: str) -> Members:
    """Return the object at a path of names, else an empty one."""
    for name in names:
        members = mapping(members, name)
    return members


def edited_by_server(
    tool: str | None, folder: str | None, arguments: Members, response: JsonValue
) -> FilesEdited | None:
    """Return the edit by a tool of an MCP server; without files where it does not name one.

    Args:
        tool: The name of the tool as the agent has it, such as `mcp__filesystem__edit_file`.
        folder: The current folder.
        arguments: The tool's input.
        response: The tool's response as the agent stores it.
    """
    if tool is None or not _SERVER_EDIT.fullmatch(tool) or arguments.get("dryRun") is True:
        return None
    if isinstance(response, dict) and (response.get("isError") is True or response.get("error")):
        return None
    path, content = text(arguments, "path"), text(arguments, "content")
    if not path:
        return FilesEdited(())
    file = absolute_path(folder or "", path)
    hunks = read_unified_diff(_answer(response, _MAX_DEPTH))
    if hunks:
        return FilesEdited((FileEdit(file, hunks=hunks),))
    if content is not None:
        return FilesEdited((FileEdit(file, creates=True, after=content, may_overwrite=True),))
    edits = [
        replacement(None, {**edit, "path": file}, ("path", "oldText", "newText"))
        for edit in objects(arguments.get("edits"))
    ]
    known = tuple(edit for edit in edits if edit is not None)
    return FilesEdited(known if known and len(known) == len(edits) else (FileEdit(file),))


def _answer(response: JsonValue, depth: int) -> str:
    """Return the text in a response: itself, or in wrappers."""
    if isinstance(response, str) or depth == 0:
        return response if isinstance(response, str) else ""
    if isinstance(response, dict):
        response = [response.get(name) for name in _WRAPPERS]
    parts = response if isinstance(response, list) else []
    return next((answer for part in parts if (answer := _answer(part, depth - 1))), "")
