"""A Neovim with a fresh configuration, in a terminal and with an RPC connection."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from tests.editors.neovim.rpc import Rpc
from tests.editors.terminal import SCRIPTS, Terminal, environment
from tests.requirements import REPOSITORY
from tests.waiting import until

PLUGIN: Final = REPOSITORY / "editors/neovim"
_PLAIN: Final = """
vim.o.number, vim.o.signcolumn, vim.o.swapfile, vim.o.more = true, 'yes:1', false, false
vim.diagnostic.config({ virtual_text = false })
vim.g.typed = 0
vim.api.nvim_create_autocmd('CmdlineLeave', { pattern = ':', callback = function() vim.g.typed = vim.g.typed + 1 end })
"""
_T = TypeVar("_T")


class Neovim:
    """One Neovim; a context manager.

    Args:
        program: The executable.
        folder: Working directory.
        file: File to open, relative to `folder`.
        init: The user's `init.lua`.
        has_plugin: Whether our plugin is installed as a native package.
        modules: Files to copy to the user's `lua` folder.
        plugins: Folders of other plugins to install.
        data: An existing data folder to use.
        scripts: Folder of the server.
        size: Columns and lines of the terminal.
    """

    def __init__(
        self,
        program: Path,
        folder: Path,
        file: str,
        init: str = "",
        *,
        has_plugin: bool = True,
        modules: Sequence[Path] = (),
        plugins: Sequence[Path] = (),
        data: Path | None = None,
        scripts: Path = SCRIPTS,
        size: tuple[int, int] = (240, 45),
    ) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="vibes-nvim-"))
        variables = environment(scripts)
        for variable in ("NVIM", "NVIM_APPNAME", "VIMINIT", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"):
            variables.pop(variable, None)
        for kind in ("config", "data", "state", "cache", "runtime"):
            folder_of = self._home / kind
            folder_of.mkdir(mode=0o700)
            variables[f"XDG_{kind.upper()}_{'DIR' if kind == 'runtime' else 'HOME'}"] = str(
                folder_of
            )
        (self._home / "config/nvim/lua").mkdir(parents=True)
        (self._home / "config/nvim/init.lua").write_text(_PLAIN + init, encoding="utf-8")
        for module in modules:
            shutil.copy(module, self._home / "config/nvim/lua")
        if data is not None:
            variables["XDG_DATA_HOME"] = str(data)
        elif has_plugin:
            package = self._home / "data/nvim/site/pack/tests/start/vibes"
            shutil.copytree(PLUGIN, package)
        for plugin in plugins:
            shutil.copytree(plugin, self._home / "data/nvim/site/pack/tests/start" / plugin.name)
        self._address = self._home / "socket"
        self.terminal = Terminal(
            [str(program), "--listen", str(self._address), file],
            folder,
            variables,
            columns=size[0],
            lines=size[1],
        )

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, self._home, ignore_errors=True)
            stack.enter_context(self.terminal)
            connection = self.until(self._connected, "Neovim's socket")
            self._rpc = stack.enter_context(closing(connection))
            self.until(
                lambda: self.lua("return vim.v.vim_did_enter == 1"), "Neovim to have started"
            )
            self._leave = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave.close()

    def _connected(self) -> Rpc | None:
        try:
            return Rpc(self._address)
        except OSError:  # the socket is there before Neovim listens to it
            return None

    def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua code; return its result."""
        return self._rpc.lua(code, *arguments)

    def diagnostics(self) -> str:
        """Return the screen and the end of the client's log."""
        return f"{self.terminal.screen()}\nlog of the client:\n{self.log()[-3000:]}"

    def log(self) -> str:
        """Return the client's log."""
        return "\n".join(
            file.read_text(encoding="utf-8", errors="replace")
            for file in sorted(self._home.glob("state/nvim/*lsp.log"))
        )

    def picture(self, name: str) -> Path:
        """Save the screen to a file."""
        return self.terminal.picture(name)

    def until(self, ask: Callable[[], _T | None], what: str) -> _T:
        """Call `ask` until its result is truthy, and return that."""
        return until(ask, what, self.diagnostics)

    # --- actions

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the cursor at a 1-based line and column."""
        self.lua("vim.api.nvim_win_set_cursor(0, { ... })", line, column - 1)
        self.lua("vim.api.nvim_exec_autocmds('CursorMoved', {})")

    def command(self, line: str) -> None:
        """Type a command and wait until it has run."""
        before = self._typed()
        self.begin(line)
        self.until(lambda: self._typed() > before, f":{line} to be carried out")

    def begin(self, line: str) -> None:
        """Type a command that prompts. Neovim answers no RPC until the prompt is answered."""
        self.terminal.text(f":{line}")
        self.terminal.keys("Enter")

    def _typed(self) -> int:
        """Return the number of typed commands. Neovim answers no RPC while a command runs."""
        return int(self.lua("return vim.g.typed"))

    def choose_action(self, title: str) -> None:
        """Request code actions at the cursor and pick one."""
        self.begin("lua vim.lsp.buf.code_action()")
        self.choose(title)

    def choose(self, title: str) -> None:
        """Pick an entry of the list on the screen by its number."""

        def number() -> str | None:
            rows = (line.strip().partition(": ") for line in self.terminal.screen().splitlines())
            return next(
                (number for number, _, said in rows if number.isdigit() and said.startswith(title)),
                None,
            )

        self.terminal.text(self.terminal.until(number, f"{title!r} in the list"))
        self.terminal.keys("Enter")

    def answer(self, question: str, text: str) -> None:
        """Answer a prompt in the last line, replacing the default."""
        self.terminal.shows(question)
        self.terminal.keys("C-u")
        self.terminal.text(text)
        self.terminal.keys("Enter")
        self.terminal.until(
            lambda: question not in self.terminal.screen(), f"{question!r} to be answered"
        )

    # --- reading

    def is_attached(self) -> bool:
        """Whether a server is attached to the current buffer."""
        ask = "return next(vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)) ~= nil"
        return bool(self.lua(ask))

    def hover(self, line: int, column: int, *expected: str) -> str:
        """Hover until the floating window contains all expected texts; return its text."""
        self.go_to(line, column)

        ask = """
            local place = vim.lsp.util.make_position_params(0, 'utf-16')
            for _, answer in pairs(vim.lsp.buf_request_sync(0, 'textDocument/hover', place, 10000) or {}) do
              if answer.result then return answer.result.contents.value end
            end
            return ''"""
        self.until(
            lambda: all(each in self.lua(ask) for each in expected), f"a hover that says {expected}"
        )
        self.lua("vim.lsp.buf.hover()")
        said = self.until(self.floats, "a floating window")
        self.terminal.shows(*expected)
        self.close_floats()
        return said

    def close_floats(self) -> None:
        """Close all floating windows."""
        code = """
            for _, window in ipairs(vim.api.nvim_list_wins()) do
              if vim.api.nvim_win_get_config(window).relative ~= '' then vim.api.nvim_win_close(window, true) end
            end"""
        self.lua(code)

    def floats(self) -> str:
        """Return the text of the floating windows."""
        code = """
            local out = {}
            for _, window in ipairs(vim.api.nvim_list_wins()) do
              if vim.api.nvim_win_get_config(window).relative ~= '' then
                vim.list_extend(out, vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false))
              end
            end
            return table.concat(out, '\\n')"""
        return str(self.lua(code))

    def problems(self) -> list[tuple[int, str]]:
        """Return line and message of each diagnostic of the current buffer."""
        found = self.lua(
            "return vim.tbl_map(function(d) return { d.lnum + 1, d.message } end, vim.diagnostic.get(0))"
        )
        return [(line, message) for line, message in found]

    def signs(self) -> dict[int, str]:
        """Return the signs of our plugin by line."""
        code = """
            local out = {}
            local marks = vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('vibes'), 0, -1, { details = true })
            for _, mark in ipairs(marks) do
              if mark[4].sign_text then table.insert(out, { mark[2] + 1, vim.trim(mark[4].sign_text) }) end
            end
            return out"""
        return dict(self.lua(code))

    def painted(self, line: int) -> str:
        """Return the screen row of a line with sign and line-end text; empty if not visible."""
        row = re.compile(rf"^\S{{0,2}}\s*{line} .*$", re.MULTILINE)
        found = row.search(self.terminal.screen())
        return found[0] if found else ""
