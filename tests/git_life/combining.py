"""Commands of git that combine texts: merge, rebase, cherry-pick, revert, stash, pull.

Conflicts are resolved as a person does it; the result is known line by line.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from tests.git_life.history import Refused
from tests.git_life.lines import Conflict, File, Line, Lines, Tree, merge_lines
from tests.git_life.work_tree import WorkTree, is_trail

if TYPE_CHECKING:
    from tests.git_life.history import History

Resolution: TypeAlias = Literal["both", "ours", "theirs", "part", "rewrite"]


def _resolved(history: History, conflict: Conflict, how: Resolution) -> Lines:
    """Return what a person makes of a conflict."""
    ours, theirs = conflict
    others = tuple(line for line in theirs if line not in ours)
    match how:
        case "ours":
            return ours
        case "theirs":
            return theirs
        case "both":
            return ours + others
        case "part":
            new = history.write([history.coder.special()])
            return others[: (len(others) + 1) // 2] + new + ours
        case "rewrite":
            return history.write(history.coder.body(max(1, len(ours))))


def _merge(history: History, base: Lines, ours: Lines, theirs: Lines, how: Resolution) -> Lines:
    result: list[Line] = []
    for part in merge_lines(base, ours, theirs):
        result += _resolved(history, part, how) if isinstance(part, Conflict) else part
    return tuple(result)


def merge_trees(
    history: History, base: Tree, ours: Tree, theirs: Tree, how: Resolution = "both"
) -> dict[str, File]:
    """Return the files of a merge; files are followed through renames."""
    sides = [
        {file.number: (path, file) for path, file in tree.items()} for tree in (base, ours, theirs)
    ]
    result: dict[str, File] = {}
    for number in dict.fromkeys([*sides[1], *sides[2]]):
        old, mine, other = (side.get(number) for side in sides)
        if mine is None or other is None:
            there = mine or other
            assert there is not None
            if (
                old is None or old[1].lines != there[1].lines
            ):  # new, or changed where one side deleted
                result[there[0]] = there[1]
        else:
            path = other[0] if old is not None and mine[0] == old[0] else mine[0]
            lines = _merge(history, old[1].lines if old else (), mine[1].lines, other[1].lines, how)
            result[path] = mine[1]._replace(lines=lines)
    return result


def merge(
    work: WorkTree,
    *branches: str,
    options: Sequence[str] = (),
    how: Resolution = "both",
) -> None:
    """Merge branches; with `--squash` the result is committed, too."""
    history = work.history
    tree: Tree = work.commit_of().tree
    for branch in branches:
        base = history.commits[work.answer("merge-base", "HEAD", branch)].tree
        tree = merge_trees(history, base, tree, work.commit_of(branch).tree, how)
    done = work.run_clean("merge", "-q", "--no-edit", *options, *branches)
    if "--squash" in options:
        _resolve(work, tree)
        work.git("commit", "-q", "-m", f"Squash {history.number()}")
    elif done.returncode:
        _resolve(work, tree, done.stdout + done.stderr)
        work.git("commit", "-q", "--no-edit")
    _know_new_commits(work, tree)


def _know_new_commits(work: WorkTree, tree: Tree) -> None:
    """Know HEAD, which another work tree may have made, and its files."""
    work.register(work.head, tree)
    work.arrive()


def _resolve(work: WorkTree, tree: Tree, message: bytes = b"") -> None:
    """Write what a person makes of each conflict, and stage it."""
    conflicts = conflicts_of(work)
    if message and not conflicts:
        raise Refused(message.decode("utf-8", "replace"))
    if any(map(is_trail, conflicts)):
        work.history.subject.settle(work.project)
        work.git("add", "-A", "--", *filter(is_trail, conflicts))
    for path in conflicts:
        if path in tree:
            work.place(path, tree[path])
            work.git("add", "--", path)
        elif not is_trail(path):
            work.git("rm", "-q", "-f", "--", path)


def conflicts_of(work: WorkTree) -> list[str]:
    """Return the paths of files in conflict."""
    names = work.answer("diff", "--name-only", "--diff-filter=U", "-z").split("\0")
    return [name for name in names if name]


def cherry_pick(work: WorkTree, *commits: str, how: Resolution = "both") -> None:
    """Pick commits of another branch."""
    steps = [work.resolve(commit) for commit in commits]
    _sequence(work, ["cherry-pick", *steps], steps, how)


def revert(
    work: WorkTree, commit: str, *, mainline: int | None = None, how: Resolution = "ours"
) -> str:
    """Undo a commit; return the new one."""
    history = work.history
    commit = work.resolve(commit)
    parent = history.commits[commit].parents[(mainline or 1) - 1]
    tree = merge_trees(
        history,
        history.commits[commit].tree,
        work.commit_of().tree,
        history.commits[parent].tree,
        how,
    )
    options = ["-m", str(mainline)] if mainline else []
    done = work.run_clean("revert", "--no-edit", *options, commit)
    if done.returncode:
        _resolve(work, tree, done.stdout + done.stderr)
        work.git("commit", "-q", "--allow-empty", "--no-edit")
    _know_new_commits(work, tree)
    return work.head


def rebase(
    work: WorkTree,
    onto: str,
    *,
    upstream: str | None = None,
    todo: Sequence[tuple[str, int]] | None = None,
    how: Resolution = "both",
) -> None:
    """Rebase the current branch.

    Args:
        onto: The new base.
        upstream: What is not rebased, if it is not `onto`.
        todo: Verb and number of the commit, from 0, of each step of an interactive rebase. A rebase that
            stops to edit goes on with `go_on`.
        how: How conflicts are resolved.
    """
    upstream = upstream or onto
    commits = work.answer(
        "rev-list", "--reverse", "--topo-order", "--no-merges", f"{upstream}..HEAD"
    ).split()
    command = ["rebase", "-q", *(["--onto", onto, upstream] if upstream != onto else [onto])]
    steps = commits
    if todo is not None:
        text = "".join(
            "exec git status\n" if verb == "exec" else f"{verb} {commits[number]}\n"
            for verb, number in todo
        )
        file = work.history.root / "todo"
        file.write_text(text, "utf-8")
        command[1:1] = ["-i"]
        command[:0] = ["-c", f"sequence.editor=cp {shlex.quote(str(file))}"]
        steps = [commits[number] for verb, number in todo if verb not in ("drop", "exec")]
    _sequence(work, command, steps, how, start=work.resolve(onto))


def rebase_merges(work: WorkTree, onto: str) -> None:
    """Rebase the current branch with its merges, which must not conflict."""
    history = work.history
    old = work.answer("rev-list", "--reverse", "--topo-order", f"{onto}..HEAD").split()
    start = work.resolve(onto)
    done = work.run_clean("rebase", "-q", "--rebase-merges", onto)
    if done.returncode:
        raise Refused((done.stdout + done.stderr).decode("utf-8", "replace")[-600:])
    messages = {work.answer("show", "-s", "--format=%s", commit): commit for commit in old}
    for commit in work.answer("rev-list", "--reverse", "--topo-order", f"{start}..HEAD").split():
        parents = work.answer("show", "-s", "--format=%P", commit).split()
        trees = [history.commits[parent].tree for parent in parents]
        if len(parents) == 1:
            original = messages[work.answer("show", "-s", "--format=%s", commit)]
            tree = _applied(history, trees[0], original, "both")
        else:
            base = history.commits[work.answer("merge-base", *parents)].tree
            tree = merge_trees(history, base, trees[0], trees[1])
        work.register(commit, tree)
    work.arrive()


def mail(work: WorkTree, base: str, source: str) -> None:
    """Apply the commits of another branch as patches by mail."""
    commits = work.answer("rev-list", "--reverse", f"{base}..{source}").split()
    patches = work.git("format-patch", "--stdout", f"{base}..{source}").stdout
    tree: Tree = work.commit_of().tree
    start = work.head
    work.history.git(work.path, "am", "-q", "-3", stdin=patches)
    new = work.answer("rev-list", "--reverse", f"{start}..HEAD").split()
    for original, commit in zip(commits, new, strict=True):
        tree = _applied(work.history, tree, original, "both")
        work.register(commit, tree)
    work.arrive()


def go_on(work: WorkTree, steps: Sequence[str], how: Resolution = "both") -> None:
    """Continue a rebase that stopped to edit a commit; `steps` are the commits that are left."""
    _sequence(work, ["-c", "core.editor=true", "rebase", "--continue"], steps, how, start=work.head)


def _sequence(
    work: WorkTree,
    command: Sequence[str],
    steps: Sequence[str],
    how: Resolution,
    start: str | None = None,
) -> None:
    """Run a command that applies commits in turn, and resolve its conflicts."""
    history = work.history
    pending = list(steps)
    last = start or work.head
    resolved: dict[str, Tree] = {}
    done = work.run_clean(*command)
    verb = next(word for word in command if word in ("cherry-pick", "rebase"))
    before = last
    while True:
        last = _know_applied(work, last, pending, resolved, how)
        stopped = work.git(
            "rev-parse", "-q", "--verify", f"{verb.upper().replace('-', '_')}_HEAD", check=False
        )
        conflicts = conflicts_of(work)
        if not conflicts and b"would be overwritten by" in done.stderr and last != before:
            # git's sequencer does not see that a hook has changed the index: once more
            history.happened.refused.append(f"{verb} --continue")
            before = last
            done = work.git("-c", "core.editor=true", verb, "--continue", check=False)
            continue
        if not conflicts:
            if done.returncode and not stopped.stdout:
                raise Refused((done.stdout + done.stderr).decode("utf-8", "replace")[-600:])
            break
        commit = stopped.stdout.decode().strip()
        tree = _applied(history, work.commit_of().tree, commit, how)
        resolved[commit] = tree
        _resolve(work, tree)
        is_empty = not work.git("diff", "--cached", "--quiet", check=False).returncode
        step = "--skip" if is_empty else "--continue"
        done = work.git("-c", "core.editor=true", verb, step, check=False)
    work.arrive()


def _applied(history: History, tree: Tree, commit: str, how: Resolution) -> dict[str, File]:
    """Return the files after a commit was applied to others."""
    known = history.commits[commit]
    return merge_trees(history, history.commits[known.parents[0]].tree, tree, known.tree, how)


def _know_applied(
    work: WorkTree,
    last: str,
    pending: list[str],
    resolved: dict[str, Tree],
    how: Resolution,
) -> str:
    """Know the commits after `last`; each applies one or more of the pending ones."""
    for commit in work.answer("rev-list", "--reverse", f"{last}..HEAD").split():
        if commit in work.history.commits:  # made by hand while the rebase stopped, or unchanged
            if commit in pending:
                del pending[: pending.index(commit) + 1]
            continue
        parent = work.resolve(f"{commit}^")
        tree: Tree = work.history.commits[parent].tree
        count, best = 0, tree
        for step, original in enumerate(pending, 1):
            if original in resolved:
                tree = resolved[original]
            else:
                tree = _applied(work.history, tree, original, how)
            if step == 1 or _is_in_git(work, commit, tree):
                count, best = step, tree
            if _is_in_git(work, commit, tree):
                break
        del pending[:count]
        work.register(commit, best)
    return work.head


def _is_in_git(work: WorkTree, commit: str, tree: Tree) -> bool:
    return all(
        work.committed(commit, path) == [line.text for line in file.lines]
        for path, file in tree.items()
    )


def stash(work: WorkTree) -> tuple[Tree, Tree]:
    """Stash what is not committed; return what `pop` needs."""
    base, disk = work.commit_of().tree, dict(work.disk)
    work.git("stash", "-q", "-u")
    work.arrive()
    return base, disk


def pop(work: WorkTree, stashed: tuple[Tree, Tree], how: Resolution = "both") -> None:
    """Bring stashed changes back."""
    base, disk = stashed
    tree = merge_trees(work.history, base, work.commit_of().tree, disk, how)
    done = work.git("stash", "pop", "-q", check=False)
    if done.returncode:
        _resolve(work, tree, done.stdout + done.stderr)
        work.git("stash", "drop", "-q")
        work.git("reset", "-q")
    _see_disk(work, tree)


def apply_patch(work: WorkTree, patch: bytes, base: Tree, changed: Tree) -> None:
    """Apply a patch that was made between two known trees, without committing it."""
    work.git("update-index", "-q", "--refresh", check=False)
    work.history.git(work.path, "apply", "--3way", "-", stdin=patch)
    work.git("reset", "-q")
    tree = merge_trees(work.history, base, work.commit_of().tree, changed)
    _see_disk(work, tree)


def _see_disk(work: WorkTree, tree: Tree) -> None:
    """Know that the disk has these files, which git wrote."""
    for path, file in tree.items():
        actual = work.history.decode((work.path / path).read_bytes())
        work.disk[path] = file._replace(lines=work.history.adopt(file.lines, actual))
    for path in set(work.disk) - set(tree):
        del work.disk[path]
    work.index = {path: file for path, file in work.index.items() if path in work.commit_of().tree}


def clone(work: WorkTree, name: str, *options: str, joins: bool = True) -> WorkTree:
    """Return a clone of a work tree's repository.

    Args:
        name: Of its folder.
        options: Of `git clone`.
        joins: Whether its user has the hook.
    """
    history = work.history
    result = WorkTree(history, history.root / name)
    source = work.path.as_uri() if options else str(work.path)
    history.git(history.root, "clone", "-q", *options, source, str(result.path))
    if joins:
        history.subject.join(result.project)
    if work.head in history.commits:
        result.arrive()
    return result


def pull(
    work: WorkTree,
    source: str = "origin",
    branch: str = "main",
    *,
    rebases: bool = False,
    how: Resolution = "both",
) -> None:
    """Pull a branch, by merge or by rebase."""
    work.git("fetch", "-q", source, branch)
    fetched = work.resolve("FETCH_HEAD")
    if rebases:
        rebase(work, fetched, how=how)
    else:
        merge(work, fetched, how=how)


def add_work_tree(work: WorkTree, name: str, branch: str) -> WorkTree:
    """Return a new work tree of the same repository, on a new branch."""
    result = WorkTree(work.history, work.history.root / name)
    work.git("worktree", "add", "-q", "-b", branch, str(result.path))
    work.history.subject.join(result.project)
    result.arrive()
    return result


def remove_work_tree(work: WorkTree, gone: WorkTree) -> None:
    """Remove a work tree with all that it has."""
    gone.close()
    work.git("worktree", "remove", "--force", str(gone.path))


def hooks(work: WorkTree) -> Path:
    """Return the folder of a repository's hooks."""
    return Path(work.path, work.answer("rev-parse", "--git-path", "hooks"))
