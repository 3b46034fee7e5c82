"""The objects of a knowledge base in SQLite, `state.db`: derived from the files, rebuilt at will.

A row is valid for a file's path, time of modification and size, so that only what changed is
parsed again. Full text search uses FTS5 with the weights of the retrieval chapter (2026-05-21).
The tables of the reference implementation in the same database are left alone.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, ObjectFile
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.store.files import RACY_NS, open_file

_logger = logging.getLogger(__name__)

_OBJECT_TABLE: Final = (
    "CREATE TABLE vibes_object (row INTEGER PRIMARY KEY, kind, id, modified, size, indexed, "
    "members, fault, UNIQUE (kind, id))"
)
_TEXT_TABLE: Final = (
    "CREATE VIRTUAL TABLE vibes_text USING fts5(first, second, third, tokenize='{tokenizer}')"
)
_TOKENIZERS: Final = {True: "porter unicode61", False: "unicode61"}
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
_ARCHIVED_FACTOR: Final = 0.5
_BUSY_SECONDS: Final = 2.0
_SNIPPET_TOKENS: Final = 24
_SNIPPET: Final = 240
_OUTDATED: Final = frozenset({"superseded", "archived", "redacted"})


@dataclass(frozen=True, slots=True)
class Hit:
    """An object that a search found.

    Attributes:
        kind: Its kind.
        id: Its id.
        snippet: The part of its text that matches, with `<mark>` around the words.
        score: From 0 to 1, comparable between kinds.
        backend: How it was found: `fts5` or `substring`.
    """

    kind: Kind
    id: str
    snippet: str
    score: float
    backend: str


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
        self._tokenizer = _TOKENIZERS[config.fts5_porter]
        self._connection = self._open()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def refresh(self, kinds: Iterable[Kind] = tuple(Kind)) -> None:
        """Parse the files that are new or changed, and drop those that are gone."""
        for kind in kinds:
            try:
                self._refresh(kind)
            except sqlite3.Error as error:  # another program has the database, or broke it
                _logger.info("the index is not used: %s", error)
                self._connection.close()
                self._connection = self._create(":memory:")
                self._refresh(kind)

    def rebuild(self) -> dict[Kind, int]:
        """Parse all files again; return how many valid objects there are."""
        with self._connection:
            self._connection.execute("DELETE FROM vibes_object")
            self._connection.execute("DELETE FROM vibes_text")
        self.refresh()
        return {kind: len(self.ids(kind)) for kind in Kind}

    def ids(self, kind: Kind) -> set[str]:
        """Return the ids of the valid objects of a kind, as of the last refresh."""
        rows = self._connection.execute(
            "SELECT id FROM vibes_object WHERE kind = ? AND fault IS NULL", (kind.value,)
        )
        return {identifier for (identifier,) in rows}

    def count(self, kind: Kind) -> int:
        """Return the number of valid objects of a kind, as of the last refresh."""
        found: tuple[int] = self._connection.execute(
            "SELECT count(*) FROM vibes_object WHERE kind = ? AND fault IS NULL", (kind.value,)
        ).fetchone()
        return found[0]

    def members(self, kind: Kind) -> Iterator[dict[str, Any]]:
        """Yield the valid objects of a kind by their ids, as of the last refresh."""
        rows = self._connection.execute(
            "SELECT members FROM vibes_object WHERE kind = ? AND fault IS NULL ORDER BY id",
            (kind.value,),
        )
        for (members,) in rows:
            yield parse_object(members)

    def get(self, kind: Kind, identifier: str) -> dict[str, Any] | None:
        """Return a valid object as of the last refresh; None if there is none."""
        row = self._connection.execute(
            "SELECT members FROM vibes_object WHERE kind = ? AND id = ? AND fault IS NULL",
            (kind.value, identifier),
        ).fetchone()
        return None if row is None else parse_object(row[0])

    def broken(self) -> list[BrokenObject]:
        """Return the files that are no valid objects, as of the last refresh."""
        rows = self._connection.execute(
            "SELECT kind, id, fault FROM vibes_object WHERE fault IS NOT NULL ORDER BY kind, id"
        )
        return [BrokenObject(Kind(kind), identifier, fault) for kind, identifier, fault in rows]

    def search(self, text: str, kinds: Sequence[Kind] = SEARCHED, limit: int = 10) -> list[Hit]:
        """Return the objects that match all words of a text, else any, else have it as a part.

        Args:
            text: The words.
            kinds: The kinds to search.
            limit: How many at most.

        Returns:
            The hits, the best first.
        """
        words = re.findall(r"\w+", text)
        if not words:
            return []
        if self._backend != "substring":
            quoted = [f'"{word}"' for word in dict.fromkeys(words)][:32]
            for query in (" ".join(quoted), " OR ".join(quoted)):
                found = [hit for kind in kinds for hit in self._matches(kind, query, limit)]
                if found:
                    return sorted(found, key=lambda hit: (-hit.score, hit.kind, hit.id))[:limit]
        return self._with_part(text.strip(), kinds, limit)

    def search_any(self, words: Sequence[str], limit: int) -> list[Hit]:
        """Return the objects that match any of the words, the best first."""
        if not words or self._backend == "substring":
            parts = [hit for word in words for hit in self._with_part(word, SEARCHED, limit)]
            return list({(hit.kind, hit.id): hit for hit in parts}.values())[:limit]
        query = " OR ".join(f'"{word}"' for word in words)
        found = [hit for kind in SEARCHED for hit in self._matches(kind, query, limit)]
        return sorted(found, key=lambda hit: (-hit.score, hit.kind, hit.id))[:limit]

    def _matches(self, kind: Kind, query: str, limit: int) -> Iterator[Hit]:
        """Yield the best matches of one kind; all kinds share the frequencies of the words."""
        weights = _WEIGHTS[kind]
        rows = self._connection.execute(
            "SELECT id, snippet(vibes_text, -1, '<mark>', '</mark>', '…', ?), "
            "bm25(vibes_text, ?, ?, ?) AS rank, json_extract(members, '$.status') "
            "FROM vibes_text JOIN vibes_object ON row = vibes_text.rowid "
            "WHERE vibes_text MATCH ? AND kind = ? ORDER BY rank LIMIT ?",
            (_SNIPPET_TOKENS, *weights, query, kind.value, limit),
        )
        for identifier, snippet, rank, status in rows:
            strength = max(0.0, -rank) / max(weights)
            factor = _ARCHIVED_FACTOR if status in _OUTDATED else 1.0
            yield Hit(kind, identifier, snippet, factor * strength / (1 + strength), "fts5")

    def _with_part(self, text: str, kinds: Sequence[Kind], limit: int) -> list[Hit]:
        escaped = re.sub(r"([\\%_])", r"\\\1", text)
        rows = self._connection.execute(
            "SELECT kind, id, first || ' ' || second || ' ' || third AS content FROM vibes_text "
            "JOIN vibes_object ON row = vibes_text.rowid "
            "WHERE kind IN (SELECT value FROM json_each(?)) AND content LIKE ? ESCAPE '\\' "
            "ORDER BY kind, id LIMIT ?",
            (msgspec.json.encode([*kinds]).decode(), f"%{escaped}%", limit),
        )
        return [
            Hit(Kind(kind), identifier, _excerpt(content, text), 0.1, "substring")
            for kind, identifier, content in rows
        ]

    def _refresh(self, kind: Kind) -> None:
        known = {
            identifier: (row, modified, size, indexed)
            for row, identifier, modified, size, indexed in self._connection.execute(
                "SELECT row, id, modified, size, indexed FROM vibes_object WHERE kind = ?",
                (kind.value,),
            )
        }
        changed: list[ObjectFile] = []
        for file in self._knowledge.files(kind):
            row = known.pop(file.id, None)
            is_same = row is not None and (row[1], row[2]) == (file.modified_ns, file.size)
            if row is None or not is_same or row[3] - file.modified_ns < RACY_NS:
                changed.append(file)
        if not changed and not known:
            return
        with self._connection:
            for row in known.values():
                self._connection.execute("DELETE FROM vibes_object WHERE row = ?", row[:1])
                self._connection.execute("DELETE FROM vibes_text WHERE rowid = ?", row[:1])
            for file in changed:
                self._store(file)

    def _store(self, file: ObjectFile) -> None:
        members, fault, found = None, None, None
        now = time.time_ns()
        try:
            found = self._knowledge.read(file.kind, file.id)
            if found is None:
                return  # removed meanwhile
            members = found.model_dump_json()
        except VibesError as error:
            fault = error.message
        (row,) = self._connection.execute(
            "INSERT INTO vibes_object (kind, id, modified, size, indexed, members, fault) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET "
            "modified = excluded.modified, size = excluded.size, indexed = excluded.indexed, "
            "members = excluded.members, fault = excluded.fault RETURNING row",
            (file.kind.value, file.id, file.modified_ns, file.size, now, members, fault),
        ).fetchone()
        if file.kind in _WEIGHTS:
            self._connection.execute("DELETE FROM vibes_text WHERE rowid = ?", (row,))
            if found is not None:
                texts = self._texts(file.kind, found.members())
                self._connection.execute(
                    "INSERT INTO vibes_text (rowid, first, second, third) VALUES (?, ?, ?, ?)",
                    (row, *texts),
                )

    def _texts(self, kind: Kind, members: dict[str, Any]) -> tuple[str, str, str]:
        joined = {
            name: " ".join(map(str, value)) if isinstance(value, list) else str(value or "")
            for name, value in members.items()
        }
        if kind is Kind.CLAIM:
            return joined["text"], joined["tags"], joined["entities"]
        if kind is Kind.PAGE:
            return joined["title"], joined["body"], joined["tags"]
        if kind is Kind.ENTITY:
            return joined["name"], joined["aliases"], joined["description"]
        return joined["title"], joined["locator"], self._preview(members)

    def _preview(self, source: dict[str, Any]) -> str:
        if not str(source.get("media_type", "text/")).startswith("text/"):
            return ""
        with suppress(VibesError, OSError), self._open_content(source["id"]) as file:
            return file.read(_PREVIEW).decode("utf-8", "ignore")
        return ""

    def _open_content(self, source_id: str) -> BinaryIO:
        return open_file(self._knowledge.content_file(source_id))

    def _open(self) -> sqlite3.Connection:
        """Open `state.db`; one that is broken is made again, one that cannot be used is replaced.

        The replacement is in memory, so that nothing depends on the file.
        """
        path = self._knowledge.state
        with suppress(OSError):
            if path.is_symlink() or (path.exists() and not path.is_file()):
                return self._create(":memory:")
        for _ in range(2):
            try:
                return self._create(str(path))
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    break
                _logger.info("state.db is made again: %s", error)
                with suppress(OSError):
                    path.unlink(missing_ok=True)
        return self._create(":memory:")

    def _create(self, path: str | Path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")
            self._make_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        """Create the tables, again if they are not exactly ours: others may have made them."""
        wanted = [_OBJECT_TABLE, _TEXT_TABLE.format(tokenizer=self._tokenizer)]
        found = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master "
            "WHERE tbl_name IN ('vibes_object', 'vibes_text') AND sql IS NOT NULL ORDER BY name"
        ).fetchall()
        if [sql for *_, sql in found] == wanted:
            return
        with connection:
            for kind, name, *_ in found:
                if kind in ("trigger", "view"):
                    quoted = name.replace('"', '""')
                    connection.execute(f'DROP {kind} "{quoted}"')
            for name in ("vibes_object", "vibes_text"):
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in wanted:
                connection.execute(statement)


def open_index(knowledge: KnowledgeBase) -> closing[ObjectIndex]:
    """Return the index of a knowledge base, which is closed at the end of a `with` block."""
    return closing(ObjectIndex(knowledge))


def _excerpt(content: str, part: str) -> str:
    at = content.lower().find(part.lower())
    if at < 0:
        return content[:_SNIPPET]
    start = max(0, at - _SNIPPET // 3)
    before, match = content[start:at], content[at : at + len(part)]
    return f"{before}<mark>{match}</mark>{content[at + len(part) : start + _SNIPPET]}"
