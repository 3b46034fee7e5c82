"""The attestation server under load: throughput and 99th percentile, on loopback, by wrk.

The floor is the same server answering `/health`: HTTP, routing and JSON, and no work. What a
request adds is a signature pair (cosign), a look-up (find), or a transaction on the disk (submit).
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from services_tests.attestations import attestation
from services_tests.postgresql_server import postgresql
from services_tests.running_server import RunningServer, serving
from tests.requirements import TOOLS
from vibes_lsp.attestation.cosigning import COSIGN_PATH, KEY_DOCUMENT_PATH
from vibes_lsp.attestation.keys import generate_private_key
from vibes_services.registry_client import FIND_PATH, SUBMIT_PATH
from vibes_services.server.signing_keys import create_keys
from vibes_services.server.tokens import create_token

SECONDS: Final = 8
CONNECTIONS: Final = 32
SUBMISSIONS: Final = 12_000
COMMITS: Final = 500
_RATE: Final = "1000000000"
_POST: Final = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer {token}"
"""
_BODIES: Final = """
local bodies = {{}}
for line in io.lines("{path}") do bodies[#bodies + 1] = line end
local at = 0
request = function()
  at = at % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
"""


@dataclass(frozen=True)
class Load:
    """What wrk measured.

    Attributes:
        rate: Requests a second.
        p50: Median latency in milliseconds.
        p99: 99th percentile in milliseconds.
        failed: Answers other than 2xx, and broken connections.
    """

    rate: float
    p50: float
    p99: float
    failed: int


def main() -> None:
    """Measure and print."""
    wrk = shutil.which("wrk") or shutil.which("wrk", path=str(TOOLS))
    if wrk is None or sys.platform != "linux":
        print("attestation server: wrk is missing (tests/tools/from-debian.sh wrk)")
        return
    print(f"attestation server: {CONNECTIONS} connections for {SECONDS} s each, one process")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _measure_database(wrk, folder / "sqlite", f"sqlite:///{folder / 'registry.db'}")
        _print_commits(folder)
        with postgresql() as url:
            _measure_database(wrk, folder / "postgresql", url)


def _measure_database(wrk: str, folder: Path, url: str) -> None:
    now = datetime.now(UTC)
    create_keys(folder, "Example", "example-agent", now)
    token = create_token(folder, "load", ["cosign", "register"], now)
    post = _POST.format(token=token)
    digest = json.dumps({"pae_hash": hashlib.sha256(b"").hexdigest()})
    bodies = folder / "bodies"
    bodies.write_text("".join(_submissions()), encoding="utf-8")
    with serving("cosign-server", "serve", folder, "--registry", url, "--rate", _RATE) as server:
        subjects = {
            "health (the floor)": ("/health", ""),
            "key document": (KEY_DOCUMENT_PATH, ""),
            "cosign": (COSIGN_PATH, f"{post}wrk.body = '{digest}'"),
            "submit": (SUBMIT_PATH, post + _BODIES.format(path=bodies)),
            "find by project": (f"{FIND_PATH}?project=project-7&limit=20", ""),
        }
        print(f"  with {url.partition(':')[0]}")
        for name, (path, script) in subjects.items():
            load = _load(wrk, server, path, script, folder)
            print(
                f"    {name:<20} {load.rate:7,.0f} requests/s, median {load.p50:6.1f} ms,"
                f" 99 % within {load.p99:6.1f} ms, {load.failed} failed"
            )


def _submissions() -> Iterator[str]:
    """Yield requests to submit different attestations of 100 projects, one a line."""
    key = generate_private_key()
    for number in range(SUBMISSIONS):
        envelope = attestation(f"project-{number % 100}", number, key)
        yield json.dumps({"envelope": envelope.as_json()}) + "\n"


def _load(wrk: str, server: RunningServer, path: str, script: str, folder: Path) -> Load:
    file = folder / "request.lua"
    file.write_text(script, encoding="utf-8")
    options = ["-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", "-s", str(file)]
    done = subprocess.run(
        [wrk, *options, server.url + path], capture_output=True, text=True, check=True, timeout=60
    )
    broken = re.search(
        r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", done.stdout
    )
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    return Load(
        float(_find(r"Requests/sec:\s+([\d.]+)", done.stdout)),
        _milliseconds(_find(r"50%\s+(\S+)", done.stdout)),
        _milliseconds(_find(r"99%\s+(\S+)", done.stdout)),
        sum(map(int, broken.groups() if broken else ())) + int(refused[1] if refused else 0),
    )


def _print_commits(folder: Path) -> None:
    """Print how many single rows a second the disk takes, each flushed by SQLite."""
    with closing(sqlite3.connect(folder / "floor.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE rows (text)")
        start = time.perf_counter()
        for number in range(COMMITS):
            connection.execute("INSERT INTO rows VALUES (?)", (f"{number:2000}",))
        seconds = time.perf_counter() - start
    print(f"    commits of SQLite alone {COMMITS / seconds:4,.0f}/s, one after the other")


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1]


def _milliseconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[unit]


if __name__ == "__main__":
    main()
