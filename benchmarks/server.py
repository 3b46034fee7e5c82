"""How long an editor waits for a hover, lenses, hints and the start of the server.

Clients send one request at a time over standard input and output. The same requests go to a bare
pygls server, whose answers are objects of lsprotocol of the same size. The echo is a request with
typed parameters, as editors send them: a method of its own costs the library nearly twice as much.

The slowest hovers wait for a processor, beside any program. So they are measured in turns with the
answers of a loop that does nothing: as late as these no server can avoid to be.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.measure import SETTLED, installed_environment, min_cpu_seconds, print_aimed
from tests.demo.client import Client
from tests.trails.writer import TrailWriter

ROUNDS: Final = 300
LONG_ROUNDS: Final = 20
_BURSTS: Final = 9
_IN_BURST: Final = 200
_FILES: Final = 40
"""Files that are opened to ask for one hover in each."""
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
from vibes_lsp.lsp.lifecycle import create_server
from vibes_lsp.lsp.main import standard_output
from vibes_lsp.lsp.transport import serve
server = create_server()
start = lambda server: serve(server, sys.stdin.buffer, standard_output())
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


_LOOP: Final = """
import json, sys
read, written = sys.stdin.buffer, sys.stdout.buffer
while line := read.readline():
    read.readline()
    request = json.loads(read.read(int(line[15:])))
    if "id" in request:
        body = b'{"jsonrpc":"2.0","id":%d,"result":"%b"}' % (request["id"], b"x" * 300)
        written.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
        written.flush()
