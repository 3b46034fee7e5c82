"""Kinds of histories about what happens before a commit, and to lines after it."""

from __future__ import annotations

from tests.git_life.combining import hooks, pop, stash
from tests.git_life.kinds_branches import person_on_main, work_on
from tests.git_life.life import Life, kind
from tests.git_life.lines import Origin
from tests.git_life.work_tree import WorkTree

_FORMATTER = r"""
for file in $(git diff --cached --name-only --diff-filter=AM -- '*.py' '*.js' '*.go'); do
    sed 's/^[[:blank:]]\{1,\}\([^[:blank:]]\)/      \1/' "$file" > "$file.new"
    cat "$file.new" > "$file"
    rm "$file.new"
    git add "$file"
done
"""


def ai_and_person(life: Life, path: str | None = None) -> str:
    """Let an AI write a function and commit it; return the file."""
    path = path or life.work.a_file()
    life.work.ai(path, size=6)
    life.commit()
    return path


def other_file(work: WorkTree, path: str) -> str:
    """Return another file."""
    return work.rng.choice(sorted(set(work.disk) - {path}))


@kind
def copied(life: Life) -> None:
    """A person copies a function of an AI, into the same file and into another one."""
    work = life.work
    path = work.a_file()
    name = work.ai(path, size=6)
    lines = tuple(line for line in work.lines(path) if line.author == name)
    if life.rng.random() < 0.5:
        life.commit()
    for target in (path, other_file(work, path)):
        work.insert(target, work.gap(target), life.history.again(lines, Origin.COPIED))
        life.commit()
    work_on(life)


@kind
def copied_file(life: Life) -> None:
    """A person copies a file with lines of an AI."""
    work = life.work
    path = ai_and_person(life)
    work.put(life.history.path("copy"), life.history.again(work.lines(path), Origin.COPIED))
    life.commit()
    work.change(path, work.of(path, "edit-1")[:1])
    life.commit()


@kind
def retyped_elsewhere(life: Life) -> None:
    """A committed function of an AI is deleted, and a person types it in another file later."""
    work = life.work
    path = ai_and_person(life)
    places = work.of(path, "edit-1")
    lines = work.delete(path, places[0], places[-1] + 1)
    life.commit()
    target = other_file(work, path)
    work.insert(target, work.gap(target), life.history.again(lines, Origin.RETYPED))
    life.commit()


@kind
def retyped_in_place(life: Life) -> None:
    """A committed function of an AI is deleted, and a person types it in the same file later."""
    work = life.work
    path = ai_and_person(life)
    places = work.of(path, "edit-1")
    lines = work.delete(path, places[0], places[-1] + 1)
    life.commit()
    person_on_main(life)
    work.insert(path, work.gap(path), life.history.again(lines, Origin.RETYPED))
    life.commit()


@kind
def thrown_away_and_typed(life: Life) -> None:
    """An AI's edit is thrown away before the commit, and a person types the same there."""
    work = life.work
    path = work.a_file()
    at = work.gap(path)
    work.ai(path, at=at, size=5)
    lines = tuple(line for line in work.lines(path) if line.by_ai)
    work.restore(path)
    work.insert(path, at, life.history.again(lines, Origin.UNDONE))
    life.commit()


@kind
def thrown_away(life: Life) -> None:
    """An AI's edit is thrown away before the commit, and a person writes another function there."""
    work = life.work
    path = work.a_file()
    at = work.gap(path)
    work.ai(path, at=at, size=6)
    work.restore(path)
    work.person(path, at=at, size=6)
    life.commit()
    work_on(life)


@kind
def moved_block(life: Life) -> None:
    """A function of an AI moves to another file, and within that one."""
    work = life.work
    path = ai_and_person(life)
    target = other_file(work, path)
    places = work.of(path, "edit-1")
    lines = work.delete(path, places[0], places[-1] + 1)
    work.insert(target, work.gap(target), lines)
    life.commit()
    places = work.of(target, "edit-1")
    lines = work.delete(target, places[0], places[-1] + 1)
    work.insert(target, work.gap(target), lines)
    life.commit()


@kind
def moved_before_commit(life: Life) -> None:
    """A function of an AI moves to another file before the commit."""
    work = life.work
    path = work.a_file()
    work.ai(path, size=6)
    target = other_file(work, path)
    places = work.of(path, "edit-1")
    lines = work.delete(path, places[0], places[-1] + 1)
    work.insert(target, work.gap(target), lines)
    life.commit()
    work_on(life)


