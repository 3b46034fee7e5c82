"""Kinds of histories with several clones, work trees and repositories."""

from __future__ import annotations

from tests.git_life.beginnings import build, start_trail
from tests.git_life.combining import (
    add_work_tree,
    apply_patch,
    clone,
    merge,
    pop,
    pull,
    remove_work_tree,
    stash,
)
from tests.git_life.kinds_branches import person_on_main, work_on
from tests.git_life.life import Life, kind
from tests.git_life.work_tree import WorkTree


def _teammate(life: Life, *, joins: bool = True) -> WorkTree:
    return clone(life.work, "teammate", joins=joins)


def _take_turns(life: Life, mate: WorkTree, *, rebases: bool, mate_has_ai: bool = True) -> None:
    """Let two clones work on main in turns, and pull from each other."""
    for _ in range(3):
        work_on(life)
        if mate_has_ai:
            mate.ai()
        mate.person()
        life.commit(mate)
        pull(mate, rebases=rebases)
        pull(life.work, str(mate.path), rebases=rebases)


@kind
def two_clones(life: Life) -> None:
    """Two people with AIs pull from each other by merges."""
    _take_turns(life, _teammate(life), rebases=False)


@kind
def pull_rebase(life: Life) -> None:
    """Two people with AIs pull from each other by rebases."""
    mate = _teammate(life)
    _take_turns(life, mate, rebases=True)
    life.look(mate)


@kind
def teammate_without_hook(life: Life) -> None:
    """A teammate has none of our programs, and merges, rebases and edits lines of an AI."""
    mate = _teammate(life, joins=False)
    _take_turns(life, mate, rebases=False, mate_has_ai=False)
    path = next(path for path in mate.disk if any(line.by_ai for line in mate.lines(path)))
    places = [place for place, line in enumerate(mate.lines(path)) if line.by_ai]
    mate.change(path, places[1:2])
    mate.commit()
    pull(life.work, str(mate.path))


@kind
def teammate_squashes(life: Life) -> None:
    """A teammate without our programs squashes a branch with an AI's commits, as a host does."""
    life.work.branch("topic")
    work_on(life, commits=3)
    mate = _teammate(life, joins=False)
    mate.git("fetch", "-q", "origin", "topic", "main")
    mate.git("switch", "-q", "-C", "main", "origin/main")
    mate.arrive()
    merge(mate, "origin/topic", options=["--squash"])
    life.work.switch("main")
    pull(life.work, str(mate.path))


@kind
def worktrees(life: Life) -> None:
    """An AI works in three work trees at once; they are merged."""
    others = [add_work_tree(life.work, f"tree-{name}", name) for name in ("one", "two")]
    for _ in range(2):
        for work in (life.work, *others):
            work.ai()
            life.commit(work)
    for name in ("one", "two"):
        merge(life.work, name)


@kind
def worktree_removed(life: Life) -> None:
    """A work tree is removed after an AI's commit there that no hook saw; its branch is merged."""
    other = add_work_tree(life.work, "tree", "topic")
    other.ai()
    other.commit("--no-verify")
    other.ai(other.a_file())  # never committed
    remove_work_tree(life.work, other)
    merge(life.work, "topic")
    work_on(life)


@kind
def worktree_patch(life: Life) -> None:
    """What an AI did in a work tree comes to the main checkout as a patch."""
    other = add_work_tree(life.work, "tree", "topic")
    base = other.commit_of().tree
    other.ai()
    other.person()
    patch = other.git("diff", "HEAD").stdout
    changed = dict(other.disk)
    apply_patch(life.work, patch, base, changed)
    remove_work_tree(life.work, other)
    life.look()
    life.commit()
    work_on(life)


@kind
def worktree_stash(life: Life) -> None:
    """What an AI did is stashed in one work tree and taken from the stash in another."""
    other = add_work_tree(life.work, "tree", "topic")
    other.ai()
    stashed = stash(other)
    pop(life.work, stashed)
    life.look()
    life.commit()
    work_on(life)


@kind
def shallow(life: Life) -> None:
    """A clone has the last commits only."""
    work_on(life, commits=3)
    person_on_main(life)
    copy = clone(life.work, "shallow", "--depth=2")
    life.look(copy, "shallow")


@kind
def sparse(life: Life) -> None:
    """A clone has some folders on disk only, the trail among them: without it nothing answers."""
    life.work.ai(path := life.history.path("sub/new"))
    life.commit()
    work_on(life)
    copy = clone(life.work, "sparse", "--sparse")
    copy.git("sparse-checkout", "set", "sub", ".ai-audit")
    life.look(copy, "sparse")
    copy.ai(path)
    life.look(copy, "sparse")
    copy.commit()
    pull(life.work, str(copy.path))


@kind
def partial(life: Life) -> None:
    """A clone has no blobs but those on disk."""
    work_on(life, commits=3)
    copy = clone(life.work, "partial", "--filter=blob:none")
    life.look(copy, "partial")
    copy.ai()
    copy.commit()
    pull(life.work, str(copy.path))


@kind
def subtree(life: Life) -> None:
    """A repository with a trail of its own becomes a folder of this one."""
    work = life.work
    library = build(life.history, "library", files=2)
    start_trail(library)
    for _ in range(2):
        library.ai()
        life.commit(library)
    work_on(life)
    work.git("fetch", "-q", str(library.path), "main")
    work.git(
        "merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "FETCH_HEAD"
    )
    work.git("read-tree", "--prefix=lib/", "-u", "FETCH_HEAD")
    for path, file in library.disk.items():
        work.disk[f"lib/{path}"] = work.index[f"lib/{path}"] = file
    work.git("commit", "-q", "-m", "Take the library over")
    work.register(work.head, work.index)
    life.history.subject.join(work.path / "lib")  # a trail has its hook in each repository
    work_on(life)


@kind
def clean_everything(life: Life) -> None:
    """`git clean` and `git checkout .` run between an AI's edit and the commit of another one."""
    work = life.work
    one, two = sorted(work.disk)[:2]
    work.ai(one)
    work.stage(one)
    work.ai(two)
    work.git("clean", "-fdxq")
    work.git("checkout", "-q", ".")
    work.disk[two] = work.index[two]
    life.commit()
    work_on(life)
