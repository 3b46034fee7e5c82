"""What a trail and git know of a project's files, and where its annotations are by that."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from tests.trails import OMIT, Repository, TrailWriter
from tests.unit.placing.waiting_edits import joined, lines_of
from tests.unit.trail.trails import read_trail
from vibes_lsp.anchors.location import LineKind, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.git import line_origins
from vibes_lsp.git.repository import open_repository
from vibes_lsp.placing import commit_records
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_owners import KnownFile, ProjectOwners, place_file
from vibes_lsp.placing.trail_records import CommittedLog, TrailRecords, committed_log
from vibes_lsp.store.waiting import waiting_place

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = lines_of(1, 6)
PERSON = lines_of(1, 4, "person")
BEFORE, AFTER = "2026-02-01T08:00:00+00:00", "2026-02-03T12:00:00+00:00"
"""Times before and after the records of a trail."""


class Files:
    """A project with a trail in a repository, and what its owners say."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repository = Repository(root)
        self.writer = TrailWriter(root)
        self.writer.environment()
        self.kept: dict[str, bytes] = {}
        self.saves_facts = False

    def write(self, path: str, *lines: str) -> str:
        text = joined(*lines)
        self.repository.write(path, text)
        return text

    def edit(self, path: str, start: int, end: int, *lines: str, **members: object) -> str:
        """Let an AI write a file, whose text is kept; return the id of the record."""
        text = self.write(path, *lines)
        wrote = text.splitlines()[start - 1 : end]
        self.kept[sha256(text.encode()).hexdigest()] = text.encode()
        hashes = "".join(sha256(line.encode()).hexdigest()[:8] for line in wrote)
        given = {"line_hashes": hashes, **members}
        return self.writer.line(path, start, end, text=text, **given)

    def located(self, path: str) -> list[Placement]:
        """Return the placements in a file on disk."""
        trail = read_trail(self.root)
        repository = open_repository(self.root)
        assert repository is not None
        if self.saves_facts:
            repository.cache.use_saved(repository.root)
        try:
            owners = ProjectOwners(trail, repository, self._read, self.kept.get)
            text = self._read(path)
            assert text is not None
            return owners.locate(path, text)
        finally:
            repository.close()
            trail.close()

    def owned(self, path: str) -> dict[str, tuple[tuple[int, int], ...]]:
        """Return the lines of each annotation that has any."""
        return {
            each.current.id: each.owned_ranges for each in self.located(path) if each.owned_ranges
        }

    def _read(self, path: str) -> Text | None:
        file = self.root / path
        return Text.from_bytes(file.read_bytes()) if file.is_file() else None


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_an_edit_is_followed_before_its_commit_and_after_it(files: Files) -> None:
    edit = files.edit("a.py", 1, 6, *BLOCK)
    files.write("a.py", *PERSON, *BLOCK)
    assert files.owned("a.py") == {edit: ((5, 10),)}
    files.repository.commit("All", date=AFTER)
    assert files.owned("a.py") == {edit: ((5, 10),)}
    files.write("a.py", *PERSON, *BLOCK[:2], *PERSON[:1], *BLOCK[2:])
    (placement,) = files.located("a.py")
    assert placement.owned_ranges == ((5, 6), (8, 11))
    assert (placement.located.state, placement.located.method) == (State.MOVED, Method.LINE_HASHES)


