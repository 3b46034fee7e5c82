"""The database of the index of a knowledge base: its tables, and the words that match alike."""

from __future__ import annotations

from functools import cache
from typing import Final

from vibes_lsp.patience import KNOWLEDGE_INDEX
from vibes_lsp.store.cache_database import CacheDatabase

_TABLES: Final = (
    """CREATE TABLE object (
        row INTEGER PRIMARY KEY, kind, name, id, stamp, digest, fault,
        UNIQUE (kind, name)
    )""",
    # Apart from `object`, whose rows are all read when a server starts.
    "CREATE TABLE members (row INTEGER PRIMARY KEY, members)",
)
_CONTENT: Final = (
    "CREATE VIRTUAL TABLE content USING fts5(first, second, third, tokenize='{tokenizer}')"
)
_FORMAT: Final = 5
_TOKENIZERS: Final = {True: "porter unicode61", False: "unicode61"}


@cache
def index_database(*, stems: bool) -> CacheDatabase:
    """Return the kind of database that the index of a knowledge base is.

    Args:
        stems: Whether words match in their other forms.
    """
    return CacheDatabase(
        folder="knowledge",
        version=f"{_FORMAT}-{'stems' if stems else 'words'}",
        tables=(*_TABLES, _CONTENT.format(tokenizer=_TOKENIZERS[stems])),
        wait=KNOWLEDGE_INDEX,
    )
