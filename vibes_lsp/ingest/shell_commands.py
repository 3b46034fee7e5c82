"""Tell shell commands that only read from those that may write files. Pure.

An agent reads by many short commands. A person who saves a file beside one of them has written the
file; so a command that is known to write nothing can be ruled out.
"""

from __future__ import annotations

import re
from typing import Final

_READERS: Final = frozenset(
    {
        "basename", "cat", "cd", "cmp", "date", "df", "dirname", "du", "echo", "egrep", "false",
        "fgrep", "file", "grep", "head", "ls", "nl", "printf", "ps", "pwd", "readlink", "realpath",
        "sleep", "stat", "tail", "test", "true", "type", "uname", "wc", "which", "whoami",
    }
)  # fmt: skip
"""Programs that write no file, with any options."""
_GIT_READERS: Final = frozenset(
    {"blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "rev-parse", "show",
     "shortlog", "status"}
)  # fmt: skip
_SEPARATORS: Final = re.compile(r"&&|\|\||[;|\n]")
_WRITES: Final = re.compile(r"[>`&]|\$\(|<\(|--output")
"""What may write a file, or run a command that does."""


def only_reads(command: str) -> bool:
    """Return whether a shell command is known to write no file."""
    parts = [part.split() for part in _SEPARATORS.split(command)]
    if _WRITES.search(_SEPARATORS.sub(" ", command)):
        return False
    words = [part for part in parts if part]
    return bool(words) and all(
        part[0] in _READERS or (part[0] == "git" and part[1:2] and part[1] in _GIT_READERS)
        for part in words
    )
