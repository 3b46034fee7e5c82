"""Commit messages whose trailers name a coding agent: git's record that one took part, no more.

A trailer is as untrusted as the rest of a message, and says nothing about single lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.git import run_git
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.members import Members

_KEYS: Final = ("co-authored-by", "assisted-by", "generated-by", "generated-with", "coding-agent")
_AGENTS: Final[Mapping[str, str]] = {
    "claude": "Claude",
    "codex": "Codex",
    "copilot": "Copilot",
    "cursor": "Cursor",
    "gemini": "Gemini",
    "aider": "aider",
    "qwen": "Qwen Code",
    "opencode": "opencode",
    "cline": "Cline",
    "windsurf": "Windsurf",
    "devin": "Devin",
    "jules": "Jules",
    "amp": "Amp",
    "chatgpt": "ChatGPT",
}
"""The agents by the words that name them in trailers."""
_PEOPLE: Final = frozenset({"claude", "devin", "jules", "amp"})
"""Words that are also names: they count only with an agent's address, or without any."""
_ADDRESSES: Final = (
    "noreply@anthropic.com",
    "devin-ai-integration[bot]@users.noreply.github.com",
    "google-labs-jules[bot]@users.noreply.github.com",
    "amp@ampcode.com",
)
_WORD: Final = re.compile(r"[a-z]+")
_MARK: Final = b"\x01"
_MAX_TRAILER: Final = 200


@dataclass(frozen=True, slots=True)
class AgentTrailer:
    """A trailer that names an agent.

    Attributes:
        commit: The commit's full hash.
        agent: The agent.
        text: The trailer as it is, such as `Co-authored-by: Claude <noreply@anthropic.com>`.
    """

    commit: str
    agent: str
    text: str

    def as_json(self) -> Members:
        """Return the agent, the trailer and the commit."""
        return {"agent": self.agent, "trailer": self.text, "commit": self.commit}


def read_agent_trailers(repository: Repository, commits: Iterable[str]) -> dict[str, AgentTrailer]:
    """Return the trailers that name an agent, by commit; each commit is read once.

    Args:
        repository: The repository.
        commits: Their full hashes; their ancestors are not read.
    """
    known = {
        commit: repository.cache.get(f"trailer {commit}", list[AgentTrailer]) for commit in commits
    }
    missing = [commit for commit, trailers in known.items() if trailers is None]
    try:
        new = _read(repository, missing) if missing else {}
    except HistoryUnavailable:
        return {}
    for commit in missing:
        known[commit] = [new[commit]] if commit in new else []
        repository.cache.put(f"trailer {commit}", known[commit])
    return {commit: trailers[0] for commit, trailers in known.items() if trailers}


def _read(repository: Repository, commits: Sequence[str]) -> dict[str, AgentTrailer]:
    arguments = (
        "log",
        "--no-show-signature",
        "--no-mailmap",
        "--encoding=UTF-8",
        "--extended-regexp",
        "--regexp-ignore-case",
        f"--grep=^({'|'.join(_KEYS)}):.*({'|'.join(_AGENTS)})",
        "--format=%x01%H%n%(trailers:only,unfold)",
        "--no-walk=unsorted",
        "--stdin",
        "--",
    )
    lines = run_git(repository.root, *arguments, stdin="\n".join(commits).encode()).split(b"\n")
    found: dict[str, AgentTrailer] = {}
    commit = ""
    for line in lines:
        if line.startswith(_MARK):
            commit = line[1:].strip().decode("ascii", "replace")
        elif commit not in found:
            trailer = line.decode("utf-8", "replace").strip()[:_MAX_TRAILER]
            agent = agent_in_trailer(trailer)
            if agent is not None:
                found[commit] = AgentTrailer(commit, agent, trailer)
    return found


def agent_in_trailer(trailer: str) -> str | None:
    """Return the agent that a trailer names; None for another trailer, or for a person."""
    key, colon, value = trailer.partition(":")
    if not colon or key.strip().lower() not in _KEYS:
        return None
    lower = value.lower()
    name, opened, address = lower.partition("<")
    is_bot = any(each in address for each in _ADDRESSES) or "[bot]" in address
    for word in _WORD.findall(name):
        agent = _AGENTS.get(word)
        if agent is not None and (word not in _PEOPLE or is_bot or not opened):
            return agent
    return None
