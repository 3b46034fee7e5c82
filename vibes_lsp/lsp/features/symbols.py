"""Workspace symbols: prompts, decisions, sessions and risky ranges by their text.

The search runs on the loop in small steps, the newest first: other requests are answered between
two steps, and cancelling ends it at the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import islice
from typing import Final

from lsprotocol import types

from vibes_lsp.lsp.documents.audit_files import RecordPlaces, location_now
from vibes_lsp.lsp.protocol.settings import Settings
from vibes_lsp.lsp.state.projects import Project
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import Band, ContextType
from vibes_lsp.reports.placement_texts import display_name
from vibes_lsp.reports.provenance_graph import GraphNode

_MIN_QUERY: Final = 3
"""Fewest characters: a shorter query matches nearly every prompt, and code has the first claim."""
_MAX_SYMBOLS: Final = 50
"""Symbols of each kind."""
_MAX_RISKY_FILES: Final = 20
_STEP: Final = 500
"""Entries that are searched before other requests go first."""
_BEFORE: Final = 20
_MAX_NAME: Final = 100
_SEARCHED: Final[dict[str, tuple[str, types.SymbolKind]]] = {
    ContextType.PROMPT: ("prompt_text", types.SymbolKind.String),
    ContextType.DECISION: ("decision_point", types.SymbolKind.Enum),
}


def register(server: Server) -> None:
    """Answer `workspace/symbol`."""

    @server.feature(types.WORKSPACE_SYMBOL)
    async def symbols(
        ls: Server, params: types.WorkspaceSymbolParams
    ) -> list[types.SymbolInformation]:
        if len(params.query.strip()) < _MIN_QUERY:
            return []
        words = params.query.casefold().split()
        matches: list[types.SymbolInformation] = []
        uris = [*(f"{uri}/x" for uri in ls.folders), *ls.documents.uris()]
        owners = (ls.projects.owner(uri) for uri in uris)
        projects = {owner[0].directory.path: owner[0] for owner in owners if owner is not None}
        for project in projects.values():
            if project.is_indexing:
                continue
            places = RecordPlaces(ls, project)
            matches += await _first(_risky(ls.settings, project, places, words))
            if ls.settings.show_prompts:
                matches += await _first(_entries(project, places, words))
            matches += await _first(_sessions(project, places, words))
        return matches


def _place_in(text: str, words: Sequence[str]) -> int | None:
    """Return where the first word begins in a text, in any case; None if a word is missing."""
    folded = text.casefold()
    return folded.find(words[0]) if all(word in folded for word in words) else None


async def _first(symbols: AsyncIterator[types.SymbolInformation]) -> list[types.SymbolInformation]:
    """Return the first symbols of a kind."""
    first_symbols: list[types.SymbolInformation] = []
    async for symbol in symbols:
        first_symbols.append(symbol)
        if len(first_symbols) == _MAX_SYMBOLS:
            break
    return first_symbols


async def _steps(items: Iterable[str]) -> AsyncIterator[str]:
    """Yield items; between two steps other requests go first."""
    for number, item in enumerate(items):
        if number % _STEP == 0:
            await asyncio.sleep(0)
        yield item


async def _entries(
    project: Project, places: RecordPlaces, words: Sequence[str]
) -> AsyncIterator[types.SymbolInformation]:
    """Yield prompts and decisions, the last ones of the manifest first."""
    manifest = project.snapshot.trail.manifest
    async for key in _steps(reversed(list(manifest))):
        entry = manifest.entry(key) or {}
        kind = text(entry, "type")
        if kind not in _SEARCHED:
            continue
        member, symbol = _SEARCHED[kind]
        said = text(entry, member) or ""
        at = _place_in(said, words)
        place = None if at is None else await places.entry(key)
        if at is not None and place is not None:
            yield _symbol(f"{kind}: {_around(said, at)}", symbol, place)


async def _sessions(
    project: Project, places: RecordPlaces, words: Sequence[str]
) -> AsyncIterator[types.SymbolInformation]:
    """Yield sessions by their description or agent, the last ones first."""
    trail = project.snapshot.trail
    async for identifier in _steps(reversed(trail.session_ids())):
        session = trail.log.session(identifier)
        names = () if session is None else (session.text("description"), session.text("agent_name"))
        said = " ".join(filter(None, names))
        at = _place_in(said, words)
        place = None if at is None else places.record(GraphNode(identifier, "session"))
        if at is not None and place is not None:
            yield _symbol(f"session: {_around(said, at)}", types.SymbolKind.Namespace, place)


async def _risky(
    settings: Settings, project: Project, places: RecordPlaces, words: Sequence[str]
) -> AsyncIterator[types.SymbolInformation]:
    """Yield ranges of at least the band of diagnostics, in files whose path matches."""
    if not project.snapshot.policy.computes_scores:
        return
    recorded = map(normal_path, project.snapshot.trail.annotated_paths())
    matching = (
        path for path in map(places.path_now, recorded) if _place_in(path, words) is not None
    )
    for path in islice(dict.fromkeys(matching), _MAX_RISKY_FILES):
        snapshot = await places.snapshot(path)
        if snapshot is None:
            continue
        for placement in snapshot.placements:
            is_sure = placement.is_claim and not placement.is_guess
            band = snapshot.report.band(placement) if is_sure else None
            place = location_now(snapshot, placement, places.encoding)
            if band is None or place is None or not Band(band).reaches(settings.minimum_band):
                continue
            name = display_name(placement, snapshot.text)
            title = single_line(f"{band} risk: {name} in {path}", _MAX_NAME)
            yield _symbol(title, types.SymbolKind.Function, place)


def _around(said: str, at: int) -> str:
    """Return a text from the word before its first match: editors filter by the name."""
    begin = said.rfind(" ", 0, at - _BEFORE) + 1 if at > _BEFORE else 0
    begin = max(begin, at - 2 * _BEFORE)
    return single_line(("… " if begin else "") + said[begin : begin + 4 * _MAX_NAME], _MAX_NAME)


def _symbol(name: str, kind: types.SymbolKind, place: types.Location) -> types.SymbolInformation:
    return types.SymbolInformation(place, name, kind, container_name="VIBES")
