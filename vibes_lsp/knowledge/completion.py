"""What can follow at a place in a page or YAML file: ids of objects, words of vocabularies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from vibes_lsp.knowledge.citations import KnowledgeSnapshot
from vibes_lsp.knowledge.mentions import NamedObject
from vibes_lsp.knowledge.objects import MODELS, Kind, kind_and_id, proposed_kind

_LINK: Final = re.compile(r"\[\[([\w.-]*)$")
_MEMBER: Final = re.compile(r"^(\s*)(?:- )?(\w+):(.*)$")
_ITEM: Final = re.compile(r"^(\s*)-\s+([\w.-]*)$")
_PARENT: Final = re.compile(r"^(\s*)(\w+):\s*$")
_KIND: Final = re.compile(r"^kind:\s*(\w+)\s*$", re.MULTILINE)
_LINKED: Final = (Kind.CLAIM, Kind.PAGE, Kind.ENTITY)
_CITED: Final = (Kind.EVIDENCE, Kind.SOURCE)
_TARGETS: Final[dict[str, Sequence[Kind]]] = {
    "evidence": _CITED,
    "replaces": (Kind.EVIDENCE,),
    "source_id": (Kind.SOURCE,),
    "sources": (Kind.SOURCE,),
    "claims": (Kind.CLAIM,),
    "supersedes": (Kind.CLAIM,),
    "superseded_by": (Kind.CLAIM,),
    "contradicts": (Kind.CLAIM,),
    "entities": (Kind.ENTITY,),
    "page": (Kind.PAGE,),
    "source": (*_LINKED, Kind.SOURCE),
    "target": (*_LINKED, Kind.SOURCE),
    "session_id": (Kind.SESSION,),
    "proposal_ids": (Kind.PENDING,),
}
_MAX_LINE: Final = 1_000
_MAX_LINES: Final = 500
_MAX_SUGGESTIONS: Final = 100


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something that can follow.

    Attributes:
        text: The id or word.
        kind: The noun of what it names; None for a word.
        title: What the object says.
    """

    text: str
    kind: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What can follow at a place.

    Attributes:
        begun: The text before the place that is replaced.
        suggestions: The suggestions, the best first.
        is_complete: Whether there are no more.
    """

    begun: str
    suggestions: tuple[Suggestion, ...]
    is_complete: bool


def complete(
    snapshot: KnowledgeSnapshot, path: str | None, before: Sequence[str]
) -> Completion | None:
    """Return what can follow; None where nothing of a knowledge base belongs.

    Args:
        snapshot: The knowledge base.
        path: The file, relative to the folder `.vouch`; None for another Markdown file.
        before: The lines up to the place, the last one cut there.
    """
    line = before[-1] if before else ""
    if len(line) > _MAX_LINE:
        return None
    link = _LINK.search(line)
    if link is not None:
        return _ids(snapshot, _LINKED, link[1])
    if path is None:
        return None
    named = _member(before)
    if named is None:
        return None
    member, indent, begun = named
    kind = _kind_at(path, before, indent)
    words = () if kind is None else _words(kind, member)
    if words:
        suggestions = tuple(Suggestion(word) for word in words if word.startswith(begun))
        return Completion(begun, suggestions, is_complete=True)
    return _ids(snapshot, _TARGETS[member], begun) if member in _TARGETS else None


def _member(before: Sequence[str]) -> tuple[str, int, str] | None:
    """Return the member whose value is at the end, its indentation, and what is written of it."""
    member_match = _MEMBER.match(before[-1])
    if member_match is not None:
        begun = _last_word(member_match[3])
        value = member_match[3].removesuffix(begun).strip()
        is_value = not value or (value.startswith("[") and value.endswith(("[", ",")))
        return (member_match[2], len(member_match[1]), begun) if is_value else None
    item_match = _ITEM.match(before[-1])
    if item_match is None:
        return None
    for line in reversed(before[-_MAX_LINES:-1]):
        parent = _PARENT.match(line)
        if parent is not None and len(parent[1]) <= len(item_match[1]):
            return parent[2], len(parent[1]), item_match[2]
        if _ITEM.match(line) is None:
            return None
    return None


def _last_word(text: str) -> str:
    """Return the characters of an id at the end of a text."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in "-_."):
        start -= 1
    return text[start:]


def _kind_at(path: str, before: Sequence[str], indent: int) -> Kind | None:
    """Return the kind of the object that a member belongs to: in a proposal, of its payload."""
    named = kind_and_id(path)
    if named is None or not indent:
        return None if named is None else named[0]
    kind_match = _KIND.search("\n".join(before[:_MAX_LINES]))
    return None if kind_match is None else proposed_kind(kind_match[1])


def _words(kind: Kind, member: str) -> tuple[str, ...]:
    """Return the vocabulary of a member; nothing if it has none."""
    field = MODELS[kind].model_fields.get(member)
    return () if field is None else tuple(_literals(field.annotation))


def _literals(annotation: Any) -> Iterator[str]:
    for argument in get_args(annotation):
        if isinstance(argument, str):
            yield argument
        else:
            yield from _literals(argument)


def _ids(snapshot: KnowledgeSnapshot, kinds: Sequence[Kind], begun: str) -> Completion:
    """Return the objects whose id begins so, then those whose id or title has it as a part."""
    first: list[Suggestion] = []
    containing: list[Suggestion] = []
    part = begun.lower()
    for kind in kinds:
        for identifier, members in snapshot.objects.get(kind, {}).items():
            title = NamedObject(kind, identifier, members).title
            if identifier.startswith(begun):
                first.append(Suggestion(identifier, kind.noun, title))
            elif part in identifier.lower() or part in title.lower():
                containing.append(Suggestion(identifier, kind.noun, title))
    suggestions = (*first, *containing)
    return Completion(
        begun, suggestions[:_MAX_SUGGESTIONS], is_complete=len(suggestions) <= _MAX_SUGGESTIONS
    )
