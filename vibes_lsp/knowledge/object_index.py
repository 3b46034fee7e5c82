"""The objects of a knowledge base in SQLite: derived from the files, rebuilt at will.

A row is valid for a file's name and stamp, so that only what changed is
parsed again: each answer looks at all files of its kinds, and parses those that changed. Full text
search uses FTS5 with the weights of the retrieval chapter (2026-05-21). The database is in the
user's cache, because a repository could ship one.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.index_database import index_database
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.objects import CLOSED, Claim, Entity, Kind, KnowledgeObject, Page, Source
from vibes_lsp.model.canonical_json import FastDecoder, parse_object
from vibes_lsp.store.file_stamps import FileStamp, is_settled

_logger = logging.getLogger(__name__)

_WEIGHTS: Final = {
    Kind.CLAIM: (3.0, 1.5, 1.0),  # text, tags, entities
    Kind.PAGE: (4.0, 1.0, 2.0),  # title, body, tags
    Kind.ENTITY: (4.0, 2.0, 1.0),  # name, aliases, description
    Kind.SOURCE: (3.0, 1.0, 0.5),  # title, locator, beginning of the content
}
SEARCHED: Final = tuple(_WEIGHTS)
"""The kinds that are searched."""
_PREVIEW: Final = 4_000
"""How many bytes of a source's content are searched."""
_MAX_WORDS: Final = 32
_MAX_PART: Final = 1000
_KIND_BITS: Final = 40
_CLOSED_ROW: Final = 1 << _KIND_BITS - 1
"""A bit in the numbers of rows whose objects are closed; the bits above it are the kind."""
_CLOSED_FACTOR: Final = 0.5
_UNSETTLED: Final = FileStamp(-1, -1, -1, -1)
"""A stamp that no file has, for one that may change again without a new stamp."""
_SNIPPET_TOKENS: Final = 24
_SNIPPET_OF_ROW: Final = (
    "(SELECT snippet(content, -1, '<mark>', '</mark>', '…', ?) FROM content"
    " WHERE content MATCH ? AND rowid = best.row)"
)
_SNIPPET: Final = 240
_DECODER: Final = FastDecoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class Hit:
    """An object that a search found.

    Attributes:
        kind: Its kind.
        id: Its id.
        score: From 0 to 1, comparable between kinds.
        backend: How it was found: `fts5` or `substring`.
        snippet: The part of its text that matches, with `<mark>` around the words; empty if it
            was not asked for.
    """

    kind: Kind
    id: str
    score: float
    backend: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class BrokenObject:
    """A file that is no valid object.

    Attributes:
        kind: What it should be.
        id: The id that its name gives.
        reason: What is wrong.
    """

    kind: Kind
    id: str
    reason: str


