"""The result of a look-up in git history as it is saved: each text once, by how it differs."""

from __future__ import annotations

import hashlib
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

import msgspec

from vibes_lsp.anchors.history_mapping import EditTime, LineAges
from vibes_lsp.anchors.location import DatedCommit, OriginalText
from vibes_lsp.anchors.text import Text, common_end, common_start
from vibes_lsp.exchange.note_overlay import FileNotes, NotedLines
from vibes_lsp.exchange.trailer_overlay import FileTrailers
from vibes_lsp.history.agent_trailers import AgentTrailer
from vibes_lsp.history.commit_resolution import ResolvedCommit
from vibes_lsp.index.file_history import FileHistory
from vibes_lsp.lsp.lookup_state import Stamp


@dataclass(frozen=True, slots=True)
class LookedUpFile:
    """What a look-up found about one document.

    Attributes:
        history: The history of its annotations.
        resolved_commits: Commits of annotations that record none, or a rewritten one, by the id of
            their first record.
        notes: What git-ai's notes say; None if they were not read.
        trailers: The agents in the trailers of its lines' commits; None without any.
        subjects: The subjects of the annotations' commits.
    """

    history: FileHistory
    resolved_commits: Mapping[str, ResolvedCommit]
    notes: FileNotes | None = None
    trailers: FileTrailers | None = None
    subjects: Mapping[str, str] = field(default_factory=dict)


class _SavedText(msgspec.Struct, array_like=True):
    """A text as it differs from another one: common lines at both ends, and those between.

    Attributes:
        base: 0 for the text that was looked up, else the number of a saved text.
        first: Common lines at the beginning.
        last: Common lines at the end.
        between: How many lines are between them.
    """

    base: int
    first: int
    last: int
    between: int


class _SavedOriginal(msgspec.Struct, array_like=True):
    text: int
    start: int
    end: int
    later: list[int]
    inferred: bool
    before_edit: bool
    older_commit: DatedCommit | None


class _SavedAges(msgspec.Struct, array_like=True):
    text: int
    commits: list[DatedCommit]
    runs: list[tuple[int, int]]


class SavedLookup(msgspec.Struct, array_like=True):
    """A result, with what it depends on besides the state of the project.

    Attributes:
        looked_up: A hash of the text that was looked up.
        others: The files that text may have moved from.
        texts: The texts of versions.
        lines: The lines that these do not have in common with others, each once, compressed.
        numbers: Which of these lines are between, for all texts, compressed.
    """

    looked_up: bytes
    others: dict[str, Stamp | None]
    texts: list[_SavedText]
    lines: bytes
    numbers: bytes
    originals: dict[str, _SavedOriginal]
    former_paths: tuple[str, ...]
    moved_in: tuple[str, ...]
    ages: _SavedAges | None
    edit_times: dict[str, EditTime]
    resolved_commits: dict[str, ResolvedCommit]
    notes: tuple[int, tuple[NotedLines, ...]] | None
    trailers: tuple[int, dict[int, AgentTrailer]] | None
    subjects: dict[str, str]


def text_digest(text: Text) -> bytes:
    """Return a hash of a text."""
    return hashlib.sha256(text.content.encode("utf-8", "surrogatepass")).digest()


class _TextTable:
    """The texts of one result, each saved once, and each of their lines once."""

    def __init__(self, looked_up: Text) -> None:
        self.texts: list[_SavedText] = []
        self._between = array("I")
        self._line_numbers: dict[str, int] = {}
        self._split = [looked_up.content.split("\n")]
        self._numbers = {id(looked_up): 0}

    def number(self, text: Text) -> int:
        """Return the number of a text; save it if it is new."""
        found = self._numbers.get(id(text))
        if found is None:
            base = 0 if text.similar is None else self._numbers.get(id(text.similar), 0)
            self._add(base, text.content.split("\n"))
            found = self._numbers[id(text)] = len(self.texts)
        return found

    def lines(self) -> bytes:
        """Return the lines that texts do not have in common with others, compressed."""
        return zlib.compress("\n".join(self._line_numbers).encode("utf-8", "surrogatepass"), 1)

    def numbers(self) -> bytes:
        """Return which of these lines the texts have, compressed."""
        return zlib.compress(self._between.tobytes(), 1)

    def _add(self, base: int, lines: list[str]) -> None:
        similar, known = self._split[base], self._line_numbers
        most = min(len(similar), len(lines))
        first = common_start(similar, lines, most)
        last = common_end(similar, lines, most - first)
        between = lines[first : len(lines) - last]
        self._between.extend(known.setdefault(line, len(known)) for line in between)
        self.texts.append(_SavedText(base, first, last, len(between)))
        self._split.append(lines)


