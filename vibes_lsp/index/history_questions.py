"""What git was asked for one file, and a digest of each answer: to ask again when HEAD moved.

An answer of git that is kept must not be older than the repository. What follows from it stays true
as long as the same questions have the same answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

from typing_extensions import override

from vibes_lsp.history.blame import BlamedLine
from vibes_lsp.history.commit_resolution import CommitResolver, ResolvedCommit
from vibes_lsp.history.file_versions import FileVersions, Version
from vibes_lsp.history.file_walks import FileWalks
from vibes_lsp.history.git_cache import GitCache
from vibes_lsp.history.project_history import MappedRepository, ProjectHistory
from vibes_lsp.history.repository import Repository
from vibes_lsp.index.original_text import KeptText

Question: TypeAlias = tuple[str, ...]
"""What is asked, and its arguments."""
Answers: TypeAlias = dict[Question, bytes]
"""Digests of answers by their questions."""
_HASH_LENGTHS: Final = (40, 64)


class HistoryQuestions:
    """The questions about the file that is being located; none are noted before `begin`.

    Attributes:
        at_head: Those whose answers only another HEAD can change.
        anywhere: Those that anything in the repository or in the trail's folder can change.
        is_repeatable: Whether no answer was incomplete, as if an object is missing.
    """

    def __init__(self) -> None:
        self.at_head: Answers = {}
        self.anywhere: Answers = {}
        self.is_repeatable = True
        self._is_noting = False

    def begin(self) -> None:
        """Begin with another file."""
        self.at_head, self.anywhere, self.is_repeatable = {}, {}, True
        self._is_noting = True

    def note(self, *question: str, answer: object, is_at_head: bool = True) -> None:
        """Note a question with its answer."""
        noted = self.at_head if is_at_head else self.anywhere
        if self._is_noting and question not in noted:
            noted[question] = _digest(answer)


class AskedHistory(ProjectHistory):
    """A history that notes what it is asked; see `ProjectHistory`.

    Args:
        project: The project's folder.
        questions: Where it notes that.
        use_cache: See `ProjectHistory`.
        repository: See `ProjectHistory`.
    """

    def __init__(
        self,
        project: Path,
        *,
        questions: HistoryQuestions,
        use_cache: bool = False,
        repository: Repository | None = None,
    ) -> None:
        super().__init__(project, use_cache=use_cache, repository=repository)
        self.questions = questions

    @override
    def _repository_of(self, path: str) -> MappedRepository | None:
        found = super()._repository_of(path)
        if found is not None and found.folder:  # its HEAD is another one
            self.questions.is_repeatable = False
        return found

    @override
    def versions(self, path: str) -> FileVersions:
        found = super().versions(path)
        self.questions.note("versions", path, answer=found)
        return found

    @override
    def version_at(self, path: str, commit: str) -> Version | None:
        found = super().version_at(path, commit)
        is_settled = found is not None and len(commit) in _HASH_LENGTHS
        self.questions.note("at", path, commit, answer=found, is_at_head=is_settled)
        return found

    @override
    def version_with_hash(self, path: str, file_hash: str) -> Version | None:
        found = super().version_with_hash(path, file_hash)
        self.questions.note("with hash", path, file_hash, answer=found)
        return found

    @override
    def blame(self, path: str, since: datetime) -> tuple[Version, Sequence[BlamedLine]] | None:
        found = super().blame(path, since)
        when = since.isoformat()
        self.questions.note("blame", path, when, answer=found, is_at_head=found is not None)
        return found

    @override
    def contents(self, version: Version) -> bytes | None:
        found = super().contents(version)
        self.questions.is_repeatable = self.questions.is_repeatable and found is not None
        return found


class AskedCommits(CommitResolver):
    """A resolver that notes what it is asked; see `CommitResolver`."""

    def __init__(  # as its base
        self,
        repository: Repository,
        project: Path,
        log: Path,
        *,
        questions: HistoryQuestions,
        head: Callable[[], str | None] | None = None,
        cache: GitCache | None = None,
        walks: FileWalks | None = None,
    ) -> None:
        """Create a resolver that notes what it is asked in `questions`."""
        super().__init__(repository, project, log, head=head, cache=cache, walks=walks)
        self.questions = questions

    @override
    def by_log(self, record_ids: Iterable[str]) -> dict[str, ResolvedCommit]:
        ids = sorted(set(record_ids))
        found = super().by_log(ids)
        if ids:
            self.questions.note("by log", *ids, answer=sorted(found.items()))
        return found

    @override
    def by_path(
        self, edit_times: Mapping[str, Iterable[datetime]]
    ) -> dict[tuple[str, datetime], ResolvedCommit]:
        times = {path: sorted(set(some)) for path, some in edit_times.items()}
        found = super().by_path(times)
        for path, some in times.items():
            answers = [found.get((path, moment)) for moment in some]
            when = (moment.isoformat() for moment in some)
            self.questions.note("by path", path, *when, answer=answers)
        return found

    @override
    def reachable(self, commits: Iterable[str], start: str = "HEAD") -> frozenset[str]:
        named = sorted(set(commits))
        found = super().reachable(named, start)
        if named:
            is_at_head = start == "HEAD"
            question = ("reachable", start, *named)
            self.questions.note(*question, answer=sorted(found), is_at_head=is_at_head)
        return found


def asked_texts(read: KeptText, questions: HistoryQuestions) -> KeptText:
    """Return a function that reads kept texts, and notes which."""

    def asked(file_hash: str) -> bytes | None:
        found = read(file_hash)
        questions.note("kept text", file_hash, answer=found is not None, is_at_head=False)
        return found

    return asked


def prefetch_answers(
    asked: Iterable[Answers], history: ProjectHistory, commits: CommitResolver
) -> None:
    """Read at once what git will be asked about several files."""
    paths: set[str] = set()
    named: dict[str, set[str]] = {}
    for kind, *rest in (question for answers in asked for question in answers):
        if kind == "reachable":
            named.setdefault(rest[0], set()).update(rest[1:])
        elif kind != "by log" and rest:
            paths.add(rest[0])
    if paths:
        history.prefetch(sorted(paths))
    for start, some in named.items():
        commits.reachable(some, start)


def have_same_answers(
    answers: Mapping[Question, bytes],
    history: ProjectHistory,
    commits: CommitResolver,
    read_kept_text: KeptText,
) -> bool:
    """Whether questions that were asked before have the same answers now."""
    ask: dict[str, Callable[..., object]] = {
        "versions": history.versions,
        "at": history.version_at,
        "with hash": history.version_with_hash,
        "blame": lambda path, since: history.blame(path, datetime.fromisoformat(since)),
        "by log": lambda *ids: sorted(commits.by_log(ids).items()),
        "by path": lambda path, *times: _commits_by_path(commits, path, times),
        "reachable": lambda start, *named: sorted(commits.reachable(named, start)),
        "kept text": lambda file_hash: read_kept_text(file_hash) is not None,
    }
    return all(_digest(ask[kind](*rest)) == digest for (kind, *rest), digest in answers.items())


def _commits_by_path(
    commits: CommitResolver, path: str, times: Collection[str]
) -> list[ResolvedCommit | None]:
    moments = [datetime.fromisoformat(each) for each in times]
    found = commits.by_path({path: moments})
    return [found.get((path, moment)) for moment in moments]


def _digest(answer: object) -> bytes:
    return hashlib.sha256(repr(answer).encode("utf-8", "surrogatepass")).digest()[:16]
