"""Builds the sample repository, asks server and command line about it, then tampers with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Final

from tests.demo.client import Client
from tests.demo.workspace import Workspace, build

FOLDER: Final = Path("build/demo")
_COLOUR: Final = sys.stdout.isatty() or "FORCE_COLOR" in os.environ
_BOLD, _DIM, _RED, _OFF = (
    ("\x1b[1;36m", "\x1b[2m", "\x1b[1;31m", "\x1b[0m") if _COLOUR else ("", "", "", "")
)


def main() -> None:
    """Run the demonstration in `build/demo`, which is rebuilt each time."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    workspace = build(FOLDER)
    say(
        "Three AI tools wrote a small shop. Since then, people have inserted a block,"
        " edited a line, moved a function and removed one."
    )
    vibes(workspace, "blame", "src/auth.py")
    with Client(workspace.root) as client:
        say("The hover on hash_password (src/auth.py:23), from the language server:")
        client.open("src/auth.py")
        hover(client, "src/auth.py", 23)
        say("The code lenses of all files:")
        for path in (
            "src/auth.py",
            "src/limits.py",
            "src/mail.py",
            "tests/test_auth.py",
            "web/app.ts",
        ):
            lenses(client, path)
        say("The diagnostics:")
        problems(client, workspace)
    vibes(workspace, "find", "--unreviewed")
    vibes(workspace, "stats", "--by", "file")
    vibes(workspace, "check")
    say("After a recorded prompt was changed and a review deleted from the log:")
    workspace.tamper()
    vibes(workspace, "check", "--base", "HEAD", expected=1)
    workspace.restore()
    print_next_steps(workspace)


def print_next_steps(workspace: Workspace) -> None:
    """Print commands to copy, with full paths of the programs."""
    scripts = Path(sysconfig.get_path("scripts"))
    say("The repository is kept. To explore it:")
    line(f"  cd {workspace.root}")
    line(f"  {scripts / 'vibes'} blame src/auth.py")
    say("In Neovim 0.11 or newer (K shows the hover, :lua vim.lsp.codelens.refresh() the lenses):")
    program = (scripts / "vibes-lsp").as_posix()
    options = f"cmd={{'{program}'}}, root_markers={{'.ai-audit'}}"
    server = f"vim.lsp.config('vibes', {{{options}}})"
    line(f"  nvim --cmd \"lua {server} vim.lsp.enable('vibes')\" src/auth.py")
    say("In VS Code, with the extension (`make vsix`, docs/editors/vscode.md) and this setting:")
    line(f'  "vibes.server.path": "{program}"')


def say(sentence: str) -> None:
    """Print a heading."""
    line(f"\n{_BOLD}{sentence}{_OFF}")


def line(text: str) -> None:
    """Print one line."""
    print(text, flush=True)  # noqa: T201  # output of a program for people


def vibes(workspace: Workspace, *arguments: str, expected: int = 0) -> None:
    """Run a command in the workspace with the same output."""
    line(f"\n{_DIM}$ vibes {' '.join(arguments)}{_OFF}")
    program = Path(sysconfig.get_path("scripts")) / "vibes"
    done = subprocess.run([program, *arguments], cwd=workspace.root, check=False)
    if done.returncode != expected:
        sys.exit(f"vibes {arguments[0]} exited with {done.returncode}: expected {expected}")


def hover(client: Client, path: str, number: int) -> None:
    """Print a hover."""
    place = {"line": number - 1, "character": 4}
    answer = client.request(
        "textDocument/hover", {"textDocument": {"uri": client.open(path)}, "position": place}
    )
    for each in answer["contents"]["value"].split("\n"):
        line(f"  {each}")


def lenses(client: Client, path: str) -> None:
    """Print the code lenses of a file."""
    for lens in client.request(
        "textDocument/codeLens", {"textDocument": {"uri": client.open(path)}}
    ):
        resolved = client.request("codeLens/resolve", lens)
        place = f"{path}:{resolved['range']['start']['line'] + 1}"
        line(f"  {place:<20} {resolved['command']['title']}")


def problems(client: Client, workspace: Workspace) -> None:
    """Print the diagnostics of the open files."""
    severities = {1: "error", 2: "warning", 3: "information", 4: "hint"}
    root = workspace.root.as_uri() + "/"
    for uri, found in sorted(client.diagnostics.items()):
        for each in found:
            place = f"{uri.removeprefix(root)}:{each['range']['start']['line'] + 1}"
            line(
                f"  {place:<18} {_mark(each)}{severities[each['severity']]}{_OFF} {each['message']}"
            )


def _mark(diagnostic: dict[str, Any]) -> str:
    return _RED if diagnostic["severity"] <= 2 else _DIM


if __name__ == "__main__":
    main()
