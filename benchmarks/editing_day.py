"""Whether the server's memory stays flat over a day of editing, simulated in minutes.

Each hour many files are opened, typed in, recorded, saved and closed; another program records, too,
the queue is asked for, and everything is committed. What the server keeps afterwards is read from
the system: private memory, open files, threads. The trail grows all day; what a new server needs
for the same work with the trail of the evening shows how much of the growth is the trail's.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import print_aimed, private_memory
from tests.demo.client import Client
from tests.trails.repository import Repository
from tests.trails.writer import TrailWriter

HOURS: Final = 8
SETTLED: Final = 2
"""Hours after which memory is expected to grow only as the trail does."""
PROJECTS: Final = 1, 3
"""Numbers of repositories: a day is simulated for each."""
FILES: Final = 60
"""Files of all repositories."""
LINES: Final = 600
RANGES: Final = 20
"""Annotated ranges of a file in the morning."""
OPENED: Final = 15
"""Files that are opened in an hour, one after the other."""
BURSTS: Final = 20
KEYS: Final = 40
"""Keys of a burst; after it, the editor asks for what it shows."""
OTHERS: Final = 30
"""Records of another program in an hour."""
_TOOL: Final = {"name": "An Editor", "version": "1.0"}
_MODEL: Final = {"name": "a-model", "version": "1"}


def main() -> None:
    """Measure and print."""
    if not sys.platform.startswith("linux"):
        print("editing day: skipped, memory is read from Linux's /proc")
        return
    keys = HOURS * OPENED * BURSTS * KEYS
    print(f"editing day: {HOURS} hours, {keys:,} keys; private memory of the server after each")
    for projects in PROJECTS:
        _measure_day(projects)


def _measure_day(projects: int) -> None:
    """Measure a day of work in some projects."""
    kind = "one repository" if projects == 1 else f"{projects} repositories"
    print(f"  {FILES} files in {kind}:")
    with tempfile.TemporaryDirectory() as name:
        day = _Day(Path(name), projects)
        held = day.work(HOURS)
        print("  a new server:")
        fresh = day.work(SETTLED)[-1]
        day.print_grown()
    at_first, at_last = held[SETTLED - 1], held[-1]
    print_aimed(
        f"memory after {HOURS} hours / after {SETTLED}, {kind}", f"{at_last / at_first:.2f}", "flat"
    )
    print_aimed(f"the same / of a new server, {kind}", f"{at_last / fresh:.2f}", "<= 1.03")


class _Day:
    """Projects below one folder, and somebody who works in them."""

    def __init__(self, root: Path, projects: int) -> None:
        self._root = root
        self._numbers = random.Random(7)
        self._projects = [
            _Project(root / f"project_{number}", self._numbers) for number in range(projects)
        ]
        self._files = [
            (project, _path(number))
            for project in self._projects
            for number in range(FILES // projects)
        ]
        for project, path in self._files:
            project.add_file(path)
        for project in self._projects:
            project.begin()
        self._at_begin = self._trail_bytes()

    def work(self, hours: int) -> list[int]:
        """Work for some hours with a new server; return its private memory after each."""
        held = []
        with Client(self._root) as client:
            for hour in range(1, hours + 1):
                self._work_for_an_hour(client)
                held.append(private_memory(client.process_id))
                print(
                    f"  hour {hour}                   {held[-1] / 1e6:8.1f} MB,"
                    f" {_count(client, 'fd')} open files, {_count(client, 'task')} threads"
                )
        return held

    def print_grown(self) -> None:
        """Print by how much logs and manifests have grown."""
        now = self._trail_bytes()
        print(f"  logs and manifests       {self._at_begin / 1e6:8.1f} MB, now {now / 1e6:.1f} MB")

    def _trail_bytes(self) -> int:
        return sum(
            file.stat().st_size for file in self._root.glob("*/.ai-audit/*") if file.is_file()
        )

    def _work_for_an_hour(self, client: Client) -> None:
        for project, path in self._numbers.sample(self._files, OPENED):
            project.edit(client, path)
        for _ in range(OTHERS):
            project, path = self._numbers.choice(self._files)
            project.record_elsewhere(path, self._numbers.randrange(1, LINES - 10))
        for project in self._projects:
            project.end_hour(client)


class _Project:
    """A repository with a trail."""

    def __init__(self, root: Path, numbers: random.Random) -> None:
        self._root = root
        self._numbers = numbers
        root.mkdir()
        self._writer = TrailWriter(root)
        self._writer.config()
        self._environment = self._writer.environment()

    def add_file(self, path: str) -> None:
        """Add a file with annotations."""
        text = "".join(f"    value_{line} = compute({line})\n" for line in range(LINES))
        (self._root / path).write_text(text, encoding="utf-8")
        for start in range(3, LINES, LINES // RANGES):
            self.record_elsewhere(path, start)

    def begin(self) -> None:
        """Make it a repository."""
        self._repository = Repository(self._root)
        self._repository.git("init", "--quiet")
        self._repository.commit("Begin")

    def end_hour(self, client: Client) -> None:
        """Look at the queue and commit."""
        queue = {"command": "vibes.queue", "arguments": [{"uri": self._root.as_uri()}]}
        client.request("workspace/executeCommand", queue)
        self._repository.commit("Work of an hour")

    def record_elsewhere(self, path: str, start: int) -> None:
        """Record an annotation as another program."""
        text = (self._root / path).read_text(encoding="utf-8")
        self._writer.line(path, start, start + 5, text=text, environment=self._environment)

    def edit(self, client: Client, path: str) -> None:
        """Open a file, type in it, record, save and close it."""
        file = self._root / path
        uri = client.open(f"{self._root.name}/{path}")
        document = {"uri": uri}
        lines = file.read_text(encoding="utf-8").split("\n")
        version, line = 1, 0
        for _ in range(BURSTS):
            line = self._numbers.randrange(len(lines) - 1)
            for key in self._keys():
                version += 1
                place = {"line": line, "character": len(lines[line])}
                lines[line] += key
                change = {"range": {"start": place, "end": place}, "text": key}
                client.notify(
                    "textDocument/didChange",
                    {
                        "textDocument": {"uri": uri, "version": version},
                        "contentChanges": [change],
                    },
                )
            for method, params in _shown(document, line):
                client.request(method, params)
        span = {"start": {"line": line, "character": 0}, "end": {"line": line + 1, "character": 0}}
        client.request(
            "workspace/executeCommand",
            {
                "command": "vibes.recordAnnotation",
                "arguments": [
                    {
                        "uri": uri,
                        "version": version,
                        "range": span,
                        "action": "modify",
                        "tool": _TOOL,
                        "model": _MODEL,
                        "prompt": {"text": f"Change line {line}.", "type": "edit_command"},
                    }
                ],
            },
        )
        file.write_text("\n".join(lines), encoding="utf-8")
        client.notify("textDocument/didSave", {"textDocument": document})
        client.request("textDocument/hover", _hover(document, line))
        client.notify("textDocument/didClose", {"textDocument": document})

    def _keys(self) -> Iterator[str]:
        yield "  # "
        for _ in range(KEYS - 1):
            yield self._numbers.choice("abcdefghijklmnopqrstuvwxyz ")


def _shown(document: dict[str, str], line: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the requests of an editor after a pause."""
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": LINES, "character": 0}}
    yield "vibes/provenance", {"textDocument": document}
    yield "textDocument/codeLens", {"textDocument": document}
    yield "textDocument/inlayHint", {"textDocument": document, "range": whole}
    yield (
        "textDocument/codeAction",
        {"textDocument": document, "range": whole, "context": {"diagnostics": []}},
    )
    yield "textDocument/hover", _hover(document, line)


def _hover(document: dict[str, str], line: int) -> dict[str, Any]:
    return {"textDocument": document, "position": {"line": line, "character": 4}}


def _path(number: int) -> str:
    return f"module_{number:02d}.py"


def _count(client: Client, what: str) -> int:
    return sum(1 for _ in Path(f"/proc/{client.process_id}/{what}").iterdir())


if __name__ == "__main__":
    main()