class ObjectIndex:
    """The index of one knowledge base; use it in one thread.

    Args:
        knowledge: The knowledge base.
    """

    def __init__(self, knowledge: KnowledgeBase) -> None:
        self._knowledge = knowledge
        config = knowledge.config().retrieval
        self._backend = config.backend
        self._database = index_database(stems=config.fts5_porter)
        self._files: dict[Kind, dict[str, FileStamp]] = {}
        self._folders: dict[Kind, FileStamp | None] = {}
        self._version = -1
        self._connection = self._database.open(knowledge.path)[0]

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def refresh(self, kinds: Iterable[Kind] = tuple(Kind)) -> None:
        """Parse the files that are new or changed, and drop those that are gone."""
        wanted = tuple(kinds)
        try:
            for kind in wanted:
                self._refresh(kind)
        except sqlite3.Error as error:  # another program has the database, or broke it
            self._use_memory(error)
            for kind in wanted:
                self._refresh(kind)

    def rebuild(self) -> dict[Kind, int]:
        """Parse all files again; return how many valid objects there are."""
        self._connection.close()
        self._database.remove(self._knowledge.path)
        self._connection = self._database.open(self._knowledge.path)[0]
        self._forget()
        self.refresh()
        return self.counts()

    def ids(self, kind: Kind) -> set[str]:
        """Return the ids of the valid objects of a kind, as of the last refresh."""
        rows = self._rows("SELECT id FROM object WHERE kind = ? AND fault IS NULL", kind.value)
        return {identifier for (identifier,) in rows}

    def counts(self) -> dict[Kind, int]:
        """Return the number of valid objects of each kind, as of the last refresh."""
        rows = self._rows("SELECT kind, count(*) FROM object WHERE fault IS NULL GROUP BY kind")
        return dict.fromkeys(Kind, 0) | {Kind(kind): number for kind, number in rows}

    def members(self, kind: Kind) -> Iterator[dict[str, Any]]:
        """Yield the valid objects of a kind by their ids, as of the last refresh."""
        rows = self._rows(
            "SELECT members FROM object JOIN members USING (row) "
            "WHERE kind = ? AND fault IS NULL ORDER BY id",
            kind.value,
        )
        texts = [members for (members,) in rows]
        decoded = _DECODER.decode_all(texts)
        yield from map(parse_object, texts) if decoded is None else decoded

    def get(self, kind: Kind, identifier: str) -> dict[str, Any] | None:
        """Return a valid object as of the last refresh; None if there is none."""
        rows = self._rows(
            "SELECT members FROM object JOIN members USING (row) "
            "WHERE kind = ? AND name = ? AND fault IS NULL",
            kind.value,
            self._knowledge.name_of(kind, identifier),
        )
        return _decode(rows[0][0]) if rows else None

    def broken(self) -> list[BrokenObject]:
        """Return the files that are no valid objects, as of the last refresh."""
        rows = self._rows(
            "SELECT kind, id, fault FROM object WHERE fault IS NOT NULL ORDER BY kind, id"
        )
        return [BrokenObject(Kind(kind), identifier, fault) for kind, identifier, fault in rows]

    def search(
        self,
        text: str,
        kinds: Sequence[Kind] = SEARCHED,
        limit: int = 10,
        backend: Literal["auto", "fts5", "substring"] = "auto",
    ) -> list[Hit]:
        """Return the objects that match all words of a text, else any, else have it as a part.

        Args:
            text: The words.
            kinds: The kinds to search.
            limit: How many at most.
            backend: How to search; `auto` is the setting of the project.

        Returns:
            The hits with their snippets, the best first.
        """
        words = re.findall(r"\w+", text)[:_MAX_WORDS]
        if not words:
            return []
        if (self._backend if backend == "auto" else backend) != "substring":
            quoted = [f'"{word}"' for word in dict.fromkeys(words)]
            for query in (" ".join(quoted), " OR ".join(quoted)):
                hits = self._matches(kinds, query, limit, with_snippets=True)
                if hits:
                    return hits
        return self._with_part(text.strip()[:_MAX_PART], kinds, limit)

    def search_any(self, words: Sequence[str], limit: int) -> list[Hit]:
        """Return the objects that match any of the words, the best first, without snippets."""
        if not words or self._backend == "substring":
            parts = [hit for word in words for hit in self._with_part(word, SEARCHED, limit)]
            return list({(hit.kind, hit.id): hit for hit in parts}.values())[:limit]
        query = " OR ".join(f'"{word}"' for word in words)
        return self._matches(SEARCHED, query, limit, with_snippets=False)

    def _matches(
        self, kinds: Sequence[Kind], query: str, limit: int, *, with_snippets: bool
    ) -> list[Hit]:
        """Return the best matches; all kinds share the frequencies of the words.

        One statement for all kinds: FTS5 counts the rows of each word once per statement. It makes
        the snippets too, as another program may change the index after it; they take ten times
        what ranking does, so only the best hits get one.
        """
        snippet, of_snippet = (
            (_SNIPPET_OF_ROW, (_SNIPPET_TOKENS, query)) if with_snippets else ("''", ())
        )
        rows = self._rows(
            f"SELECT kind, id, score, {snippet} FROM ("  # noqa: S608  # numbers and constants
            f"  SELECT rowid AS row, {_SCORE} AS score FROM content"
            f"  WHERE content MATCH ? AND rowid >> {_KIND_BITS} IN ({_numbers(kinds)})"
            "  ORDER BY score DESC LIMIT ?"
            ") AS best JOIN object USING (row) ORDER BY score DESC, kind, id",
            *(*of_snippet, query, limit),
        )
        return [
            Hit(Kind(kind), identifier, score, "fts5", text)
            for kind, identifier, score, text in rows
        ]

    def _with_part(self, text: str, kinds: Sequence[Kind], limit: int) -> list[Hit]:
        """Return what has a text as a part, in any case of letters."""
        escaped = re.sub(r"([\\%_])", r"\\\1", text)
        rows = self._rows(
            "SELECT kind, id, whole FROM ("  # noqa: S608  # numbers and constants
            "  SELECT rowid AS row, first || ' ' || second || ' ' || third AS whole FROM content"
            f"  WHERE rowid >> {_KIND_BITS} IN ({_numbers(kinds)}) AND whole LIKE ? ESCAPE '\\'"
            ") JOIN object USING (row) ORDER BY kind, id LIMIT ?",
            *(f"%{escaped}%", limit),
        )
        return [
            Hit(Kind(kind), identifier, 0.1, "substring", _excerpt(whole, text))
            for kind, identifier, whole in rows
        ]

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            self._use_memory(error)
            self.refresh()
            return self._connection.execute(statement, values).fetchall()

    def _refresh(self, kind: Kind) -> None:
        known, folder = self._known(kind), self._knowledge.folder_stamp(kind)
        is_same_folder = folder is not None and folder == self._folders.get(kind)
        if is_same_folder and self._knowledge.have_stamps(kind, known):
            return
        stamps = self._knowledge.file_stamps(kind)
        self._folders[kind] = folder
        if stamps == known:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for name in known.keys() - stamps.keys():
                self._drop(self._row(kind, name)[0])
                del known[name]
            for name in sorted(
                file_name for file_name in stamps if known.get(file_name) != stamps[file_name]
            ):
                identifier = self._knowledge.id_of(kind, name)
                if identifier is None:  # a name that no object has
                    known[name] = stamps[name]
                else:
                    self._store(kind, name, identifier, stamps[name])
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._forget()
            raise
        self._connection.execute("COMMIT")

    def _known(self, kind: Kind) -> dict[str, FileStamp]:
        """Return the stamps of a kind by name; read again if another program changed the index."""
        [version] = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._forget()
            self._version = version
        if kind not in self._files:
            rows = self._connection.execute(
                "SELECT name, stamp FROM object WHERE kind = ?", (kind.value,)
            )
            self._files[kind] = {name: FileStamp(*map(int, stamp.split())) for name, stamp in rows}
        return self._files[kind]

    def _drop(self, row: int | None) -> None:
        for statement in (
            "DELETE FROM object WHERE row = ?",
            "DELETE FROM members WHERE row = ?",
            "DELETE FROM content WHERE rowid = ?",
        ):
            self._connection.execute(statement, (row,))

    def _store(self, kind: Kind, name: str, identifier: str, stamp: FileStamp) -> None:
        """Index a file; one that may have changed, but did not, only gets its stamp."""
        fault, knowledge_object, digest = None, None, b""
        if not is_settled(stamp.modified_ns):
            stamp = _UNSETTLED
        is_known = name in self._files[kind]
        row, known_digest = self._row(kind, name) if is_known else (None, None)
        try:
            content = self._knowledge.read_bytes(kind, identifier)
            if content is None:
                return  # removed meanwhile
            digest = hashlib.blake2b(content, digest_size=16).digest()
            if known_digest == digest:
                self._connection.execute(
                    "UPDATE object SET stamp = ? WHERE row = ?", (" ".join(map(str, stamp)), row)
                )
                self._files[kind][name] = stamp
                return
            knowledge_object = self._knowledge.parse(kind, identifier, content)
        except VibesError as error:
            fault = error.message
        if is_known:
            self._drop(row)
        row = self._new_row(kind, is_closed=getattr(knowledge_object, "status", None) in CLOSED)
        self._connection.execute(
            "INSERT INTO object VALUES (?, ?, ?, ?, ?, ?, ?)",
            (row, kind.value, name, identifier, " ".join(map(str, stamp)), digest, fault),
        )
        if knowledge_object is not None:
            members = knowledge_object.model_dump_json().encode()
            self._connection.execute("INSERT INTO members VALUES (?, ?)", (row, members))
        if knowledge_object is not None and kind in _WEIGHTS:
            self._connection.execute(
                "INSERT INTO content (rowid, first, second, third) VALUES (?, ?, ?, ?)",
                (row, *self._texts(knowledge_object)),
            )
        self._files[kind][name] = stamp

    def _row(self, kind: Kind, name: str) -> tuple[int | None, bytes | None]:
        """Return the row of a file and the hash of its content; None if it has none."""
        row = self._connection.execute(
            "SELECT row, digest FROM object WHERE kind = ? AND name = ?", (kind.value, name)
        ).fetchone()
        return (None, None) if row is None else (int(row[0]), bytes(row[1]))

    def _new_row(self, kind: Kind, *, is_closed: bool) -> int:
        first = (_number(kind) << _KIND_BITS) + _CLOSED_ROW * is_closed
        [highest] = self._connection.execute(
            "SELECT max(row) FROM object WHERE row BETWEEN ? AND ?",
            (first, first + _CLOSED_ROW - 1),
        ).fetchone()
        return first if highest is None else int(highest) + 1

    def _texts(self, document: KnowledgeObject) -> tuple[str, str, str]:
        """Return the texts of the three columns, in the order of the weights."""
        match document:
            case Claim():
                return document.text, " ".join(document.tags), " ".join(document.entities)
            case Page():
                return document.title, document.body, " ".join(document.tags)
            case Entity():
                return document.name, " ".join(document.aliases), document.description or ""
            case Source():
                return document.title or "", document.locator, self._preview(document)
            case _:
                return "", "", ""

    def _preview(self, source: Source) -> str:
        if not source.media_type.startswith("text/"):
            return ""
        with suppress(VibesError, OSError), self._knowledge.open_content(source.id) as file:
            return file.read(_PREVIEW).decode("utf-8", "ignore")
        return ""

    def _use_memory(self, error: sqlite3.Error) -> None:
        _logger.info("the index is made in memory: %s", error)
        self._connection.close()
        self._connection = self._database.in_memory()
        self._forget()

    def _forget(self) -> None:
        """Compare the files with the database before the next answer."""
        self._files.clear()
        self._folders.clear()


