"""Duration of the `kb.*` methods over JSON lines, beside two versions of the reference.

One knowledge base of 5,000 claims is copied for each program. They answer the same requests in
turns, so that noise affects all alike. Beside the time of the clock stands the CPU time of the
server, which other programs on the machine hardly affect.

    python -m benchmarks.knowledge [--save]

With `--save` the figures go to `results/knowledge.json`; `docs/knowledge.md` has a table of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.conformance.vouch.programs import OURS, REFERENCES, reference
from tests.conformance.vouch.server import Commands, Refused, Server, ServerProcess
from vibes_lsp import __version__

RESULTS: Final = Path(__file__).parent / "results" / "knowledge.json"
CLAIMS: Final = 5_000
EVIDENCE: Final = 2_000
SOURCES: Final = 200
ENTITIES: Final = 200
PAGES: Final = 100
_ROUNDS: Final = 5
_AGAIN: Final = 5
"""How many more rounds the requests run that take all programs less than `_SHORT` seconds."""
_SHORT: Final = 0.2
_TIME: Final = "2026-10-05T08:00:00Z"
_TOPICS: Final = (
    "token", "cache", "ledger", "parser", "queue", "retry", "schema", "invoice", "session",
    "password", "shard", "replica", "webhook", "deploy", "metric", "index", "migration", "lock",
)  # fmt: skip
_RULES: Final = (
    "expires after {n} minutes", "is written by one process only", "is retried {n} times",
    "is checked before it is stored", "keeps {n} versions", "is never logged", "is signed",
    "is read by {n} services", "is rebuilt each night", "has a limit of {n} rows",
)  # fmt: skip

Request = tuple[str, dict[str, Any]]
AIMS: Final[dict[str, float]] = {
    "status": 50,
    "search, one word": 50,
    "search, six words": 50,
    "search, no match": 50,
    "context": 50,
    "read_claim": 20,
    "list_claims": 150,
    "list_pending": 150,
    "propose_claim": 50,
    "approve": 50,
    "index_rebuild": 2_000,
    "doctor": 3_000,
}
"""The requests, with the milliseconds that they may take."""


Times = dict[str, dict[str, dict[str, float]]]
"""Milliseconds by request, program and clock: `clock` or `cpu`."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="keep the figures")
    parser.add_argument("--alone", action="store_true", help="without the reference")
    asked = parser.parse_args(sys.argv[1:] if __name__ == "__main__" else [])
    programs = [OURS, *([] if asked.alone else map(reference, REFERENCES))]
    with tempfile.TemporaryDirectory() as folder, _servers(Path(folder), programs) as servers:
        times = measure(servers)
        times["first request"] = {
            program.name: _first_request(program, Path(folder, str(number)))
            for number, program in enumerate(programs)
        }
    print(
        f"knowledge: {CLAIMS:,} claims, {EVIDENCE:,} evidence; medians in milliseconds, load"
        f" {os.getloadavg()[0]:.1f}; in brackets ratios of CPU time"
    )
    for name, by_program in times.items():
        print(_line(name, by_program))
    if asked.save:
        saved = {"machine": _machine(), "claims": CLAIMS, "milliseconds": times}
        RESULTS.write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")


def measure(servers: dict[str, ServerProcess]) -> Times:
    """Return the median times of each request and program."""
    found: Times = {}
    for name in AIMS:
        times: dict[str, list[tuple[float, float]]] = {program: [] for program in servers}
        for round_ in range(_ROUNDS + _AGAIN):
            slowest = max(sum(clock for clock, _ in each) for each in times.values())
            if round_ >= _ROUNDS and slowest / round_ > _SHORT:
                break
            for program, server in servers.items():
                request = _request(name, server, round_)
                begun, cpu = time.perf_counter(), _cpu_seconds(server)
                _ask(server, request)
                taken = time.perf_counter() - begun
                times[program].append((taken, _cpu_seconds(server) - cpu))
        found[name] = {
            program: {
                clock: round(statistics.median(each[number] for each in taken) * 1000, 1)
                for number, clock in enumerate(("clock", "cpu"))
            }
            for program, taken in times.items()
        }
    return found


def _cpu_seconds(server: ServerProcess) -> float:
    """Return the CPU time of a server's first thread, which answers."""
    found = Path(f"/proc/{server.process.pid}/schedstat").read_text(encoding="ascii")
    return int(found.split()[0]) / 1e9


def _request(name: str, server: Server, number: int) -> Request:
    """Return the n-th request of a name; what it needs is done here, and is not measured."""
    word = _TOPICS[number % len(_TOPICS)]
    topics = random.Random(number).sample(_TOPICS, 6)
    claim = f"claim-{number * 37:05}"
    source = _source_id(number)
    text = f"A new {word} is proposed in round {number}"
    if name == "approve":
        proposed = _ask(server, ("propose_claim", {"text": f"{text} again", "evidence": [source]}))
        return "approve", {"proposal_id": proposed["proposal_id"]}
    requests: dict[str, Request] = {
        "status": ("status", {}),
        "search, one word": ("search", {"query": word}),
        "search, six words": ("search", {"query": " ".join(topics)}),
        "search, no match": ("search", {"query": f"zzz{number}qqq"}),
        "context": ("context", {"task": f"change {' '.join(topics)}", "max_chars": 4000}),
        "read_claim": ("read_claim", {"id": claim, "claim_id": claim}),
        "list_claims": ("list_claims", {}),
        "list_pending": ("list_pending", {}),
        "propose_claim": ("propose_claim", {"text": text, "evidence": [source]}),
        "index_rebuild": ("index_rebuild", {}),
        "doctor": ("doctor", {}),
    }
    return requests[name]


