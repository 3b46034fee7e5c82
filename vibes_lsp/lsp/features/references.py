"""References: on an AI's line, all ranges of the project that were made with the same prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from lsprotocol import types

from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.conversion import uri_in
from vibes_lsp.lsp.server import Server, run_use_case
from vibes_lsp.lsp.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.store.audit_dir import AuditDir

_MAX_FILES: Final = 200
_MAX_LOCATIONS: Final = 1_000


def register(server: Server) -> None:
    """Answer `textDocument/references`."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        snapshot = run_use_case(lambda: ls.projects.snapshot(params.text_document.uri))
        if snapshot is None:
            return []
        prompts = _prompts_at(snapshot, params.position.line + 1)
        if not prompts:
            return []
        directory = snapshot.trail.trail.directory
        paths = await asyncio.get_running_loop().run_in_executor(
            ls.thread_pool, _files_with, prompts, directory
        )
        found = list(_locations(snapshot, prompts))
        uris = [
            uri
            for each in paths
            if each != snapshot.path and (uri := uri_in(directory.project, each)) is not None
        ]
        for uri in uris[:_MAX_FILES]:
            await asyncio.sleep(0)  # other requests go first; a cancelled one ends here
            other = ls.projects.snapshot(uri)
            if other is not None:
                found += _locations(other, prompts)
        return found[:_MAX_LOCATIONS]


def _prompts_at(snapshot: DocumentSnapshot, line: int) -> frozenset[str]:
    """Return the prompt of a line's owner, else those of all annotations there."""
    placements = snapshot.placements_at(line)
    owners = [each for each in placements if owns_line(each, line)]
    return frozenset(
        prompt
        for each in owners or placements
        if (prompt := each.current.text("prompt_hash")) is not None
    )


def _files_with(prompts: frozenset[str], directory: AuditDir) -> list[str]:
    """Return the files with current annotations of some prompts, in a thread: it reads the log."""
    trail = Trail(directory)
    trail.refresh()
    paths = (
        normal_path(lineage.current.text("file_path") or "")
        for lineage in trail.lineages()
        if not lineage.superseded_by
        and not lineage.is_review
        and lineage.current.text("prompt_hash") in prompts
    )
    return [path for path in dict.fromkeys(paths) if can_be_in_project(path)]


def _locations(snapshot: DocumentSnapshot, prompts: frozenset[str]) -> Iterator[types.Location]:
    for placement in snapshot.placements:
        start, end = placement.located.start, placement.located.end
        if (
            placement.is_claim
            and start is not None
            and end is not None
            and placement.current.text("prompt_hash") in prompts
        ):
            yield types.Location(
                snapshot.uri, types.Range(types.Position(start - 1, 0), types.Position(end, 0))
            )
