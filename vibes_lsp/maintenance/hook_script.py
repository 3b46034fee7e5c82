"""The text of our pre-commit hook: written, and read again to tell what is ours and whether somebody changed it. Pure functions.

It is plain sh, which git brings along on every system. Ours comes first and ends well whatever happens; then the hook that
was there before takes its place in the process, so that its arguments, its input and its exit code are its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

PREVIOUS_HOOK: Final = "pre-commit.before-vibes"
"""What the hook is called, in the same folder, that was there before ours."""

_MARK: Final = re.compile(
    rb"#!/bin/sh\n# vibes-lsp pre-commit hook (\d{1,4}), sha256 of what follows: ([0-9a-f]{64})\n"
)
_VERSION: Final = 1
_BODY: Final = """\
# Written by `vibes init --git-hooks`, taken away by `vibes init --remove-git-hooks`. What you add here makes both refuse.
vibes=$(command -v vibes) || vibes={program}
back_fill() {{
    test -d "$1/.ai-audit" || return 0
    test -x "$vibes" || {{
        echo "vibes is not on PATH: this commit takes the audit trail as it is staged" >&2
        return 0
    }}
    "$vibes" backfill --pre-commit --audit-dir "$1/.ai-audit" </dev/null ||
        echo "vibes ended badly: this commit takes the audit trail as it is staged" >&2
}}
{calls}
before=$(dirname "$0")/{before}
test -x "$before" || exit 0
exec "$before" "$@"
"""


@dataclass(frozen=True, slots=True)
class Script:
    """A hook of ours, of this or another version.

    Attributes:
        projects: Folders with a trail, relative to the top of the work tree; `.` for the top itself.
        program: What it runs where `vibes` is not on PATH; empty for nothing.
        intact: Whether it is as it was written.
    """

    projects: tuple[str, ...]
    program: str
    intact: bool


def write_script(projects: Iterable[str], program: str) -> bytes:
    """Return the hook for these projects.

    Args:
        projects: Folders relative to the top of the work tree, without line breaks.
        program: What to run where `vibes` is not on PATH; empty for nothing.
    """
    calls = "\n".join(f"back_fill {shlex.quote(each)}" for each in sorted(set(projects)))
    body = os.fsencode(
        _BODY.format(program=shlex.quote(program), calls=calls, before=PREVIOUS_HOOK)
    )
    digest = hashlib.sha256(body).hexdigest()
    return (
        f"#!/bin/sh\n# vibes-lsp pre-commit hook {_VERSION}, sha256 of what follows: {digest}\n".encode()
        + body
    )


def read_script(data: bytes) -> Script | None:
    """Return what a hook of ours says; None for one that we have not written."""
    mark = _MARK.match(data)
    if mark is None:
        return None
    body = data[mark.end() :]
    intact = hashlib.sha256(body).hexdigest().encode() == mark[2]
    lines = os.fsdecode(body).split("\n")
    return Script(
        tuple(_words(lines, "back_fill ")),
        next(iter(_words(lines, "vibes=$(command -v vibes) || vibes=")), ""),
        intact,
    )


def _words(lines: Iterable[str], start: str) -> list[str]:
    found = []
    for line in lines:
        if line.startswith(start):
            try:
                found += shlex.split(line.removeprefix(start))
            except ValueError:  # somebody changed it; it is not intact, then
                continue
    return found
