"""The tables of `docs/comparison.md` name tests that exist; that of `docs/editors/api.md` names all of both APIs."""

from __future__ import annotations

import re
from typing import Final

from tests.requirements import REPOSITORY

_TEST: Final = re.compile(r"`((?:tests|editors)/[\w./-]+)::([^`]+)`")
_NOT_OURS: Final = re.compile(r"not ours,? because \S", re.IGNORECASE)


def rows(page: str) -> list[str]:
    """Return the rows of all tables of a page, without their headings."""
    lines = (REPOSITORY / page).read_text(encoding="utf-8").splitlines()
    return [
        line
        for before, line in zip(["", *lines], lines, strict=False)
        if line.startswith("|")
        and not line.startswith("|---")
        and before.startswith("|")
        and not line.startswith("| what people do ")
    ]


def test_each_row_of_the_comparison_names_a_test_or_a_reason() -> None:
    found = rows("docs/comparison.md")
    assert len(found) > 20
    lacking = [row for row in found if not (_TEST.search(row) or _NOT_OURS.search(row))]
    assert lacking == []


def test_each_test_that_the_comparison_names_exists() -> None:
    text = (REPOSITORY / "docs/comparison.md").read_text(encoding="utf-8")
    for path, name in _TEST.findall(text):
        file = REPOSITORY / path
        assert file.is_file(), path
        content = file.read_text(encoding="utf-8")
        is_defined = f"def {name}(" in content if file.suffix == ".py" else name in content
        assert is_defined, f"{path} has no {name}"


def test_the_table_of_editor_apis_has_every_function_of_both() -> None:
    table = "\n".join(rows("docs/editors/api.md"))
    named = {name.strip('"') for name in re.findall(r"`([\w:]+)(?: \w+)?`", table)}
    types = (REPOSITORY / "editors/vscode/vibes-lsp.d.ts").read_text(encoding="utf-8")
    interface = re.search(r"export interface VibesApi \{(.*?)\n\}", types, re.DOTALL)
    assert interface is not None
    typescript = set(re.findall(r"^  (?:readonly )?(\w+)[(:]", interface[1], re.MULTILINE))
    module = (REPOSITORY / "editors/neovim/lua/vibes/init.lua").read_text(encoding="utf-8")
    lua = set(re.findall(r"^function M\.(\w+)\(", module, re.MULTILINE))
    assert len(typescript) >= 7
    assert len(lua) >= 8
    assert typescript | lua <= named
    for name in re.findall(r"\| `(\w+)` \|", table):
        assert name in typescript | lua | {"version"}, name


def test_the_editor_apis_have_the_versions_of_the_page() -> None:
    page = (REPOSITORY / "docs/editors/api.md").read_text(encoding="utf-8")
    types = (REPOSITORY / "editors/vscode/vibes-lsp.d.ts").read_text(encoding="utf-8")
    module = (REPOSITORY / "editors/neovim/lua/vibes/init.lua").read_text(encoding="utf-8")
    stated = re.search(r"VS Code's has version (\d+), Neovim's version (\d+)", page)
    assert stated is not None
    assert f"readonly version: {stated[1]};" in types
    assert f"version = {stated[2]}," in module