def _ask(server: Server, request: Request) -> Any:
    method, params = request
    try:
        return server.call(method, **params)
    except Refused as error:
        raise SystemExit(f"{method}: {error}") from None


def _first_request(program: Commands, project: Path) -> dict[str, float]:
    """Return the times from the start of a server to its first answer."""
    times = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        server = program.start(project, "reader")
        server.call("search", query="token")
        times.append((time.perf_counter() - begun, _cpu_seconds(server)))
        server.close()
    clock, cpu = (round(statistics.median(each) * 1000, 1) for each in zip(*times, strict=True))
    return {"clock": clock, "cpu": cpu}


@contextmanager
def _servers(folder: Path, programs: list[Commands]) -> Iterator[dict[str, ServerProcess]]:
    """Start a server of each program on a copy of its own."""
    base = folder / "base"
    write_knowledge_base(base / ".vouch")
    servers = {}
    for number, program in enumerate(programs):
        project = folder / str(number)
        shutil.copytree(base, project)
        servers[program.name] = program.start(project, "person")
        _ask(servers[program.name], ("index_rebuild", {}))
    yield servers
    for server in servers.values():
        server.close()


def write_knowledge_base(folder: Path) -> None:
    """Write the files as all programs read them, with none of the product."""
    chance = random.Random(7)
    names = ("claims", "evidence", "sources", "entities", "pages", "relations", "sessions")
    for name in (*names, "proposed", "decided"):
        (folder / name).mkdir(parents=True)
    for number in range(SOURCES):
        text = _source_text(number)
        path = folder / "sources" / _source_id(number)
        path.mkdir()
        (path / "content").write_text(text)
        _write(
            path / "meta.yaml",
            {"id": path.name, "type": "file", "locator": f"docs/{number}.md", "hash": path.name,
             "byte_size": len(text), "title": f"Notes {number}", "created_at": _TIME},
        )  # fmt: skip
    for number in range(EVIDENCE):
        lines = f"L{1 + number % 9}"
        _write(
            folder / "evidence" / f"evidence-{number:05}.yaml",
            {"id": f"evidence-{number:05}", "source_id": _source_id(number % SOURCES),
             "locator": lines, "quote": _source_text(number % SOURCES).splitlines()[number % 9],
             "created_at": _TIME},
        )  # fmt: skip
    for number in range(CLAIMS):
        topics = chance.sample(_TOPICS, 3)
        rule = chance.choice(_RULES).format(n=chance.randrange(2, 90))
        cited = [f"evidence-{chance.randrange(EVIDENCE):05}", _source_id(number % SOURCES)]
        _write(
            folder / "claims" / f"claim-{number:05}.yaml",
            {"id": f"claim-{number:05}", "text": f"The {topics[0]} of the {topics[1]} {rule}.",
             "type": "fact", "status": "working", "confidence": 0.8, "evidence": cited,
             "entities": [], "scope": "project", "tags": topics[2:], "created_at": _TIME,
             "updated_at": _TIME, "approved_by": "person"},
        )  # fmt: skip
    for number in range(ENTITIES):
        _write(
            folder / "entities" / f"entity-{number:03}.yaml",
            {"id": f"entity-{number:03}", "name": f"{chance.choice(_TOPICS)} service {number}",
             "type": "system", "created_at": _TIME, "updated_at": _TIME},
        )  # fmt: skip
    for number in range(PAGES):
        front = {"id": f"page-{number:03}", "title": f"About the {chance.choice(_TOPICS)}",
                 "type": "concept", "status": "active", "claims": [f"claim-{number:05}"],
                 "created_at": _TIME, "updated_at": _TIME}  # fmt: skip
        body = " ".join(chance.choices(_TOPICS, k=200))
        path = folder / "pages" / f"page-{number:03}.md"
        path.write_text(f"---\n{_yaml(front)}---\n{body}\n")
    (folder / "config.yaml").write_text("version: '0.1'\nreview: {approver_role: trusted-agent}\n")
    (folder / "audit.log.jsonl").touch()


def _write(path: Path, members: dict[str, Any]) -> None:
    path.write_text(_yaml(members), encoding="utf-8")


def _yaml(members: dict[str, Any]) -> str:
    """Return members one a line; JSON values are YAML."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in members.items())


def _source_text(number: int) -> str:
    chance = random.Random(number)
    return "\n".join(" ".join(chance.choices(_TOPICS, k=12)) for _ in range(40)) + "\n"


def _source_id(number: int) -> str:
    return hashlib.sha256(_source_text(number).encode()).hexdigest()


def _line(name: str, times: dict[str, dict[str, float]]) -> str:
    ours = times[OURS.name]
    others = "".join(
        f"  {program} {taken['clock']:,.0f} ({taken['cpu'] / max(ours['cpu'], 0.1):,.1f}x)"
        for program, taken in times.items()
        if program != OURS.name
    )
    aim = f"at most {AIMS[name]:,.0f}" if name in AIMS else ""
    return f"  {name:<18} {ours['clock']:8.1f}  CPU {ours['cpu']:8.1f}  {aim:<14}{others}"


def _machine() -> dict[str, Any]:
    return {
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "vibes-lsp": __version__,
    }


if __name__ == "__main__":
    main()
