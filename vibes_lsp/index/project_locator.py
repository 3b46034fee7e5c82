"""Locate the annotations in a project's files with git's history: for commands, which may wait."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Self

from vibes_lsp.anchors.location import DatedCommit, Method
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable
from vibes_lsp.history.blame import BlamedLine
from vibes_lsp.history.commit_resolution import CommitResolver, ResolvedCommit
from vibes_lsp.history.file_versions import Version
from vibes_lsp.history.git import failure_count
from vibes_lsp.history.git_cache import GitCache, cache_source
from vibes_lsp.history.project_history import ProjectHistory
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.index.file_history import NO_HISTORY, FileHistories, FileHistory
from vibes_lsp.index.history_questions import (
    Answers,
    AskedCommits,
    AskedHistory,
    HistoryQuestions,
    asked_texts,
    have_same_answers,
    prefetch_answers,
)
from vibes_lsp.index.locate_annotations import locate_annotations, relocate, with_locations
from vibes_lsp.index.moves import MovedOut, MovedOutRange
from vibes_lsp.index.original_text import KnownOriginals
from vibes_lsp.index.project_files import RawLines
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.placing.placements import Placement
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.kept_texts import read_kept_text
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import recorded_commit, resolve_commits
from vibes_lsp.trail.trail import Trail

_BATCH: Final = 2_048
"""Annotations whose commits are resolved at once: git is asked seldom, and memory is bounded."""


class ProjectLocator:
    """Locates annotations file by file. A context manager, because it keeps a git process.

    Args:
        trail: The trail, refreshed.
        use_git: Whether to run git.
        use_cache: Whether to use the user's cache of git's answers: only for commands that display
            the result, never for those that decide or write by it.
        use_kept_texts: Whether to use texts that this machine has kept: not where the result must
            be the same on each machine.
        renamed: As for `refresh`.
        known: The last searches for original texts, where files are looked up again and again.
        repository: The repository that the project is in, if it is open; it is closed with this.

    Attributes:
        trail: The trail.
        resolved_commits: Commits of annotations that record none, or a rewritten one, by the id of
            their first record; only for the files that were looked up.
        questions: What git was asked since `HistoryQuestions.begin`, if the cache is used.
        moved_out: What is gone from files.
    """

    def __init__(
        self,
        trail: Trail,
        *,
        use_git: bool = True,
        use_cache: bool = False,
        use_kept_texts: bool = True,
        renamed: Mapping[str, str] | None = None,
        known: KnownOriginals | None = None,
        repository: Repository | None = None,
    ) -> None:
        self.trail = trail
        self.questions = HistoryQuestions()
        self.moved_out = MovedOut(trail)
        self._failures = failure_count()
        self._read_kept_text = partial(read_kept_text, trail.directory) if use_kept_texts else None
        self.resolved_commits: dict[str, ResolvedCommit] = {}
        self._resolved_names: set[str] = set()
        self._unresolved: list[Lineage] = []
        self._renamed = bool(renamed)
        self._use_cache = use_cache
        self._repository: Repository | None = None
        self._history: ProjectHistory | None = None
        self._commits: CommitResolver | None = None
        if use_git:
            self._open(repository or open_repository(trail.directory.project))
        self._known = known
        self._histories = self._file_histories(renamed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def refresh(self, renamed: Mapping[str, str]) -> None:
        """Read what changed in the trail, the repository, HEAD and other files.

        Args:
            renamed: New names by old ones, of files that were renamed since the last commit.
        """
        self.trail.refresh()
        self._open(open_repository(self.trail.directory.project))
        self.resolved_commits.clear()
        self._resolved_names.clear()
        self._renamed = bool(renamed)
        self._histories = self._file_histories(renamed)

    def _file_histories(self, renamed: Mapping[str, str] | None = None) -> FileHistories:
        return FileHistories(
            self.trail,
            self._history,
            self.resolved_commits,
            renamed or {},
            self.moved_out,
            self._known,
            None
            if self._read_kept_text is None
            else asked_texts(self._read_kept_text, self.questions),
            partial(
                _resolve_commits,
                self.resolved_commits,
                self._repository,
                self.trail.directory,
                self._commits,
            ),  # not a method: in a cycle the trail would stay until the next collection
        )

    def _open(self, repository: Repository | None) -> None:
        """Ask a repository from now on, which may be another one than before, or gone."""
        if repository == self._repository:
            if self._history is not None:
                self._history.refresh_head()
            return
        self.close()
        self._repository, self._history, self._commits = repository, None, None
        if repository is not None:
            # What is asked is noted only where it serves: to keep results on disk.
            open_history = (
                partial(AskedHistory, questions=self.questions)
                if self._use_cache
                else ProjectHistory
            )
            project = self.trail.directory.project
            history = self._history = open_history(
                project,
                use_cache=self._use_cache,
                repository=repository,
            )
            open_commits = (
                partial(AskedCommits, questions=self.questions)
                if self._use_cache
                else CommitResolver
            )
            self._commits = open_commits(
                repository,
                project,
                self.trail.directory.log,
                head=history.head,
                cache=history.cache(),
                walks=history.walks(),
            )

    def save_cache(self) -> None:
        """Save what git answered for later commands."""
        if self._history is not None:
            self._history.save_cache()

    def close(self) -> None:
        """Save the cache and end git's process."""
        if self._history is not None:
            self._histories.save_cache()
            self._history.close()

    @property
    def repository(self) -> Repository | None:
        """The repository that the project is in, as of the last refresh."""
        return self._repository

    @property
    def has_git(self) -> bool:
        """Whether the project is in a repository."""
        return self._repository is not None

    def head(self) -> str | None:
        """Return the commit of HEAD as of the last refresh; None without one."""
        return None if self._history is None else self._history.head()

    def cache(self) -> GitCache | None:
        """Return what git answered earlier commands; None if that is not used."""
        return None if self._history is None else self._history.cache()

    def nearest_commit(self, commits: Sequence[str]) -> str | None:
        """Return the nearest ancestor of HEAD; None if there is none or git fails (R7)."""
        return None if self._repository is None else self._repository.nearest_ancestor(commits)

    @property
    def keeps_results(self) -> bool:
        """Whether results may be kept on disk: the cache is used, and nothing is unusual."""
        return (
            self._use_cache
            and not self._renamed
            and self._read_kept_text is not None
            and self._failures == failure_count()
            and (self._history is None or self._history.state() is not None)
        )

    def repository_state(self) -> tuple[str, list[str]]:
        """Return what identifies the repository, and `ProjectHistory.state`; empty without git."""
        if self._repository is None or self._history is None:
            return "", []
        return cache_source(self._repository.root, ())[1], self._history.state() or []

    def have_same_answers(self, asked: Mapping[str, Answers]) -> set[str]:
        """Return the files for which git and the kept texts answer as before.

        Args:
            asked: Questions with their answers, by the path of the file.
        """
        history, commits, read = self._history, self._commits, self._read_kept_text
        if history is None or commits is None or read is None:
            return set()
        prefetch_answers(asked.values(), history, commits)
        return {
            path
            for path, answers in asked.items()
            if have_same_answers(answers, history, commits, read)
        }

    def prefetch(self, paths: Sequence[str] | None = None) -> None:
        """Prepare for questions about files, by default about all.

        It reads git's history and resolves the commits of their annotations.
        """
        self.prefetch_history(paths)
        self.resolve_all_commits(paths)

    def first_commits(self, path: str) -> dict[str, ResolvedCommit] | None:
        """Return the commits of a file's annotations that git tells first, as `resolve_commits`.

        It reads the history of this file and of the log, and no other one. None if that is known
        already, so that all can be asked at once.

        Args:
            path: Relative to the project, forward slashes.
        """
        history, commits, log = self._history, self._commits, self.trail.log
        if history is None or commits is None or history.has_walked(path):
            return None
        self._histories.prefetch_own(path)
        ends = {
            member.id: log.end_of(member.line)
            for lineage in self.trail.lineages_in(path)
            if recorded_commit(lineage) is None
            for member in lineage.members
        }
        found = commits.by_growth(ends)
        return {
            lineage.first.id: commit
            for lineage in self.trail.lineages_in(path)
            if (commit := next((found[each] for each in lineage.ids if each in found), None))
            is not None
        }

    def prefetch_history(
        self, paths: Iterable[str] | None = None, also: Collection[str] = ()
    ) -> None:
        """Read git's history of files at once; resolve no commits. See `FileHistories.prefetch`."""
        self._histories.prefetch(paths, also)

    def annotated_files(self) -> list[str]:
        """Return the existing files that annotations are about, by their current names."""
        return list(self._histories.annotated_files)

    def current_name(self, name: str) -> str:
        """Return the name that a file has now, by the recorded one; see `new_names`."""
        return self._histories.current_name(name)

    def new_names(self) -> Mapping[str, str]:
        """Return the names that files have now which were renamed, by the recorded ones."""
        return self._histories.new_names

    def annotated_names(self) -> Sequence[str]:
        """Return the recorded names of files of this project, existing or not (R19)."""
        return self._histories.names

    def possible_sources(self, path: str) -> Sequence[str]:
        """Return the files that are read to find annotations that moved into a file."""
        return self._histories.possible_sources(path)

    def sources_of_all(self, paths: Iterable[str]) -> Collection[str]:
        """Return the files that are read to find annotations that moved into files."""
        return self._histories.sources_of_all(paths)

    def incomplete_answers(self) -> tuple[int, int]:
        """Return how many questions were about other branches or missing commits, and contents.

        What was asked while the counts did not grow depends on HEAD alone, and git had all of it.
        """
        commits, contents = (0, 0) if self._history is None else self._history.missing()
        branches = 0 if self._commits is None else self._commits.other_branches
        return commits + branches, contents

    def has_gone_files(self) -> bool:
        """Whether annotations are about files that do not exist, even by another name."""
        return self._histories.has_gone_files

    def other_files(self) -> list[str]:
        """Return the tracked files that no annotation names; text may have moved into them."""
        if self._repository is None:
            return []
        try:
            return sorted(
                self._repository.tracked_files(self.trail.directory.project)
                - self._histories.annotated_files.keys()
            )
        except HistoryUnavailable:
            return []

    def may_be_annotated(self, path: str, file: RawLines) -> bool:
        """Whether a file may have annotations: recorded for it, or moved in from another file.

        Args:
            path: Relative to the project, forward slashes.
            file: Its bytes, as saved.
        """
        histories = self._histories
        return path in histories.annotated_files or histories.may_have_moved_in(path, file)

    def resolve_commits(self, lineages: Sequence[Lineage]) -> None:
        """Resolve the commits of annotations that record none, into `resolved_commits`."""
        _resolve_commits(
            self.resolved_commits, self._repository, self.trail.directory, self._commits, lineages
        )

    def resolve_all_commits(self, paths: Sequence[str] | None = None) -> None:
        """Resolve the commits of annotations of files, by default of all that exist."""
        for name in self.recorded_names(self.annotated_files() if paths is None else paths):
            self.resolve_later(name)
        self._resolve_batch()

    def recorded_names(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield files, each with the former names under which annotations are recorded."""
        for path in paths:
            yield path
            yield from self._histories.former_paths(path)

    def resolve_later(self, name: str) -> None:
        """Resolve the commits of annotations recorded for a file, together with those of others."""
        if self._repository is None or name in self._resolved_names:
            return
        self._resolved_names.add(name)
        self._unresolved += self.trail.lineages_in(name)
        if len(self._unresolved) >= _BATCH:
            self._resolve_batch()

    def _resolve_batch(self) -> None:
        self.resolve_commits(self._unresolved)
        self._unresolved.clear()

    def subject(self, commit: str) -> str | None:
        """Return the subject of a commit; None if git does not know it."""
        return None if self._history is None else self._history.subject(commit)

    def file_history(self, path: str, text: Text) -> FileHistory:
        """Return the history of a file's annotations, and resolve their commits.

        Args:
            path: Relative to the project, forward slashes.
            text: The file as it is now, saved or not.
        """
        if self._history is None:
            return self._histories.of(path, text) if self._histories.has_renames else NO_HISTORY
        names = (path, *self._histories.former_paths(path))
        lineages = [lineage for name in names for lineage in self.trail.lineages_in(name)]
        if lineages:
            self.resolve_commits(lineages)
        return self._histories.of(path, text)

    def blame(self, path: str, since: datetime) -> Sequence[BlamedLine] | None:
        """Return the commit of each line of a file in HEAD; see `history.blame.blame_file`."""
        found = None if self._history is None else self._history.blame(path, since)
        return None if found is None else found[1]

    def versions_of(self, path: str) -> Iterator[tuple[str, Text]]:
        """Yield the versions of a file that git has, newest first, each with its name then."""
        for version in () if self._history is None else self._history.versions(path).versions:
            data = None if self._history is None else self._history.contents(version)
            if data is not None:
                yield version.path, Text.from_bytes(data)

    def file_versions(self, path: str) -> Sequence[Version]:
        """Return the versions of a file that git has, newest first; see `versions_of`."""
        return () if self._history is None else self._history.versions(path).versions

    def put_moved_out(self, ranges: Mapping[str, Sequence[MovedOutRange]]) -> None:
        """Put the gone text of files; see `FileHistories.put_moved_out`."""
        self._histories.put_moved_out(ranges)

    @property
    def last_sources(self) -> tuple[str, ...]:
        """See `FileHistories.last_sources`."""
        return self._histories.last_sources

    def former_paths(self, path: str) -> tuple[str, ...]:
        """Return the former names of a file under which annotations are recorded."""
        return self._histories.former_paths(path)

    def moved_in(self, path: str, text: Text) -> tuple[str, ...]:
        """Return the ids of annotations of other files whose text moved into a file."""
        return self._histories.moved_in(path, text)

    def locate(self, path: str, text: Text) -> list[Placement]:
        """Return the annotations of a file in document order; see `locate_annotations`."""
        return locate_annotations(self.trail, path, text, self.file_history(path, text))

    def locate_without_history(self, path: str, text: Text) -> list[Placement]:
        """Return the annotations of a file by its text and the log, without those that moved in.

        If some are uncertain and the project is in git, those are lost until
        `locate_with_history` finds them.
        """
        history = self._histories.own_history(path)
        if self.has_git:
            certain = locate_annotations(self.trail, path, text, history, approximate=False)
            if uncertain_lineages(certain) or all(each.located.sure for each in certain):
                return certain
        return locate_annotations(self.trail, path, text, history)

    def locate_with_history(
        self, path: str, text: Text, placements: Sequence[Placement]
    ) -> list[Placement]:
        """Return those placements, with the uncertain ones located by git's history.

        Their commits must have been resolved.
        """
        history = self._histories.own_history(path, uncertain_lineages(placements), text)
        return with_locations(placements, relocate(text, placements, history), len(text.lines))

    def contradicted(
        self, path: str, text: Text, placements: Sequence[Placement]
    ) -> dict[str, DatedCommit | None]:
        """Return the annotations that git contradicts (R15), with the commit that has their lines.

        The keys are ids of first records. Their commits must have been resolved.
        """
        lineages = [each.lineage for each in placements]
        if all(map(_is_in_recorded_file, placements)) and not self._histories.may_be_older(
            lineages
        ):
            return {}
        history = self._histories.own_history(path, lineages, text)
        pairs = zip(placements, relocate(text, placements, history), strict=True)
        return {
            each.lineage.first.id: where.older_commit
            for each, where in pairs
            if where.is_contradicted
        }


def uncertain_lineages(placements: Sequence[Placement]) -> list[Lineage]:
    """Return the annotations of which the text alone does not prove where they are."""
    return [
        each.lineage
        for each in placements
        if not each.is_history and not each.located.sure and each.lineage.action != Action.DELETE
    ]


def _is_in_recorded_file(placement: Placement) -> bool:
    """Whether an annotation is in the text that it was recorded for: history moves it nowhere."""
    located = placement.located
    return located.sure and located.method == Method.FILE_HASH


def _resolve_commits(
    found: dict[str, ResolvedCommit],
    repository: Repository | None,
    directory: AuditDir,
    commits: CommitResolver | None,
    lineages: Sequence[Lineage],
) -> None:
    if repository is not None and commits is not None:
        found.update(resolve_commits(lineages, repository, directory, commits))
