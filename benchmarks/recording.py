"""How long an editor waits to record an edit through a running server with 100,000 annotations.

Each edit first changes the open text, as an AI does. Measured in turn, in the same server: an echo
of the same message and answer, which is the cost of the protocol; the edit after the change was
handled; and the edit together with the change. Beside them: the time the disk takes to store one
record, which the server waits for only if the project sets `"durability": "full"`.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.corpus import generate
from tests.demo.client import Client

ANNOTATIONS: Final = 100_000
LINES: Final = 600
ROUNDS: Final = 300
_AIM: Final = 5.0
_SERVER: Final = """
import time
from vibes_lsp.lsp.main import new_server
server = new_server()
@server.command("bench.echo")
def echo(ls, arguments):
    return dict(arguments)["answer"]
@server.command("bench.busy")
def busy(ls, arguments):
    return time.process_time()
server.start_io()
"""
TOOL: Final = {"name": "Some Tool", "version": "1"}
MODEL: Final = {"name": "some-model", "version": "1"}


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = generate(folder, ANNOTATIONS)
        new = [f"new_{number}.py" for number in range(6)]
        for path in (*new, size.hottest_file):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("".join(map(_function, range(LINES // 2))), encoding="utf-8")
        print(
            f"recording through the server,"
            f" {size.annotations:,} annotations and {size.entries:,} entries"
        )
        with Client(folder, [sys.executable, "-c", _SERVER]) as client:
            for what, paths in (
                ("six files, from none to 100 annotations in each", new),
                (_ALL_LOST, [size.hottest_file]),
            ):
                uris = [_opened(client, path) for path in paths]
                session = _run(
                    client, "vibes.startSession", {"uri": uris[0], "tool": TOOL, "model": MODEL}
                )["sessionId"]
                _measure(_Editing(client, uris, str(session)), folder, what)


_ALL_LOST: Final = "the file with most annotations, over 1,000, all lost"


def _function(number: int) -> str:
    return f"def function_{number}(value):\n    return value * {number}\n"


def _opened(client: Client, path: str) -> str:
    """Open a file once the trail is read."""
    while True:
        try:
            return client.open(path)
        except RuntimeError:
            client.wait_for("vibes/provenanceChanged")


@dataclass
class _Editing:
    """An AI that edits some files through an editor."""

    client: Client
    uris: list[str]
    session: str
    number: int = 0
    answer: Any = None

    def change(self) -> dict[str, Any]:
        """Change two lines of the next file; return the arguments to record it."""
        self.number += 1
        number, line = self.number, 2 * (7 * self.number % (LINES // 2))
        uri, version = self.uris[number % len(self.uris)], 2 + number
        within = {
            "start": {"line": line, "character": 0},
            "end": {"line": line + 2, "character": 0},
        }
        change = {"range": within, "text": _function(LINES + number)}
        self.client.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]},
        )
        asked = {"text": f"Write function {number}.", "type": "user_instruction"}
        return {
            "uri": uri,
            "range": within,
            "action": "create",
            "sessionId": self.session,
            "prompt": asked,
        }

    def record(self, given: dict[str, Any]) -> None:
        """Record an edit."""
        self.answer = _run(self.client, "vibes.recordAnnotation", given)

    def echo(self, given: dict[str, Any]) -> None:
        """Send and receive as much as recording an edit does."""
        _run(self.client, "bench.echo", {**given, "answer": self.answer})

    def busy(self) -> float:
        """Return the server's CPU seconds, after it handled all earlier messages."""
        return float(_run(self.client, "bench.busy", {}))


@dataclass
class _Durations:
    """The seconds that one kind of request took."""

    elapsed: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)

    def add(
        self,
        editing: _Editing,
        request: Callable[[dict[str, Any]], None],
        given: dict[str, Any] | None = None,
    ) -> None:
        """Time a request; without `given`, time the change before it as well."""
        before, begun = editing.busy(), time.perf_counter()
        request(editing.change() if given is None else given)
        self.elapsed.append(time.perf_counter() - begun)
        self.busy.append(editing.busy() - before)


def _measure(editing: _Editing, folder: Path, what: str) -> None:
    editing.record(editing.change())
    echo, edit, changed_echo, changed_edit, disk = (_Durations() for _ in range(5))
    for _ in range(ROUNDS):
        given = editing.change()
        echo.add(editing, editing.echo, given)
        edit.add(editing, editing.record, given)
        changed_echo.add(editing, editing.echo)
        changed_edit.add(editing, editing.record)
        disk.elapsed.append(_disk_seconds(folder))
    print(f"  {what}, {ROUNDS} edits of each kind; milliseconds: median, 95th and 99th percentile")
    for name, durations in (
        ("echo", echo),
        ("edit", edit),
        ("change and echo", changed_echo),
        ("change and edit", changed_edit),
    ):
        print(
            f"    {name:<16}elapsed {_figures(durations.elapsed)}"
            f"   server CPU {_figures(durations.busy)}"
        )
    print(f"    {'disk only':<16}elapsed {_figures(disk.elapsed)}")
    for name, one, other in (("edit", edit, echo), ("change and edit", changed_edit, changed_echo)):
        elapsed = [
            (later - earlier) * 1e3
            for later, earlier in zip(
                _percentiles(one.elapsed), _percentiles(other.elapsed), strict=True
            )
        ]
        busy = [
            (later - earlier) * 1e3
            for later, earlier in zip(_percentiles(one.busy), _percentiles(other.busy), strict=True)
        ]
        print(
            f"    {name} above the echo: elapsed {_row(elapsed)}   server CPU {_row(busy)}"
            f"  (target: below {_AIM:.0f})"
        )


def _disk_seconds(folder: Path) -> float:
    """Return the seconds until a line appended to a file is on disk."""
    descriptor = os.open(folder / "flushed", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    try:
        os.write(descriptor, b"x" * 800)
        begun = time.perf_counter()
        os.fsync(descriptor)
        return time.perf_counter() - begun
    finally:
        os.close(descriptor)


def _run(client: Client, command: str, arguments: dict[str, Any]) -> Any:
    return client.request(
        "workspace/executeCommand", {"command": command, "arguments": [arguments]}
    )


def _percentiles(times: list[float]) -> tuple[float, float, float]:
    cuts = statistics.quantiles(times, n=100)
    return statistics.median(times), cuts[94], cuts[98]


def _figures(times: list[float]) -> str:
    return _row(each * 1e3 for each in _percentiles(times))


def _row(milliseconds: Iterable[float]) -> str:
    return " ".join(f"{each:7.2f}" for each in milliseconds)


if __name__ == "__main__":
    main()
