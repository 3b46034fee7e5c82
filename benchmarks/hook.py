"""Duration of `vibes hook` as a process, for which a coding agent waits.

It is compared with a Python that does nothing and with an empty console script, in the same run:
in a new trail and in one with 100,000 annotations, with and without a server, and where the hook
starts the process that records, finds one active, or while that one works.

    python -m benchmarks.hook [--save]

With `--save` the figures go to `results/hook.json`, from which the documentation takes them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import corpus
from benchmarks.measure import median_seconds
from tests.demo.client import Client
from vibes_lsp.ingest.fold import wait_until_folded
from vibes_lsp.ingest.hook import mark_folding
from vibes_lsp.store.audit_dir import AuditDir

RESULTS: Final = Path(__file__).parent / "results" / "hook.json"
_VIBES: Final = Path(sysconfig.get_path("scripts"), "vibes")
_ROUNDS: Final = 40
_ANNOTATIONS: Final = 100_000
_AIM: Final = 2.5
_SCRIPT_AIM: Final = 1.5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="keep the figures for the docs")
    saves = parser.parse_args(sys.argv[1:] if __name__ == "__main__" else []).save
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        script = _empty_script(Path(folder))
        for annotations in (0, _ANNOTATIONS):
            project = Path(folder, f"project-{annotations}")
            corpus.generate(project, max(annotations, 1))
            (project / "open.py").write_text("value = 1\n", encoding="utf-8")
            for what, condition in _CONDITIONS.items():
                row: dict[str, object] = {"annotations": annotations, "what": what}
                rows.append(row | _measure(project, script, condition))
                print(_line(rows[-1]))
    if saves:
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


@contextmanager
def _active(project: Path) -> Iterator[Callable[[], object]]:
    """Let the hook find an active process; it is this one, and does nothing."""
    marker = mark_folding(str(_spool(project)))
    assert marker is not None
    yield lambda: None
    os.close(marker)


@contextmanager
def _at_work(project: Path) -> Iterator[Callable[[], object]]:
    """Let a real process record the events while the next hook runs."""
    yield lambda: None
    wait_until_folded(AuditDir(project / ".ai-audit"))


@contextmanager
def _none(project: Path) -> Iterator[Callable[[], object]]:
    """Let each hook start a process; the one before has ended."""
    yield lambda: wait_until_folded(AuditDir(project / ".ai-audit"))


@contextmanager
def _server(project: Path) -> Iterator[Callable[[], object]]:
    """As `_none`, with a server that has a file of the project open."""
    with Client(project) as client:
        document = {"uri": (project / "open.py").as_uri(), "languageId": "python", "version": 1}
        client.notify("textDocument/didOpen", {"textDocument": {**document, "text": "value = 1\n"}})
        yield lambda: wait_until_folded(AuditDir(project / ".ai-audit"))


_CONDITIONS: Final = {
    "starts a process": _none,
    "a process is active": _active,
    "a process records": _at_work,
    "starts a process, with a server": _server,
}


def _measure(project: Path, script: Path, condition: Callable[[Path], object]) -> dict[str, float]:
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "benchmark-session",
        "cwd": str(project),
        "tool_name": "Read",
        "tool_input": {"file_path": str(project / "open.py")},
    }
    data = json.dumps(event).encode()

    def run(*command: str) -> None:
        subprocess.run(command, input=data, cwd=project, check=True)

    with condition(project) as prepare:  # type: ignore[attr-defined]  # a context manager
        times = median_seconds(
            {
                "prepare": prepare,
                "hook": lambda: run(str(_VIBES), "hook"),
                "again": prepare,
                "script": lambda: run(sys.executable, str(script)),
                "python": lambda: run(sys.executable, "-I", "-S", "-c", "pass"),
            },
            _ROUNDS,
        )
    wait_until_folded(AuditDir(project / ".ai-audit"))
    return {
        "milliseconds": round(times["hook"] * 1000, 1),
        "python": round(times["hook"] / times["python"], 2),
        "script": round(times["hook"] / times["script"], 2),
    }


def _spool(project: Path) -> Path:
    spool = project / ".ai-audit" / "spool"
    spool.mkdir(exist_ok=True)
    return spool


def _empty_script(folder: Path) -> Path:
    """Write the console script that is installed for `vibes`, with an empty main function."""
    installed = _VIBES.read_text(encoding="utf-8")
    text = installed.replace("vibes_lsp.__main__", "benchmarks.empty_program")
    if text == installed:
        raise SystemExit("the installed `vibes` is outdated: pip install --editable .")
    script = folder / "empty"
    script.write_text(text, encoding="utf-8")
    return script


def _line(row: dict[str, object]) -> str:
    return (
        f"vibes hook, {row['annotations']:>7,} annotations, {row['what']}: {row['milliseconds']} ms,"
        f" {row['python']}x a Python that does nothing (aim {_AIM}x),"
        f" {row['script']}x an empty console script (aim {_SCRIPT_AIM}x)"
    )


if __name__ == "__main__":
    main()
