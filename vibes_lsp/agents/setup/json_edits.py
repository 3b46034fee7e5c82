"""Edit a JSON text in place: comments, order and format of everything else stay. Pure.

Comments and commas before a closing bracket are accepted, since several agents allow them. Items
are inserted in a way that `removals` can revert to the same bytes.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from vibes_lsp.errors import MalformedJson, VibesError
from vibes_lsp.model.canonical_json import json_type, parse_object
from vibes_lsp.model.members import JsonValue, Members

_TOKEN: Final = re.compile(
    r'"(?>(?:[^"\\]|\\.)*)(?:"|(?P<open_string>))'
    r"|//[^\r\n]*+"
    r"|/\*(?>(?:[^*]|\*(?!/))*)(?:\*/|(?P<open_comment>))"
    r"|[{}\[\],:]"
    r'|[^\s{}\[\],:"/]++'
    r"|/",
    re.DOTALL,
)
SPACE: Final = " \t\r\n"
"""The white space of JSON."""
_LINE_END: Final = re.compile("\r\n|\r|\n")
_LINE_END_NEXT: Final = re.compile(r"[ \t]*+(?:,[ \t]*+)?[\r\n]")
_INVISIBLE: Final = re.compile(r"[^\r\n]")
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of a part of a text."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Item:
    """A member of an object, or an element of an array.

    Attributes:
        start: Where it starts; a member starts at its name.
        place: Its value.
        comma: Where the comma after it is; None without one.
    """

    start: int
    place: Place
    comma: int | None = None


@dataclass(slots=True)
class Place:
    """Where a value is in a text, and the places of what it contains."""

    start: int
    end: int
    items: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JsonText:
    """A parsed text.

    Attributes:
        text: The text.
        value: Its value.
        root: The place of the value; the items are in the order of the value's members.
        comments: Start and end of each comment.
    """

    text: str
    value: Members
    root: Place
    comments: tuple[tuple[int, int], ...]


class MisplacedMember(VibesError):
    """A member of a configuration is not of the type that the agent expects."""

    code = "misplaced-member"


def parse_document(text: str) -> JsonText:
    """Parse a JSON object with comments.

    Raises:
        MalformedJson: It is not such an object, or has a member twice.
    """
    tokens, comments = _tokens(text)
    blank = list(text)
    for start, end in comments:
        blank[start:end] = _INVISIBLE.sub(" ", text[start:end])
    for before, (at, token), after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token == "," and after[1] in "]}" and before[1] not in ("[", "{", ",", ":"):
            blank[at] = " "
    value = parse_object("".join(blank).removeprefix(_BOM), same=lambda *_: False)
    return JsonText(text, value, _places(tokens), comments)


def find_object(document: JsonText, name: str) -> tuple[Members, Place] | None:
    """Return the object that a member of a document is, with its place; None without the member.

    Raises:
        MisplacedMember: The member is not an object.
    """
    if name not in document.value:
        return None
    value, place = document.value[name], place_of(document.value, document.root, name)
    if not isinstance(value, dict):
        raise misplaced(document, place, name, "an object", value)
    return value, place


def misplaced(
    document: JsonText, place: Place, name: str, expected: str, value: JsonValue
) -> MisplacedMember:
    """Return the error that a value is not of the type that an agent expects."""
    line = document.text.count("\n", 0, place.start) + 1
    return MisplacedMember(
        f"{name} is a JSON {json_type(value)}, expected {expected} (line {line})"
    )


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits that do not overlap; those at one place are made in their order."""
    done, parts = 0, []
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


def _tokens(text: str) -> tuple[list[tuple[int, str]], tuple[tuple[int, int], ...]]:
    tokens, comments = [], []
    for match in _TOKEN.finditer(text, len(text) - len(text.removeprefix(_BOM))):
        token = match[0]
        if match.lastgroup is not None:
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start())
            kind = "comment" if match.lastgroup == "open_comment" else "string"
            raise MalformedJson(f"the {kind} has no end", line=line, column=column)
        if token.startswith(("//", "/*")):
            comments.append(match.span())
        else:
            tokens.append((match.start(), token))
    return tokens, tuple(comments)


def _places(tokens: Iterable[tuple[int, str]]) -> Place:
    """Return the places of a valid text."""
    outer = Place(0, 0)
    stack, is_object, name_next = [outer], [False], [False]
    name_start: int | None = None
    for at, token in tokens:
        if token in ("}", "]"):
            stack.pop().end = at + 1
            is_object.pop()
            name_next.pop()
        elif token == ",":
            stack[-1].items[-1].comma = at
            name_next[-1] = is_object[-1]
        elif token == ":":
            name_next[-1] = False
        elif name_next[-1]:
            name_start = at
        else:
            place = Place(at, at + len(token))
            stack[-1].items.append(Item(at if name_start is None else name_start, place))
            name_start = None
            if token in ("{", "["):
                stack.append(place)
                is_object.append(token == "{")
                name_next.append(token == "{")
    return outer.items[0].place


# --- insert


@dataclass(frozen=True, slots=True)
class Layout:
    """How new items are laid out.

    Attributes:
        line_end: The line end of the text.
        unit: The indentation of one level.
    """

    line_end: str = "\n"
    unit: str = "  "


def layout_of(document: JsonText) -> Layout:
    """Return the layout that a text has, as its first line end and first member show."""
    line_end = "\r\n" if "\r\n" in document.text else "\n"
    items = document.root.items
    indentation = _indentation(document.text, items[0].start) if items else None
    return Layout(line_end, indentation or "  ")