def _restore_texts(saved: SavedLookup, looked_up: Text) -> list[Text]:
    numbers, start = array("I", zlib.decompress(saved.numbers)), 0
    known = zlib.decompress(saved.lines).decode("utf-8", "surrogatepass").split("\n")
    texts, split = [looked_up], [looked_up.content.split("\n")]
    for each in saved.texts:
        similar, end = split[each.base], start + each.between
        between = map(known.__getitem__, numbers[start:end])
        lines = [*similar[: each.first], *between, *similar[len(similar) - each.last :]]
        texts.append(Text("\n".join(lines), texts[each.base]))
        split.append(lines)
        start = end
    return texts


def save_lookup(text: Text, found: LookedUpFile, others: Mapping[str, Stamp | None]) -> SavedLookup:
    """Return a result as it is saved.

    Args:
        text: The text that was looked up.
        found: The result.
        others: The files that text may have moved from, as they were before.
    """
    table, history = _TextTable(text), found.history
    originals: dict[str, _SavedOriginal] = {}
    for identifier, each in history.original_texts.items():
        later = [table.number(version) for version in reversed(each.later)]
        originals[identifier] = _SavedOriginal(
            table.number(each.text),
            each.start,
            each.end,
            later[::-1],
            each.inferred,
            each.before_edit,
            each.older_commit,
        )
    ages = None if history.ages is None else _save_ages(table, history.ages)
    notes, trailers = found.notes, found.trailers
    noted = None if notes is None else (table.number(notes.text), notes.lines)
    by_line = None if trailers is None else (table.number(trailers.text), dict(trailers.lines))
    return SavedLookup(
        text_digest(text),
        dict(others),
        table.texts,
        table.lines(),
        table.numbers(),
        originals,
        history.former_paths,
        history.moved_in,
        ages,
        dict(history.edit_times),
        dict(found.resolved_commits),
        noted,
        by_line,
        dict(found.subjects),
    )


def _save_ages(table: _TextTable, ages: LineAges) -> _SavedAges:
    numbers = {each: number for number, each in enumerate(dict.fromkeys(ages.lines))}
    runs = [(numbers[each], len(list(lines))) for each, lines in groupby(ages.lines)]
    return _SavedAges(table.number(ages.text), list(numbers), runs)


def restore_lookup(saved: SavedLookup, text: Text) -> LookedUpFile:
    """Return a saved result of a text.

    Raises:
        IndexError: It is damaged.
        ValueError: It is damaged.
        zlib.error: It is damaged.
    """
    texts = _restore_texts(saved, text)
    originals = {
        identifier: OriginalText(
            texts[each.text],
            each.start,
            each.end,
            tuple(texts[number] for number in each.later),
            each.inferred,
            each.before_edit,
            each.older_commit,
        )
        for identifier, each in saved.originals.items()
    }
    ages = saved.ages
    history = FileHistory(
        originals,
        saved.former_paths,
        saved.moved_in,
        None
        if ages is None
        else LineAges(
            texts[ages.text],
            [ages.commits[number] for number, count in ages.runs for _ in range(count)],
        ),
        saved.edit_times,
    )
    notes, trailers = saved.notes, saved.trailers
    return LookedUpFile(
        history,
        saved.resolved_commits,
        None if notes is None else FileNotes(texts[notes[0]], notes[1]),
        None if trailers is None else FileTrailers(texts[trailers[0]], trailers[1]),
        saved.subjects,
    )
