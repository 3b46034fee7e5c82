"""How long an editor waits when it records an edit through the running server, with 100,000 annotations there.

Each is measured beside an echo in the same server, which is what the protocol costs: the same message goes out, the same answer comes back.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

from benchmarks.corpus import generate
from tests.demo.client import Client

ANNOTATIONS: Final = 100_000
ROUNDS: Final = 400
LINES: Final = 600
_AIM: Final = 5.0
_SERVER: Final = """
from vibes_lsp.lsp.application import create_server
server = create_server()
@server.command("bench.echo")
def echo(ls, arguments):
    return dict(arguments)["answer"]
server.start_io()
"""
TOOL: Final = {"name": "Some Tool", "version": "1"}
MODEL: Final = {"name": "some-model", "version": "1"}


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = generate(folder, ANNOTATIONS)
        text = "".join(f"def function_{number}(value):\n    return value * {number}\n" for number in range(LINES // 2))
        for path in ("new.py", size.hottest_file):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        print(f"recording through the server, {size.annotations:,} annotations and {size.entries:,} entries there")
        with Client(folder, [sys.executable, "-c", _SERVER]) as client:
            for what, path in (("a file without any", "new.py"), ("the file with most", size.hottest_file)):
                _measure(client, what, _opened(client, path))


def _opened(client: Client, path: str) -> str:
    """Open a file once the trail was read."""
    while True:
        try:
            return client.open(path)
        except RuntimeError:
            client.wait_for("vibes/provenanceChanged")


def _measure(client: Client, what: str, uri: str) -> None:
    session = _run(client, "vibes.startSession", {"uri": uri, "tool": TOOL, "model": MODEL})["sessionId"]
    numbers = count()

    def edit() -> dict[str, Any]:
        number = next(numbers)
        line = 2 * (number % (LINES // 2))
        within = {"start": {"line": line, "character": 0}, "end": {"line": line + 2, "character": 0}}
        asked = {"text": f"Write function {number}.", "type": "user_instruction"}
        return {"uri": uri, "range": within, "action": "create", "sessionId": session, "prompt": asked}

    answer = _run(client, "vibes.recordAnnotation", edit())
    times: dict[str, list[float]] = {"echo": [], "one edit": []}
    for _ in range(ROUNDS):
        given = edit()
        for name, command, arguments in (
            ("echo", "bench.echo", {**given, "answer": answer}),
            ("one edit", "vibes.recordAnnotation", given),
        ):
            times[name].append(_timed(lambda command=command, arguments=arguments: _run(client, command, arguments)))  # type: ignore[misc]
    print(f"  {what}")
    for name, taken in times.items():
        print(f"    {name:<22}{statistics.median(taken) * 1e3:8.2f} ms, p95 {_p95(taken) * 1e3:.2f} ms")
    above = (_p95(times["one edit"]) - _p95(times["echo"])) * 1e3
    print(f"    above the protocol, p95{above:8.2f} ms  (aim below {_AIM:.0f})")


def _run(client: Client, command: str, arguments: dict[str, Any]) -> Any:
    return client.request("workspace/executeCommand", {"command": command, "arguments": [arguments]})


def _timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]
