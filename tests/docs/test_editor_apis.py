"""The table of editor APIs names every function of both."""

from __future__ import annotations

import re
from typing import Final

from tests.requirements import REPOSITORY

PAGE: Final = (
    (REPOSITORY / "docs/plugin-authors.md")
    .read_text(encoding="utf-8")
    .partition("## Editor APIs")[2]
)
TYPES: Final = (REPOSITORY / "editors/vscode/vibes-lsp.d.ts").read_text(encoding="utf-8")
MODULE: Final = (REPOSITORY / "editors/neovim/lua/vibes/init.lua").read_text(encoding="utf-8")


def test_the_table_of_editor_apis_has_every_function_of_both() -> None:
    table = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
    named = {name.strip('"') for name in re.findall(r"`([\w:]+)(?: \w+)?`", table)}
    interface = re.search(r"export interface VibesApi \{(.*?)\n\}", TYPES, re.DOTALL)
    assert interface is not None
    typescript = set(re.findall(r"^  (?:readonly )?(\w+)[(:]", interface[1], re.MULTILINE))
    lua = set(re.findall(r"^function M\.(\w+)\(", MODULE, re.MULTILINE))
    assert len(typescript) >= 7
    assert len(lua) >= 8
    assert typescript | lua <= named
    for name in re.findall(r"\| `(\w+)` \|", table):
        assert name in typescript | lua | {"version"}, name


def test_the_editor_apis_have_the_versions_of_the_page() -> None:
    stated = re.search(r"VS Code's has\s+version (\d+), Neovim's\s+version (\d+)", PAGE)
    assert stated is not None
    assert f"readonly version: {stated[1]};" in TYPES
    assert f"version = {stated[2]}," in MODULE
