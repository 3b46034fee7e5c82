"""Random walks: any step may follow any other."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from tests.git_life.combining import (
    Resolution,
    cherry_pick,
    merge,
    pop,
    pull,
    rebase,
    revert,
    stash,
)
from tests.git_life.combining import clone as clone_of
from tests.git_life.life import KINDS, Life
from tests.git_life.lines import Origin
from tests.git_life.work_tree import WorkTree

_STEPS: Final = 30
_WALKS: Final = 8


class Walk:
    """A walk over branches of one repository and a teammate's clone."""

    def __init__(self, life: Life) -> None:
        self.life, self.rng, self.work = life, life.rng, life.work
        self.branches = ["main"]
        self.mate: WorkTree | None = None
        self.steps: list[Callable[[], None]] = [
            *[self.ai] * 8,
            *[self.person] * 3,
            self.rewrite,
            self.move,
            self.copy,
            *[self.commit] * 4,
            self.commit_part,
            self.amend,
            self.discard,
            self.stash,
            self.branch,
            *[self.switch] * 2,
            *[self.merge] * 2,
            self.squash,
            self.rebase,
            self.pick,
            self.revert,
            self.reset,
            self.teammate,
            self.no_verify,
        ]

    def run(self) -> None:
        """Make the steps, and bring everything to main."""
        for _ in range(_STEPS):
            self.rng.choice(self.steps)()
        self.settle()
        self.work.switch("main")
        for name in self.branches[1:]:
            merge(self.work, name, how=self.how())

    def how(self) -> Resolution:
        """Return some way to resolve conflicts."""
        return self.rng.choice(("both", "ours", "theirs", "part"))

    @property
    def is_clean(self) -> bool:
        """Whether nothing waits for a commit."""
        tree = self.work.commit_of().tree
        return self.work.disk == dict(tree)

    def settle(self) -> None:
        """Commit what waits."""
        if not self.is_clean:
            self.life.commit()

    def ai(self) -> None:
        """Let an AI write something."""
        self.work.ai_somewhere()

    def person(self) -> None:
        """Let a person write something."""
        self.work.person_somewhere()

    def rewrite(self) -> None:
        """Let a person write other lines in place of some."""
        path = self.work.a_file()
        length = len(self.work.lines(path))
        if length > 6:
            self.work.change(path, self.rng.sample(range(length), 2))

    def move(self) -> None:
        """Let a person move a function."""
        source, target = self.work.a_file(), self.work.a_file()
        if len(functions := self.work.functions(source)) > 3:
            lines = self.work.delete(source, *self.rng.choice(functions))
            self.work.insert(target, self.work.gap(target), lines)

    def copy(self) -> None:
        """Let a person copy a function."""
        source, target = self.work.a_file(), self.work.a_file()
        if functions := self.work.functions(source):
            start, end = self.rng.choice(functions)
            lines = self.life.history.again(self.work.lines(source)[start:end], Origin.COPIED)
            self.work.insert(target, self.work.gap(target), lines)

    def commit(self) -> None:
        """Commit everything."""
        self.settle()

    def commit_part(self) -> None:
        """Commit one file of those that changed, or half of it."""
        tree = self.work.commit_of().tree
        changed = [path for path, file in sorted(self.work.disk.items()) if tree.get(path) != file]
        if len(changed) > 1:
            self.life.commit(only=changed[:1])
        elif changed and changed[0] in tree:
            self.work.stage_half(changed[0])
            self.life.commit(everything=False)

    def amend(self) -> None:
        """Replace the last commit, if no other branch has it."""
        if not self.is_clean and self._is_alone():
            self.work.amend()

    def _is_alone(self) -> bool:
        head = self.work.commit_of()
        names = self.work.answer("branch", "--format=%(refname)", "--contains", "HEAD").splitlines()
        return len(names) == 1 and len(head.parents) == 1 and self.mate is None

    def discard(self) -> None:
        """Throw away what is not staged of a file."""
        path = self.work.a_file()
        if path in self.work.index:
            self.work.restore(path)

    def stash(self) -> None:
        """Stash what waits, commit something else, and bring it back."""
        if self.is_clean:
            return
        stashed = stash(self.work)
        self.person()
        self.settle()
        pop(self.work, stashed, how=self.how())
        self.settle()

    def branch(self) -> None:
        """Create a branch."""
        if len(self.branches) < 4:
            self.settle()
            self.branches.append(name := f"topic-{self.life.history.number()}")
            self.work.branch(name)

    def switch(self) -> None:
        """Switch to some branch."""
        self.settle()
        self.work.switch(self.rng.choice(self.branches))

    def _other(self) -> str | None:
        self.settle()
        current = self.work.answer("branch", "--show-current")
        others = [name for name in self.branches if name != current]
        return self.rng.choice(others) if others else None

    def merge(self) -> None:
        """Merge another branch."""
        if other := self._other():
            merge(self.work, other, how=self.how())

    def squash(self) -> None:
        """Squash another branch into this one, which ends it."""
        other = self._other()
        if other in (None, "main"):
            return
        before = self.work.head
        if self.work.answer("merge-base", "HEAD", other) != self.work.resolve(other):
            merge(self.work, other, options=["--squash"], how=self.how())
        self.branches.remove(other)
        assert self.work.head != before or self.is_clean

    def rebase(self) -> None:
        """Rebase this branch, if it has no merges."""
        other = self._other()
        if other is None or self.mate is not None:
            return
        if self.work.answer("rev-list", "--merges", f"{other}..HEAD"):
            return
        rebase(self.work, other, how=self.how())

    def pick(self) -> None:
        """Pick the last commit of another branch."""
        other = self._other()
        if other is None:
            return
        commit = self.work.commit_of(other)
        ours = self.work.commit_of()
        if len(commit.parents) == 1 and commit.brought - ours.ever:
            cherry_pick(self.work, other, how="both")

    def revert(self) -> None:
        """Undo the last commit."""
        self.settle()
        head = self.work.commit_of()
        if len(head.parents) == 1 and head.tree != self.life.history.commits[head.parents[0]].tree:
            revert(self.work, "HEAD")

    def reset(self) -> None:
        """Take the last commit back, if no other branch has it."""
        self.settle()
        if self._is_alone():
            self.work.reset(self.rng.choice(("--mixed", "--soft", "--hard")), "HEAD^")

    def teammate(self) -> None:
        """Let a teammate do something on this branch, and pull it."""
        self.settle()
        branch = self.work.answer("branch", "--show-current")
        joins = self.rng.random() < 0.7
        if self.mate is None:
            self.mate = clone_of(self.work, "teammate", joins=True)
        self.mate.git("fetch", "-q", "origin")
        self.mate.switch(f"origin/{branch}", "--detach")
        self.mate.arrive()
        if joins:
            self.mate.ai()
        self.mate.person()
        self.mate.commit()
        self.mate.git("branch", "-f", "given")
        self.person()
        self.settle()
        pull(self.work, str(self.mate.path), "given", how=self.how())

    def no_verify(self) -> None:
        """Commit without the hook, and go on with it."""
        if not self.is_clean:
            self.work.commit("--no-verify")
            self.person()
            self.settle()


def _walk(number: int, life: Life) -> None:
    """Walk at random."""
    assert 0 < number <= _WALKS
    Walk(life).run()


for _number in range(1, _WALKS + 1):
    KINDS[f"random_{_number}"] = partial(_walk, _number)