def open_index(knowledge: KnowledgeBase) -> closing[ObjectIndex]:
    """Return the index of a knowledge base, which is closed at the end of a `with` block."""
    return closing(ObjectIndex(knowledge))


def _number(kind: Kind) -> int:
    return tuple(Kind).index(kind) + 1


def _numbers(kinds: Iterable[Kind]) -> str:
    return ", ".join(str(_number(kind)) for kind in kinds)


def _by_kind(column: int | None) -> str:
    """Return SQL for the weight of a column, which depends on the kind; None for the highest."""
    cases = (
        f"WHEN {_number(kind)} THEN {max(weights) if column is None else weights[column]}"
        for kind, weights in _WEIGHTS.items()
    )
    return f"CASE rowid >> {_KIND_BITS} {' '.join(cases)} END"


_RANK: Final = f"bm25(content, {', '.join(map(_by_kind, range(3)))})"
_SCORE: Final = (
    f"(1 - 1 / (1 + max(0, -{_RANK}) / {_by_kind(None)}))"
    f" * CASE WHEN rowid & {_CLOSED_ROW} THEN {_CLOSED_FACTOR} ELSE 1 END"
)
"""From 0 to 1; FTS5's ranks are below 0 and have no bound."""


def _decode(members: bytes) -> dict[str, Any]:
    decoded = _DECODER.decode(members)
    return parse_object(members) if decoded is None else decoded


def _excerpt(content: str, part: str) -> str:
    at = content.lower().find(part.lower())
    if at < 0:
        return content[:_SNIPPET]
    start = max(0, at - _SNIPPET // 3)
    before, match = content[start:at], content[at : at + len(part)]
    return f"{before}<mark>{match}</mark>{content[at + len(part) : start + _SNIPPET]}"
