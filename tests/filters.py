"""Repositories whose files a filter encrypts, or changes less, on their way into git's objects."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import Repository

SECRET: Final = "database_password = 'correct horse battery staple'"
SECRETS: Final = f"import os\n\n{SECRET}\napi_token = os.environ['TOKEN'] + 'hunter2hunter2'\n"
"""A file of which no line may get into a trail."""
NOTEBOOK: Final = (
    '{\n "cells": [\n  {\n   "source": [\n    "import pandas as pd\\n",\n    "frame = pd.read_csv(path)\\n",\n'
    '    "frame.describe()"\n   ],\n   "outputs": ["42 rows, 17 columns of output"]\n  }\n ]\n}\n'
)
_LFS: Final = (
    "data = sys.stdin.buffer.read(); print('version https://git-lfs.github.com/spec/v1'); "
    "print('oid', hashlib.sha256(data).hexdigest()); print('size', len(data))"
)
_ENCRYPT: Final = (
    "data = base64.b16encode(sys.stdin.buffer.read()); "
    "sys.stdout.buffer.write(b'\\n'.join(data[at:at + 8] for at in range(0, len(data), 8)))"
)
_PROGRAMS: Final = {
    "crypt": (
        _ENCRYPT,
        "sys.stdout.buffer.write(base64.b16decode(sys.stdin.buffer.read().replace(b'\\n', b'')))",
    ),
    "lfs": (_LFS, ""),
    "strip": ("print(re.sub(r'42 rows[^\"]*', '', sys.stdin.read()), end='')", ""),
}


def add_filter(repository: Repository, name: str, pattern: str, *, program: str = "") -> None:
    """Commit attributes that set a filter, and configure its program unless that is empty.

    Args:
        repository: The repository.
        name: The filter's name.
        pattern: The files.
        program: `crypt` encrypts, `lfs` leaves a pointer, `strip` removes a notebook's output.
    """
    repository.write(".gitattributes", f"{pattern} filter={name}\n")
    if program:
        for option, code in zip(("clean", "smudge"), _PROGRAMS[program], strict=True):
            if code:
                command = (
                    f'"{sys.executable}" -c "import base64, hashlib, re, sys; {_quoted(code)}"'
                )
                repository.git("config", f"filter.{name}.{option}", command)
    repository.git("add", ".gitattributes")
    repository.git("commit", "--quiet", "--message", "Set a filter")


def _quoted(code: str) -> str:
    return code.replace("\\", "\\\\").replace('"', '\\"')


def files_with(folder: Path, text: str) -> list[str]:
    """Return the files below a folder that have a longer line of a text."""
    wanted = [line.encode() for line in text.splitlines() if len(line) > 12]
    return [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(line in path.read_bytes() for line in wanted)
    ]
