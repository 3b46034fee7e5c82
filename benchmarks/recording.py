"""How long an editor waits when it records an edit through the running server, with 100,000 annotations there.

Each is measured beside an echo in the same server, which is what the protocol costs: the same message goes out, the same answer comes back.
Every edit changes the open text first, as an AI does; the change itself is in neither time.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any, Final

from benchmarks.corpus import generate
from tests.demo.client import Client

ANNOTATIONS: Final = 100_000
LINES: Final = 600
_AIM: Final = 5.0
_SERVER: Final = """
import time
from vibes_lsp.lsp.application import create_server
server = create_server()
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
        print(f"recording through the server, {size.annotations:,} annotations and {size.entries:,} entries there")
        with Client(folder, [sys.executable, "-c", _SERVER]) as client:
            _measure(client, "six files, from none to 50 annotations in each", [_opened(client, path) for path in new], 300)
            _measure(client, "the file with most, none of them in its text", [_opened(client, size.hottest_file)], 20)


def _function(number: int) -> str:
    return f"def function_{number}(value):\n    return value * {number}\n"


def _opened(client: Client, path: str) -> str:
    """Open a file once the trail was read."""
    while True:
        try:
            return client.open(path)
        except RuntimeError:
            client.wait_for("vibes/provenanceChanged")


def _measure(client: Client, what: str, uris: list[str], rounds: int) -> None:
    session = _run(client, "vibes.startSession", {"uri": uris[0], "tool": TOOL, "model": MODEL})["sessionId"]
    numbers = count()

    def edit() -> dict[str, Any]:
        number = next(numbers)
        uri, version, line = uris[number % len(uris)], 2 + number // len(uris), 2 * (7 * number % (LINES // 2))
        within = {"start": {"line": line, "character": 0}, "end": {"line": line + 2, "character": 0}}
        document = {"uri": uri, "version": version}
        change = {"range": within, "text": _function(LINES + number)}
        client.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
        asked = {"text": f"Write function {number}.", "type": "user_instruction"}
        return {"uri": uri, "range": within, "action": "create", "sessionId": session, "prompt": asked}

    answer = _run(client, "vibes.recordAnnotation", edit())
    times: dict[str, list[float]] = {"echo": [], "one edit": []}
    busy: dict[str, list[float]] = {"echo": [], "one edit": []}
    for _ in range(rounds):
        given = edit()
        for name, command, arguments in (
            ("echo", "bench.echo", {**given, "answer": answer}),
            ("one edit", "vibes.recordAnnotation", given),
        ):
            before = _run(client, "bench.busy", {})
            begun = time.perf_counter()
            _run(client, command, arguments)
            times[name].append(time.perf_counter() - begun)
            busy[name].append(_run(client, "bench.busy", {}) - before)
    print(f"  {what}, {rounds} edits")
    for name, taken in times.items():
        print(f"    {name:<10} waited {_figures(taken)}   the server's processor {_figures(busy[name])}")
    above, worked = ((_p95(each["one edit"]) - _p95(each["echo"])) * 1e3 for each in (times, busy))
    print(f"    above the protocol, p95 {above:.2f} ms waited, {worked:.2f} ms of processor time  (aim below {_AIM:.0f})")


def _run(client: Client, command: str, arguments: dict[str, Any]) -> Any:
    return client.request("workspace/executeCommand", {"command": command, "arguments": [arguments]})


def _figures(times: list[float]) -> str:
    return f"least {min(times) * 1e3:6.2f}, median {statistics.median(times) * 1e3:6.2f}, p95 {_p95(times) * 1e3:6.2f} ms"


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]
