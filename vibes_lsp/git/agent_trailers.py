"""Commit messages whose trailers name a coding agent: git's record that one took part, no more.

A trailer is as untrusted as the rest of a message, and says nothing about single lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from vibes_lsp.git.objects import GitObjects
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
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_CONTINUED: Final = re.compile(r"\r?\n[ \t]+")
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


def read_agent_trailers(objects: GitObjects, commits: Iterable[str]) -> dict[str, AgentTrailer]:
    """Return the trailers that name an agent, by commit; of several the first.

    Args:
        objects: The objects of the repository.
        commits: Their full hashes; their ancestors are not read.
    """
    trailers: dict[str, AgentTrailer] = {}
    for name in commits:
        commit = objects.commit(name)
        for line in _trailers("" if commit is None else commit.message):
            agent = agent_in_trailer(line)
            if agent is not None:
                trailers.setdefault(name, AgentTrailer(name, agent, line))
    return trailers


def _trailers(message: str) -> list[str]:
    """Return the lines of the last paragraph of a message, with those that continue them."""
    paragraph = _BLANK_LINE.split(message.strip())[-1]
    return [line.strip()[:_MAX_TRAILER] for line in _CONTINUED.sub(" ", paragraph).splitlines()]


def agent_in_trailer(trailer: str) -> str | None:
    """Return the agent that a trailer names; None for another trailer, or for a person."""
    key, colon, value = trailer.partition(":")
    if not colon or key.strip().lower() not in _KEYS:
        return None
    lower = value.lower()
    name, opened, address = lower.partition("<")
    is_bot = any(part in address for part in _ADDRESSES) or "[bot]" in address
    for word in _WORD.findall(name):
        agent = _AGENTS.get(word)
        if agent is not None and (word not in _PEOPLE or is_bot or not opened):
            return agent
    return None
