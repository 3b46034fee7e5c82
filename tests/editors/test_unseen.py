"""The editors' clients show as its code whatever the server does: each has its own list of what nobody can see, and all are the same."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.requirements import REPOSITORY, require, require_editor
from vibes_lsp.model.escaping import single_line

EVERY: Final = sys.maxunicode + 1
IN_NODE: Final = f"""
import {{ plain }} from './src/text.ts';
const codes = [...Array({EVERY}).keys()];
const coded = codes.filter((code) => /^a\\\\u[0-9a-f]+b$/.test(plain(`a${{String.fromCodePoint(code)}}b`)));
const gone = codes.filter((code) => plain(`a${{String.fromCodePoint(code)}}b`) === 'a b');
console.log(JSON.stringify({{ coded, gone }}));
"""
IN_NEOVIM: Final = f"""
package.path = '{REPOSITORY}/editors/neovim/lua/?.lua'
local plain = require('vibes.text').plain
local coded, gone = {{}}, {{}}
for code = 0, {EVERY - 1} do
  local one = code == 0 and '\\0' or vim.fn.nr2char(code)
  local shown = plain('a' .. one .. 'b')
  if shown:match('^a\\\\u%x+b$') then table.insert(coded, code) elseif shown == 'a b' then table.insert(gone, code) end
end
io.stdout:write(vim.fn.json_encode({{ coded = coded, gone = gone }}))
vim.cmd('qall!')
"""


def unlike(output: str) -> dict[str, list[str]]:
    """Return the characters that a client does not treat as the server does; a space may stand for what nobody can see in either."""
    clients = json.loads(output)
    coded, gone = set(clients["coded"]), set(clients["gone"])
    shown = _shown()
    unseen = {code for code, text in shown.items() if text == f"a\\u{code:04x}b"}
    blank = {code for code, text in shown.items() if text == "a b"}
    assert len(unseen) > 4000
    return {
        "only the server's": _named(unseen - coded - gone),
        "only the client's": _named(coded - unseen - blank),
    }


@cache
def _shown() -> dict[int, str]:
    """Return what the server makes of each character between two letters."""
    return {code: single_line(f"a{chr(code)}b", 20) for code in range(EVERY)}


def _named(codes: set[int]) -> list[str]:
    return [f"U+{code:04X}" for code in sorted(codes)]


SAME: Final[dict[str, list[str]]] = {"only the server's": [], "only the client's": []}


def test_vs_code_s_client_sees_what_the_server_does() -> None:
    node = require(
        REPOSITORY / ".tools/bin/node", "runs the VS Code client's code; `make node` installs it"
    )
    command = [str(node), "--no-warnings", "--input-type=module", "--eval", IN_NODE]
    done = subprocess.run(
        command,
        cwd=REPOSITORY / "editors/vscode",
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert unlike(done.stdout) == SAME


@pytest.mark.parametrize("suite", ["bookworm", "forky"])
def test_neovim_s_client_sees_what_the_server_does(suite: str, tmp_path: Path) -> None:
    neovim = require_editor(f"nvim-{suite}")
    script = tmp_path / "unseen.lua"
    script.write_text(IN_NEOVIM, encoding="utf-8")
    command = [str(neovim), "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {script}"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert unlike(done.stdout) == SAME
