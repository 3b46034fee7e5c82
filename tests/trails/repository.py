"""A git repository for tests: no system configuration, the same hashes in every run.

A test starts as few git processes as it can: a new repository is a copy of an empty one, and the
hash of a commit is read from its ref.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

AUTHOR: Final = ("Ada Example", "ada@example.org")
START: Final = datetime(2026, 2, 3, 9, tzinfo=UTC)
"""The time of a repository's first commit; each further one is a minute later."""


class Repository:
    """A git repository. Commits without a date are a minute apart."""

    def __init__(self, path: Path, *, start: str = START.isoformat(), hashes: str = "sha1") -> None:
        """Open the repository at `path`; create it with branch `main` if there is none."""
        self.path: Final = path
        self._time = datetime.fromisoformat(start).astimezone(UTC)
        path.mkdir(parents=True, exist_ok=True)
        if not (path / ".git").exists():
            shutil.copytree(_empty_repository(hashes), path / ".git")

    def git(
        self,
        *args: str,
        date: str | None = None,
        by: tuple[str, str] = AUTHOR,
        committer: tuple[str, str] | None = None,
    ) -> str:
        """Run git and return its output without the final newline.

        Args:
            *args: The arguments.
            date: Author and committer date.
            by: Name and address of the author.
            committer: The committer, if it is another person.

        Raises:
            RuntimeError: Git failed; the message contains its output.
        """
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=self._environment(date or self._time.isoformat(), by, committer or by),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            output = (done.stderr or done.stdout).decode(errors="replace")
            raise RuntimeError(f"git {' '.join(args)} ended with {done.returncode}: {output}")
        return done.stdout.decode("utf-8", errors="surrogateescape").removesuffix("\n")

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the work tree, newlines unchanged, and return its path."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return file

    def commit(
        self,
        message: str,
        date: str | None = None,
        by: tuple[str, str] = AUTHOR,
        committer: tuple[str, str] | None = None,
    ) -> str:
        """Commit the whole work tree, even without a change, and return the commit hash."""
        self.git("add", "--all")
        self.git(
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            message,
            date=date,
            by=by,
            committer=committer,
        )
        self._time += timedelta(minutes=1)
        return self.head()

    def head(self) -> str:
        """Return the hash of HEAD, from the file of its branch where there is one."""
        folder = self.path / ".git"
        if folder.is_dir():  # not that of a linked work tree
            head = (folder / "HEAD").read_text("utf-8").strip()
            branch = folder / head.removeprefix("ref: ")
            if not head.startswith("ref: "):
                return head
            if branch.is_file():  # neither packed nor in a reftable
                return branch.read_text("utf-8").strip()
        return self.git("rev-parse", "HEAD")

    def hooks(self) -> Path:
        """Return the folder of the hooks."""
        folder = self.path / ".git"
        if folder.is_dir():
            return folder / "hooks"
        return self.path / self.git("rev-parse", "--git-path", "hooks")

    def set_user(self, name: str, address: str) -> None:
        """Set who commits and reviews where a program runs git without `_environment`."""
        with (self.path / ".git/config").open("a", encoding="utf-8") as config:
            config.write(f'[user]\n\tname = "{name}"\n\temail = "{address}"\n')

    def branch(self, name: str, start: str | None = None) -> None:
        """Create a branch at HEAD or at `start`, without switching to it."""
        self.git("branch", name, *([] if start is None else [start]))

    def switch(self, name: str, *, create: bool = False) -> None:
        """Switch to a branch; `create` creates it."""
        self.git("switch", "--quiet", *(["--create"] if create else []), name)

    def merge(self, name: str, message: str | None = None, date: str | None = None) -> str:
        """Merge a branch with a merge commit, and return its hash.

        Raises:
            RuntimeError: There are conflicts.
        """
        self.git(
            "merge", "--quiet", "--no-ff", "--message", message or f"Merge {name}", name, date=date
        )
        self._time += timedelta(minutes=1)
        return self.head()

    def add_submodule(self, other: Repository, path: str) -> None:
        """Add another repository as a submodule, without committing it."""
        self.git(
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            other.path.as_uri(),
            path,
        )

    def configure_programs(self) -> None:
        """Name programs in the configuration; each one that git runs leaves a file `ran-OPTION`."""
        for option in (
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "filter.evil.clean",
            "core.fsmonitor",
            "gpg.program",
        ):
            self.git("config", option, f"touch {self.path}/ran-{option};:")
        (self.path / ".git/info/attributes").write_text("*.py diff=evil filter=evil\n", "utf-8")

    def programs_run(self) -> list[Path]:
        """Return the files that programs of `configure_programs` left."""
        return list(self.path.glob("ran-*"))

    def _environment(
        self, date: str, author: tuple[str, str] = AUTHOR, committer: tuple[str, str] = AUTHOR
    ) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")
        }
        return inherited | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": author[0],
            "GIT_AUTHOR_EMAIL": author[1],
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": committer[0],
            "GIT_COMMITTER_EMAIL": committer[1],
            "GIT_COMMITTER_DATE": date,
            "LC_ALL": "C",
        }


@cache
def _empty_repository(hashes: str) -> Path:
    """Return the `.git` of a new repository, made once in a process."""
    folder = Path(tempfile.mkdtemp(prefix="vibes-repository-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(
        [
            "git", "init", "--quiet", "--template=", "--initial-branch=main",
            f"--object-format={hashes}", str(folder),
        ],
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        check=True,
    )  # fmt: skip
    made = folder / ".git"
    for name in ("hooks", "info"):
        (made / name).mkdir()
    return made
