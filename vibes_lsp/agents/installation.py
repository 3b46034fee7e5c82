"""What a person has of an agent on this machine: its program, its folder, its settings.

Programs run with a time limit. One in the project's folder is never run: the content of a workspace
is untrusted.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, UserHome
from vibes_lsp.agents.setup.json_edits import parse_document
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.members import Members
from vibes_lsp.patience import AGENT_PROGRAM
from vibes_lsp.store.files import is_inside, read_file

_MAX_SETTINGS: Final = 16 << 20
_VERSION: Final = re.compile(
    r"(?<![0-9])[0-9]{1,9}\.[0-9]{1,9}(?:\.[0-9]{1,9})?(?:[-+][\w.-]{1,40})?", re.ASCII
)


def current_home() -> UserHome:
    """Return the home of the person that runs this program."""
    try:
        path = Path.home()
    except RuntimeError:  # in a container, a user may have no home: nothing is found or written
        path = Path(os.devnull)
    return UserHome(path, os.environ)


def find_program(agent: CodingAgent, home: UserHome) -> Path | None:
    """Return the program of an agent on PATH; None without one."""
    for name in agent.programs:
        program = shutil.which(name, path=home.variables.get("PATH"))
        if program is not None:
            return Path(program)
    return None


def is_installed(agent: CodingAgent, home: UserHome) -> bool:
    """Return whether a person has an agent: a program on PATH, or a folder in the home folder."""
    return agent.home_folder(home).is_dir() or find_program(agent, home) is not None


def read_settings(path: Path) -> Members:
    """Return an agent's own JSON file; empty if there is none or it cannot be read."""
    try:
        content = read_file(path, limit=_MAX_SETTINGS)
        return {} if content is None else parse_document(content.decode("utf-8")).value
    except (UnreadableFile, MalformedJson, UnicodeDecodeError):
        return {}


def program_version(program: Path, project: Path) -> str:
    """Return the version that a program prints; empty if it prints none in time."""
    if is_inside(program, project):
        return ""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [program, "--version"],
            cwd=tempfile.gettempdir(),  # no configuration of the project is read
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=AGENT_PROGRAM.limit,
            check=False,
        )
        version = _VERSION.search(done.stdout[:10_000].decode("utf-8", "replace"))
        return version[0] if version else ""
    return ""
