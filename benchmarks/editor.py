"""CPU time of typing in VS Code's extension host, compared with the built-in git extension.

200 characters are typed in a file of 10,000 lines with 300 annotated ranges, in a git repository.
The host is profiled through its inspector. A sample counts for the extension whose code is nearest
on the stack. It counts for the sampling interval, not for the time until the next sample: while the
process waits for a CPU, none are taken.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from tests.editors.vscode.program import ENTRY, NODE, Program, install
from tests.editors.vscode.window import Window
from tests.requirements import REPOSITORY, require
from tests.trails import Repository, TrailWriter

EXTENSION: Final = REPOSITORY / "dist/vibes-lsp.vsix"
LINES: Final = 10_000
RANGES: Final = 300
ROUNDS: Final = 5
WORDS: Final = "and another word of it, " * 8 + "the end."
"""200 characters."""
BETWEEN: Final = 100
"""Milliseconds between keys."""
_STEP: Final = 250
"""Microseconds between samples, as `profiler.mjs` sets them."""
_PORT: Final = 9229
"""The port of Node's inspector, which VS Code does not let us choose."""
_OURS, _GIT = "vibes-lsp.vibes-lsp", "git"
_OF_EXTENSION: Final = re.compile(r"/(vibes-lsp\.vibes-lsp)[^/]*/|/lib/vscode/extensions/([\w-]+)/")


def main() -> None:
    """Measure and print."""
    if not (ENTRY.exists() and EXTENSION.exists()):
        print("editor: skipped, VS Code or the extension is missing: make editors vsix")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        _project(folder / "project")
        rounds = _rounds(folder)
    print(
        f"editor: {len(WORDS)} characters in a file of {LINES:,} lines with {RANGES} ranges,"
        " CPU time in VS Code's extension host"
    )
    ours, git = (
        statistics.median(each[extension] for each in rounds) for extension in (_OURS, _GIT)
    )
    print(f"  this extension          {ours / 1000:8.1f} ms")
    print(f"  the git extension       {git / 1000:8.1f} ms")
    print(f"  this / git              {ours / max(1, git):8.2f}  (aim at most 1)")


def _project(root: Path) -> None:
    text = "".join(
        f"    value_{number} = compute({number}, 'some words')\n" for number in range(LINES)
    )
    trail = TrailWriter(root)
    trail.config()
    environment = trail.environment()
    apart = LINES // RANGES
    for number in range(RANGES):
        prompt = trail.prompt(
            f"Compute the values of group {number}, and keep the words as they are."
        )
        start = number * apart + 3
        trail.line("large.py", start, start + 9, environment=environment, prompt=prompt, text=text)
    (root / "large.py").write_text(text, encoding="utf-8")
    repository = Repository(root)
    repository.git("init", "--quiet")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "Begin")


def _rounds(folder: Path) -> list[Counter[str]]:
    """Return the microseconds of each extension in each round."""
    chromium = require("chromium", "shows VS Code; `make editors` installs it")
    settings = {
        "vibes.server.path": str(Path(sys.executable).with_name("vibes-lsp")),
        "git.enabled": True,
    }
    installed = install([EXTENSION], folder / "installed")
    with (
        Program(folder / "profile", installed, settings) as program,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        window = Window(
            browser.new_page(viewport={"width": 1280, "height": 900}), program, folder / "project"
        )
        window.open_file("large.py")
        window.lens("not reviewed")
        os.kill(_host(folder / "profile"), signal.SIGUSR1)  # Node opens its inspector
        window.until(_listens, "the inspector")
        profiler = subprocess.Popen(
            [NODE, Path(__file__).with_name("profiler.mjs"), str(_PORT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        rounds = []
        for line in range(40, 40 + ROUNDS):
            window.go_to(line)
            before = window.marks()[line]
            _ask(profiler, "Profiler.start")
            window.page.keyboard.type(WORDS, delay=BETWEEN)
            window.until(
                partial(_differs, window, line, before), "what the mark says of the line now"
            )
            rounds.append(_shares(_ask(profiler, "Profiler.stop")["profile"]))
        profiler.communicate()
        browser.close()
    return rounds


def _differs(window: Window, line: int, before: str) -> bool:
    return window.marks().get(line) != before  # none if most of the line is a person's


def _host(profile: Path) -> int:
    """Return the process id of the extension host that this profile's VS Code started."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_host = b"--type=extensionHost" in (place / "cmdline").read_bytes()
            if is_host and f"TMPDIR={profile}".encode() in (place / "environ").read_bytes().split(
                b"\0"
            ):
                return int(place.name)
        except OSError:
            continue  # it has ended
    raise LookupError("no extension host")


def _listens() -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", _PORT)) == 0


def _ask(profiler: subprocess.Popen[str], method: str) -> Any:
    assert profiler.stdin is not None
    assert profiler.stdout is not None
    print(method, file=profiler.stdin, flush=True)
    return json.loads(profiler.stdout.readline())


def _shares(profile: dict[str, Any]) -> Counter[str]:
    nodes = {node["id"]: node for node in profile["nodes"]}
    parents = {child: node["id"] for node in profile["nodes"] for child in node.get("children", [])}
    owners: dict[int, str] = {}
    for number in nodes:
        at: int | None = number
        while (
            at is not None
            and (found := _OF_EXTENSION.search(nodes[at]["callFrame"]["url"])) is None
        ):
            at = parents.get(at)
        owners[number] = "" if at is None or found is None else found[1] or found[2]
    shares: Counter[str] = Counter()
    for sample, apart in zip(profile["samples"], profile["timeDeltas"], strict=True):
        shares[owners[sample]] += min(apart, 2 * _STEP)
    return shares


if __name__ == "__main__":
    main()
