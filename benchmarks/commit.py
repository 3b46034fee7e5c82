"""What `git add` and `git commit` cost with our pre-commit hook, in starts of an empty Python.

Each commit changes one file. It is measured with a record that enters the log, with a commit that
is written into the log (R4), and with nothing of ours to do; in a small trail, in one of 10,000
annotations, and where 10,000 edits of other files wait.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import corpus
from benchmarks.measure import installed_environment, median_seconds, print_aimed
from tests.trails.repository import Repository
from vibes_lsp.recording import Model, Origin, Recorder, Tool

MANY: Final = 10_000
_ROUNDS: Final = 15
_ORIGIN: Final = Origin(tool=Tool("a-tool", "1"), model=Model("a-model", "1"))
_SCRIPTS: Final = sysconfig.get_path("scripts")
_LINES: Final = 10


def main() -> None:
    """Measure and print."""
    print("commit: `git add` and `git commit` with our hook, beyond the bare ones")
    for what, recorded, waiting in (
        ("a small trail", 1, 0),
        (f"{MANY:,} annotations", MANY, 0),
        (f"{MANY:,} edits wait", 1, MANY),
    ):
        with tempfile.TemporaryDirectory() as folder:
            for case, starts in _measure(Path(folder), recorded, waiting).items():
                aim = 10 if recorded + waiting == 1 else 15
                print_aimed(f"{what}, {case}", f"{starts:.1f} starts", f"<= {aim}")


def _measure(folder: Path, recorded: int, waiting: int) -> dict[str, float]:
    """Return how many starts of an empty Python each kind of commit takes."""
    environment = {**installed_environment(), "XDG_CACHE_HOME": str(folder / "cache")}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "Ada", f"GIT_{role}_EMAIL": "ada@example.org"}
    environment["PATH"] = f"{_SCRIPTS}{os.pathsep}{environment['PATH']}"
    repository = Repository(folder / "project")
    project = repository.path
    corpus.generate(project, recorded)
    repository.commit("Begin")
    subprocess.run(["vibes", "init"], cwd=project, env=environment, check=True, capture_output=True)
    numbers = iter(range(1_000_000))

    def edit(*, is_recorded: bool) -> None:
        file = project / f"file_{next(numbers)}.py"
        lines = (f"{file.stem}_{number} = compute({number})\n" for number in range(_LINES))
        file.write_text("".join(lines), encoding="utf-8")
        if is_recorded:
            with Recorder(project) as recorder:
                recorder.annotate_lines(file, 1, _LINES, "create", _ORIGIN)

    def commit(*options: str) -> None:
        for command in (["add", "--", ":!large"], [*options, "commit", "--quiet", "-m", "Work"]):
            subprocess.run(["git", *command], cwd=project, env=environment, check=True)

    edit(is_recorded=True)
    commit()
    if waiting:
        _let_wait(project, waiting)
    times = median_seconds(
        {
            "prepare bare": lambda: edit(is_recorded=False),
            "bare": lambda: commit("-c", f"core.hooksPath={folder}"),
            "prepare record": lambda: edit(is_recorded=True),
            "with a record": commit,
            "prepare nothing": lambda: edit(is_recorded=False),
            "without one": commit,
            "prepare backfill": lambda: edit(is_recorded=False),
            "with a back-fill": commit,
            "empty": lambda: subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True),
        },
        _ROUNDS,
    )
    cases = ("with a record", "without one", "with a back-fill")
    return {case: (times[case] - times["bare"]) / times["empty"] for case in cases}


def _let_wait(project: Path, count: int) -> None:
    """Record edits of files that are never added."""
    folder = project / "large"
    folder.mkdir()
    with Recorder(project) as recorder:
        for number in range(count // 50):
            file = folder / f"file_{number}.py"
            lines = (f"large_{number}_{line} = {line}\n" for line in range(200))
            file.write_text("".join(lines), encoding="utf-8")
            for first in range(1, 200, 4):
                recorder.annotate_lines(file, first, first + 2, "create", _ORIGIN)


if __name__ == "__main__":
    main()
