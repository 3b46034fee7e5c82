"""What the writers of these tests do, and how they tell that something was acknowledged."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from tests.unit.store.trail import prompt, session
from vibes_lsp.store.writing import AuditWriter

if TYPE_CHECKING:
    from vibes_lsp.model.members import Members
    from vibes_lsp.store.layout import AuditDir

Tell: TypeAlias = Callable[[str, Iterable[str]], None]
"""Called with `entry` or `record` and the keys or ids, as soon as they were acknowledged."""


def reasoning(body: str) -> Members:
    """Return a reasoning entry in its inline form."""
    return {"type": "reasoning", "reasoning_text": body, "reasoning_model": "m", "created_at": "2026-02-03T10:00:00.000Z"}


def steps(directory: AuditDir, tell: Tell, *, known: Callable[[str], bool] | None = None) -> None:
    """Do everything that a writer does, once and always the same."""
    writer = AuditWriter(directory)
    keys = writer.entries([prompt("one"), reasoning("x" * 50), reasoning("y" * 5000)])
    tell("entry", keys)
    tell("record", writer.append([session(1, prompt_hash=keys[0], reasoning_hash=keys[1]), session(2, note="z" * 9000)], known=known))
    writer.fold()
    more = writer.entry(prompt("two"))
    tell("entry", [more])
    tell("record", writer.append([session(3, prompt_hash=more, reasoning_hash=keys[2])], known=known))
    writer.close()


def endless(directory: AuditDir, seed: int, tell: Tell) -> None:
    """Write as chance wants it until somebody ends it: small and large, new and shared, folding now and then."""
    chance = random.Random(seed)
    writer = AuditWriter(directory, timeout=60)
    for number in count():
        entries = [prompt(f"{seed} {number} {'w' * chance.randrange(2000)}"), prompt(f"shared {chance.randrange(5)}")]
        if chance.random() < 0.2:
            entries.append(reasoning(f"{seed} {number} " * chance.randrange(1, 500)))
        keys = writer.entries(entries)
        tell("entry", keys)
        size = chance.choice((10, 500, 5000, 30_000))
        records = [session(part, prompt_hash=keys[0], other_hash=keys[-1], by=f"{seed} {number}", note="n" * size) for part in range(3)]
        tell("record", writer.append(records))
        if chance.random() < 0.3:
            writer.fold(wait=chance.random() < 0.5)
