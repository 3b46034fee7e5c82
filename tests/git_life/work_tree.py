"""A work tree whose lines are known: what people, AIs and simple commands of git do in it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.git_life.code import reindented
from tests.git_life.history import Commit, History, Refused
from tests.git_life.lines import File, Line, Lines, Origin, Tree, changes, spans
from tests.git_life.subject import Edit

TRAIL: Final = (":(glob)**/.ai-audit/**", ":(glob)**/.gitattributes")
"""What a tool may change beside the files of the history, as git finds it."""


def is_trail(path: str) -> bool:
    """Whether a tool may change a file."""
    return ".ai-audit" in Path(path).parts or Path(path).name == ".gitattributes"


class WorkTree:
    """A work tree of a clone.

    Attributes:
        history: What all work trees share.
        path: Its folder.
        disk: The files on disk.
        index: The files as staged.
        formats: Whether a hook formats what is committed.
    """

    def __init__(self, history: History, path: Path) -> None:
        self.history, self.path = history, path
        self.rng = history.rng
        self.disk: dict[str, File] = {}
        self.index: dict[str, File] = {}
        self.formats = False
        self._objects: subprocess.Popen[bytes] | None = None
        history.work_trees.append(self)

    @property
    def project(self) -> Path:
        """The folder of the project, which has the trail."""
        return self.path / self.history.form.folder

    def local(self, path: str) -> str:
        """Return the path of a file relative to the project."""
        return path.removeprefix(self.history.form.folder)

    # Files

    def put(self, path: str, lines: Lines) -> None:
        """Write a file."""
        old = self.disk.get(path)
        self.place(path, old._replace(lines=lines) if old else self.history.file(lines))

    def place(self, path: str, file: File) -> None:
        """Write a file that may have another name elsewhere."""
        while not self.history.form.is_terminated and file.lines and not file.lines[-1].text:
            file = file._replace(lines=file.lines[:-1])  # no text has such a line
        self.disk[path] = file
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.history.encode(file.lines))

    def take(self, path: str) -> File:
        """Remove a file from the disk, and return it."""
        (self.path / path).unlink()
        return self.disk.pop(path)

    def rename(self, old: str, new: str) -> None:
        """Rename a file."""
        self.place(new, self.take(old))

    def lines(self, path: str) -> Lines:
        """Return the lines of a file on disk."""
        return self.disk[path].lines

    def a_file(self) -> str:
        """Return the path of some file; two are changed more often than the others."""
        paths = sorted(self.disk)
        return self.rng.choice(paths[:2] if self.rng.random() < 0.6 else paths)

    def gap(self, path: str) -> int:
        """Return a place between two functions."""
        lines = self.lines(path)
        ends = [place + 1 for place, line in enumerate(lines) if not line.text]
        return self.rng.choice([0, *(end for end in ends if self._starts(lines, end))])

    @staticmethod
    def _starts(lines: Lines, place: int) -> bool:
        return place == len(lines) or lines[place].text[:1] not in ("", " ", "\t", "}")

    def functions(self, path: str) -> list[tuple[int, int]]:
        """Return start and end of each function of a file."""
        lines = self.lines(path)
        starts = [
            place for place, line in enumerate(lines) if line.text[:1] not in ("", " ", "\t", "}")
        ]
        return list(zip(starts, [*starts[1:], len(lines)], strict=True))

    # People and AIs

    def ai(
        self,
        path: str | None = None,
        *,
        at: int | None = None,
        gone: int = 0,
        size: int | None = None,
        part: bool = False,
    ) -> str:
        """Let an AI write a function, or lines of one; return the name of the edit.

        Args:
            path: Some file if None; a file that does not exist is created.
            at: The place, from 0; between two functions if None.
            gone: The number of lines that it replaces.
            size: The number of lines in the body.
            part: Whether it writes lines of a function.
        """
        path = path or self.a_file()
        words = (
            self.history.coder.body(size or self.rng.randint(1, 6))
            if part
            else self.history.coder.function(size)
        )
        old = self.lines(path) if path in self.disk else ()
        at = (self.gap(path) if old else 0) if at is None else at
        name = self.history.edit()
        new = self.history.write(words, name)
        self.save_as_ai(name, path, old[:at] + new + old[at + gone :])
        return name

    def save_as_ai(self, name: str, path: str, lines: Lines) -> None:
        """Save what an AI made of a file, and record the edit."""
        file = self.path / path
        before = file.read_bytes() if file.exists() else None
        self.put(path, lines)
        written = enumerate(self.lines(path), 1)
        ranges = spans(number for number, line in written if line.author == name)
        edit = Edit(name, self.local(path), before, file.read_bytes(), ranges)
        self.history.touched.add(self.disk[path].number)
        self.history.subject.record(self.project, edit)

    def person(
        self,
        path: str | None = None,
        *,
        at: int | None = None,
        gone: int = 0,
        size: int | None = None,
        part: bool = False,
    ) -> None:
        """Let a person write a function, or lines of one; arguments as for `ai`."""
        path = path or self.a_file()
        coder = self.history.coder
        words = coder.body(size or self.rng.randint(1, 4)) if part else coder.function(size)
        old = self.lines(path) if path in self.disk else ()
        at = (self.gap(path) if old else 0) if at is None else at
        self.put(path, old[:at] + self.history.write(words) + old[at + gone :])

    def ai_somewhere(self, path: str | None = None) -> str:
        """Let an AI write a function, or insert or replace lines in one that is there."""
        path = path or self.a_file()
        functions = self.functions(path) if path in self.disk else []
        if not functions or self.rng.random() < 0.5:
            return self.ai(path)
        start, end = self.rng.choice(functions)
        at = self.rng.randint(start + 1, max(start + 1, end - 1))
        gone = self.rng.choice((0, 0, 1, 2, 3))
        return self.ai(path, at=at, gone=min(gone, max(0, end - at - 1)), part=True)

    def person_somewhere(self, path: str | None = None) -> None:
        """Let a person write a function, insert or replace lines, or delete some."""
        path = path or self.a_file()
        length = len(self.lines(path)) if path in self.disk else 0
        how = self.rng.randrange(4) if length > 8 else 0
        at = self.rng.randint(0, length)
        if how == 0:
            self.person(path)
        elif how == 1:
            self.person(path, at=at, part=True)
        elif how == 2:
            self.change(path, self.rng.sample(range(length), self.rng.randint(1, 3)))
        else:
            self.delete(path, min(at, length - 3), min(at, length - 3) + self.rng.randint(1, 3))

    def change(self, path: str, places: Iterable[int]) -> None:
        """Let a person write other lines in place of some."""
        lines = list(self.lines(path))
        for place in places:
            lines[place] = self.history.write([self.history.coder.special()])[0]
        self.put(path, tuple(lines))

    def delete(self, path: str, start: int, end: int) -> Lines:
        """Delete lines, and return them."""
        lines = self.lines(path)
        self.put(path, lines[:start] + lines[end:])
        return lines[start:end]

    def insert(self, path: str, at: int, lines: Lines) -> None:
        """Insert lines."""
        old = self.lines(path)
        self.put(path, old[:at] + lines + old[at:])

    def of(self, path: str, author: str) -> list[int]:
        """Return the places of an author's lines in a file."""
        return [place for place, line in enumerate(self.lines(path)) if line.author == author]

    def formatted(self, lines: Lines) -> Lines:
        """Return what the formatter makes of a text."""
        return tuple(
            line
            if (text := reindented(line.text)) == line.text
            else self.history.keep(
                replace(
                    line,
                    number=self.history.number(),
                    text=text,
                    origin=Origin.FORMATTED,
                    typed=line.typed or line.text,
                    root=line.root or line.number,
                )
            )
            for line in lines
        )

    # Git

    def git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        """Run git here."""
        return self.history.git(self.path, *arguments, check=check)

    def answer(self, *arguments: str) -> str:
        """Return what git prints."""
        return self.git(*arguments).stdout.decode().strip()

    @property
    def head(self) -> str:
        """The hash of HEAD."""
        return self.resolve("HEAD")

    def commit_of(self, revision: str = "HEAD") -> Commit:
        """Return a known commit."""
        return self.history.commits[self.resolve(revision)]

    def stage(self, *paths: str) -> None:
        """Stage files as they are on disk; all of them if none is named."""
        changed = [
            path
            for path in (paths or sorted({*self.disk, *self.index}))
            if self.disk.get(path) != self.index.get(path)
        ]
        if changed:
            self.git("add", "-A", "--", *changed)
        for path in changed:
            if path in self.disk:
                self.index[path] = self.disk[path]
            else:
                self.index.pop(path, None)

    def stage_lines(self, path: str, lines: Lines) -> None:
        """Stage a text that is not the one on disk, as `git add --patch` does."""
        data = "".join(line.text + "\n" for line in lines).encode()
        blob = self.history.git(self.path, "hash-object", "-w", "--stdin", stdin=data)
        name = blob.stdout.decode().strip()
        self.git("update-index", "--add", "--cacheinfo", f"100644,{name},{path}")
        file = self.index.get(path) or self.disk[path]
        self.index[path] = file._replace(lines=lines)

    def stage_half(self, path: str) -> None:
        """Stage every second change of a file."""
        old = self.commit_of().tree[path].lines
        new = self.lines(path)
        result: list[Line] = []
        end = 0
        for number, (first, last, start, stop) in enumerate(changes(old, new)):
            result += old[end:first]
            result += new[start:stop] if number % 2 == 0 else old[first:last]
            end = last
        self.stage_lines(path, (*result, *old[end:]))

    def commit(
        self,
        *options: str,
        only: Sequence[str] = (),
        everything: bool = True,
        message: str | None = None,
    ) -> str:
        """Commit, and return the hash.

        Args:
            only: Paths as in `git commit PATH`.
            everything: Whether all changes are staged first.
        """
        if everything and not only:
            self.stage()
        tree = dict(self.commit_of().tree) if only else dict(self.index)
        for path in only:
            tree[path] = self.index[path] = self.disk[path]
        message = message or f"Change {self.history.number()}"
        if tree == self.commit_of().tree:
            options = (*options, "--allow-empty")
        self.git("commit", "-q", "-m", message, *options, "--", *only)
        if self.formats and "--no-verify" not in options:
            self._format(tree)
        return self.register(self.head, tree)

    def _format(self, tree: dict[str, File]) -> None:
        """Know what the formatter in the hook did to what was staged."""
        before = self.commit_of("HEAD^").tree
        for path, file in tree.items():
            if before.get(path) != file:
                formatted = file._replace(lines=self.formatted(file.lines))
                tree[path] = self.index[path] = self.disk[path] = formatted

    def amend(self, *options: str) -> str:
        """Stage everything, and replace the last commit."""
        return self.commit("--amend", *options)

    def register(self, commit: str, expected: Tree) -> str:
        """Know a commit that git made, whose files are nearly always the expected ones."""
        history = self.history
        if commit in history.commits:
            return commit
        parents = self._parents(commit)
        tree = {
            path: file._replace(lines=history.adopt(file.lines, actual))
            for path, file in expected.items()
            if (actual := self.committed(commit, path)) is not None
        }
        older = frozenset[int]().union(*(history.commits[parent].ever for parent in parents))
        numbers = frozenset(line.number for file in tree.values() for line in file.lines)
        history.commits[commit] = Commit(tuple(parents), tree, older | numbers, numbers - older)
        return commit

    def _parents(self, commit: str) -> list[str]:
        entry = self._read(commit)
        assert entry is not None
        head = entry[1].decode().partition("\n\n")[0].split("\n")
        return [row[7:] for row in head if row.startswith("parent ")]

    def arrive(self) -> None:
        """Know that disk and index are as HEAD has them."""
        self.index = dict(self.commit_of().tree)
        self.disk = dict(self.index)

    def carry(self, tree: Tree) -> None:
        """Know that a clean index and disk hold these files."""
        self.index, self.disk = dict(tree), dict(tree)

    def switch(self, branch: str, *options: str) -> None:
        """Switch branches, with a clean work tree or one whose changes git carries along."""
        old = self.commit_of().tree
        carried = {
            path: self.disk.get(path)
            for path in {*self.disk, *old}
            if self.disk.get(path) != old.get(path)
        }
        self._succeed("switch", "-q", *options, branch)
        self.arrive()
        for path, file in carried.items():
            if file is None:
                del self.disk[path]
            else:
                self.disk[path] = file

    def branch(self, name: str, start: str = "HEAD") -> None:
        """Create a branch and switch to it."""
        self._succeed("switch", "-q", "-c", name, start)
        if start != "HEAD":
            self.arrive()

    def _succeed(self, *arguments: str) -> None:
        done = self.run_clean(*arguments)
        if done.returncode:
            raise Refused(f"git {' '.join(arguments)}: {done.stderr.decode('utf-8', 'replace')}")

    def run_clean(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command that needs a clean trail; where it is not, note that and commit the trail."""
        done = self.git(*arguments, check=False)
        message = (done.stdout + done.stderr).decode("utf-8", "replace")
        if done.returncode and any(
            text in message
            for text in ("would be overwritten", "unstaged changes", "uncommitted changes")
        ):
            self.history.happened.refused.append(" ".join(arguments[:3]))
            self.commit_trail()
            done = self.git(*arguments, check=False)
        return done

    def commit_trail(self) -> None:
        """Commit what a tool changed in its trail, as its user does where git refuses a command."""
        tree = self.commit_of().tree
        self.git("add", "-A", "--", TRAIL[0])
        if self.git("diff", "--cached", "--quiet", "--", TRAIL[0], check=False).returncode:
            self.git("commit", "-q", "--no-verify", "-m", "Trail", "--", TRAIL[0])
            self.register(self.head, tree)

    def restore(self, *paths: str) -> None:
        """Throw away what is not staged of some files."""
        self.git("checkout", "-q", "--", *paths)
        for path in paths:
            self.disk[path] = self.index[path]

    def reset(self, how: str, target: str) -> None:
        """Reset HEAD; `how` is `--hard`, `--mixed` or `--soft`."""
        disk, index = dict(self.disk), dict(self.index)
        self.git("reset", "-q", how, target)
        self.arrive()
        if how != "--hard":
            self.disk = disk
        if how == "--soft":
            self.index = index

    def committed(self, commit: str, path: str) -> list[str] | None:
        """Return the lines of a file in a commit, as git has them; None if it has no such file."""
        blob = self._read(f"{commit}:{path}")
        if blob is None:
            return None
        return self.history.decode(blob[1])

    def resolve(self, revision: str) -> str:
        """Return the hash of a revision that is a commit."""
        commit = self._read(f"{revision}^{{commit}}")
        if commit is None:
            raise Refused(f"no commit {revision}")
        return commit[0]

    def _read(self, revision: str) -> tuple[str, bytes] | None:
        """Return the hash and the bytes of an object, from a process that answers many questions."""
        if self._objects is None:
            self._objects = subprocess.Popen(
                ["git", "cat-file", "--batch"],
                cwd=self.path,
                env=self.history.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        questions, answers = self._objects.stdin, self._objects.stdout
        assert questions is not None
        assert answers is not None
        questions.write(f"{revision}\n".encode())
        questions.flush()
        name, *_, size = answers.readline().decode().split()
        if not size.isdigit():
            return None
        return name, answers.read(int(size) + 1)[:-1]

    def trail_status(self) -> str:
        """Return what `git status` lists of the trail."""
        return self.answer("status", "--porcelain", "--", *TRAIL)

    def check(self) -> None:
        """Fail where the files on disk are not the known ones: then the generator is wrong."""
        for path, file in self.disk.items():
            assert (self.path / path).read_bytes() == self.history.encode(file.lines), path
        listed = set(self.answer("ls-files", "-c", "-z").split("\0")) - {""}
        ours = {path for path in listed if not is_trail(path)}
        assert ours == set(self.index), ours ^ set(self.index)

    def close(self) -> None:
        """End the process that reads objects."""
        if self._objects is not None:
            self._objects.communicate()
            self._objects = None
