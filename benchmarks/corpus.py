"""Generate a large, spec-compliant audit trail, the same in every run, and stream it to disk.

It uses none of the product and writes no source files: the annotated files exist only by name.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SESSION_EVERY: Final = 100
DELEGATION_EVERY: Final = 1000
ANNOTATIONS_PER_FILE: Final = 50
ANNOTATIONS_PER_ENTRY: Final = 5
ENVIRONMENTS: Final = 4
START: Final = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
PLAIN_LINES: Final = (
    "    total = sum(item.price for item in basket)",
    "    if not token: return None",
    "def normalise(path: str) -> str:",
    "    return [entry for entry in entries if entry.active]",
    "        self._cache[key] = value",
    "    except KeyError as error:",
    "class Ledger(Base):",
)
ODD_LINES: Final = (
    '\tprint("Größe: \\"%s\\"\\n" % größe)  # 漢字',
    'pattern = re.compile(r"^\\s*\\\\(\\d+)\\t$")  # ☃',
    "label = '\U0001f600 \\u2028'\t# control",
)

_in_order: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_sorted: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


@dataclass(frozen=True)
class CorpusSize:
    """The size of a generated trail."""

    annotations: int
    functions: int
    edges: int
    sessions: int
    delegations: int
    records: int
    files: int
    entries: int
    log_bytes: int
    manifest_bytes: int
    hottest_file: str


@dataclass(frozen=True)
class _Contexts:
    environments: list[str]
    prompts: list[str]
    commands: list[str]
    reasonings: list[str]
    count: int
    size: int


class _Log:
    """Appends records with their ids and counts them by type."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.counts: Final = dict.fromkeys(("line", "function", "edge", "session", "delegation"), 0)
        self.size = 0
        self._stream = stream

    def append(self, record: dict[str, object]) -> str:
        identity = hashlib.sha256(_sorted(record).encode()).hexdigest()
        record["annotation_id"] = identity
        self.size += self._stream.write(_in_order(record).encode() + b"\n")
        self.counts[str(record["type"])] += 1
        return identity


