"""Full disks, read-only folders, locks of other programs and clocks that go backwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.crash.subprocesses import run_program
from tests.crash.trail_checks import check_trail_invariants
from tests.requirements import REPOSITORY
from tests.unit.store.empty_trail import new_trail, prompt, session
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.store.locks import append_lock, fold_lock
from vibes_lsp.store.manifest import read_manifest
from vibes_lsp.store.writer import AuditWriter
from vibes_lsp.trail.log_index import LogIndex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vibes_lsp.store.audit_dir import AuditDir
    from vibes_lsp.store.locks import FileLock

HOLDER = """
import sys
from pathlib import Path
from vibes_lsp.store.locks import FileLock
with FileLock(Path(sys.argv[1])).acquire():
    print("held", flush=True)
    sys.stdin.read()
"""


def on_a_mount(folder: Path, size: str) -> list[str]:
    """Return a command prefix that mounts a small file system at `folder`."""
    folder.mkdir()
    script = f'mount -t tmpfs -o size={size} tmpfs "$0" && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", script, str(folder)]


@pytest.fixture(scope="module")
def mounts() -> None:
    try:
        subprocess.run(
            ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp"],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system does not allow user mounts")


@pytest.mark.usefixtures("mounts")
def test_on_a_full_disk_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    seen = run_program(
        "io_failures",
        "full",
        tmp_path / "small",
        tmp_path / "room",
        before=on_a_mount(tmp_path / "small", "1m"),
    )
    assert seen["records"] > 0
    assert seen["refusals"] >= 2


@pytest.mark.usefixtures("mounts")
def test_in_a_read_only_folder_everything_is_readable_and_nothing_changes(tmp_path: Path) -> None:
    assert run_program(
        "io_failures", "readonly", tmp_path / "small", before=on_a_mount(tmp_path / "small", "1m")
    ) == {"refusals": 3}


@pytest.mark.skipif(
    not hasattr(signal, "SIGXFSZ"), reason="this system has no limit on the size of files"
)
def test_a_file_that_may_grow_no_further_keeps_whole_lines(tmp_path: Path) -> None:
    assert run_program("io_failures", "limit", tmp_path)["records"] > 0


@pytest.mark.parametrize(
    ("lock", "write"),
    [
        (append_lock, lambda writer: writer.entry(prompt("b"))),
        (append_lock, lambda writer: writer.append([session(2)])),
        (fold_lock, lambda writer: writer.fold()),
    ],
    ids=["entry", "append", "fold"],
)
def test_a_lock_that_a_living_program_holds_is_waited_for_and_then_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lock: Callable[[AuditDir], FileLock],
    write: Callable[[AuditWriter], object],
) -> None:
    directory = new_trail(tmp_path)
    AuditWriter(directory).entry(prompt("a"))
    path = lock(directory).path
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        monkeypatch.setenv("VIBES_PATIENCE", "0")
        with pytest.raises(RefusedWrite) as refused:
            write(AuditWriter(directory))
        assert path.name in refused.value.message
        assert f"process {holder.pid}" in refused.value.message
        holder.kill()
    monkeypatch.setenv("VIBES_PATIENCE", "unlimited")
    write(AuditWriter(directory))
    handle = lock(directory).try_acquire()
    assert handle is not None, "a dead program holds nothing"
    with handle:
        pass


def test_the_clock_may_go_backwards(tmp_path: Path) -> None:
    """Files from the future, and then newer files with older times: all changes are seen."""
    directory = new_trail(tmp_path)
    writer = AuditWriter(directory)
    index = LogIndex(directory.log)
    entries, records = [writer.entry(prompt("a"))], writer.append([session(0)])
    index.refresh()
    manifest = read_manifest(directory)
    for number in range(1, 6):
        shift = -number if number % 2 else number
        for path in (directory.manifest, directory.log, *directory.journal.iterdir()):
            os.utime(path, (time.time() + shift * 86_400,) * 2)
        entries.append(writer.entry(prompt(str(number))))
        entries.append(AuditWriter(directory).entry(prompt(f"another {number}")))
        records += writer.append([session(number, prompt_hash=entries[-1])])
        index.refresh()
        manifest = read_manifest(directory, manifest)
        assert all(index.by_id(record) for record in records)
        assert all(entry in manifest for entry in entries)
        if number == 3:
            writer.fold()
    writer.close()
    check_trail_invariants(directory, entries, records)
