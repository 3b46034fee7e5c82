"""Damaged audit trails: no command ends with an internal error, none changes the trail it reads."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.unit.checks.projects import CONFIG, LOG, MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

COMMANDS: Final = (
    ("check",),
    ("check", "--base", "HEAD"),
    ("log", "--json"),
    ("log",),
    ("stats",),
    ("stats", "--by", "model"),
    ("stats", "--by", "session"),
    ("stats", "--by", "file"),
    ("find",),
    ("blame", "src/auth.py"),
    ("diff", "HEAD~1..HEAD"),
    ("gate",),
    ("gate", "--base", "HEAD"),
    ("review", "--list"),
    ("doctor", "src/auth.py"),
    ("backfill", "--dry-run"),
    ("backfill", "--dry-run"),
)
FILES: Final = (CONFIG, MANIFEST, LOG)
VALUES: Final = (
    b"null", b"true", b"[]", b"{}", b"[[]]", b'{"a":[]}', b'""', b'"\\ud800"', b'"\\u0000"', b'"\xff"', b"-1", b"0", b"1.5", b"1e999", b"NaN",
    b"9" * 30, b"9" * 5000, b"[" * 70 + b"]" * 70, b"[" * 1200 + b"]" * 1200, b'"../../x"', b'"' + b"x" * 300 + b'"', b'"--help"',
    b'"9999-99-99T99:99:99Z"', b'"0001-01-01T00:00:00+23:59"',
)  # fmt: skip
"""What takes the place of a value."""
SEEDS: Final = int(os.environ.get("VIBES_FUZZ_SEEDS", "12"))


def replace_value(data: bytes, chance: random.Random) -> bytes:
    """Insert another value after a colon."""
    colons = [at for at, byte in enumerate(data) if byte == ord(":") and data[at - 1 : at] == b'"']
    if not colons:
        return data
    at = chance.choice(colons) + 1
    end = at + 1
    if data[at : at + 1] == b'"':
        end = data.find(b'"', at + 1) + 1
    elif data[at : at + 1] in b"[{":
        end = data.find(b"]" if data[at : at + 1] == b"[" else b"}", at) + 1
    else:
        while data[end : end + 1] not in b",}]\n":
            end += 1
    return data[:at] + chance.choice(VALUES) + data[end:]


def rename_member(data: bytes, chance: random.Random) -> bytes:
    names = sorted(
        {part for part in data.split(b'"') if part.isascii() and part.replace(b"_", b"").isalpha()}
    )
    if len(names) < 2:
        return data
    old, new = chance.sample(names, 2)
    places = data.count(b'"%s"' % old)
    parts = data.split(b'"%s"' % old)
    at = chance.randrange(1, places + 1) if places else 1
    return (b'"%s"' % old).join(parts[:at]) + b'"%s"' % new + (b'"%s"' % old).join(parts[at:])


def drop_member(data: bytes, chance: random.Random) -> bytes:
    commas = [at for at, byte in enumerate(data) if byte == ord(",")]
    if len(commas) < 2:
        return data
    at = chance.randrange(len(commas) - 1)
    return data[: commas[at]] + data[commas[at + 1] :]


def change_bytes(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return b"\x00"
    at = chance.randrange(len(data))
    return (
        data[:at]
        + bytes(chance.choices(range(256), k=chance.randrange(1, 4)))
        + data[at + chance.randrange(3) :]
    )


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def repeat_line(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return b"\n".join(lines)


SHAPES: Final[tuple[Any, ...]] = (
    None, True, [], {}, [[]], {"a": []}, "", "\ud800", "\0", -1, 0, 1, 2**63, 10**400, 1.5, "../../x", "--help", "x" * 300, "line", "function",
    "edge", "delete", "review", "rebase_orphan", "supersedes", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", [None, 1, {}],
)  # fmt: skip


def change_record(data: bytes, chance: random.Random) -> bytes:
    """Change or remove a member of a line, which stays JSON."""
    lines = data.split(b"\n")
    for at in chance.sample(range(len(lines)), len(lines)):
        text = lines[at].removeprefix(b",")
        try:
            value = json.loads(text if text.startswith(b"{") else b"{" + text + b"}")
        except (ValueError, RecursionError):
            continue
        place = value
        while isinstance(place, dict) and place:
            name = chance.choice(sorted(place))
            if isinstance(place[name], dict) and place[name] and chance.random() < 0.8:
                place = place[name]
            elif chance.random() < 0.3:
                del place[name]
                break
            else:
                place[name] = chance.choice(SHAPES)
                break
        written = json.dumps(value).encode()
        lines[at] = (
            written
            if text.startswith(b"{")
            else lines[at][: len(lines[at]) - len(text)] + written[1:-1]
        )
        return b"\n".join(lines)
    return data


MUTATIONS: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    change_record, change_record, change_record, change_record, replace_value, replace_value, rename_member, drop_member, change_bytes, cut, repeat_line,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_mutation_causes_an_internal_error(
    project: Project, run_vibes_unchecked: RunVibes, seed: int
) -> None:
    chance = random.Random(seed)
    valid_trail = {name: (project.root / name).read_bytes() for name in FILES}
    for name in FILES:
        data = valid_trail[name]
        for _ in range(chance.choice((0, 1, 1, 3, 12))):
            data = chance.choice(MUTATIONS)(data, chance)
        (project.root / name).write_bytes(data)
    before = project.contents()
    commands = chance.sample(COMMANDS, 6) if "VIBES_FUZZ_SEEDS" not in os.environ else COMMANDS
    for command in commands:
        done = run_vibes_unchecked(*command, cwd=project.root)
        assert done.code in (0, 1, 2), (command, done)
        assert "internal error" not in done.err, (command, done.err)
        assert done.code != 2 or (done.err.startswith("vibes: ") and done.out == ""), (
            command,
            done,
        )
    after = project.contents()
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) <= {"audit.db"}
