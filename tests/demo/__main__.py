"""Builds the demonstration's repository, asks the server and the command line about it, then tampers with the trail."""

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
    """Run the demonstration in `build/demo`, made anew each time."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    workspace = build(FOLDER)
    say(
        "Three AI tools wrote a small shop. Since then people inserted a block, edited a line, moved a function, removed another."
    )
    vibes(workspace, "blame", "src/auth.py")
    with Client(workspace.root) as client:
        say(
            "What an editor shows when the cursor is on hash_password (src/auth.py:23), asked of the language server:"
        )
        client.open("src/auth.py")
        hover(client, "src/auth.py", 23)
        say("The lenses above the ranges of all files:")
        for path in (
            "src/auth.py",
            "src/limits.py",
            "src/mail.py",
            "tests/test_auth.py",
            "web/app.ts",
        ):
            lenses(client, path)
        say("The list of problems:")
        problems(client, workspace)
    vibes(workspace, "find", "--unreviewed")
    vibes(workspace, "coverage")
    vibes(workspace, "check")
    say("Now somebody changes a recorded prompt and deletes a review from the log:")
    workspace.tamper()
    vibes(workspace, "check", "--base", "HEAD", expected=1)
    workspace.restore()
    farewell(workspace)


def farewell(workspace: Workspace) -> None:
    """Print how to go on: commands to copy, whatever is on the path."""
    scripts = Path(sysconfig.get_path("scripts"))
    say("The repository stays. To look around in it:")
    line(f"  cd {workspace.root}")
    line(f"  {scripts / 'vibes'} blame src/auth.py")
    say(
        "In Neovim 0.11 or newer, where K shows the hover and :lua vim.lsp.codelens.refresh() the lenses:"
    )
    server = f"vim.lsp.config('vibes', {{cmd={{'{(scripts / 'vibes-lsp').as_posix()}'}}, root_markers={{'.ai-audit'}}}})"
    line(f"  nvim --cmd \"lua {server} vim.lsp.enable('vibes')\" src/auth.py")
    say(
        "In VS Code, with our extension, which `make vsix` builds (docs/editors/vscode.md), and this setting:"
    )
    line(f'  "vibes.server.path": "{(scripts / "vibes-lsp").as_posix()}"')


def say(sentence: str) -> None:
    """Print what comes next."""
    line(f"\n{_BOLD}{sentence}{_OFF}")


def line(text: str) -> None:
    """Print one line."""
    print(text, flush=True)  # noqa: T201  # the demonstration talks to a person


def vibes(workspace: Workspace, *arguments: str, expected: int = 0) -> None:
    """Run the real command in the workspace, its output going where ours goes."""
    line(f"\n{_DIM}$ vibes {' '.join(arguments)}{_OFF}")
    program = Path(sysconfig.get_path("scripts")) / "vibes"
    done = subprocess.run([program, *arguments], cwd=workspace.root, check=False)
    if done.returncode != expected:
        sys.exit(f"vibes {arguments[0]} ended with {done.returncode} instead of {expected}")


def hover(client: Client, path: str, number: int) -> None:
    """Print what a hover says."""
    place = {"line": number - 1, "character": 4}
    answer = client.request(
        "textDocument/hover", {"textDocument": {"uri": client.open(path)}, "position": place}
    )
    for each in answer["contents"]["value"].split("\n"):
        line(f"  {each}")


def lenses(client: Client, path: str) -> None:
    """Print the lenses of a file."""
    for lens in client.request(
        "textDocument/codeLens", {"textDocument": {"uri": client.open(path)}}
    ):
        resolved = client.request("codeLens/resolve", lens)
        place = f"{path}:{resolved['range']['start']['line'] + 1}"
        line(f"  {place:<20} {resolved['command']['title']}")


def problems(client: Client, workspace: Workspace) -> None:
    """Print what the server has published about the open files."""
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
