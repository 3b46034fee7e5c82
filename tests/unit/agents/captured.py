"""Payloads captured from real agents, for the tests that replay them where they are installed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from tests.requirements import REPOSITORY

APP: Final = """def greet(name):
    return f"hi {name}"


def part(name):
    return f"hi {name}"


def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values):
    return total(values) / max(len(values), 1)
"""
FILES: Final = {
    "app.py": APP,
    "notes.txt": "alpha\nbeta one\nbeta two\ngamma\n",
    "src/new.py": "VALUE = 1\n\n\ndef made():\n    return VALUE\n",
    "sub.txt": "by the subagent\n",
    "second.txt": "second prompt\n",
}
"""What every scripted session leaves behind."""
_REPLACED: Final = {
    'greet(name):\n    return f"hi {name}"': 'greet(name):\n    return "hello " + name',
    'part(name):\n    return f"hi {name}"': 'part(name):\n    return "hello " + name',
    "result = 0.0\n": "result = 0\n",
    "max(len(values), 1)": "len(values)",
    "beta one\nbeta two": "beta",
}
"""What the sessions wrote, and what stood there before."""
_HOME: Final = "/" + "home/user"
"""The home folder in the captured payloads."""


def captures() -> Path:
    """Return the folder of the captures; without one, the test is skipped."""
    named = os.environ.get("VIBES_AGENT_CAPTURES")
    places = (
        [Path(named)]
        if named
        else [folder / "shared/agents/captured" for folder in REPOSITORY.parents[:2]]
    )
    for place in places:
        if place.is_dir():
            return place
    pytest.skip("no captured payloads of agents: name their folder in VIBES_AGENT_CAPTURES")


def payloads(agent: str, home: Path) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """Return the payloads of a captured session in their order, with another home folder.

    With each are the short hashes of the project's files when the hook ran. The payloads of
    opencode are as our plugin sends them.
    """
    return [(payload, disk) for payload, disk, _ in timed_payloads(agent, home)]


def timed_payloads(agent: str, home: Path) -> list[tuple[dict[str, Any], dict[str, str], int]]:
    """Return the payloads as `payloads` does, each with the nanosecond at which its hook started."""
    found: list[tuple[dict[str, Any], dict[str, str], int]] = []
    known: dict[str, dict[str, Any]] = {}
    for line in (captures() / agent / "hooks.jsonl").read_text(encoding="utf-8").splitlines():
        captured = json.loads(line.replace(_HOME, home.as_posix()))
        payload = captured["stdin"]
        if not isinstance(payload, dict):  # Codex's `notify` has its argument elsewhere
            continue
        if agent.startswith("opencode"):
            payload = _by_plugin(captured["label"], payload, known)
            if not payload:
                continue
            payload["cwd"] = (home / "project").as_posix()
        found.append((payload, captured["disk"], round(captured["start"] * 1e9)))
    return found


def _by_plugin(
    hook: str, payload: dict[str, Any], known: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Return what our plugin for opencode sends; `known` is what it remembers of each session."""
    if hook == "event" and payload["type"] == "session.created":
        details = payload["properties"]["info"]
        known[details["id"]] = {
            "version": details["version"],
            "parent": details.get("parentID"),
        }
    if hook not in ("chat.message", "tool.execute.after"):
        return {}
    session = payload["input"]["sessionID"]
    if hook == "chat.message":
        model = payload["output"]["message"]["model"]["modelID"]
        known[session] = {**known.get(session, {}), "model": model}
    return {"opencode": hook, **known.get(session, {}), **payload}


def versions() -> dict[str, str]:
    """Return all versions of the files that a session can go through, by their short hash."""
    texts = set(FILES.values())
    for new, old in _REPLACED.items():
        texts |= {text.replace(new, old) for text in texts}
    return {hashlib.sha256(text.encode()).hexdigest()[:12]: text for text in texts}


def add_transcripts(agent: str, home: Path) -> None:
    """Lay the captured session files where the payloads name them."""
    sources = sorted((captures() / agent).glob("transcript-*.jsonl"))
    found = (each.get("transcript_path") for each, _ in payloads(agent, home))
    named = {each for each in found if isinstance(each, str)}
    if agent.startswith("codex"):
        for source in sources:
            data = source.read_text(encoding="utf-8").replace(_HOME, home.as_posix())
            session = json.loads(data.partition("\n")[0])["payload"]["id"]
            [place] = [Path(each) for each in named if session in each]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(data, encoding="utf-8")
        return
    if len(named) != 1:
        return
    main = Path(named.pop())
    for source in sources:
        data = source.read_text(encoding="utf-8")
        first = json.loads(data.partition("\n")[0])
        subagent = first.get("agentId")
        place = (
            main if subagent is None else main.with_suffix("") / f"subagents/agent-{subagent}.jsonl"
        )
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(data, encoding="utf-8")
