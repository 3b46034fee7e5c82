"""How long an editor waits for a hover, lenses, hints and the start of the server.

Clients send one request at a time over standard input and output. The same requests go to a bare
pygls server, whose answers are objects of lsprotocol of the same size. The echo is a request with
typed parameters, as editors send them: a method of its own costs the library nearly twice as much.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.demo.client import Client
from tests.trails.writer import TrailWriter

ROUNDS: Final = 300
LONG_ROUNDS: Final = 20
_SETTLED: Final = 2.1
"""Seconds after which the time of a file shows every later write; until then each look reads it."""
LENSES: Final = 1_000
HINTS: Final = 10_000
_ECHO: Final = """
from lsprotocol import types
nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
@server.feature(types.TEXT_DOCUMENT_IMPLEMENTATION)
def echo(ls, params):
    return [types.Location("file:///" + "x" * 300, nowhere)]
server.start_io() if start is None else start(server)
"""
_VIBES_SERVER: Final = (
    """
import sys
from vibes_lsp.lsp.main import new_server, standard_output
from vibes_lsp.lsp.transport import serve_stdio
server = new_server()
start = lambda server: serve_stdio(server, sys.stdin.buffer, standard_output())
"""
    + _ECHO
)
_PYGLS_SERVER: Final = (
    f"""
from lsprotocol import types
from pygls.lsp.server import LanguageServer
server, start = LanguageServer("stock", "1"), None
URI = "file:///tmp/a/folder/of/a/project/many.py"
def place(line):
    return types.Range(types.Position(line, 0), types.Position(line, 0))
@server.feature(types.TEXT_DOCUMENT_CODE_LENS)
def lenses(ls, params):
    return [types.CodeLens(place(line), data={{"uri": URI, "ids": ["0" * 64]}}) for line in range({LENSES})]
@server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
def hints(ls, params):
    return [
        types.InlayHint(types.Position(line, 30), "AI: claude-opus-4-5", padding_left=True, data={{"uri": URI, "id": "0" * 64}})
        for line in range({HINTS})
    ]
