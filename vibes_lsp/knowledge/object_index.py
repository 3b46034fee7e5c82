"""The objects of a knowledge base in SQLite: derived from the files, rebuilt at will.

A row is valid for a file's name, time of modification and size, so that only what changed is
parsed again: each answer looks at all files of its kinds, and parses those that changed. Full text
search uses FTS5 with the weights of the retrieval chapter (2026-05-21). The database is in the
user's cache, because a repository could ship one.
"""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.index_database import connect, open_database, remove_database
from vibes_lsp.knowledge.knowledge_base import FileStamp, KnowledgeBase
from vibes_lsp.knowledge.objects import CLOSED, Claim, Entity, Kind, KnowledgeObject, Page, Source
from vibes_lsp.model.canonical_json import FastDecoder, parse_object
from vibes_lsp.store.files import RACY_NS

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
_ARCHIVED_FACTOR: Final = 0.5
_KIND_BITS: Final = 40
"""The rows of a kind have numbers of their own, so that a search of one kind reads no others."""
_SNIPPET_TOKENS: Final = 24
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


@dataclass(frozen=True, slots=True)
class _IndexedFile:
    """A file as it was when it was indexed.

    Attributes:
        row: The number of its rows.
        stamp: Its time of modification and size.
        is_settled: Whether it was old enough for these to show each later change.
    """

    row: int
    stamp: FileStamp
    is_settled: bool


