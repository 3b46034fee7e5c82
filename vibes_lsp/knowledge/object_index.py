"""The objects of a knowledge base in memory: each file is parsed once, and again when it changes.

Full text search uses an FTS5 table in memory, with the weights of the retrieval chapter
(2026-05-21), made for the first search and after changes.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Literal

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.objects import CLOSED, Kind
from vibes_lsp.store.file_stamps import FileStamp, is_settled

_WEIGHTS: Final = {
    Kind.CLAIM: (3.0, 1.5, 1.0),  # text, tags, entities
    Kind.PAGE: (4.0, 1.0, 2.0),  # title, body, tags
    Kind.ENTITY: (4.0, 2.0, 1.0),  # name, aliases, description
    Kind.SOURCE: (3.0, 1.0, 0.5),  # title, locator, beginning of the content
}
SEARCHED: Final = tuple(_WEIGHTS)
"""The kinds that are searched."""
_TABLE: Final = (
    "CREATE VIRTUAL TABLE content USING fts5(kind UNINDEXED, id UNINDEXED, closed UNINDEXED,"
    " first, second, third, tokenize='{tokenizer}')"
)
_TOKENIZERS: Final = {True: "porter unicode61", False: "unicode61"}
_PREVIEW: Final = 4_000
"""How many bytes of a source's content are searched."""
_MAX_WORDS: Final = 32
_MAX_PART: Final = 1000
_CLOSED_FACTOR: Final = 0.5
_SNIPPET_TOKENS: Final = 24
_SNIPPET: Final = 240
_UNSETTLED: Final = FileStamp(-1, -1, -1, -1)
"""A stamp that no file has, for one that may change again without a new stamp."""


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
class IndexedFile:
    """A file of a knowledge base, as it was read.

    Attributes:
        id: The id that its name gives.
        stamp: Its stamp before it was read.
        digest: The hash of its content.
        members: The members of the object; None if it is no valid one.
        fault: What is wrong; empty for nothing.
    """

    id: str
    stamp: FileStamp
    digest: bytes
    members: dict[str, Any] | None
    fault: str = ""


