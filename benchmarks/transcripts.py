"""How long `vibes import transcripts` takes, and how much it finds, on the history of a repository.

    python -m benchmarks.transcripts REPOSITORY [COMMITS]

The session files are made from the last commits: each change of a file becomes edits of Claude
Code, a minute before its commit. So the commit of each edit is known. Files of other folders lie
beside them, as on a machine that is used for several projects.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from vibes_lsp.git.file_changes import changes_since
from vibes_lsp.git.objects import GitObjects, parse_seconds
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import Repository
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

COMMITS: Final = 2_000
_EDITS: Final = 100
"""Edits of one session."""
_MAX_TEXT: Final = 200_000
_OTHER_FILES: Final = 200
_SUFFIXES: Final = (".py", ".md", ".rst", ".toml", ".js", ".css", ".html", ".txt", ".cfg")


_MEASURE: Final = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, end="")
"""
"""Runs a program, and prints the CPU seconds and kilobytes that it used; a process of its own,
because a new process counts the memory of the one that started it."""


@dataclass(frozen=True)
class MadeEdit:
    """An edit and the commit that it was made from."""

    path: str
    commit: str
    moment: datetime
    before: str | None
    old: str
    new: str


def main() -> None:
    """Measure and print."""
    source = Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else COMMITS
    with tempfile.TemporaryDirectory() as name:
        home, project = Path(name) / "home", Path(name) / "project"
        _run("git", "clone", "--quiet", "--no-hardlinks", str(source), str(project))
        edits = list(made_edits(Repository(project), count))
        size = write_sessions(home, project, edits)
        _run(*_vibes("init"), cwd=project, home=home)
        print(f"{len(edits):,} edits in {count:,} commits; session files: {size / 1e6:,.0f} MB")
        for what in ("dry run", "import", "again"):
            options = ["--dry-run"] if what == "dry run" else []
            command = _vibes("import", "transcripts", "--json", *options)
            out, used = _run(
                sys.executable, "-c", _MEASURE, *command, cwd=project, home=home
            ).rsplit("\n", 1)
            result, (seconds, kilobytes) = json.loads(out), used.split()
            print(
                f"{what:8} {float(seconds):6.1f} s of CPU,"
                f" {int(kilobytes) / 1024:6.0f} MB at most:"
                f" {result['imported']:,} imported, {result['known']:,} known,"
                f" {result['refused']:,} refused"
            )
        _compare(project, edits)


def made_edits(repository: Repository, count: int) -> Iterator[MadeEdit]:
    """Yield the edits that lead to the versions of the last commits, with one place each."""
    oldest = _run("git", "log", "--format=%ct", f"-{count}", cwd=repository.root).split()[-1]
    with GitObjects(repository.root) as objects:
        for file in changes_since(repository, parse_seconds(oldest.encode())):
            if not file.is_file or len(file.before) > 1 or not file.path.endswith(_SUFFIXES):
                continue
            before = _text(objects, file.before[0]) if file.before else ""
            after = _text(objects, file.blob)
            if before is None or after is None:
                continue
            moment = file.moment - timedelta(minutes=1)
            if not file.before:
                yield MadeEdit(file.path, file.commit, moment, None, "", after)
                continue
            for text, old, new in _steps(before, after):
                yield MadeEdit(file.path, file.commit, moment, text, old, new)