"""
    + _ECHO
)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _project(folder)
        with _client(folder, _VIBES_SERVER) as ours, _client(folder, _PYGLS_SERVER) as stock:
            uri = ours.open("many.py")
            _short_answers(ours, stock, uri, folder / ".ai-audit/annotations.jsonl")
            _long_answers(ours, stock, uri, ours.open("hints.py"))
        starts = {"start, vibes-lsp": _VIBES_SERVER, "start, bare pygls": _PYGLS_SERVER}
        for what, code in starts.items():
            seconds = statistics.median(_start(folder, code) for _ in range(5))
            print(f"  {what:<28}{seconds * 1e3:8.0f} ms")


def _short_answers(ours: Client, stock: Client, uri: str, log: Path) -> None:
    """Compare short answers; none of them is the first about the document."""
    time.sleep(_SETTLED)
    chance = random.Random(1)
    asked = [20]

    def hover_at_new_line() -> None:
        asked.append(chance.randrange(2 * LENSES))
        ours.exchange("textDocument/hover", _at(uri, asked[-1]))

    requests: dict[str, Callable[[], object]] = {
        "hover, same line": lambda: ours.exchange("textDocument/hover", _at(uri, 20)),
        "hover, any line": hover_at_new_line,
        "hover, any line again": lambda: ours.exchange(
            "textDocument/hover", _at(uri, chance.choice(asked))
        ),
        "echo, same server": lambda: ours.exchange("textDocument/implementation", _at(uri, 20)),
        "echo, bare pygls": lambda: stock.exchange("textDocument/implementation", _at(uri, 20)),
    }
    times = _seconds(requests, ROUNDS)
    print("server: one request and its answer, median and 99th percentile")
    for what, taken in times.items():
        print(f"  {what:<28}{_median(taken) * 1e6:8.0f} µs {_late(taken) * 1e6:8.0f} µs")
    own = _median(times["echo, same server"])
    for what, aim in (("same line", 1.2), ("any line", 1.5), ("any line again", 1.5)):
        ratio = _median(times[f"hover, {what}"]) / own
        print(f"  {'hover, ' + what + ' / own echo':<34}{ratio:8.2f}  (aim: {aim})")
    stock_echo = _median(times["echo, bare pygls"])
    print(f"  {'own echo / bare pygls':<34}{own / stock_echo:8.2f}  (aim: 0.35)")
    same = times["hover, same line"]
    print(f"  {'p99 / p50, idle':<34}{_late(same) / _median(same):8.1f}  (aim: 3)")
    with _indexing(log):
        hover = {"hover": requests["hover, same line"]}
        beside = _seconds(hover, ROUNDS)["hover"]
    print(
        f"  {'p99 / p50 idle, indexing beside':<34}{_late(beside) / _median(same):8.1f}  (aim: 6)"
    )


def _median(taken: list[float]) -> float:
    return statistics.median(taken)


def _late(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100)[-1]


@contextmanager
def _indexing(log: Path) -> Iterator[None]:
    """Have another process read a log over and over, as the server does once for a large one."""
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom vibes_lsp.index.log_index import LogIndex\n"
        "os.nice(5)\nprint(flush=True)\nwhile True: LogIndex(Path(sys.argv[1])).refresh()\n"
    )
    beside = subprocess.Popen([sys.executable, "-c", code, log], stdout=subprocess.PIPE)
    try:
        if beside.stdout is not None:
            beside.stdout.readline()
        yield
    finally:
        beside.kill()
        beside.communicate()


def _long_answers(ours: Client, stock: Client, lenses: str, hints: str) -> None:
    whole = {
        "start": {"line": 0, "character": 0},
        "end": {"line": 4 * HINTS, "character": 0},
    }
    requests: dict[str, tuple[str, dict[str, object]]] = {
        f"{LENSES:,} lenses": ("textDocument/codeLens", {"textDocument": {"uri": lenses}}),
        f"{HINTS:,} hints": (
            "textDocument/inlayHint",
            {"textDocument": {"uri": hints}, "range": whole},
        ),
    }
    for (what, (method, params)), aim in zip(requests.items(), (8, 10), strict=True):
        begun = time.perf_counter()
        first = ours.exchange(method, params)
        built = time.perf_counter() - begun
        counts = [
            len(json.loads(each)["result"]) for each in (first, stock.exchange(method, params))
        ]
        if counts[0] != counts[1]:
            raise RuntimeError(f"{counts[0]} {what} of ours, {counts[1]} of the bare server")
        taken = _seconds(
            {
                "ours": lambda method=method, params=params: ours.exchange(method, params),  # type: ignore[misc]
                "stock": lambda method=method, params=params: stock.exchange(method, params),  # type: ignore[misc]
            },
            LONG_ROUNDS,
        )
        times = {name: _median(each) for name, each in taken.items()}
        print(f"  {what + ', first':<28}{built * 1e3:8.1f} ms")
        print(f"  {what + ', again':<28}{times['ours'] * 1e3:8.2f} ms")
        print(f"  {what + ', bare pygls':<28}{times['stock'] * 1e3:8.1f} ms")
        print(f"  {'bare pygls / again':<28}{times['stock'] / times['ours']:8.1f}  (target: {aim})")


def _project(folder: Path) -> None:
    trail = TrailWriter(folder)
    trail.config()
    trail.environment()
    prompt = trail.prompt("Write a thousand functions.")
    for path, count in (("many.py", LENSES), ("hints.py", HINTS)):
        text = "".join(
            f"def function_{number}(value):\n    return value * {number}\n"
            for number in range(count)
        )
        (folder / path).write_text(text, encoding="utf-8")
        for number in range(count):
            trail.line(path, 2 * number + 1, 2 * number + 2, prompt=prompt, text=text)


def _at(uri: str, line: int) -> dict[str, object]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}}


def _client(folder: Path, code: str) -> Client:
    return Client(folder, [sys.executable, "-c", code])


def _start(folder: Path, code: str) -> float:
    begun = time.perf_counter()
    with _client(folder, code):
        return time.perf_counter() - begun


def _seconds(requests: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Return how long each request takes, in each round; each round has another order.

    The one that follows a request to the other server finds the processor's caches empty.
    """
    times: dict[str, list[float]] = {name: [] for name in requests}
    order, chance = list(requests.items()), random.Random(2)
    for _ in range(rounds):
        chance.shuffle(order)
        for name, request in order:
            begun = time.perf_counter()
            request()
            times[name].append(time.perf_counter() - begun)
    return times