class ObjectIndex:
    """The index of one knowledge base; use it in one thread at a time.

    Args:
        knowledge: The knowledge base.
    """

    def __init__(self, knowledge: KnowledgeBase) -> None:
        self.knowledge: Final = knowledge
        self._settings = knowledge.config().retrieval
        self._files: dict[Kind, dict[str, IndexedFile]] = {kind: {} for kind in Kind}
        self._texts: sqlite3.Connection | None = None

    def close(self) -> None:
        """Drop the table of texts; the next search makes it again."""
        if self._texts is not None:
            self._texts.close()
            self._texts = None

    def refresh(self, kinds: Iterable[Kind] = tuple(Kind)) -> None:
        """Parse the files that are new or changed, and drop those that are gone."""
        for kind in kinds:
            files, stamps = self._files[kind], self.knowledge.file_stamps(kind)
            changed = False
            for name in files.keys() - stamps.keys():
                del files[name]
                changed = True
            for name, stamp in sorted(stamps.items()):
                known = files.get(name)
                if known is not None and known.stamp == stamp:
                    continue
                identifier = self.knowledge.id_of(kind, name)
                if identifier is None:
                    continue
                read = self._read(kind, identifier, stamp, known)
                if read is not None:
                    files[name] = read
                    changed = changed or known is None or read.digest != known.digest
            if changed:
                self.close()

    def rebuild(self) -> dict[Kind, int]:
        """Parse all files again; return how many valid objects there are."""
        self._files = {kind: {} for kind in Kind}
        self.refresh()
        return self.counts()

    def ids(self, kind: Kind) -> set[str]:
        """Return the ids of the valid objects of a kind, as of the last refresh."""
        return {members["id"] for members in self.members(kind)}

    def counts(self) -> dict[Kind, int]:
        """Return the number of valid objects of each kind, as of the last refresh."""
        return {kind: len(self.ids(kind)) for kind in Kind}

    def members(self, kind: Kind) -> list[dict[str, Any]]:
        """Return the valid objects of a kind by their ids, as of the last refresh."""
        objects = (file.members for file in self._files[kind].values() if file.members is not None)
        return sorted(objects, key=lambda members: str(members["id"]))

    def get(self, kind: Kind, identifier: str) -> dict[str, Any] | None:
        """Return a valid object as of the last refresh; None if there is none."""
        file = self._files[kind].get(self.knowledge.name_of(kind, identifier))
        return None if file is None else file.members

    def broken(self) -> list[IndexedFile]:
        """Return the files that are no valid objects, as of the last refresh."""
        return [
            file
            for kind in sorted(Kind)
            for _, file in sorted(self._files[kind].items())
            if file.members is None
        ]

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
        if (self._settings.backend if backend == "auto" else backend) != "substring":
            quoted = [f'"{word}"' for word in dict.fromkeys(words)]
            for query in (" ".join(quoted), " OR ".join(quoted)):
                hits = self._matches(kinds, query, limit)
                if hits:
                    return hits
        return self._with_part(text.strip()[:_MAX_PART], kinds, limit)

    def search_any(self, words: Sequence[str], limit: int) -> list[Hit]:
        """Return the objects that match any of the words, the best first."""
        if not words or self._settings.backend == "substring":
            parts = [hit for word in words for hit in self._with_part(word, SEARCHED, limit)]
            return list({(hit.kind, hit.id): hit for hit in parts}.values())[:limit]
        return self._matches(SEARCHED, " OR ".join(f'"{word}"' for word in words), limit)

    def _matches(self, kinds: Sequence[Kind], query: str, limit: int) -> list[Hit]:
        """Return the best matches; all kinds share the frequencies of the words.

        Snippets take ten times what ranking does, so only the best matches get one.
        """
        texts = self._searched_texts()
        best = texts.execute(
            f"SELECT rowid, kind, id, {_SCORE} AS score FROM content"  # noqa: S608  # numbers
            f" WHERE content MATCH ? AND kind IN ({', '.join('?' * len(kinds))})"
            " ORDER BY score DESC, kind, id LIMIT ?",
            (query, *kinds, limit),
        ).fetchall()
        snippet = (
            "SELECT snippet(content, -1, '<mark>', '</mark>', '…', ?) FROM content"
            " WHERE content MATCH ? AND rowid = ?"
        )
        return [
            Hit(Kind(kind), identifier, score, "fts5", text)
            for row, kind, identifier, score in best
            for (text,) in texts.execute(snippet, (_SNIPPET_TOKENS, query, row))
        ]

    def _with_part(self, text: str, kinds: Sequence[Kind], limit: int) -> list[Hit]:
        """Return what has a text as a part, in any case of letters."""
        part = text.lower()
        whole_texts = (
            (kind, members["id"], " ".join(self._text(kind, members)))
            for kind in sorted(kinds)
            for members in self.members(kind)
        )
        hits = (
            Hit(kind, identifier, 0.1, "substring", _excerpt(whole, text))
            for kind, identifier, whole in whole_texts
            if part in whole.lower()
        )
        return list(islice(hits, limit))

    def _read(
        self, kind: Kind, identifier: str, stamp: FileStamp, known: IndexedFile | None
    ) -> IndexedFile | None:
        """Read a file; one that may have changed, but did not, only gets its stamp."""
        digest = b""
        if not is_settled(stamp.modified_ns):
            stamp = _UNSETTLED
        try:
            content = self.knowledge.read_bytes(kind, identifier)
            if content is None:
                return None  # removed meanwhile
            digest = hashlib.blake2b(content, digest_size=16).digest()
            if known is not None and known.digest == digest:
                return replace(known, stamp=stamp)
            members = self.knowledge.parse(kind, identifier, content).members()
        except VibesError as error:
            return IndexedFile(identifier, stamp, digest, None, error.message)
        return IndexedFile(identifier, stamp, digest, members)

    def _searched_texts(self) -> sqlite3.Connection:
        """Return the table of texts, as of the last refresh."""
        if self._texts is None:
            self._texts = sqlite3.connect(":memory:")
            tokenizer = _TOKENIZERS[self._settings.fts5_porter]
            self._texts.execute(_TABLE.format(tokenizer=tokenizer))
            self._texts.executemany(
                "INSERT INTO content VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (
                        kind,
                        members["id"],
                        members.get("status") in CLOSED,
                        *self._text(kind, members),
                    )
                    for kind in SEARCHED
                    for members in self.members(kind)
                ),
            )
        return self._texts

    def _text(self, kind: Kind, members: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return the texts of the three columns, in the order of the weights."""
        match kind:
            case Kind.CLAIM:
                return members["text"], " ".join(members["tags"]), " ".join(members["entities"])
            case Kind.PAGE:
                return members["title"], members["body"], " ".join(members["tags"])
            case Kind.ENTITY:
                aliases = " ".join(members["aliases"])
                return members["name"], aliases, members["description"] or ""
            case _:
                return members["title"] or "", members["locator"], self._preview(members)

    def _preview(self, source: Mapping[str, Any]) -> str:
        if not source["media_type"].startswith("text/"):
            return ""
        with suppress(VibesError, OSError), self.knowledge.open_content(source["id"]) as file:
            return file.read(_PREVIEW).decode("utf-8", "ignore")
        return ""


def _by_kind(column: int | None) -> str:
    """Return SQL for the weight of a column, which depends on the kind; None for the highest."""
    cases = (
        f"WHEN '{kind}' THEN {max(weights) if column is None else weights[column]}"
        for kind, weights in _WEIGHTS.items()
    )
    return f"CASE kind {' '.join(cases)} END"


_RANK: Final = f"bm25(content, 0, 0, 0, {', '.join(map(_by_kind, range(3)))})"
_SCORE: Final = (
    f"(1 - 1 / (1 + max(0, -{_RANK}) / {_by_kind(None)}))"
    f" * CASE WHEN closed THEN {_CLOSED_FACTOR} ELSE 1 END"
)
"""From 0 to 1; FTS5's ranks are below 0 and have no bound."""


def _excerpt(content: str, part: str) -> str:
    at = content.lower().find(part.lower())
    if at < 0:
        return content[:_SNIPPET]
    start = max(0, at - _SNIPPET // 3)
    before, match = content[start:at], content[at : at + len(part)]
    return f"{before}<mark>{match}</mark>{content[at + len(part) : start + _SNIPPET]}"