def generate(target: Path, annotations: int, seed: int = 1) -> CorpusSize:
    """Write a trail to `target/.ai-audit/`, replacing an existing one.

    Each annotation has anchors, its real id and one edge; half refer to a command, a third to
    reasoning; a tenth are functions. Files are chosen with the inverse square root of their rank.

    Args:
        target: The project's folder; created if missing.
        annotations: Number of line and function records.
        seed: Another seed gives another trail of the same shape.
    """
    audit = target / ".ai-audit"
    audit.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    config = {
        "standard": "VIBES",
        "standard_version": "1.0",
        "assurance_level": "high",
        "project_name": "corpus",
    }
    (audit / "config.json").write_bytes(_in_order(config).encode() + b"\n")
    with (audit / "manifest.json").open("wb", buffering=1 << 20) as stream:
        contexts = _write_manifest(
            stream, max(annotations // ANNOTATIONS_PER_ENTRY, ENVIRONMENTS + 3), chance
        )
    paths = [
        f"src/area_{rank % 23:02d}/module_{rank:06d}.py"
        for rank in range(max(annotations // ANNOTATIONS_PER_FILE, 1))
    ]
    with (audit / "annotations.jsonl").open("wb", buffering=1 << 20) as stream:
        log = _Log(stream)
        _write_log(log, annotations, paths, contexts, chance)
    return CorpusSize(
        annotations=annotations,
        functions=log.counts["function"],
        edges=log.counts["edge"],
        sessions=log.counts["session"] // 2,
        delegations=log.counts["delegation"],
        records=sum(log.counts.values()),
        files=len(paths),
        entries=contexts.count,
        log_bytes=log.size,
        manifest_bytes=contexts.size,
        hottest_file=paths[0],
    )


def _write_manifest(stream: IO[bytes], entries: int, chance: random.Random) -> _Contexts:
    keys: dict[str, list[str]] = {"environment": [], "prompt": [], "command": [], "reasoning": []}
    size = stream.write(b'{"standard":"VIBES","version":"1.0","entries":{\n')
    for number, entry in enumerate(_entries(entries, chance)):
        key = hashlib.sha256(_sorted(entry).encode()).hexdigest()
        keys[str(entry["type"])].append(key)
        entry["created_at"] = _stamp(number)
        comma = "," if number else ""
        size += stream.write(f'{comma}"{key}":{_in_order(entry)}\n'.encode())
    size += stream.write(b"}}\n")
    return _Contexts(
        keys["environment"], keys["prompt"], keys["command"], keys["reasoning"], entries, size
    )


def _entries(count: int, chance: random.Random) -> Iterator[dict[str, object]]:
    for number in range(ENVIRONMENTS):
        yield {
            "type": "environment",
            "tool_name": ("Claude Code", "Cursor")[number % 2],
            "tool_version": f"1.{number}.0",
            "model_name": ("claude-opus-4-5", "gpt-5")[number % 2],
            "model_version": f"2025110{number}",
            "model_parameters": {"temperature": 0.25 * (number + 0.5), "max_tokens": 4096},
            "tool_extensions": ["filesystem", "git"],
        }
    for number in range(count - ENVIRONMENTS):
        kind = number % 3
        if kind == 0:
            yield {
                "type": "prompt",
                "prompt_text": f"Task {number}: change the "
                f"{chance.choice(('parser', 'cache', 'ledger', 'Prüfung'))} "
                "so that it keeps the order of what it is given, and say what else depends on it. "
                * chance.randint(2, 8),
                "prompt_type": "user_instruction",
                "prompt_context_files": [
                    f"src/area_{number % 23:02d}/module_{number:06d}.py",
                    "README.md",
                ],
            }
        elif kind == 1:
            yield {
                "type": "command",
                "command_text": f"python -m pytest -q tests/area_{number % 23:02d} "
                f"-k module_{number}",
                "command_type": "shell",
                "command_exit_code": number % 2,
                "command_output_summary": f"{number % 97} passed in {number % 13}.4s",
                "working_directory": ".",
            }
        else:
            yield {
                "type": "reasoning",
                "reasoning_text": f"Step {number}. The order matters because the caller compares. "
                * chance.randint(3, 30),
                "reasoning_token_count": chance.randint(40, 900),
                "reasoning_model": "claude-opus-4-5",
            }


def _write_log(
    log: _Log, annotations: int, paths: list[str], contexts: _Contexts, chance: random.Random
) -> None:
    weights = list(accumulate((rank + 1) ** -0.5 for rank in range(len(paths))))
    latest: dict[str, str] = {}
    recent: list[str] = []
    commit = parent = session = environment = ""
    open_sessions: list[str] = []
    for number in range(annotations):
        now = _stamp(number)
        if number % SESSION_EVERY == 0:
            for ended in open_sessions:
                log.append(
                    {"type": "session", "event": "end", "session_id": ended, "timestamp": now}
                )
            environment = contexts.environments[chance.randrange(len(contexts.environments))]
            session = _uuid(chance)
            delegated = number % DELEGATION_EVERY == 0
            parent = _uuid(chance) if delegated else ""
            open_sessions = [session, parent] if delegated else [session]
            commit = f"{chance.getrandbits(160):040x}"
            if delegated:
                log.append(_session_start(parent, environment, now, None))
            log.append(_session_start(session, environment, now, parent or None))
            if delegated:
                _delegate(log, parent, session, environment, now)
        path = chance.choices(paths, cum_weights=weights)[0]
        record = _annotation(number, path, chance, contexts)
        record |= {
            "environment_hash": environment,
            "timestamp": now,
            "commit_hash": commit,
            "session_id": session,
        }
        identity = log.append(record)
        _link(
            log,
            identity,
            record=record,
            older=latest.get(path),
            recent=recent,
            read=chance.choice(contexts.commands),
            chance=chance,
        )
        latest[path] = identity
        recent = [*recent[-20:], identity]
    for ended in open_sessions:
        log.append(
            {
                "type": "session",
                "event": "end",
                "session_id": ended,
                "timestamp": _stamp(annotations),
            }
        )


def _annotation(
    number: int, path: str, chance: random.Random, contexts: _Contexts
) -> dict[str, object]:
    lines = ODD_LINES if chance.random() < 0.03 else PLAIN_LINES
    first = chance.randrange(len(lines))
    anchor = "\n".join([f"# {number}", lines[first], lines[first - 1]])
    start = chance.randint(1, 1900)
    place: dict[str, object]
    if chance.random() < 0.1:
        place = {
            "type": "function",
            "file_path": path,
            "function_name": f"Ledger.entry_{start}",
            "function_signature": f"entry_{start}"
            "(self, key: str, *, since: float = 0.0) -> list[Entry]",
        }
    else:
        place = {
            "type": "line",
            "file_path": path,
            "line_start": start,
            "line_end": start + chance.randint(2, 40),
        }
    place |= {
        "environment_hash": None,
        "prompt_hash": chance.choice(contexts.prompts),
        "action": "create" if chance.random() < 0.4 else "modify",
        "timestamp": None,
        "commit_hash": None,
        "session_id": None,
        "assurance_level": "high",
        "anchor_context": anchor,
        "anchor_hash": hashlib.sha256(anchor.encode()).hexdigest(),
        "file_content_hash": f"{chance.getrandbits(256):064x}",
    }
    if number % 2:
        place["command_hash"] = chance.choice(contexts.commands)
    if number % 3 == 0:
        place["reasoning_hash"] = chance.choice(contexts.reasonings)
    return place


def _link(
    log: _Log,
    identity: str,
    *,
    record: dict[str, object],
    older: str | None,
    recent: list[str],
    read: str,
    chance: random.Random,
) -> None:
    """Append the annotation's edge, mostly to its prompt, else to another annotation."""
    draw = chance.random()
    kind, target = "caused_by", ("context", str(record["prompt_hash"]))
    if 0.6 <= draw < 0.75 and older is not None:
        kind, target = "supersedes", ("annotation", older)
    elif draw >= 0.88 and recent:
        kind, target = "depends_on", ("annotation", chance.choice(recent))
    elif draw >= 0.6:
        kind, target = "informed_by", ("context", read)
    edge = _edge(kind, ("annotation", identity), target, str(record["timestamp"]))
    if kind == "supersedes":
        edge["metadata"] = {"reason": "covers"}
    log.append(edge)


def _session_start(
    session: str, environment: str, now: str, parent: str | None
) -> dict[str, object]:
    record: dict[str, object] = {
        "type": "session",
        "event": "start",
        "session_id": session,
        "timestamp": now,
    }
    record |= {
        "environment_hash": environment,
        "assurance_level": "high",
        "description": "Work on the ledger",
    }
    if parent is not None:
        record |= {
            "parent_session_id": parent,
            "agent_name": "worker-1",
            "agent_type": "claude-code",
        }
    return record


def _delegate(log: _Log, parent: str, child: str, environment: str, now: str) -> None:
    delegation: dict[str, object] = {
        "type": "delegation",
        "parent_session_id": parent,
        "child_session_id": child,
        "timestamp": now,
    }
    delegation |= {"task_description": "Work on the ledger", "delegation_type": "task"}
    log.append(
        delegation | {"parent_environment_hash": environment, "child_environment_hash": environment}
    )
    log.append(_edge("delegated_to", ("session", parent), ("session", child), now))


def _edge(
    kind: str, source: tuple[str, str], target: tuple[str, str], now: str
) -> dict[str, object]:
    ends = {
        "source_ref": source[1],
        "source_type": source[0],
        "target_ref": target[1],
        "target_type": target[0],
    }
    return {"type": "edge", "edge_type": kind, **ends, "timestamp": now}


def _uuid(chance: random.Random) -> str:
    digits = f"{chance.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _stamp(number: int) -> str:
    return (
        (START + timedelta(seconds=7 * number))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )
