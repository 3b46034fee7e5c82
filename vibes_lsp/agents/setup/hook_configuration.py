"""The hooks in an agent's JSON configuration: add, remove and inspect ours. Pure functions.

Other hooks and settings are never changed. A hook is ours if its command is one that some version
of `vibes init --agents` writes. A handwritten command that runs `vibes hook` among other things is
neither changed nor removed, and no second hook is added beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from vibes_lsp.agents.setup.json_edits import (
    SPACE,
    Edit,
    JsonText,
    Place,
    apply_edits,
    compact,
    find_object,
    has_comments,
    insertions,
    is_created,
    layout_of,
    member,
    misplaced,
    parse_document,
    place_of,
    removals,
    without_member,
    write_document,
)
from vibes_lsp.model.members import JsonValue, Members, objects
from vibes_lsp.model.members import text as text_member

_PROGRAM: Final = (
    r"""(?:'[^'"\n]*[/\\]vibes(?:\.exe)?'|"[^'"\n]*[/\\]vibes(?:\.exe)?"|[^\s'"]*vibes(?:\.exe)?)"""
)
_OURS: Final = re.compile(
    rf"(?:& )?{_PROGRAM} hook(?: >/dev/null 2>&1)?(?: \|\| true|; exit 0)?"
    rf'|cmd /c "{_PROGRAM} hook(?: >nul 2>&1)? \|\| exit 0"'
)
_RUNS_HOOK: Final = re.compile(r"""(?:^|[\s;&|/\\"'(])vibes(?:\.exe)?["']? +hook\b""")
_COMMANDS: Final = ("command", "bash", "powershell", "commandWindows", "windows", "linux", "osx")
_HOOKS: Final = "hooks"


class HookState(StrEnum):
    """Whether a configuration runs `vibes hook`.

    Attributes:
        CURRENT: For all events, in the current form.
        OUTDATED: In an older form, or not for all events.
        HANDWRITTEN: By commands that `vibes init --agents` did not write.
        ABSENT: Not at all.
    """

    CURRENT = "current"
    OUTDATED = "outdated"
    HANDWRITTEN = "handwritten"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class HookConfiguration:
    """What an agent's configuration must contain.

    Attributes:
        entries: By event, the element of the event's array that runs `vibes hook`.
        base: Other members that a new file needs.
    """

    entries: Mapping[str, Members]
    base: Members

    def add(self, text: str | None) -> str:
        """Return a configuration with our hooks; the same text if nothing is missing or outdated.

        Args:
            text: The configuration; None if there is no file yet.

        Raises:
            MalformedJson: The text is not JSON.
            MisplacedMember: The hooks are not an object with an array for each event.
        """
        if text is None or not text.strip(SPACE):
            hooks: Members = {_HOOKS: _arrays(self.entries), **self.base}
            return write_document(text, hooks, depth=3)
        document = parse_document(text)
        layout = layout_of(document)
        hooked = _find_hooks(document)
        if hooked is None:
            new = member(_HOOKS, _arrays(self.entries), layout, 1, depth=2)
            return apply_edits(text, insertions(document, document.root, [new]))
        missing = {name: entry for name, entry in self.entries.items() if name not in hooked.events}
        edits = insertions(
            document,
            hooked.place,
            [member(name, array, layout, 2, depth=1) for name, array in _arrays(missing).items()],
        )
        for name, event in hooked.events.items():
            if name in self.entries:
                edits += _update(document, event, self.entries[name])
        return apply_edits(text, edits)

    def remove(self, text: str) -> str | None:
        """Return a configuration without our hooks; None if `add` created the whole file.

        Raises:
            MalformedJson: The text is not JSON.
            MisplacedMember: The hooks are not an object with an array for each event.
        """
        hooked = _find_hooks(document := parse_document(text)) if text.strip(SPACE) else None
        if hooked is None:
            return text
        edits, emptied = [], set()
        for index, event in enumerate(hooked.events.values()):
            inner, is_empty = _removals(document, event)
            if is_empty and is_created(document, event.place):
                emptied.add(index)
            else:
                edits += inner
        edits += removals(document, hooked.place, emptied)
        keeps_some = len(emptied) < len(hooked.events) or has_comments(document, hooked.place)
        if keeps_some or not emptied or not is_created(document, hooked.place):
            return apply_edits(text, edits)
        return without_member(document, _HOOKS, self.base)

    def inspect(self, text: str) -> HookState:
        """Return whether a configuration runs `vibes hook`.

        Raises:
            MalformedJson: The text is not JSON.
            MisplacedMember: The hooks are not an object with an array for each event.
        """
        hooked = _find_hooks(parse_document(text)) if text.strip(SPACE) else None
        handlers = [
            handler
            for event in (hooked.events.values() if hooked is not None else ())
            for entry in event.entries
            for handler in _handlers(entry)
        ]
        has_own = any(map(_is_ours, handlers))
        if not has_own and not any(map(_is_handwritten, handlers)):
            return HookState.ABSENT
        if self.add(text) != text:
            return HookState.OUTDATED
        return HookState.CURRENT if has_own else HookState.HANDWRITTEN


@dataclass(frozen=True, slots=True)
class _Event:
    """The array of an event: its place and its elements."""

    place: Place
    entries: list[JsonValue]


@dataclass(frozen=True, slots=True)
class _Hooks:
    """The object with the hooks: its place and its arrays, by event."""

    place: Place
    events: dict[str, _Event]


def _find_hooks(document: JsonText) -> _Hooks | None:
    hooks = find_object(document, _HOOKS)
    if hooks is None:
        return None
    value, place = hooks
    events = {}
    for (name, entries), item in zip(value.items(), place.items, strict=True):
        if not isinstance(entries, list):
            raise misplaced(document, item.place, f"hooks.{name}", "an array", entries)
        events[name] = _Event(item.place, entries)
    return _Hooks(place, events)


def _arrays(entries: Mapping[str, Members]) -> Members:
    return {name: [entry] for name, entry in entries.items()}


def _handlers(entry: JsonValue) -> list[Members]:
    """Return what an element runs: those of a group, or the element itself."""
    if not isinstance(entry, dict):
        return []
    group = entry.get(_HOOKS)
    return objects(group) if isinstance(group, list) else [entry]


def _commands(handler: Members) -> list[str]:
    return [command for name in _COMMANDS if (command := text_member(handler, name)) is not None]


def _is_ours(handler: Members) -> bool:
    commands = _commands(handler)
    return bool(commands) and all(map(_OURS.fullmatch, commands))


def _is_handwritten(handler: Members) -> bool:
    return not _is_ours(handler) and any(map(_RUNS_HOOK.search, _commands(handler)))


def _update(document: JsonText, event: _Event, wanted: Members) -> list[Edit]:
    """Return the edits that bring our hook of an event up to date, or add it."""
    for entry, item in zip(event.entries, event.place.items, strict=True):
        if any(map(_is_ours, _handlers(entry))):
            return _replace(entry, item.place, wanted)
    if any(_is_handwritten(handler) for entry in event.entries for handler in _handlers(entry)):
        return []
    return insertions(document, event.place, [compact(wanted)])


def _replace(entry: JsonValue, place: Place, wanted: Members) -> list[Edit]:
    """Return the edits that update an element; settings that a person added to it are kept."""
    if entry == wanted or not isinstance(entry, dict):
        return []
    (new,) = _handlers(wanted)
    handlers = _handlers(entry)
    is_plain = entry.keys() <= wanted.keys() and len(handlers) == 1
    if is_plain and handlers[0].keys() <= new.keys() | set(_COMMANDS):
        return [Edit(place.start, place.end, compact(wanted))]
    edits = []
    for handler, inner in _handler_places(entry, place):
        for name in handler if _is_ours(handler) else ():
            if name in new and name in _COMMANDS and handler[name] != new[name]:
                at = place_of(handler, inner, name)
                edits.append(Edit(at.start, at.end, compact(new[name])))
    return edits


def _handler_places(entry: Members, place: Place) -> list[tuple[Members, Place]]:
    group = entry.get(_HOOKS)
    if not isinstance(group, list):
        return [(entry, place)]
    items = place_of(entry, place, _HOOKS).items
    pairs = zip(group, items, strict=True)
    return [(handler, item.place) for handler, item in pairs if isinstance(handler, dict)]


def _removals(document: JsonText, event: _Event) -> tuple[list[Edit], bool]:
    """Return the edits that remove our hooks of an event, and whether its array is empty then."""
    edits, whole = [], set()
    for index, entry in enumerate(event.entries):
        ours = {
            number for number, element in enumerate(_elements(entry)) if _is_own_element(element)
        }
        if not ours:
            continue
        if len(ours) == len(_elements(entry)):
            whole.add(index)
        elif isinstance(entry, dict):
            group = place_of(entry, event.place.items[index].place, _HOOKS)
            edits += removals(document, group, ours)
    edits += removals(document, event.place, whole)
    return edits, bool(whole) and len(whole) == len(event.entries)


def _elements(entry: JsonValue) -> list[JsonValue]:
    group = entry.get(_HOOKS) if isinstance(entry, dict) else None
    return group if isinstance(group, list) else [entry]


def _is_own_element(element: JsonValue) -> bool:
    return isinstance(element, dict) and _is_ours(element)
