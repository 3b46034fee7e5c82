"""Ids in the texts of a knowledge base: which one is at a place, and where else one is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.citations import KnowledgeSnapshot, Members
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.object_format import Span
from vibes_lsp.knowledge.objects import Kind, path_of

_TOKEN: Final = re.compile(r"[\w.-]+")
_LINK: Final = re.compile(r"\[\[([\w.-]+)\]\]")
_TITLES: Final = {
    Kind.CLAIM: ("text",),
    Kind.PAGE: ("title",),
    Kind.ENTITY: ("name",),
    Kind.SOURCE: ("title", "locator"),
    Kind.EVIDENCE: ("locator",),
    Kind.RELATION: ("relation",),
    Kind.SESSION: ("task", "agent"),
    Kind.PENDING: ("kind",),
}
_MAX_LINE: Final = 10_000
_MAX_FILES: Final = 200
_MAX_MENTIONS: Final = 1_000


@dataclass(frozen=True, slots=True)
class NamedObject:
    """An object that an id names.

    Attributes:
        kind: Its kind.
        id: Its id.
        members: Its members.
    """

    kind: Kind
    id: str
    members: Members

    @property
    def title(self) -> str:
        """What it says: a text, title, name or locator."""
        names = _TITLES.get(self.kind, ())
        payload = self.members.get("payload")
        proposed = payload if self.kind is Kind.PENDING and isinstance(payload, Mapping) else None
        members = self.members if proposed is None else proposed
        title_members = ("text", "title", "name", "id") if proposed is not None else names
        return next((str(members[name]) for name in title_members if members.get(name)), self.id)


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a file of the knowledge base that names an id.

    Attributes:
        path: The file, relative to the folder `.vouch`.
        span: Where.
        line: The text of its line.
    """

    path: str
    span: Span
    line: str


def token_at(line: str, column: int, *, only_links: bool) -> tuple[str, int, int] | None:
    """Return the id at a column of a line, with where it starts and ends.

    Args:
        line: The line.
        column: The column, in characters.
        only_links: Whether only `[[id]]` counts, as in Markdown outside of `.vouch`.
    """
    pattern, group = (_LINK, 1) if only_links else (_TOKEN, 0)
    for token_match in pattern.finditer(line[:_MAX_LINE]):
        if token_match.start() <= column <= token_match.end():
            text = token_match[group].rstrip(".")
            return text, token_match.start(group), token_match.start(group) + len(text)
    return None


def objects_named(snapshot: KnowledgeSnapshot, identifier: str) -> list[NamedObject]:
    """Return the objects that have an id; ids of different kinds may be equal."""
    return [
        NamedObject(kind, identifier, objects[identifier])
        for kind, objects in snapshot.objects.items()
        if identifier in objects
    ]


def find_mentions(
    snapshot: KnowledgeSnapshot, identifier: str, texts: Mapping[str, str]
) -> list[Mention]:
    """Return where the files of a knowledge base name an id, other than the object's own file.

    Args:
        snapshot: The knowledge base.
        identifier: The id.
        texts: Open texts of its files, by path relative to the folder `.vouch`.
    """
    knowledge, mentions = KnowledgeBase(snapshot.path), list[Mention]()
    for number, (kind, name) in enumerate(_naming(snapshot, identifier)):
        if number >= _MAX_FILES or len(mentions) >= _MAX_MENTIONS:
            break
        path = path_of(kind, name)
        text = texts.get(path)
        if text is None:
            text = _saved(knowledge, kind, name)
        mentions += (Mention(path, span, line) for span, line in _occurrences(text, identifier))
    return mentions[:_MAX_MENTIONS]


def _saved(knowledge: KnowledgeBase, kind: Kind, identifier: str) -> str:
    try:
        return (knowledge.read_bytes(kind, identifier) or b"").decode("utf-8", "replace")
    except VibesError:
        return ""


def _naming(snapshot: KnowledgeSnapshot, identifier: str) -> Iterator[tuple[Kind, str]]:
    for kind, objects in snapshot.objects.items():
        for name, members in objects.items():
            values = (value for member, value in members.items() if member != "id")
            if any(_names(value, identifier) for value in values):
                yield kind, name


def _names(value: Any, identifier: str) -> bool:
    if isinstance(value, str):
        return value == identifier or (identifier in value and f"[[{identifier}]]" in value)
    if isinstance(value, Mapping):
        return any(_names(element, identifier) for element in value.values())
    return isinstance(value, list) and any(_names(element, identifier) for element in value)


def _occurrences(text: str, identifier: str) -> Iterable[tuple[Span, str]]:
    for number, line in enumerate(text.split("\n")):
        for token_match in _TOKEN.finditer(line[:_MAX_LINE]) if identifier in line else ():
            if token_match[0].rstrip(".") == identifier:
                span = Span(number, token_match.start(), token_match.start() + len(identifier))
                yield span, line[:_MAX_LINE]
