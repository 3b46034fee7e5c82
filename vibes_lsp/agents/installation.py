"""What a person has of an agent: its program, which is not run, its folder, its settings."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, UserHome
from vibes_lsp.agents.setup.json_edits import parse_document
from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.members import Members
from vibes_lsp.store.files import read_file

_MAX_SETTINGS: Final = 16 << 20


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