"""
"""Answers as soon as a program in Python can, and always the same."""


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _project(folder)
        print("server: one request and its answer")
        with (
            _client(folder, _VIBES_SERVER) as ours,
            _client(folder, _PYGLS_SERVER) as stock,
            _client(folder, _LOOP) as loop,
        ):
            uri = ours.open("many.py")
            ours.exchange("textDocument/hover", _at(uri, 0))
            time.sleep(SETTLED)
            _short_answers(ours, stock, uri)
            _late_answers(ours, loop, uri, folder / ".ai-audit/annotations.jsonl")
            _long_answers(ours, stock, uri, ours.open("hints.py"))
        starts = {"vibes-lsp": _VIBES_SERVER, "bare pygls": _PYGLS_SERVER}
        taken = min_cpu_seconds(
            {name: partial(_start_and_end, folder, code) for name, code in starts.items()}
        )
        for what, seconds in taken.items():
            print_aimed(
                f"CPU time of a session without requests, {what}", f"{seconds * 1e3:.0f} ms"
            )


def _short_answers(ours: Client, stock: Client, uri: str) -> None:
    """Compare short answers, each to a request that was not the one before."""
    files = iter(range(_FILES))
    lines = iter(random.Random(1).sample(range(2 * LENSES), ROUNDS))
    requests: dict[str, Callable[[], object]] = {
        "hover, the same line": lambda: ours.exchange("textDocument/hover", _at(uri, 20)),
        "hover, any line for the first time": lambda: ours.exchange(
            "textDocument/hover", _at(uri, next(lines))
        ),
        "echo, the same server": lambda: ours.exchange("textDocument/implementation", _at(uri, 20)),
        "echo, bare pygls": lambda: stock.exchange("textDocument/implementation", _at(uri, 20)),
    }
    times = _seconds(requests, ROUNDS)
    opened = [ours.open(_small_file(number)) for number in files]
    time.sleep(SETTLED)
    first = _seconds(
        {
            "hover, the first in a file": lambda: ours.exchange(
                "textDocument/hover", _at(opened.pop(), 20)
            )
        },
        _FILES,
    )
    for what, taken in (times | first).items():
        print_aimed(what, f"{_median(taken) * 1e6:.0f} µs")
    own = _median(times["echo, the same server"])
    for what in ("the same line", "any line for the first time"):
        ratio = _median(times[f"hover, {what}"]) / own
        print_aimed(f"hover, {what} / own echo", f"{ratio:.2f}")
    ratio = _median(first["hover, the first in a file"]) / own
    print_aimed("hover, the first in a file / own echo", f"{ratio:.2f}")
    ratio = own / _median(times["echo, bare pygls"])
    print_aimed("own echo / echo of bare pygls", f"{ratio:.2f}")


def _late_answers(ours: Client, loop: Client, uri: str, log: Path) -> None:
    """Compare the 99th percentile of hovers, idle and beside a process that reads a log."""
    subjects = {"a hover": ours, "a loop that does nothing": loop}
    late: dict[tuple[str, str], list[float]] = defaultdict(list)
    medians: list[float] = []
    waits: dict[str, list[float]] = defaultdict(list)
    for _ in range(_BURSTS):
        for where, beside in (("idle", nullcontext), ("indexing beside", partial(_indexing, log))):
            with beside():
                for name, client in subjects.items():
                    waited = _waited(client)
                    taken = _burst(client, uri)
                    late[name, where].append(_late(taken))
                    if name == "a hover":
                        if where == "idle":
                            medians.append(_median(taken))
                        waits[where].append((_waited(client) - waited) / _IN_BURST)
    own = _median(medians)
    for where, aim in (("idle", "at most 3"), ("indexing beside", "at most 6")):
        for name in subjects:
            ratio = _median(late[name, where]) / own
            print_aimed(
                f"p99 of {name} / p50 of a hover, {where}",
                f"{ratio:.1f}",
                aim if name == "a hover" else "the floor",
            )
        print_aimed(f"waits for a processor, {where}", f"{_median(waits[where]) * 1e6:.0f} µs")


def _burst(client: Client, uri: str) -> list[float]:
    """Return how long each of some hovers at one line takes; the first ones do not count."""
    taken = []
    for _ in range(_IN_BURST + _IN_BURST // 10):
        begun = time.perf_counter()
        client.exchange("textDocument/hover", _at(uri, 20))
        taken.append(time.perf_counter() - begun)
    return taken[-_IN_BURST:]


def _waited(client: Client) -> float:
    """Return the seconds that client and server were ready to run and did not; on Linux."""
    if not sys.platform.startswith("linux"):
        return 0.0
    names = (f"/proc/{process}/schedstat" for process in (client.process_id, os.getpid()))
    return sum(int(Path(name).read_text().split()[1]) for name in names) / 1e9


def _median(taken: list[float]) -> float:
    return statistics.median(taken)


def _late(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100)[-1]


@contextmanager
def _indexing(log: Path) -> Iterator[None]:
    """Have another process read a log over and over, as the server does once for a large one."""
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom vibes_lsp.trail.log_index import LogIndex\n"
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
    for what, (method, params) in requests.items():
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
        print_aimed(f"{what}, first", f"{built * 1e3:.1f} ms")
        print_aimed(f"{what}, again", f"{times['ours'] * 1e3:.2f} ms")
        print_aimed(f"{what}, bare pygls", f"{times['stock'] * 1e3:.1f} ms")
        ratio = times["stock"] / times["ours"]
        print_aimed(f"{what}, bare pygls / again", f"{ratio:.1f}")


def _project(folder: Path) -> None:
    trail = TrailWriter(folder)
    trail.config()
    trail.environment()
    prompt = trail.prompt("Write a thousand functions.")
    small = [(_small_file(number), LENSES // _FILES) for number in range(_FILES)]
    for path, count in (("many.py", LENSES), ("hints.py", HINTS), *small):
        text = "".join(
            f"def function_{number}(value):\n    return value * {number}\n"
            for number in range(count)
        )
        (folder / path).write_text(text, encoding="utf-8")
        for number in range(count):
            trail.line(path, 2 * number + 1, 2 * number + 2, prompt=prompt, text=text)


def _small_file(number: int) -> str:
    return f"small_{number}.py"


def _at(uri: str, line: int) -> dict[str, object]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": 0}}


def _client(folder: Path, code: str) -> Client:
    return Client(folder, [sys.executable, "-c", code], installed_environment())


def _start_and_end(folder: Path, code: str) -> None:
    with _client(folder, code):
        pass


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


if __name__ == "__main__":
    main()
