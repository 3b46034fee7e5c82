"""A git repository, read through git alone; bare or not, never written to."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

SOURCES: Final = (
    "c", "cc", "cpp", "cs", "go", "h", "hpp", "java", "js", "jsx", "kt", "lua", "mjs", "php", "py",
    "rb", "rs", "scala", "sh", "swift", "ts", "tsx", "zig",
)  # fmt: skip
_SETTINGS: Final = (
    "core.quotePath=false",
    "diff.external=",
    "log.showSignature=false",
    "blame.ignoreRevsFile=",
    "protocol.allow=never",
)
_GIT: Final = (
    "git",
    "--no-pager",
    "--no-replace-objects",
    *(word for setting in _SETTINGS for word in ("-c", setting)),
)


@dataclass(frozen=True, slots=True)
class Version:
    """A file in one commit: its path, the id of its content, and how many bytes that has."""

    path: str
    blob: str
    size: int = field(default=0, compare=False)


class Repository:
    """What benchmarks read from git.

    Attributes:
        name: The repository's name in reports.
    """

    def __init__(self, repository: Path) -> None:
        inside = repository.resolve()
        self.name: Final = inside.parent.name if inside.name in ("repo", ".git") else inside.name
        self._repository = inside
        self._batch = self.start("cat-file", "--batch")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the one process that is kept running."""
        self._batch.communicate()

    def sources(self, commit: str) -> list[Version]:
        """Return the source files of a commit, by path."""
        listed = self.run("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0")
        versions = []
        for entry in filter(None, listed):
            about, path = entry.decode("utf-8", "surrogateescape").split("\t", 1)
            mode, _, blob, size = about.split()
            if mode.startswith("100") and path.rpartition(".")[2] in SOURCES:
                versions.append(Version(path, blob, int(size)))
        return versions

    def content(self, blob: str) -> bytes:
        """Return the bytes of a blob."""
        asked, told = self._batch.stdin, self._batch.stdout
        assert asked is not None
        assert told is not None
        asked.write(f"{blob}\n".encode())
        asked.flush()
        size = int(told.readline().split()[2])
        return told.read(size + 1)[:-1]

    def blobs(self, path: str, most: int) -> list[str]:
        """Return the contents of a file of HEAD on the main line, oldest first, following renames.

        At most the newest `most`.
        """
        order = ("--first-parent", "--follow", f"--max-count={most}", "--format=")
        shown = self.run("log", *order, "--raw", "--no-abbrev", "HEAD", "--", path).decode(
            "utf-8", "surrogateescape"
        )
        named = (line.split(" ")[3] for line in shown.splitlines() if line.startswith(":"))
        return [blob for blob in named if blob.strip("0")][::-1]

    def run(self, *arguments: str) -> bytes:
        """Run git; return what it prints."""
        return subprocess.run(
            [*_GIT, *arguments],
            cwd=self._repository,
            capture_output=True,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start git, to be written to and read from."""
        environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
        return subprocess.Popen(
            [*_GIT, *arguments],
            cwd=self._repository,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
