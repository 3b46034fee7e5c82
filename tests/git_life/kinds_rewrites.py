"""Kinds of histories whose commits are rewritten or replaced: interactive rebase, amend, reset."""

from __future__ import annotations

from collections.abc import Sequence

from tests.git_life.combining import go_on, merge, rebase, rebase_merges
from tests.git_life.kinds_branches import both_sides, person_on_main, work_on
from tests.git_life.life import Life, kind


def _interactive(life: Life, todo: Sequence[tuple[str, int]]) -> None:
    """Make three commits of an AI on a branch, rebase them with these steps, and land."""
    both_sides(life, commits=3)
    rebase(life.work, "main", todo=todo)
    life.look()
    life.work.switch("main")
    merge(life.work, "topic")


@kind
def rebase_squash(life: Life) -> None:
    """Three commits become one."""
    _interactive(life, [("pick", 0), ("squash", 1), ("squash", 2)])


@kind
def rebase_fixup(life: Life) -> None:
    """The third commit becomes part of the first one."""
    _interactive(life, [("pick", 0), ("fixup", 2), ("pick", 1)])


@kind
def rebase_reword(life: Life) -> None:
    """Messages of commits are changed."""
    _interactive(life, [("reword", 0), ("pick", 1), ("reword", 2)])


@kind
def rebase_drop(life: Life) -> None:
    """A commit is left out."""
    _interactive(life, [("pick", 0), ("drop", 1), ("pick", 2)])


@kind
def rebase_reorder(life: Life) -> None:
    """Commits change places."""
    _interactive(life, [("pick", 2), ("pick", 0), ("pick", 1)])


@kind
def rebase_exec(life: Life) -> None:
    """A command runs after each commit."""
    _interactive(life, [("pick", 0), ("exec", 0), ("pick", 1), ("exec", 0), ("pick", 2)])


@kind
def rebase_autosquash(life: Life) -> None:
    """A later commit is made as a fixup of an earlier one, and squashed into it."""
    work = life.work
    work.branch("topic")
    made = work_on(life, commits=2)
    work.ai()
    made.append(life.commit(message="fixup! " + work.answer("show", "-s", "--format=%s", made[0])))
    rebase(work, "main", todo=[("pick", 0), ("fixup", 2), ("pick", 1)])
    work.switch("main")
    merge(work, "topic")


@kind
def rebase_with_merges(life: Life) -> None:
    """A branch with a merge in it is rebased."""
    work = life.work
    paths = sorted(work.disk)
    work.branch("topic")
    work.ai(paths[0])
    life.commit()
    work.branch("side")
    work.ai(paths[1])
    life.commit()
    work.switch("topic")
    work.ai(paths[2])
    life.commit()
    merge(work, "side", options=["--no-ff"])
    work.switch("main")
    person_on_main(life, path=paths[3])
    work.switch("topic")
    rebase_merges(work, "main")
    life.look()
    work.switch("main")
    merge(work, "topic")


@kind
def rebase_edit(life: Life) -> None:
    """A rebase stops at a commit, to which an AI and a person add something."""
    work = life.work
    made = both_sides(life, commits=3)
    rebase(work, "main", todo=[("pick", 0), ("edit", 1), ("pick", 2)])
    work.ai()
    work.person()
    work.amend()
    work.ai()
    life.commit()
    go_on(work, made[2:])
    life.look()
    work.switch("main")
    merge(work, "topic")


@kind
def rebase_split(life: Life) -> None:
    """A rebase stops at a commit, which becomes two."""
    work = life.work
    work.branch("topic")
    made = work_on(life)
    paths = sorted(work.disk)
    for path in paths[:2]:
        work.ai(path)
    made.append(life.commit())
    made += work_on(life)
    rebase(work, "main", todo=[("pick", 0), ("edit", 1), ("pick", 2)])
    work.reset("--mixed", "HEAD^")
    for path in paths[:2]:
        work.stage(path)
        work.commit(everything=False)
    go_on(work, made[2:])
    work.switch("main")
    merge(work, "topic")


@kind
def amend(life: Life) -> None:
    """A commit is replaced by one with more lines of an AI and of a person."""
    work_on(life)
    for _ in range(2):
        life.work.ai()
        life.work.person()
        life.work.amend()
        life.look()
    work_on(life)


@kind
def amend_takes_out(life: Life) -> None:
    """A commit is replaced by one without some lines of the AI."""
    work = life.work
    path = work.a_file()
    name = work.ai(path, size=6)
    work.ai()
    life.commit()
    places = work.of(path, name)
    work.delete(path, places[1], places[4])
    work.amend()
    work_on(life)


@kind
def split_commit(life: Life) -> None:
    """A commit with edits of two files becomes two commits."""
    work = life.work
    paths = sorted(work.disk)[:2]
    for path in paths:
        work.ai(path)
        work.person(path)
    life.commit()
    work.reset("--mixed", "HEAD^")
    for path in paths:
        work.stage(path)
        life.commit(everything=False)


@kind
def reset_and_again(life: Life) -> None:
    """A commit is taken back and made once more, with another edit in the same file."""
    work = life.work
    path = work.a_file()
    work.ai(path)
    life.commit()
    work.reset(life.rng.choice(("--mixed", "--soft")), "HEAD^")
    work.ai(path)
    life.commit()


@kind
def reset_then_other_branch(life: Life) -> None:
    """A commit is taken back and made once more, while another branch has the first one."""
    work = life.work
    path = work.a_file()
    work.ai(path)
    life.commit()
    work.git("branch", "topic")
    work.reset("--mixed", "HEAD^")
    work.person(path)
    life.commit()
    merge(work, "topic", how="ours")


@kind
def reset_hard(life: Life) -> None:
    """Commits of an AI are thrown away, and a person writes something there."""
    work = life.work
    path = work.a_file()
    at = work.gap(path)
    work.ai(path, at=at, size=5)
    life.commit()
    work.ai(path)
    work.reset("--hard", "HEAD^")
    work.person(path, at=at, size=5)
    life.commit()
    work_on(life)


@kind
def orphan_root(life: Life) -> None:
    """A branch without history has the files of main."""
    work = life.work
    work_on(life)
    work.git("switch", "-q", "--orphan", "fresh-start")
    work.disk, work.index = {}, {}
    work.git("checkout", "-q", "main", "--", ".")
    tree = work.commit_of("main").tree
    work.disk, work.index = dict(tree), dict(tree)
    work.ai()
    work.stage()
    work.git("commit", "-q", "-m", "Begin without history")
    work.register(work.head, work.index)
    life.look()
    work_on(life)


@kind
def old_commits_in_main(life: Life) -> None:
    """What an AI wrote long ago stands among much newer code of persons."""
    work_on(life, commits=2)
    for _ in range(4):
        person_on_main(life)
    work_on(life)
    person_on_main(life, commits=3)


@kind
def empty_commits(life: Life) -> None:
    """Commits without changes stand between those of an AI."""
    life.work.ai()
    life.work.commit("--allow-empty", everything=False)
    life.commit()
    life.work.commit("--allow-empty", everything=False)
    work_on(life)
