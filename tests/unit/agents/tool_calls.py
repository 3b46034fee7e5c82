"""Kinds of tool calls: which edits one makes, and what the payloads of several agents share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.unit.agents.generated_edits import (
    FOLDER,
    GeneratedEdit,
    create,
    delete,
    moved,
    patched,
    replace_all,
    replace_once,
    rewrite,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from vibes_lsp.agents.events import Agent

Payload = dict[str, Any]
Call = list[GeneratedEdit]


@dataclass(frozen=True)
class Kind:
    """A kind of payload.

    Attributes:
        agent: Who sends it.
        generate: Returns the edits of one tool call, in order.
        report: Returns the payload of such a call.
        has_texts: Whether it has the whole text before and after.
        unknown: Why no edit of this kind has lines; None if all have.
    """

    agent: Agent
    generate: Callable[[random.Random], Call]
    report: Callable[[Call], Payload]
    has_texts: bool = False
    unknown: str | None = None


def file_of(edit: GeneratedEdit) -> str:
    """Return the absolute path of an edited file."""
    return f"{FOLDER}/{edit.path}"


# Edits of one tool call.


def one(rng: random.Random) -> Call:
    return [replace_once(rng)]


def every(rng: random.Random) -> Call:
    return [replace_all(rng)]


def new(rng: random.Random) -> Call:
    return [create(rng)]


def whole(rng: random.Random) -> Call:
    return [rewrite(rng)]


def gone(rng: random.Random) -> Call:
    return [delete(rng)]


def move(rng: random.Random) -> Call:
    return [moved(rng)]


def hunks(rng: random.Random) -> Call:
    return [patched(rng)]


def files(rng: random.Random) -> Call:
    """A patch of several files, one of them new."""
    return [patched(rng, "a.py"), create(rng, "b.py"), patched(rng, "src/c.py"), moved(rng)]


def sequence(rng: random.Random) -> Call:
    """Several replacements in one file, each in the text that the one before it made."""
    edits = [replace_once(rng)]
    for _ in range(rng.randint(1, 3)):
        following = replace_once(rng, edits[-1])
        if following.before == edits[-1].after and following.ends[0] == edits[-1].ends[1]:
            edits.append(following)
    return edits


def claude_event(tool: str, given: Payload, response: Any) -> Payload:
    """Return a payload with the members of Claude Code's hooks."""
    return {
        "session_id": "5b1c",
        "transcript_path": "/home/someone/.claude/projects/p/5b1c.jsonl",
        "cwd": FOLDER,
        "prompt_id": "p1",
        "permission_mode": "acceptEdits",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_response": response,
        "tool_use_id": "t1",
    }


def replacement_of(edit: GeneratedEdit, *, all_places: bool = False) -> Payload:
    """Return the input of a tool that replaces a text, with Claude Code's names."""
    old, text = edit.replaced
    return {
        "file_path": file_of(edit),
        "old_string": old,
        "new_string": text,
        "replace_all": all_places,
    }


def patch_of(call: Sequence[GeneratedEdit]) -> str:
    """Return a call as an `apply_patch` patch."""
    lines = [line for edit in call for line in edit.patch()]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def as_bytes(payload: Payload, *, is_ascii: bool = False) -> bytes:
    """Return a payload as agents write it: some escape all but ASCII, with surrogate pairs."""
    return json.dumps(payload, ensure_ascii=is_ascii).encode()
