"""Kinds of histories with branches: merges, conflicts, squashes, cherry-picks, reverts."""

from __future__ import annotations

from tests.git_life.combining import (
    Resolution,
    cherry_pick,
    mail,
    merge,
    pop,
    rebase,
    revert,
    stash,
)
from tests.git_life.life import Life, kind
from tests.git_life.lines import Lines, Origin
from tests.git_life.work_tree import WorkTree


def work_on(life: Life, *, commits: int = 1, path: str | None = None) -> list[str]:
    """Let an AI and a person make some commits, with several edits each; return them."""
    result = []
    for _ in range(commits):
        for _ in range(life.rng.choice((1, 1, 2, 3))):
            life.work.ai_somewhere(path)
            if life.rng.random() < 0.3:
                life.work.person_somewhere(path)
        result.append(life.commit())
    return result


def person_on_main(life: Life, *, commits: int = 1, path: str | None = None) -> None:
    """Let a person make some commits."""
    for _ in range(commits):
        life.work.person_somewhere(path)
        life.work.commit()


def both_sides(life: Life, *, path: str | None = None, commits: int = 1) -> list[str]:
    """Let an AI work on the branch `topic` and a person on `main`; stay on `topic`."""
    life.work.branch("topic")
    made = work_on(life, commits=commits, path=path)
    life.work.switch("main")
    person_on_main(life, path=path)
    life.work.switch("topic")
    return made


def same_place(life: Life) -> str:
    """Let an AI on `topic` and a person on `main` change the same lines; stay on `topic`."""
    work = life.work
    path = work.a_file()
    start, end = life.rng.choice(work.functions(path))
    place, gone = start + 1, max(1, end - start - 3)
    work.branch("topic")
    work.ai(path, at=place, gone=gone, size=6, part=True)
    life.commit()
    work.switch("main")
    work.person(path, at=place, gone=gone, size=3, part=True)
    work.commit()
    work.switch("topic")
    return path


def _land(life: Life) -> None:
    """Bring `topic` into `main`."""
    life.work.switch("main")
    merge(life.work, "topic")


@kind
def update_branch(life: Life) -> None:
    """A branch is updated from main by a merge, and goes on."""
    both_sides(life)
    merge(life.work, "main")
    life.look()
    work_on(life)
    _land(life)


@kind
def update_twice_moved(life: Life) -> None:
    """A branch is updated twice; in between lines are inserted above those of the AI."""
    path = life.work.a_file()
    both_sides(life, path=path)
    for _ in range(2):
        merge(life.work, "main")
        life.work.person(path, at=0)
        life.commit()
        life.work.switch("main")
        person_on_main(life, path=path)
        life.work.switch("topic")
    merge(life.work, "main")
    _land(life)


def _conflict(life: Life, how: Resolution) -> None:
    same_place(life)
    merge(life.work, "main", how=how)
    life.look()
    _land(life)


@kind
def conflict_by_hand(life: Life) -> None:
    """A conflict is resolved with the lines of both sides."""
    _conflict(life, "both")


@kind
def conflict_part(life: Life) -> None:
    """A conflict is resolved with some lines of both sides and a new one."""
    _conflict(life, "part")


@kind
def conflict_ours(life: Life) -> None:
    """A conflict is resolved with the AI's side."""
    _conflict(life, "ours")


@kind
def conflict_theirs(life: Life) -> None:
    """A conflict is resolved with the person's side."""
    _conflict(life, "theirs")


@kind
def conflict_rewritten(life: Life) -> None:
    """A conflict is resolved by a person who writes other lines."""
    _conflict(life, "rewrite")


@kind
def conflict_of_two_ais(life: Life) -> None:
    """Two branches with an AI's lines at the same place."""
    path = same_place(life)
    work = life.work
    work.switch("main")
    places = [place for place in range(len(work.lines(path))) if place % 9 == 4]
    work.ai(path, at=places[0], gone=1, size=2, part=True)
    life.commit()
    work.switch("topic")
    merge(work, "main")
    _land(life)