class ObjectIndex:
    """The index of one knowledge base; use it in one thread.

    Args:
        knowledge: The knowledge base.
    """

    def __init__(self, knowledge: KnowledgeBase) -> None:
        self._knowledge = knowledge
        config = knowledge.config().retrieval
        self._backend = config.backend
        self._stems = config.fts5_porter
        self._files: dict[Kind, dict[str, _IndexedFile]] = {}
        self._version = -1
        self._connection = open_database(knowledge.path, stems=self._stems)

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
        remove_database(self._knowledge.path)
        self._connection = open_database(self._knowledge.path, stems=self._stems)
        self._files.clear()
        self.refresh()
        return {kind: self.count(kind) for kind in Kind}

    def ids(self, kind: Kind) -> set[str]:
        """Return the ids of the valid objects of a kind, as of the last refresh."""
        rows = self._rows("SELECT id FROM object WHERE kind = ? AND fault IS NULL", kind.value)
        return {identifier for (identifier,) in rows}

    def count(self, kind: Kind) -> int:
        """Return the number of valid objects of a kind, as of the last refresh."""
        [(found,)] = self._rows(
            "SELECT count(*) FROM object WHERE kind = ? AND fault IS NULL", kind.value
        )
        return int(found)

    def members(self, kind: Kind) -> Iterator[dict[str, Any]]:
        """Yield the valid objects of a kind by their ids, as of the last refresh."""
        rows = self._rows(
            "SELECT members FROM object JOIN members USING (row) "
            "WHERE kind = ? AND fault IS NULL ORDER BY id",
            kind.value,
        )
        texts = [members for (members,) in rows]
        found = _DECODER.decode_all(texts)
        yield from map(parse_object, texts) if found is None else found

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

    def search(self, text: str, kinds: Sequence[Kind] = SEARCHED, limit: int = 10) -> list[Hit]:
        """Return the objects that match all words of a text, else any, else have it as a part.

        Args:
            text: The words.
            kinds: The kinds to search.
            limit: How many at most.

        Returns:
            The hits with their snippets, the best first.
        """
        words = re.findall(r"\w+", text)[:_MAX_WORDS]
        if not words:
            return []
        if self._backend != "substring":
            quoted = [f'"{word}"' for word in dict.fromkeys(words)]
            for query in (" ".join(quoted), " OR ".join(quoted)):
                found = self._matches(kinds, query, limit, with_snippets=True)
                if found:
                    return found
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
        """Return the best matches; all kinds share the frequencies of the words."""
        found: list[tuple[float, Kind, str, int]] = []
        for kind in kinds:
            weights = _WEIGHTS[kind]
            first, last = _row_range(kind)
            ranked = self._rows(
                "SELECT rowid, bm25(content, ?, ?, ?) AS rank FROM content "
                "WHERE content MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rank LIMIT ?",
                *(*weights, query, first, last, limit),
            )
            for row, rank in ranked:
                strength = max(0.0, -rank) / max(weights)
                described = self._rows("SELECT id, outdated FROM object WHERE row = ?", row)
                for identifier, is_outdated in described:
                    factor = _ARCHIVED_FACTOR if is_outdated else 1.0
                    found.append((-factor * strength / (1 + strength), kind, identifier, row))
        found.sort()
        return [
            Hit(kind, each, -score, "fts5", self._snippet(query, row) if with_snippets else "")
            for score, kind, each, row in found[:limit]
        ]

    def _snippet(self, query: str, row: int) -> str:
        """Return a snippet; it takes ten times what ranking does, so only the best hits get one."""
        [(snippet,)] = self._rows(
            "SELECT snippet(content, -1, '<mark>', '</mark>', '…', ?) FROM content "
            "WHERE content MATCH ? AND rowid = ?",
            *(_SNIPPET_TOKENS, query, row),
        )
        return str(snippet)

    def _with_part(self, text: str, kinds: Sequence[Kind], limit: int) -> list[Hit]:
        escaped = re.sub(r"([\\%_])", r"\\\1", text)
        rows = self._rows(
            "SELECT kind, id, first || ' ' || second || ' ' || third AS whole FROM content "
            "JOIN object ON row = content.rowid "
            "WHERE kind IN (SELECT value FROM json_each(?)) AND whole LIKE ? ESCAPE '\\' "
            "ORDER BY kind, id LIMIT ?",
            *(msgspec.json.encode([*kinds]).decode(), f"%{escaped}%", limit),
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
        known = self._known(kind)
        changed: list[tuple[str, str, FileStamp]] = []
        stamps = self._knowledge.file_stamps(kind)
        for name, stamp in stamps.items():
            file = known.get(name)
            if file is None or file.stamp != stamp or not file.is_settled:
                identifier = self._knowledge.id_of(kind, name)
                if identifier is not None:
                    changed.append((name, identifier, stamp))
        gone = [name for name in known if name not in stamps]
        if not changed and not gone:
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for name in gone:
                self._drop(known.pop(name).row)
            for name, identifier, stamp in changed:
                self._store(kind, name, identifier, stamp)
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._files.clear()
            raise
        self._connection.execute("COMMIT")

    def _known(self, kind: Kind) -> dict[str, _IndexedFile]:
        """Return the files of a kind by name; read again if another program changed the index."""
        [version] = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._files.clear()
            self._version = version
        if kind not in self._files:
            rows = self._connection.execute(
                "SELECT name, row, modified, size, settled FROM object WHERE kind = ?",
                (kind.value,),
            )
            self._files[kind] = {
                name: _IndexedFile(row, (modified, size), bool(is_settled))
                for name, row, modified, size, is_settled in rows
            }
        return self._files[kind]

    def _drop(self, row: int) -> None:
        for statement in (
            "DELETE FROM object WHERE row = ?",
            "DELETE FROM members WHERE row = ?",
            "DELETE FROM content WHERE rowid = ?",
        ):
            self._connection.execute(statement, (row,))

    def _store(self, kind: Kind, name: str, identifier: str, stamp: FileStamp) -> None:
        """Index a file; one that may have changed, but did not, only gets its time."""
        fault, found, digest = None, None, b""
        is_settled = time.time_ns() - stamp[0] >= RACY_NS
        known = self._files[kind].get(name)
        try:
            data = self._knowledge.read_bytes(kind, identifier)
            if data is None:
                return  # removed meanwhile
            digest = hashlib.blake2b(data, digest_size=16).digest()
            if known is not None and self._digest(known.row) == digest:
                self._connection.execute(
                    "UPDATE object SET modified = ?, size = ?, settled = ? WHERE row = ?",
                    (*stamp, is_settled, known.row),
                )
                self._files[kind][name] = _IndexedFile(known.row, stamp, is_settled)
                return
            found = self._knowledge.parse(kind, identifier, data)
        except VibesError as error:
            fault = error.message
        row = self._new_row(kind) if known is None else known.row
        if known is not None:
            self._drop(row)
        is_outdated = getattr(found, "status", None) in CLOSED
        self._connection.execute(
            "INSERT INTO object VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row, kind.value, name, identifier, *stamp, is_settled, digest, is_outdated, fault),
        )
        if found is not None:
            members = found.model_dump_json().encode()
            self._connection.execute("INSERT INTO members VALUES (?, ?)", (row, members))
        if found is not None and kind in _WEIGHTS:
            self._connection.execute(
                "INSERT INTO content (rowid, first, second, third) VALUES (?, ?, ?, ?)",
                (row, *self._texts(found)),
            )
        self._files[kind][name] = _IndexedFile(row, stamp, is_settled)

    def _digest(self, row: int) -> bytes | None:
        found = self._connection.execute("SELECT digest FROM object WHERE row = ?", (row,))
        for (digest,) in found:
            return bytes(digest)
        return None

    def _new_row(self, kind: Kind) -> int:
        first, last = _row_range(kind)
        [highest] = self._connection.execute(
            "SELECT max(row) FROM object WHERE row BETWEEN ? AND ?", (first, last)
        ).fetchone()
        return first if highest is None else int(highest) + 1

    def _texts(self, found: KnowledgeObject) -> tuple[str, str, str]:
        """Return the texts of the three columns, in the order of the weights."""
        match found:
            case Claim():
                return found.text, " ".join(found.tags), " ".join(found.entities)
            case Page():
                return found.title, found.body, " ".join(found.tags)
            case Entity():
                return found.name, " ".join(found.aliases), found.description or ""
            case Source():
                return found.title or "", found.locator, self._preview(found)
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
        self._connection = connect(":memory:", stems=self._stems)
        self._files.clear()


def open_index(knowledge: KnowledgeBase) -> closing[ObjectIndex]:
    """Return the index of a knowledge base, which is closed at the end of a `with` block."""
    return closing(ObjectIndex(knowledge))


def _row_range(kind: Kind) -> tuple[int, int]:
    number = tuple(Kind).index(kind) + 1
    return number << _KIND_BITS, (number + 1 << _KIND_BITS) - 1


def _decode(members: bytes) -> dict[str, Any]:
    found = _DECODER.decode(members)
    return parse_object(members) if found is None else found


def _excerpt(content: str, part: str) -> str:
    at = content.lower().find(part.lower())
    if at < 0:
        return content[:_SNIPPET]
    start = max(0, at - _SNIPPET // 3)
    before, match = content[start:at], content[at : at + len(part)]
    return f"{before}<mark>{match}</mark>{content[at + len(part) : start + _SNIPPET]}"