@kind
def file_split(life: Life) -> None:
    """The second half of a file with lines of an AI becomes a file."""
    work = life.work
    path = ai_and_person(life)
    ai_and_person(life, path)
    half = work.functions(path)[len(work.functions(path)) // 2][0]
    lines = work.delete(path, half, len(work.lines(path)))
    work.put(life.history.path("half"), lines)
    life.commit()


@kind
def rename_edit(life: Life) -> None:
    """A file with lines of an AI is renamed and edited in one commit."""
    work = life.work
    path = ai_and_person(life)
    work.rename(path, target := life.history.path("renamed"))
    work.person(target)
    work.ai(target)
    life.commit()
    work.rename(target, life.history.path("sub/again"))
    life.commit()
    work_on(life)


@kind
def renamed_before_commit(life: Life) -> None:
    """A file is renamed after an AI edited it, before the commit."""
    work = life.work
    path = work.a_file()
    work.ai(path)
    work.rename(path, target := life.history.path("renamed"))
    work.ai(target)
    life.commit()


@kind
def new_file_renamed(life: Life) -> None:
    """A file that an AI made is renamed before the commit."""
    work = life.work
    work.ai(path := life.history.path("new"))
    work.rename(path, life.history.path("sub/newer"))
    life.commit()
    work_on(life)


def _format_in_hook(work: WorkTree, *, first: bool) -> None:
    """Let the hook format what is committed, before or after the tool's part."""
    hook = hooks(work) / "pre-commit"
    tool = hooks(work) / "pre-commit.tool"
    hook.parent.mkdir(exist_ok=True)
    if hook.exists():
        hook.rename(tool)
    call = f'test ! -x "{tool}" || "{tool}" || exit\n'
    parts = [_FORMATTER, call] if first else [call, _FORMATTER]
    hook.write_text("#!/bin/sh\n" + "".join(parts), "utf-8")
    hook.chmod(0o755)
    work.formats = True


@kind
def formatter_first(life: Life) -> None:
    """A formatter runs in the hook, before the tool's part."""
    _format_in_hook(life.work, first=True)
    work_on(life, commits=2)


@kind
def formatter_last(life: Life) -> None:
    """A formatter runs in the hook, after the tool's part."""
    _format_in_hook(life.work, first=False)
    work_on(life, commits=2)


@kind
def formatter_later(life: Life) -> None:
    """A person formats files whose lines of an AI are committed."""
    work = life.work
    path = ai_and_person(life)
    work.ai(path)
    life.commit()
    work.put(path, work.formatted(work.lines(path)))
    life.commit()
    work_on(life)


@kind
def inserted_before_commit(life: Life) -> None:
    """A person inserts lines into an AI's function before the commit."""
    work = life.work
    path = work.a_file()
    name = work.ai(path, size=8)
    for _ in range(2):
        places = work.of(path, name)
        at = life.rng.choice(places[1:])
        work.person(path, at=at, size=2, part=True)
    life.commit()


@kind
def rewritten_before_commit(life: Life) -> None:
    """A person rewrites some lines of an AI before the commit."""
    work = life.work
    path = work.a_file()
    name = work.ai(path, size=8)
    places = work.of(path, name)
    work.change(path, life.rng.sample(places, max(1, len(places) // life.rng.choice((2, 3, 5)))))
    life.commit()
    work_on(life)


@kind
def rewritten_later(life: Life) -> None:
    """A person rewrites some committed lines of an AI."""
    work = life.work
    path = ai_and_person(life)
    for _ in range(2):
        places = work.of(path, "edit-1")
        work.change(path, life.rng.sample(places, min(2, len(places))))
        life.commit()


@kind
def partial_staging(life: Life) -> None:
    """Half of the changes of a file are committed, then the rest."""
    work = life.work
    path = work.a_file()
    for _ in range(3):
        work.ai(path)
        work.person(path)
    work.stage_half(path)
    life.commit(everything=False)
    life.look()
    life.commit()


@kind
def half_a_function(life: Life) -> None:
    """Half of an AI's function is committed, then the rest."""
    work = life.work
    path = work.a_file()
    name = work.ai(path, size=8)
    lines = work.lines(path)
    places = work.of(path, name)
    late = set(places[len(places) // 2 :])
    work.stage_lines(path, tuple(line for place, line in enumerate(lines) if place not in late))
    life.commit(everything=False)
    life.commit()


@kind
def ai_inside_person(life: Life) -> None:
    """An AI inserts and replaces lines within a person's function."""
    work = life.work
    path = work.a_file()
    for gone in (0, 1, 2):
        start, end = life.rng.choice(work.functions(path))
        work.ai(path, at=life.rng.randrange(start + 1, end - 1), gone=gone, part=True)
        if gone == 1:
            life.commit()
    life.commit()


@kind
def person_inside_ai(life: Life) -> None:
    """A person inserts and replaces lines within an AI's committed function."""
    work = life.work
    path = work.a_file()
    name = work.ai(path, size=9)
    life.commit()
    for gone in (0, 1, 2):
        places = work.of(path, name)
        work.person(path, at=life.rng.choice(places[1:-2]), gone=gone, part=True)
        life.commit()


@kind
def ai_over_ai(life: Life) -> None:
    """An AI changes lines of another edit, before and after the commit."""
    work = life.work
    path = work.a_file()
    name = work.ai(path, size=8)
    work.ai(path, at=life.rng.choice(work.of(path, name)[1:-2]), gone=2, part=True)
    life.commit()
    work.ai(path, at=life.rng.choice(work.of(path, name)[1:-2]), gone=1, part=True)
    work.ai(path, at=life.rng.choice(work.of(path, name)[1:-1]), part=True)
    life.commit()


@kind
def several_edits(life: Life) -> None:
    """An AI edits one file eight times before the commit; a person edits it in between."""
    work = life.work
    path = work.a_file()
    for number in range(8):
        places = work.of(path, f"edit-{number}")
        if places and life.rng.random() < 0.6:
            work.ai(path, at=life.rng.choice(places) + 1, part=True)
        else:
            work.ai(path)
        if life.rng.random() < 0.3:
            work.person(path, at=life.rng.randrange(len(work.lines(path))), part=True)
    life.commit()


@kind
def deleted_by_ai(life: Life) -> None:
    """An AI deletes lines of a person and of an earlier edit."""
    work = life.work
    path = ai_and_person(life)
    places = work.of(path, "edit-1")
    name = life.history.edit()
    lines = work.lines(path)
    new = life.history.write([life.history.coder.special()], name)
    work.save_as_ai(name, path, lines[: places[1]] + new + lines[places[4] :])
    life.commit()


@kind
def discarded(life: Life) -> None:
    """Edits of an AI are thrown away one by one, others are kept."""
    work = life.work
    paths = sorted(work.disk)
    for path in paths[:3]:
        work.ai(path)
    work.restore(paths[0])
    work.stage(paths[1])
    work.reset("--hard", "HEAD")
    work.ai(paths[0])
    work.ai(paths[3])
    work.restore(paths[3])
    life.commit()
    work_on(life)


@kind
def stash_and_pop(life: Life) -> None:
    """Work of an AI is stashed and comes back after another commit in the same file."""
    work = life.work
    path = work.a_file()
    work.ai(path)
    stashed = stash(work)
    work.person(path)
    work.commit()
    pop(work, stashed)
    life.look()
    life.commit()


@kind
def no_verify(life: Life) -> None:
    """A commit of an AI's lines skips the hook; the next one does not."""
    life.work.ai()
    life.commit(None, "--no-verify")
    life.work.person()
    life.commit()
    work_on(life)


@kind
def commit_file(life: Life) -> None:
    """Of two files that an AI edited one is committed by name."""
    work = life.work
    one, two = sorted(work.disk)[:2]
    work.ai(one)
    work.ai(two)
    life.commit(only=[one])
    life.commit()


@kind
def failed_commit(life: Life) -> None:
    """A commit fails in a later hook, another by its message; the work is then thrown away."""
    work = life.work
    path = work.a_file()
    work.ai(path)
    work.stage()
    hook = hooks(work) / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    hook.chmod(0o755)
    assert work.git("commit", "-q", "-m", "x", check=False).returncode
    hook.unlink()
    assert work.git("commit", "-q", "--cleanup=strip", "-m", "", check=False).returncode
    life.look()
    life.check_trail(work, "a failed commit")
    work.git("reset", "-q", "--", path)
    work.index = dict(work.commit_of().tree)
    work.restore(path)
    work.branch("other")
    person_on_main(life)
    work_on(life)


@kind
def file_deleted_and_back(life: Life) -> None:
    """A file with lines of an AI is deleted, and restored from history later."""
    work = life.work
    path = ai_and_person(life)
    file = work.take(path)
    life.commit()
    person_on_main(life)
    work.git("checkout", "-q", "HEAD~2", "--", path)
    work.place(path, file)
    work.index[path] = file
    life.commit()
