"""What is kept of look-ups in git history equals what a new look-up says, whatever happened."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.trails.content import file_hash
from tests.unit.history.test_file_walks import KINDS, PATHS, Story
from tests.unit.trail.trails import ENVIRONMENT
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.lsp import lookup_state
from vibes_lsp.lsp.history_lookup import HistoryLookup, LookupRequest
from vibes_lsp.lsp.snapshots import HistorySnapshot
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.kept_texts import keep_text
from vibes_lsp.trail.trail import Trail

STEPS = st.lists(
    st.tuples(
        st.sampled_from((*KINDS, "write", "write", "copy", "delete", "stage", "append", "keep")),
        st.integers(0, 3),
        st.booleans(),
    ),
    max_size=12,
)
"""What happens, where, and whether anybody asks before the next thing happens."""


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def story(tmp_path: Path) -> Story:
    story = Story(tmp_path / "project")
    for number in range(3):
        story.take(number, "record", number % 2)
    return story


def lookup_of(story: Story) -> HistoryLookup:
    return HistoryLookup(Trail(AuditDir(story.writer.files.audit)))


def request_of(story: Story) -> LookupRequest:
    """Return the request for all files as they are saved, and for two commits."""
    root = story.repository.path
    texts = {
        path: Text.from_bytes((root / path).read_bytes())
        for path in PATHS
        if (root / path).is_file()
    }
    commits = [("abcdef1", story.repository.head()), ("abcdef1",)]
    return LookupRequest(0, texts, frozenset(texts), commits=commits)


def look_up(story: Story, lookup: HistoryLookup | None = None) -> tuple[HistorySnapshot, object]:
    """Return what a look-up says, of a new process unless another one is given."""
    used = lookup or lookup_of(story)
    found = used.look_up(request_of(story)), used.look_up_closed_files()
    if lookup is None:
        used.close()
    return found


def commands(
    monkeypatch: pytest.MonkeyPatch, story: Story, lookup: HistoryLookup | None = None
) -> list[list[str]]:
    """Return the git commands that a look-up starts."""
    asked: list[list[str]] = []
    start = subprocess.Popen.__init__
    request = request_of(story)

    def counted(self: Any, arguments: list[str], *more: Any, **named: Any) -> None:
        asked.append(arguments)
        start(self, arguments, *more, **named)

    with monkeypatch.context() as patched:
        patched.setattr(subprocess.Popen, "__init__", counted)
        used = lookup or lookup_of(story)
        used.look_up(request)
        used.look_up_closed_files()
    if lookup is None:
        used.close()
    return asked


def happen(story: Story, number: int, step: str, which: int) -> None:
    """Do the next thing, in git or in the work tree alone."""
    root, path, other = story.repository.path, PATHS[which], PATHS[which - 1]
    file, log = root / path, story.writer.files.log
    if step in KINDS:
        story.take(number, step, which)
    elif not file.is_file():
        return
    elif step == "write":
        file.write_text(file.read_text().replace("line 1", f"write {number}", 1))
    elif step == "copy":
        (root / other).write_text(f"# {number}\n{file.read_text()}")
    elif step == "delete":
        file.unlink()
    elif step == "stage":
        story.repository.git("add", "--all")
        (root / other).unlink(missing_ok=True)
        file.rename(root / other)
        story.repository.git("add", "--all")
    elif step == "append" and log.parent.is_dir():
        story.ids.append(story.writer.line(path, 3, 6, environment=ENVIRONMENT))
    elif step == "keep" and log.parent.is_dir():
        data = file.read_bytes()
        story.ids.append(story.writer.line(path, 8, 12, environment=ENVIRONMENT))
        keep_text(AuditDir(log.parent), file_hash(data), data)
        file.write_text(file.read_text().replace("line 9", f"later {number}", 1))


def check(
    story: Story, reader: HistoryLookup, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare a running process and a new one with one that has no cache."""
    with monkeypatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(fresh))
        plain = look_up(story)
        patched.setenv("XDG_CACHE_HOME", "/dev/null")  # no folder, so nothing is kept
        check_first_commits(story, plain[0])
    assert look_up(story, reader) == plain
    assert look_up(story) == plain
    assert look_up(story) == plain


def check_first_commits(story: Story, whole: HistorySnapshot) -> None:
    """Compare what is told first of each file with the whole answer."""
    request = request_of(story)
    for path, text in request.texts.items():
        lookup = lookup_of(story)
        first = lookup.look_up_first(replace(request, texts={path: text}))
        if first is not None:
            assert first.resolved_commits.items() <= whole.resolved_commits.items()
            assert first.subjects.items() <= whole.subjects.items()
        lookup.close()


