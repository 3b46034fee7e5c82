"""Writes notes as git-ai's standard 3.0.0 describes them; never imports the package under test."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.trails import Repository

REF = "refs/notes/ai"
CLAUDE = ("claude", "conv-1", "claude-sonnet-4-5-20250514")
CODEX = ("codex", "conv-2", "gpt-5.1-codex")

Agent = tuple[str, str, str]
"""Tool, conversation and model."""


def session_key(agent: Agent, trace: int = 1) -> str:
    """Return the key of a step of a session."""
    digest = hashlib.sha256(f"{agent[0]}:{agent[1]}".encode()).hexdigest()
    return f"s_{digest[:14]}::t_{trace:014x}"


def human_key(author: str) -> str:
    return f"h_{hashlib.sha256(author.encode()).hexdigest()[:14]}"


def note(
    commit: str,
    files: Mapping[str, Sequence[tuple[str, str]]],
    agents: Sequence[Agent] = (CLAUDE, CODEX),
    **metadata: Any,
) -> str:
    """Return a note: by path, pairs of a key and line ranges."""
    lines: list[str] = []
    for path, entries in files.items():
        lines.append(f'"{path}"' if " " in path else path)
        lines += [f"  {key} {ranges}" for key, ranges in entries]
    sessions = {
        session_key(agent).partition("::")[0]: {
            "agent_id": dict(zip(("tool", "id", "model"), agent, strict=True)),
            "human_author": "Ada <ada@example.org>",
        }
        for agent in agents
    }
    described = {
        "schema_version": "authorship/3.0.0",
        "git_ai_version": "1.6.24",
        "base_commit_sha": commit,
        "prompts": {},
        "sessions": sessions,
        **metadata,
    }
    return "\n".join([*lines, "---", json.dumps(described, indent=2)])


def attach(repository: Repository, commit: str, text: str | bytes) -> None:
    """Attach a note to a commit, instead of an earlier one."""
    file = repository.path / ".git" / "note"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    blob = repository.git("hash-object", "-w", "--", str(file))
    repository.git("notes", "--ref", REF, "add", "--force", "-C", blob, commit)