def _steps(before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """Yield the text before each replacement, and what is replaced; it occurs once."""
    ours, theirs = before.splitlines(keepends=True), after.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    done: list[str] = []
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind != "equal":
            text = "".join([*done, *ours[start:]])
            begin, stop = len(done), len(done) + end - start
            lines = text.splitlines(keepends=True)
            while text.count("".join(lines[begin:stop])) != 1 or begin == stop:
                begin, stop = max(0, begin - 1), min(len(lines), stop + 1)
            old = "".join(lines[begin:stop])
            kept = "".join(lines[len(done) + end - start : stop])
            new = "".join([*lines[begin : len(done)], *theirs[first:last]]) + kept
            yield text, old, new
        done += theirs[first:last]


def write_sessions(home: Path, project: Path, edits: Sequence[MadeEdit]) -> int:
    """Write the session files and those of other folders; return their size."""
    for number in range(0, len(edits), _EDITS):
        session = f"session-{number}"
        _write(home, project, session, edits[number : number + _EDITS])
    for number in range(_OTHER_FILES):
        _write(home, Path("/elsewhere"), f"other-{number}", edits[number : number + _EDITS])
    return sum(path.stat().st_size for path in home.rglob("*.jsonl"))


def _write(home: Path, project: Path, session: str, edits: Sequence[MadeEdit]) -> None:
    folder = home / ".claude/projects" / str(project).replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{session}.jsonl").open("w") as file:
        for number, edit in enumerate(edits):
            for line in _lines(project, session, number, edit):
                file.write(f"{json.dumps(line)}\n")


def _lines(project: Path, session: str, number: int, edit: MadeEdit) -> Iterator[Any]:
    common = {
        "sessionId": session,
        "cwd": str(project),
        "version": "2.1.330",
        "timestamp": edit.moment.isoformat(),
    }
    prompt = f"Make change {number} of {session}: {edit.commit}"
    yield {**common, "type": "user", "message": {"role": "user", "content": prompt}}
    given = {"file_path": str(project / edit.path)}
    given |= (
        {"content": edit.new}
        if edit.before is None
        else {"old_string": edit.old, "new_string": edit.new}
    )
    name = "Write" if edit.before is None else "Edit"
    use = {"type": "tool_use", "id": f"{session}-{number}", "name": name, "input": given}
    message = {"role": "assistant", "model": "claude-sonnet-4-5", "content": [use]}
    yield {**common, "type": "assistant", "message": message}
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": "ok"}
    yield {
        **common,
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "toolUseResult": {
            "type": "create" if edit.before is None else "update",
            "originalFile": edit.before,
            "structuredPatch": [],
            "userModified": False,
        },
    }


def _compare(project: Path, edits: Sequence[MadeEdit]) -> None:
    """Print how many edits were found, and how many annotations git or the truth contradicts."""
    known = {
        f"session-{number - number % _EDITS} session-{number - number % _EDITS}-{number % _EDITS} 0": edit
        for number, edit in enumerate(edits)
    }
    found: set[str] = set()
    wrong = 0
    log = project / ".ai-audit" / "annotations.jsonl"
    for line in log.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["type"] == "line":
            identifier = record["imported_from"]["id"]
            found.add(identifier)
            wrong += record["commit_hash"] != known[identifier].commit
    adding = {
        name
        for name, edit in known.items()
        if set(edit.new.splitlines()) - set(edit.old.splitlines())
    }
    print(
        f"{len(found & adding):,} of {len(adding):,} edits that add a line were found;"
        f" {wrong} annotations name another commit, git contradicts {_contradicted(project)}"
    )


def _contradicted(project: Path) -> str:
    """Return how many annotations of the files git contradicts, by method."""
    trail = Trail(AuditDir(project / ".ai-audit"))
    trail.refresh()
    with ProjectLocator(trail) as locator:
        found = Counter(
            each.located.method.value
            for path in locator.annotated_files()
            for each in locator.locate(path, read_source(project, path))
            if each.located.is_contradicted
        )
    return ", ".join(f"{count} ({method})" for method, count in found.items()) or "none"


def _text(objects: GitObjects, blob: str) -> str | None:
    data = objects.contents(blob)
    if data is None or len(data) > _MAX_TEXT or b"\0" in data or b"\r" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _vibes(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "vibes_lsp", *arguments]


def _run(*command: str, cwd: Path | None = None, home: Path | None = None) -> str:
    environment = {**os.environ, **({} if home is None else {"HOME": str(home)})}
    done = subprocess.run(
        command, cwd=cwd, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
