"""What the writers of these tests do, and how they acknowledge it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Final, TypeAlias

from tests.trails import Repository
from tests.unit.recording.request_builders import Completion
from tests.unit.store.empty_trail import prompt, session
from vibes_lsp.maintenance.backfill import backfill
from vibes_lsp.recording import Model, Origin, Recorder, Tool
from vibes_lsp.recording.results import Recorded
from vibes_lsp.store.writer import AuditWriter

if TYPE_CHECKING:
    from pathlib import Path

    from vibes_lsp.model.members import Members
    from vibes_lsp.store.audit_dir import AuditDir

Acknowledge: TypeAlias = Callable[[str, Iterable[str]], None]
"""Called with `entry`, `record` or `pending` and the acknowledged keys or ids."""

ORIGIN: Final = Origin(tool=Tool("Some Tool", "1"), model=Model("some-model", "1"))


def reasoning(body: str) -> Members:
    """Return a reasoning entry in its inline form."""
    return {
        "type": "reasoning",
        "reasoning_text": body,
        "reasoning_model": "m",
        "created_at": "2026-02-03T10:00:00.000Z",
    }


def write_each_kind(
    directory: AuditDir, acknowledge: Acknowledge, *, known: Callable[[str], bool] | None = None
) -> None:
    """Do everything that a writer can do, once and deterministically."""
    writer = AuditWriter(directory)
    keys = writer.entries([prompt("one"), reasoning("x" * 50), reasoning("y" * 5000)])
    acknowledge("entry", keys)
    acknowledge(
        "record",
        writer.append(
            [session(1, prompt_hash=keys[0], reasoning_hash=keys[1]), session(2, note="z" * 9000)],
            known=known,
        ),
    )
    writer.fold()
    more = writer.entry(prompt("two"))
    acknowledge("entry", [more])
    acknowledge(
        "record", writer.append([session(3, prompt_hash=more, reasoning_hash=keys[2])], known=known)
    )
    writer.close()


def write_completions(directory: AuditDir, seed: int, acknowledge: Acknowledge) -> None:
    """Record inline completions in two parts until killed; pending parts are acknowledged too."""
    recorder = Recorder(directory)
    for number in count():
        for part in completion(f"{seed}-{number}"):
            result = recorder.execute(part.request(ORIGIN))
            if isinstance(result, Recorded):
                acknowledge("record", [result.annotation_id or "", *result.edges])
            else:
                acknowledge("pending", [part.completion_id])
        if number % 7 == 6:
            recorder.flush()


def completion(identifier: str) -> list[Completion]:
    """Return the two parts of a completion."""
    path, first = f"{identifier}.py", f"first = {identifier!r}\n"
    return [
        Completion(path, identifier, (0, 0), (0, 0), first, text="", part=1, final=False),
        Completion(path, identifier, (1, 0), (1, 0), "second = first\n", text=first, part=2),
    ]


def write_backfills(directory: AuditDir, seed: int, acknowledge: Acknowledge) -> None:
    """Back-fill many commits, so that a random kill can interrupt it."""
    recorder = Recorder(directory)
    acknowledge("begun", [str(seed)])
    done = backfill(recorder)
    acknowledge("record", [*done.backfilled, *done.edges])
    write_until_killed(directory, seed, acknowledge)


def create_due_commits(root: Path, files: int) -> None:
    """Create a repository with an annotation on each of some files whose commit is due."""
    with Recorder(root) as recorder:
        for number in range(files):
            (root / f"f{number}.py").write_text(
                f"value = {number}\nother = value + {number}\nthird = other * value\n",
                encoding="utf-8",
            )
            recorder.annotate_lines(f"f{number}.py", 1, 3, "create", ORIGIN)
    repository = Repository(root, start=datetime.now(UTC).isoformat(timespec="seconds"))
    repository.commit("All of it")
    repository.commit("One more, so that it is due")


def write_until_killed(directory: AuditDir, seed: int, acknowledge: Acknowledge) -> None:
    """Write at random until killed: small and large, new and shared, folding now and then."""
    chance = random.Random(seed)
    writer = AuditWriter(directory)
    for number in count():
        entries = [
            prompt(f"{seed} {number} {'w' * chance.randrange(2000)}"),
            prompt(f"shared {chance.randrange(5)}"),
        ]
        if chance.random() < 0.2:
            entries.append(reasoning(f"{seed} {number} " * chance.randrange(1, 500)))
        keys = writer.entries(entries)
        acknowledge("entry", keys)
        size = chance.choice((10, 500, 5000, 30_000))
        records = [
            session(
                part,
                prompt_hash=keys[0],
                other_hash=keys[-1],
                by=f"{seed} {number}",
                note="n" * size,
            )
            for part in range(3)
        ]
        acknowledge("record", writer.append(records))
        if chance.random() < 0.3:
            writer.fold(wait=chance.random() < 0.5)
