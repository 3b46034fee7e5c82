"""How long an editor waits for a hover, code lenses and the start of the server.

A hover is compared with an echo in the same server and in a bare pygls server. Clients send one
request at a time over standard input and output.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.demo.client import Client
from tests.trails.writer import TrailWriter

ROUNDS = 300
LENSES = 1000
_VIBES_SERVER = """
from vibes_lsp.lsp.main import new_server
server = new_server()
@server.feature("bench/echo")
def echo(ls, params):
    return {"contents": {"kind": "plaintext", "value": "x" * 300}}
server.start_io()
"""
_PYGLS_SERVER = """
from pygls.lsp.server import LanguageServer
server = LanguageServer("stock", "1")
@server.feature("bench/echo")
def echo(ls, params):
    return {"contents": {"kind": "plaintext", "value": "x" * 300}}
server.start_io()
"""


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _project(folder)
        with _client(folder, _VIBES_SERVER) as ours, _client(folder, _PYGLS_SERVER) as stock:
            uri = ours.open("many.py")
            hover = {"textDocument": {"uri": uri}, "position": {"line": 20, "character": 0}}
            times = _median_seconds(
                {
                    "hover": lambda: ours.request("textDocument/hover", hover),
                    "echo, same server": lambda: ours.request("bench/echo", hover),
                    "echo, bare pygls": lambda: stock.request("bench/echo", hover),
                }
            )
            print("server: one request and its answer")
            for what, seconds in times.items():
                print(f"  {what:<24}{seconds * 1e6:8.0f} µs")
            ratio = times["hover"] / times["echo, same server"]
            print(f"  hover / echo             {ratio:8.2f}  (target: at most 2)")
            begun = time.perf_counter()
            lenses = ours.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
            seconds = time.perf_counter() - begun
            print(f"  {len(lenses):,} lenses             {seconds * 1e3:8.1f} ms")
        starts = {"start, vibes-lsp": _VIBES_SERVER, "start, bare pygls": _PYGLS_SERVER}
        for what, code in starts.items():
            seconds = statistics.median(_start(folder, code) for _ in range(5))
            print(f"  {what:<24}{seconds * 1e3:8.0f} ms")


def _project(folder: Path) -> None:
    text = "".join(
        f"def function_{number}(value):\n    return value * {number}\n" for number in range(LENSES)
    )
    (folder / "many.py").write_text(text, encoding="utf-8")
    trail = TrailWriter(folder)
    trail.config()
    trail.environment()
    prompt = trail.prompt("Write a thousand functions.")
    for number in range(LENSES):
        trail.line("many.py", 2 * number + 1, 2 * number + 2, prompt=prompt, text=text)


def _client(folder: Path, code: str) -> Client:
    return Client(folder, [sys.executable, "-c", code])


def _start(folder: Path, code: str) -> float:
    begun = time.perf_counter()
    with _client(folder, code):
        return time.perf_counter() - begun


def _median_seconds(requests: dict[str, Callable[[], object]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in requests}
    for _ in range(ROUNDS):
        for name, request in requests.items():
            begun = time.perf_counter()
            request()
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}