def insertions(document: JsonText, container: Place, items: Sequence[str]) -> list[Edit]:
    """Return the edits that add items to the end of an object or array.

    Args:
        document: The text.
        container: The place of the object or array.
        items: The new items as JSON, from `member` or `compact`.
    """
    text, joined = document.text, ", ".join(items)
    if not items:
        return []
    if not container.items:  # without any space: this is how `removals` detects it
        return [Edit(container.start + 1, container.start + 1, joined)]
    last = container.items[-1]
    indentation = _indentation(text, container.items[0].start)
    begin = last.place.end if last.comma is None else last.comma + 1
    after_comment = [end for start, end in document.comments if begin <= start < container.end]
    at = after_comment[-1] if after_comment else begin
    ends_comment = any(
        end == at and text.startswith("//", start) for start, end in document.comments
    )
    is_one_line = indentation is None and not ends_comment
    before = " " if is_one_line else layout_of(document).line_end + (indentation or "")
    added = before + f",{before}".join(items)
    if last.comma is None:
        return [Edit(last.place.end, last.place.end, ","), Edit(at, at, added)]
    return [Edit(at, at, f"{added},")]


def member(name: str, value: JsonValue, layout: Layout, level: int, *, depth: int) -> str:
    """Return a member as JSON, laid out for the level at which it is inserted.

    Args:
        name: The name.
        value: The value.
        layout: The layout of the text.
        level: The level of the member; those of the outermost object have 1.
        depth: How many levels of the value have one line for each item.
    """
    return f"{compact(name)}: {_laid_out(value, layout, level, depth)}"


def compact(value: JsonValue) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def write_document(text: str | None, members: Members, *, depth: int) -> str:
    """Return a text that had nothing with an object, `depth` levels on one line for each item.

    Args:
        text: White space; None if there is no file yet.
        members: The object.
        depth: How many levels have one line for each item.
    """
    new = _laid_out(members, Layout(), 0, depth)
    return f"{new}\n" if text is None else text + new


def _laid_out(value: JsonValue, layout: Layout, level: int, depth: int) -> str:
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return compact(value)
    indentation = layout.line_end + layout.unit * (level + 1)
    items = (
        [member(k, v, layout, level + 1, depth=depth - 1) for k, v in value.items()]
        if isinstance(value, dict)
        else [_laid_out(element, layout, level + 1, depth - 1) for element in value]
    )
    brackets = "{}" if isinstance(value, dict) else "[]"
    inner = f",{indentation}".join(items)
    end = layout.line_end + layout.unit * level
    return f"{brackets[0]}{indentation}{inner}{end}{brackets[1]}"


def _indentation(text: str, at: int) -> str | None:
    """Return the space before the first item of a line; None if something else is before it."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if not before.strip(" \t") and "\n" in text[:at] else None


# --- remove


def removals(document: JsonText, container: Place, indexes: Collection[int]) -> list[Edit]:
    """Return the edits that remove items from an object or array, with the space before each.

    The first item that stays takes the place of those removed before it, so that `is_created`
    answers as before.
    """
    items, edits, kept = container.items, [], None
    for index, item in enumerate(items):
        if index not in indexes:
            if kept is None and index and not is_created(document, container):
                edits += _space_after_comma(document, items[index - 1], item)
            kept = item
            continue
        edits.append(Edit(_start_of_removal(document, item), item.place.end, ""))
        if item.comma is not None:
            edits.append(Edit(item.comma, item.comma + 1, ""))
        elif kept is not None and kept.comma is not None:
            edits.append(Edit(kept.comma, kept.comma + 1, ""))
    return edits


def is_created(document: JsonText, container: Place) -> bool:
    """Return whether an object or array was new when its first item was inserted."""
    return document.text[container.start + 1] in SPACE


def place_of(value: Members, place: Place, name: str) -> Place:
    """Return the place of a member of an object."""
    return place.items[list(value).index(name)].place


def without_member(document: JsonText, name: str, base: Members) -> str | None:
    """Return a text without a member; None if `write_document` made all of it.

    Args:
        document: The text.
        name: The name of the member.
        base: The other members that a new object has.
    """
    others = {key: value for key, value in document.value.items() if key != name}
    index = list(document.value).index(name)
    is_new = others == base and not index and is_created(document, document.root)
    if document.comments or not is_new:
        return apply_edits(document.text, removals(document, document.root, {index}))
    around = document.text[: document.root.start] + document.text[document.root.end :]
    return None if around in ("\n", "\r\n") and document.root.start == 0 else around


def has_comments(document: JsonText, place: Place) -> bool:
    """Return whether comments are in a value."""
    return any(place.start <= start < place.end for start, _ in document.comments)


def _start_of_removal(document: JsonText, item: Item) -> int:
    """Return where the space before an item starts.

    The end of a line comment before it stays, unless another line end follows the item.
    """
    start = _end_before(document, item.start)
    is_line_comment = any(
        end == start and document.text.startswith("//", begin) for begin, end in document.comments
    )
    if not is_line_comment or _LINE_END_NEXT.match(document.text, item.place.end):
        return start
    end = _LINE_END.match(document.text, start)
    return start if end is None else end.end()


def _space_after_comma(document: JsonText, before: Item, item: Item) -> list[Edit]:
    """Return the edit that removes the space between a comma and an item; none if more is there."""
    start = _end_before(document, item.start)
    is_space = before.comma is not None and start == before.comma + 1
    return [Edit(start, item.start, "")] if is_space else []


def _end_before(document: JsonText, at: int) -> int:
    """Return where the token or comment before a place ends."""
    end = at
    while end and document.text[end - 1] in SPACE:
        end -= 1
    before = bisect_left(document.comments, (at, 0)) - 1
    return end if before < 0 else max(end, document.comments[before][1])