@kind
def squash_merge(life: Life) -> None:
    """A branch is squashed into main."""
    both_sides(life, commits=3)
    life.work.switch("main")
    merge(life.work, "topic", options=["--squash"])


@kind
def squash_then_more(life: Life) -> None:
    """A branch is squashed into main, and a second one built on it is, too."""
    squash_merge(life)
    life.work.branch("second")
    work_on(life, commits=2)
    life.work.switch("main")
    person_on_main(life)
    merge(life.work, "second", options=["--squash"])


@kind
def fast_forward(life: Life) -> None:
    """A branch is merged without a merge commit."""
    life.work.branch("topic")
    work_on(life, commits=2)
    _land(life)


@kind
def octopus(life: Life) -> None:
    """Three branches become one, of which two have lines of an AI."""
    for number, name in enumerate(("one", "two", "three")):
        life.work.branch(name, "main")
        path = life.history.path("abc"[number])
        if number == 2:
            person_on_main(life, path=path)
        else:
            work_on(life, path=path)
    life.work.switch("main")
    person_on_main(life, path=life.history.path("d"))
    for name in ("one", "two", "three"):  # one by one: octopus merges know no merge attributes
        merge(life.work, name)


@kind
def criss_cross(life: Life) -> None:
    """Two branches merge each other, and meet."""
    both_sides(life)
    work = life.work
    main = work.resolve("main")
    topic = work.head
    merge(work, main)
    work.switch("main")
    merge(work, topic)
    person_on_main(life)
    merge(work, "topic")


@kind
def cherry_pick_one(life: Life) -> None:
    """A commit is picked to main, and its branch is merged later."""
    made = both_sides(life, commits=3)
    life.work.switch("main")
    cherry_pick(life.work, life.rng.choice(made))
    life.look()
    merge(life.work, "topic")


@kind
def cherry_pick_range(life: Life) -> None:
    """Some commits are picked to main; the branch is never merged."""
    made = both_sides(life, commits=4)
    life.work.switch("main")
    cherry_pick(life.work, *made[1:3])


@kind
def cherry_pick_conflict(life: Life) -> None:
    """A picked commit conflicts, and is resolved by hand; the branch is merged later."""
    same_place(life)
    life.work.switch("main")
    cherry_pick(life.work, "topic")
    life.look()
    merge(life.work, "topic", how="ours")


@kind
def patches_by_mail(life: Life) -> None:
    """Commits of an AI come to main as patches by mail."""
    work = life.work
    paths = sorted(work.disk)
    base = work.head
    work.branch("topic")
    for path in paths[:2]:
        work.ai(path)
        life.commit()
    work.switch("main")
    person_on_main(life, path=paths[2])
    mail(work, base, "topic")


@kind
def busy_day(life: Life) -> None:
    """Three branches are worked on in turns, switched and rebased again and again."""
    work = life.work
    names = ("one", "two", "three")
    for name in names:
        work.git("branch", name)
    for _ in range(4):
        for name in names:
            work.switch(name)
            work.ai_somewhere()
            life.commit()
            rebase(work, "main")
        work.switch("main")
        person_on_main(life)
        merge(work, life.rng.choice(names))
    for name in names:
        merge(work, name)


@kind
def older_commit(life: Life) -> None:
    """An older commit is looked at, and a branch begins there."""
    work_on(life, commits=3)
    life.work.switch("HEAD~2", "--detach")
    life.look()
    life.work.branch("again")
    work_on(life)
    life.work.switch("main")
    merge(life.work, "again")


@kind
def release_branch(life: Life) -> None:
    """A fix is picked to a branch that lives on beside main."""
    work = life.work
    work.git("branch", "release")
    made = work_on(life, commits=3)
    work.switch("release")
    cherry_pick(work, made[-1])
    person_on_main(life)
    merge(work, "main")
    work.switch("main")
    merge(work, "release")


