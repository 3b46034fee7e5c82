"""`vibes cosign-server serve` and `vibes registry serve` as processes, for tests and benchmarks."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import httpx2

VIBES: Final = Path(sysconfig.get_path("scripts")) / "vibes"
http_request: Final = partial(httpx2.request, timeout=300)
"""Makes one request; by default httpx2 waits five seconds, which a busy machine may take."""
_ADDRESS: Final = re.compile(r"Uvicorn running on (https?://127\.0\.0\.1:(\d+))")


@dataclass
class RunningServer:
    """A server process that listens on a free port of this machine.

    Attributes:
        process: The process.
        log: The lines that it wrote to standard error so far.
        url: Its address, without a path.
    """

    process: subprocess.Popen[str]
    log: list[str] = field(default_factory=list)
    url: str = ""

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        """End it as a power failure would: no handler runs."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(300)

    def stop(self) -> int:
        """Ask it to stop, as a service manager does, and return its exit code."""
        self.process.terminate()
        return self.process.wait(300)


@contextmanager
def serving(*arguments: str | Path) -> Iterator[RunningServer]:
    """Run a serving command on a free port until it answers; end it at the end."""
    process = subprocess.Popen(
        [VIBES, *arguments, "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    server, lines = RunningServer(process), process.stderr
    listening = threading.Event()

    def read() -> None:
        for line in lines:
            server.log.append(line)
            found = _ADDRESS.search(line)
            if found:
                server.url = found[1]
                listening.set()
        listening.set()  # it ended

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert listening.wait(300), "the server does not start"
        assert server.url, "".join(server.log)
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(300)
        reader.join(300)
        lines.close()


def run(*arguments: str | Path, **environment: str) -> str:
    """Run a `vibes` command that succeeds; return what it prints."""
    done = subprocess.run(
        [VIBES, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
