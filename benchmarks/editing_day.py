"""Whether the server's memory stays flat over a day of editing, simulated in minutes.

Each hour many files are opened, typed in, recorded, saved and closed; another program records, too,
the queue is asked for, and everything is committed. What the server keeps afterwards is read from
the system: private memory, open files, threads.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import private_memory, record_aimed
from tests.demo.client import Client
from tests.trails.repository import Repository
from tests.trails.writer import TrailWriter

HOURS: Final = 8
FILES: Final = 60
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
    with tempfile.TemporaryDirectory() as name:
        day = _Day(Path(name))
        with Client(day.root) as client:
            held = []
            for hour in range(1, HOURS + 1):
                day.work(client)
                held.append(private_memory(client.process_id))
                print(
                    f"  hour {hour}                   {held[-1] / 1e6:8.1f} MB,"
                    f" {_count(client, 'fd')} open files, {_count(client, 'task')} threads"
                )
    later = (held[-1] - held[1]) / 1e6
    growth = held[-1] / held[1]
    print(f"  since the second hour    {later:+8.1f} MB, {growth:.2f} times")
    record_aimed("memory after a day of editing / after two hours", f"{growth:.2f}", "flat")


class _Day:
    """A project, and somebody who works in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._numbers = random.Random(7)
        self._writer = TrailWriter(root)
        self._writer.config()
        self._environment = self._writer.environment()
        for number in range(FILES):
            text = "".join(f"    value_{line} = compute({line})\n" for line in range(LINES))
            (root / _path(number)).write_text(text, encoding="utf-8")
            for start in range(3, LINES, LINES // RANGES):
                self._record_elsewhere(_path(number), start)
        self._repository = Repository(root)
        self._repository.git("init", "--quiet")
        self._repository.commit("Begin")

    def work(self, client: Client) -> None:
        """Work for an hour."""
        for number in self._numbers.sample(range(FILES), OPENED):
            self._edit(client, _path(number))
        for _ in range(OTHERS):
            self._record_elsewhere(
                _path(self._numbers.randrange(FILES)), self._numbers.randrange(1, LINES - 10)
            )
        client.request("workspace/executeCommand", {"command": "vibes.queue", "arguments": [{}]})
        self._repository.commit("Work of an hour")

    def _record_elsewhere(self, path: str, start: int) -> None:
        text = (self.root / path).read_text(encoding="utf-8")
        self._writer.line(path, start, start + 5, text=text, environment=self._environment)

    def _edit(self, client: Client, path: str) -> None:
        file = self.root / path
        uri = client.open(path)
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
