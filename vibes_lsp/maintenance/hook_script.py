"""The text of the pre-commit hook: write it, and parse an installed one. Pure functions.

It is plain sh, which git includes on every system. First it runs the hook that was there before,
which keeps its arguments, input and exit code; so the trail has what is really committed, and
nothing is written for a commit that the other hook refuses. Its own part stops a commit only if
that would remove a whole trail.
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
"""The name, in the same folder, of the hook that was there before."""

_MARK: Final = re.compile(
    rb"#!/bin/sh\n# vibes-lsp pre-commit hook (\d{1,4}), sha256 of what follows: ([0-9a-f]{64})\n"
)
STOPPED: Final = 3
"""The exit code of our part if the commit must not be made."""
_VERSION: Final = 2
"""Version 1 ran the previous hook last."""
_BODY: Final = """\
# Installed by `vibes init`, removed by `vibes init --remove-git-hooks`.
# Both refuse a modified hook.
before=$(dirname "$0")/{before}
if test -x "$before"; then
    "$before" "$@" || exit
fi
vibes=$(command -v vibes) || vibes={program}
write_trail() {{
    test -d "$1/.ai-audit" ||
        git rev-parse -q --verify "HEAD:./$1/.ai-audit/annotations.jsonl" >/dev/null || return 0
    test -x "$vibes" || {{
        echo "vibes is not on PATH: this commit has the audit trail as staged" >&2
        return 0
    }}
    "$vibes" backfill --pre-commit --audit-dir "$1/.ai-audit" </dev/null
    case $? in
    0) ;;
    {stopped}) exit 1 ;;
    *) echo "vibes failed: this commit has the audit trail as staged" >&2 ;;
    esac
}}
{calls}
exit 0
"""


@dataclass(frozen=True, slots=True)
class HookScript:
    """An installed hook of this or another version of vibes.

    Attributes:
        projects: Folders with a trail, relative to the top of the work tree; `.` for the top.
        program: What it runs if `vibes` is not on PATH; empty for nothing.
        is_unmodified: Whether it is as installed.
    """

    projects: tuple[str, ...]
    program: str
    is_unmodified: bool


def write_script(projects: Iterable[str], program: str) -> bytes:
    """Return the hook's text for these projects.

    Args:
        projects: Folders relative to the top of the work tree, without line breaks.
        program: What to run if `vibes` is not on PATH; empty for nothing.
    """
    calls = "\n".join(f"write_trail {shlex.quote(project)}" for project in sorted(set(projects)))
    body = os.fsencode(
        _BODY.format(
            program=shlex.quote(program), calls=calls, before=PREVIOUS_HOOK, stopped=STOPPED
        )
    )
    digest = hashlib.sha256(body).hexdigest()
    mark = f"# vibes-lsp pre-commit hook {_VERSION}, sha256 of what follows: {digest}"
    return f"#!/bin/sh\n{mark}\n".encode() + body


def read_script(content: bytes) -> HookScript | None:
    """Parse a hook; None if vibes did not write it."""
    mark = _MARK.match(content)
    if mark is None:
        return None
    body = content[mark.end() :]
    is_unmodified = hashlib.sha256(body).hexdigest().encode() == mark[2]
    lines = os.fsdecode(body).split("\n")
    return HookScript(
        (*_words(lines, "write_trail "), *_words(lines, "back_fill ")),
        next(iter(_words(lines, "vibes=$(command -v vibes) || vibes=")), ""),
        is_unmodified,
    )


def _words(lines: Iterable[str], start: str) -> list[str]:
    words = []
    for line in lines:
        if line.startswith(start):
            try:
                words += shlex.split(line.removeprefix(start))
            except ValueError:  # a modified hook
                continue
    return words