@settings(
    max_examples=25,
    phases=[Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
def test_kept_results_equal_those_of_a_new_look_up(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]
) -> None:
    story = Story(tmp_path_factory.mktemp("kept") / "project")
    reader = lookup_of(story)
    with pytest.MonkeyPatch.context() as monkeypatch:
        for number, (step, which, is_asked) in enumerate([*steps, ("edit", 0, True)]):
            happen(story, number, step, which)
            if is_asked:
                check(story, reader, tmp_path_factory.mktemp("fresh"), monkeypatch)
    reader.close()


def settle(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all files count as written long ago."""
    monkeypatch.setattr(lookup_state, "is_settled", lambda _: True)
    look_up(story)


def test_nothing_is_asked_of_git_again(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    look_up(story)
    assert commands(monkeypatch, story) == []
    settle(story, monkeypatch)
    assert commands(monkeypatch, story) == []
    reader = lookup_of(story)
    look_up(story, reader)
    assert commands(monkeypatch, story, reader) == []
    reader.close()


@pytest.mark.parametrize("is_settled", [True, False])
@pytest.mark.parametrize(
    "step", ["edit", "amend", "reset", "write", "copy", "delete", "stage", "append", "keep"]
)
def test_each_change_is_looked_up(
    story: Story, monkeypatch: pytest.MonkeyPatch, step: str, *, is_settled: bool
) -> None:
    if is_settled:
        settle(story, monkeypatch)
    look_up(story)
    assert commands(monkeypatch, story) == []
    happen(story, 9, step, 0)
    assert commands(monkeypatch, story)
    assert commands(monkeypatch, story) == [] or step == "keep"  # its folder changed just now


def test_other_notes_and_settings_are_looked_up(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up(story)
    story.repository.git("notes", "--ref=ai", "add", "-m", "note")
    assert commands(monkeypatch, story)
    assert commands(monkeypatch, story) == []
    story.repository.git("config", "core.abbrev", "12")
    assert commands(monkeypatch, story)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(story.repository.path.parent))
    assert commands(monkeypatch, story)
    lookup = lookup_of(story)
    request = replace(request_of(story), renamed={"gone.py": "a.py"}, use_notes=False)
    assert lookup.look_up(request).notes == {}
    lookup.close()


def test_a_file_in_a_repository_of_its_own_is_not_kept(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.repository.write("inner/e.py", "one = 1\n")
    story.writer.line("inner/e.py", 1, 1, environment=ENVIRONMENT)
    story.repository.commit("Folder")
    look_up(story)
    assert commands(monkeypatch, story) == []
    (story.repository.path / "inner/.git").mkdir()
    assert commands(monkeypatch, story)
    assert commands(monkeypatch, story)


def test_a_damaged_cache_is_ignored(story: Story, cache: Path) -> None:
    plain = look_up(story)
    for file in cache.rglob("*"):
        if file.is_file() and file.parent.name != "trail":  # SQLite has no checksums
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            file.write_bytes(data)
    assert look_up(story) == plain


def test_what_git_could_not_answer_is_not_kept(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    happen(story, 9, "edit", 0)  # so that blame is asked
    for options in ("blame._OPTIONS", "git._SAFE_OPTIONS"):
        with monkeypatch.context() as patched:
            patched.setattr(f"vibes_lsp.history.{options}", ("--no-such-option",))
            look_up(story)
        assert commands(monkeypatch, story)
        assert commands(monkeypatch, story) == []
        happen(story, 10, "edit", 0)


def test_the_commits_of_a_log_that_grew_are_told_first(story: Story) -> None:
    request = request_of(story)
    only = replace(request, texts={"a.py": request.texts["a.py"]})
    lookup = lookup_of(story)
    first = lookup.look_up_first(only)
    assert first is not None
    assert len(first.resolved_commits) == 2
    assert set(first.subjects.values()) == {"Edit 0", "Edit 2"}
    assert lookup.look_up_first(only) is None  # its history is known by now
    whole = lookup.look_up(only)
    assert whole.resolved_commits == first.resolved_commits
    assert whole.subjects == first.subjects
    lookup.close()


def test_a_lookup_that_is_closed_meanwhile_ends_without_an_error(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = request_of(story)
    only = replace(request, texts={"a.py": request.texts["a.py"]})
    lookup = lookup_of(story)
    lookup.look_up_first(only)
    refresh, closed = ProjectLocator.refresh, []

    def refresh_while_it_is_closed(locator: ProjectLocator, renamed: Mapping[str, str]) -> None:
        refresh(locator, renamed)
        lookup.close()
        closed.append(renamed)

    monkeypatch.setattr(ProjectLocator, "refresh", refresh_while_it_is_closed)
    lookup.look_up_first(only)
    lookup.look_up(request)
    assert closed
    lookup.close()
