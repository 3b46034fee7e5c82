"""A PostgreSQL server of one test session, on a socket in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.requirements import require

_WHY: Final = "stores a registry in PostgreSQL"


@contextmanager
def postgresql() -> Iterator[str]:
    """Run a server; yield the URL of an empty database.

    It runs as another user where the tests run as root, which PostgreSQL refuses.
    """
    programs = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))), None)
    initdb = require(programs / "initdb" if programs else "initdb", _WHY)
    user = "nobody" if os.geteuid() == 0 else None
    name = user or pwd.getpwuid(os.geteuid()).pw_name
    folder = Path(tempfile.mkdtemp(prefix="vibes-postgresql-"))
    if user:
        shutil.chown(folder, user)
    data = folder / "data"

    def execute(program: str, *arguments: str | Path) -> None:
        subprocess.run(
            [initdb.with_name(program), *arguments],
            user=user,
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=300,
        )

    options = f"-k {folder} -c listen_addresses="
    try:
        execute("initdb", "-D", data, "-A", "trust", "-U", name, "--no-sync")
        execute("pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql://{name}@/postgres?host={folder}"
        finally:
            execute("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)