def test_whose_committed_lines_are_is_asked_once(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = files.edit("a.py", 1, 6, *BLOCK)
    files.repository.commit("All", date=AFTER)
    files.write("a.py", *PERSON, *BLOCK[1:])
    plain = files.located("a.py")
    files.saves_facts = True
    assert files.located("a.py") == plain
    monkeypatch.setattr(line_origins, "git_lines", None)
    assert files.located("a.py") == plain
    files.write("a.py", *BLOCK[:3])
    assert files.owned("a.py") == {edit: ((1, 3),)}, "what is not committed is looked at"


def test_a_record_that_names_an_earlier_commit_is_seen_at_the_same_head(files: Files) -> None:
    files.saves_facts = True
    edit = files.edit("a.py", 1, 6, *BLOCK, *PERSON)
    head = files.repository.commit("All", date=AFTER)
    assert files.owned("a.py") == {edit: ((1, 6),)}
    other = files.edit("a.py", 7, 10, *BLOCK, *PERSON, commit_hash=head)
    assert files.owned("a.py") == {edit: ((1, 6),), other: ((7, 10),)}


def test_a_log_that_lost_a_record_of_head_is_not_answered_from_before(files: Files) -> None:
    files.saves_facts = True
    edit = files.edit("a.py", 1, 6, *BLOCK)
    files.repository.commit("All", date=AFTER)
    assert files.owned("a.py") == {edit: ((1, 6),)}
    log = files.writer.files.log
    log.write_bytes(b"")
    assert files.owned("a.py") == {}
    files.writer.line("a.py", 1, 6, action="review")
    assert files.owned("a.py") == {}


def test_what_a_commit_took_away_is_not_an_edits_when_it_is_typed_again(files: Files) -> None:
    files.edit("a.py", 1, 6, *BLOCK)
    files.repository.commit("Made", date=AFTER)
    files.write("a.py", *PERSON)
    files.repository.commit("Removed", date="2026-02-03T13:00:00+00:00")
    files.write("a.py", *PERSON, *BLOCK)
    assert files.owned("a.py") == {}


@pytest.mark.parametrize("is_log_committed", [False, True], ids=["log-on-disk", "log-in-head"])
def test_what_was_committed_before_a_record_of_the_same_text_is_not_its_edits(
    files: Files, *, is_log_committed: bool
) -> None:
    """A record that names a person's whole file is no proof that an AI wrote it."""
    files.write("b.py", *PERSON)
    files.repository.commit("Start", date="2026-02-03T07:00:00+00:00")
    files.write("a.py", *BLOCK)
    files.repository.commit("A person's", date="2026-02-03T08:00:00+00:00")
    files.edit("a.py", 1, 6, *BLOCK, timestamp="2026-02-03T10:00:00.000Z")
    if is_log_committed:
        files.repository.commit("The log", date=AFTER)
    assert files.owned("a.py") == {}


def test_lines_are_claims_where_git_lacks_objects(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    for action in ("create", "modify"):
        files.edit("a.py", 1, 6, *BLOCK, action=action)
    files.repository.commit("All", date=AFTER)
    assert any(each.located.sure for each in files.located("a.py"))

    def fail(*_: object) -> None:
        raise HistoryUnavailable("a partial clone lacks objects")

    monkeypatch.setattr(commit_records, "ids_added", fail)
    found = files.located("a.py")
    assert [each.owned_ranges for each in found if each.owned_ranges] == [((1, 6),)]
    assert not any(each.located.sure for each in found)


def test_git_is_not_asked_about_a_file_that_is_older_than_all_edits(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write("a.py", *PERSON)
    (files.root / ".gitignore").write_text(".ai-audit/\n")
    files.repository.commit("Old", date="2025-01-01T08:00:00+00:00")
    edit = files.edit("a.py", 5, 10, *PERSON, *BLOCK)
    monkeypatch.setattr(line_origins, "git_lines", None)
    assert files.owned("a.py") == {edit: ((5, 10),)}


def test_what_a_commit_of_another_branch_has_is_a_copy_elsewhere(files: Files) -> None:
    files.repository.commit("Start", date=BEFORE)
    edit = files.edit("a.py", 1, 6, *BLOCK)
    files.write("b.py", *PERSON, *BLOCK)
    (files.root / "a.py").unlink()
    assert files.owned("b.py") == {edit: ((5, 10),)}
    trail = read_trail(files.root)
    place = waiting_place(trail.directory)
    trail.close()
    assert place is not None
    place.written.parent.mkdir(parents=True)
    place.written.write_bytes(files.writer.files.log.read_bytes())
    assert files.owned("b.py") == {}


def test_a_block_that_waits_is_followed_to_another_file_once_its_own_has_lost_it(
    files: Files,
) -> None:
    edit = files.edit("a.py", 1, 6, *BLOCK)
    files.write("b.py", *PERSON, *BLOCK)
    assert files.owned("b.py") == {}, "a copy"
    files.write("a.py", *PERSON)
    assert files.owned("b.py") == {edit: ((5, 10),)}
    (placement,) = files.located("b.py")
    assert placement.moved_from == "a.py"


def test_a_block_that_stands_twice_in_its_file_has_not_left_it(files: Files) -> None:
    files.edit("a.py", 1, 6, *BLOCK)
    files.write("a.py", *BLOCK, *PERSON, *BLOCK)
    files.write("b.py", *BLOCK)
    assert files.owned("b.py") == {}


def test_a_committed_block_is_followed_to_another_file_before_the_next_commit(files: Files) -> None:
    edit = files.edit("a.py", 1, 6, *BLOCK)
    files.write("b.py", *PERSON)
    files.repository.commit("Made", date=AFTER)
    files.write("a.py", "nothing = None")
    files.write("b.py", *PERSON, *BLOCK)
    assert files.owned("b.py") == {edit: ((5, 10),)}


def test_a_record_that_names_its_commit_needs_none_that_brings_it(files: Files) -> None:
    files.write("a.py", *PERSON, *BLOCK)
    commit = files.repository.commit("Made", date=AFTER)
    edit = files.edit("a.py", 5, 10, *PERSON, *BLOCK, commit_hash=commit)
    assert files.owned("a.py") == {edit: ((5, 10),)}


def test_a_back_fill_gives_no_line_of_its_own_commit_to_an_edit(files: Files) -> None:
    edit = files.edit("a.py", 1, 6, *BLOCK)
    commit = files.repository.commit("Made", date=AFTER)
    files.write("a.py", *PERSON)
    files.repository.commit("Removed", date="2026-02-03T13:00:00+00:00")
    known = {"line_hashes": "".join(sha256(line.encode()).hexdigest()[:8] for line in BLOCK)}
    files.writer.remap(edit, commit=commit, start=1, end=6, text=joined(*BLOCK), **known)
    files.write("b.py", *PERSON, *BLOCK)
    files.repository.commit("Typed again", date="2026-02-03T14:00:00+00:00")
    assert files.owned("b.py") == {}


def test_a_back_fill_gives_no_copy_to_an_edit_that_stands(files: Files) -> None:
    files.write("a.py", *PERSON)
    files.repository.commit("Begin", date=BEFORE)
    edit = files.edit("a.py", 1, 6, *BLOCK, *PERSON)
    files.write("a.py", *BLOCK, *PERSON, *BLOCK)
    commit = files.repository.commit("Copied at once", date=AFTER)
    owned = list(files.owned("a.py").values())
    known = {"line_hashes": "".join(sha256(line.encode()).hexdigest()[:8] for line in BLOCK)}
    text = (*BLOCK, *PERSON, *BLOCK)
    files.writer.remap(edit, commit=commit, start=1, end=6, text=joined(*text), **known)
    files.repository.commit("Back-fill", date="2026-02-03T14:00:00+00:00")
    assert list(files.owned("a.py").values()) == owned


def test_a_file_that_git_ignores_is_placed_by_its_records(files: Files) -> None:
    files.repository.write(".gitignore", "made.py\n")
    edit = files.edit("made.py", 1, 6, *BLOCK)
    files.repository.commit("All", date=AFTER)
    assert files.owned("made.py") == {edit: ((1, 6),)}


@pytest.fixture(params=["submodule", "repository inside"])
def nested(
    files: Files, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Repository:
    """A repository in folder `lib`, which says itself what its commits took away."""
    is_submodule = request.param == "submodule"
    repository = Repository(
        tmp_path_factory.mktemp("other") if is_submodule else files.root / "lib"
    )
    repository.write("b.py", joined(*PERSON))
    repository.commit("Begun", date=BEFORE)
    if is_submodule:
        files.repository.add_submodule(repository, "lib")
    files.repository.commit("Begun", date=BEFORE)
    return Repository(files.root / "lib")


@pytest.mark.parametrize("hashes", [True, False])
def test_in_a_nested_repository_only_the_text_of_the_record_is_sure(
    files: Files, nested: Repository, hashes: bool
) -> None:
    files.edit("lib/a.py", 1, 6, *BLOCK, **({} if hashes else {"line_hashes": OMIT}))
    nested.commit("Made", date=AFTER)
    files.repository.commit("Made", date=AFTER)
    (placement,) = files.located("lib/a.py")
    assert (placement.located.state, placement.located.sure) == (State.EXACT, True)
    files.write("lib/a.py", *PERSON)
    nested.commit("Removed", date="2026-02-03T13:00:00+00:00")
    files.write("lib/a.py", *PERSON, *BLOCK)
    nested.commit("Typed again by a person", date="2026-02-03T14:00:00+00:00")
    (placement,) = files.located("lib/a.py")
    assert placement.owned_ranges == ((5, 10),)
    assert set(placement.located.kinds) == {LineKind.CLAIMED}
    assert not placement.located.sure


def test_a_copy_in_a_nested_repository_is_not_sure(files: Files, nested: Repository) -> None:
    files.edit("lib/a.py", 1, 6, *BLOCK)
    nested.commit("Made", date=AFTER)
    files.write("lib/a.py", *BLOCK, *PERSON, *BLOCK)
    nested.commit("Copied", date="2026-02-03T13:00:00+00:00")
    assert not any(each.located.sure for each in files.located("lib/a.py"))
    files.write("lib/b.py", *PERSON, *BLOCK)
    nested.commit("Copied", date="2026-02-03T14:00:00+00:00")
    assert files.owned("lib/b.py") == {}


def test_lines_without_hashes_that_git_had_before_are_contradicted(files: Files) -> None:
    text = files.write("a.py", *PERSON, *BLOCK)
    commit = files.repository.commit("Begun", date=BEFORE)
    files.writer.line("a.py", 5, 10, text=text)
    (placement,) = files.located("a.py")
    assert placement.located.is_contradicted
    assert placement.located.older_commit is not None
    assert placement.located.older_commit.commit == commit
    assert placement.owned_ranges == ()


def test_what_is_sure_takes_a_line_before_what_is_later(files: Files) -> None:
    text = files.write("a.py", *BLOCK)
    sure = files.writer.line("a.py", 1, 6, text=text)
    changed = joined(*BLOCK[:3], *PERSON[:3])
    files.writer.line("a.py", 1, 6, text=changed)
    assert files.owned("a.py") == {sure: ((1, 6),)}


def test_a_copy_in_another_file_is_nobodys(files: Files) -> None:
    edit = files.edit("a.py", 1, 6, *BLOCK)
    files.repository.commit("All", date=AFTER)
    files.write("b.py", *PERSON, *BLOCK)
    assert files.owned("b.py") == {}
    assert files.owned("a.py") == {edit: ((1, 6),)}


def test_a_file_without_annotations_may_own_lines_that_have_a_known_hash(files: Files) -> None:
    files.edit("a.py", 1, 6, *BLOCK)
    trail = read_trail(files.root)
    owners = ProjectOwners(trail, None, lambda _: None)
    assert owners.may_own(Text(joined(*PERSON, BLOCK[0])))
    assert not owners.may_own(Text(joined(*PERSON)))
    trail.close()


def test_what_was_recorded_since_is_placed_too(files: Files) -> None:
    files.edit("a.py", 1, 6, *BLOCK)
    trail = read_trail(files.root)
    known = ProjectOwners(trail, None, lambda _: None, files.kept.get).known("a.py")
    later = files.edit("a.py", 7, 10, *BLOCK, *PERSON)
    trail.refresh()
    placements = place_file(trail, ("a.py",), Text(joined(*BLOCK, *PERSON)), known)
    assert {each.current.id: each.owned_ranges for each in placements}[later] == ((7, 10),)
    trail.close()


def test_without_git_and_kept_texts_an_edit_is_found_by_its_hashes(files: Files) -> None:
    files.edit("a.py", 1, 6, *BLOCK)
    trail = read_trail(files.root)
    text = Text(joined(*PERSON, *BLOCK[:4]))
    (placement,) = place_file(trail, ("a.py",), text, KnownFile())
    assert (placement.owned_ranges, placement.located.state) == (((5, 8),), State.EDITED)
    assert set(placement.located.kinds) == {LineKind.AI}
    trail.close()


def test_a_log_that_was_changed_at_its_beginning_is_not_the_one_of_a_commit(files: Files) -> None:
    for path in ("a.py", "b.py"):
        files.edit(path, 1, 6, *BLOCK)
    head = files.repository.commit("All", date=AFTER)
    log = files.writer.files.log
    data = log.read_bytes()
    log.write_bytes(data.replace(b'"a.py"', b'"c.py"'))
    assert len(log.read_bytes()) == len(data)
    trail, repository = read_trail(files.root), open_repository(files.root)
    assert repository is not None
    found = committed_log(repository, head, trail)
    assert (found.lines, len(found.ids)) == (0, 2)
    repository.close()
    trail.close()


def test_the_log_of_a_commit_is_the_beginning_of_the_one_on_disk(files: Files) -> None:
    files.edit("a.py", 1, 6, *BLOCK)
    head = files.repository.commit("All", date=AFTER)
    files.edit("b.py", 1, 4, *PERSON)
    trail, repository = read_trail(files.root), open_repository(files.root)
    assert repository is not None
    found = committed_log(repository, head, trail)
    assert found == CommittedLog(lines=1)
    known, plain = TrailRecords(trail, found), TrailRecords(trail)
    assert (known.oldest(), known.line_hashes()) == (plain.oldest(), plain.line_hashes())
    assert known.line_hashes() == known.every_line_hash
    log = trail.directory.log
    log.write_bytes(b"".join(reversed(log.read_bytes().splitlines(keepends=True))))
    trail.refresh()
    found = committed_log(repository, head, trail)
    assert TrailRecords(trail, found).line_hashes() == plain.line_hashes()
    assert [found.has(record) for record in trail.log.records([1, 2])] == [False, True]
    repository.close()
    trail.close()
