"""On Windows no program of the current folder is run, which may be a repository."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

import vibes_lsp.__main__ as command_line
from vibes_lsp.cli import main as cli
from vibes_lsp.lsp import main as server

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "NODEFAULTCURRENTDIRECTORYINEXEPATH"


@pytest.mark.parametrize("start", [command_line.main, server.main])
@pytest.mark.parametrize(("system", "value"), [("nt", "1"), ("posix", None)])
def test_only_the_path_is_searched_for_programs(
    monkeypatch: pytest.MonkeyPatch, start: Callable[[], None], system: str, value: str | None
) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    os.environ.pop(VARIABLE, None)
    monkeypatch.setattr(sys, "argv", ["vibes", "--version"])
    monkeypatch.setattr(cli, "main", sys.exit)
    with monkeypatch.context() as faked:
        faked.setattr(os, "name", system)
        with pytest.raises(SystemExit):
            start()
    assert os.environ.get(VARIABLE) == value