@kind
def revert_once(life: Life) -> None:
    """A commit of an AI is undone."""
    made = work_on(life, commits=2)
    revert(life.work, life.rng.choice(made))
    work_on(life)


@kind
def revert_twice(life: Life) -> None:
    """A commit of an AI is undone, and that is undone."""
    made = work_on(life, commits=2)
    undone = revert(life.work, made[-1])
    person_on_main(life)
    revert(life.work, undone)


@kind
def revert_of_merge(life: Life) -> None:
    """A merge is undone, and that is undone."""
    both_sides(life)
    life.work.switch("main")
    merge(life.work, "topic", options=["--no-ff"])
    undone = revert(life.work, "HEAD", mainline=1)
    person_on_main(life)
    revert(life.work, undone)


@kind
def rebase_branch(life: Life) -> None:
    """A branch is rebased, and lands."""
    both_sides(life, commits=3)
    rebase(life.work, "main")
    life.look()
    _land(life)


@kind
def rebase_conflict(life: Life) -> None:
    """A branch is rebased with a conflict that is resolved by hand."""
    same_place(life)
    work_on(life)
    how: Resolution = life.rng.choice(("both", "part", "theirs"))
    rebase(life.work, "main", how=how)
    _land(life)


@kind
def rebase_onto(life: Life) -> None:
    """A branch of a branch is moved to main."""
    both_sides(life, commits=2)
    life.work.branch("upper")
    work_on(life, commits=2)
    rebase(life.work, "main", upstream="topic")
    life.work.switch("main")
    merge(life.work, "upper")


@kind
def rebase_often(life: Life) -> None:
    """A branch follows main by five rebases."""
    both_sides(life, commits=2)
    for _ in range(5):
        life.work.switch("main")
        person_on_main(life)
        life.work.switch("topic")
        rebase(life.work, "main")
        work_on(life)
    _land(life)


@kind
def stash_over_branches(life: Life) -> None:
    """Work of an AI is stashed on one branch and comes back on another."""
    work = life.work
    path = work.a_file()
    work.git("branch", "topic")
    work.ai(path)
    stashed = stash(work)
    person_on_main(life, path=path)
    work.switch("topic")
    person_on_main(life)
    pop(work, stashed)
    life.commit()
    _land(life)


@kind
def stash_person_in_place(life: Life) -> None:
    """Work of an AI is stashed for good, and a person writes something there."""
    work = life.work
    path = work.a_file()
    at = work.gap(path)
    name = work.ai(path, at=at)
    lines = tuple(line for line in work.lines(path) if line.author == name)
    stash(work)
    person_writes_like(work, path, at, lines)
    life.commit()
    work_on(life)


def person_writes_like(work: WorkTree, path: str, at: int, lines: Lines) -> None:
    """Let a person write a function of the size of these lines, with the same boilerplate."""
    work.person(path, at=at, size=max(1, len(lines) - 3))


@kind
def file_of_other_branch(life: Life) -> None:
    """A file is taken over from another branch, which is merged later."""
    work = life.work
    path = life.history.path("new")
    work.branch("topic")
    work.ai(path)
    life.commit()
    file = work.disk[path]
    work.switch("main")
    work.git("checkout", "-q", "topic", "--", path)
    work.disk[path] = work.index[path] = file
    life.commit()
    person_on_main(life)
    merge(work, "topic")


@kind
def copied_from_branch(life: Life) -> None:
    """A person copies what an AI wrote on another branch into another file."""
    work = life.work
    work.branch("topic")
    name = work.ai(life.history.path("new"))
    lines = work.lines(life.history.path("new"))
    assert lines[0].author == name
    life.commit()
    work.switch("main")
    work.insert(path := work.a_file(), work.gap(path), life.history.again(lines, Origin.COPIED))
    life.commit()
