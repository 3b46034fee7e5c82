"""References: on a line of an AI's, all ranges of the project that came of the same prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from lsprotocol import types

from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.server import Server, answered
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.lsp.uris import uri_in
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.store.audit_dir import AuditDir

_MAX_FILES: Final = 200
_MAX_FOUND: Final = 1_000


def register(server: Server) -> None:
    """Answer `textDocument/references`."""

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        snapshot = answered(lambda: ls.projects.snapshot(params.text_document.uri))
        prompts = (
            _prompts_at(snapshot, params.position.line + 1) if snapshot is not None else frozenset()
        )
        if snapshot is None or not prompts:
            return []
        directory = snapshot.trail.trail.directory
        paths = await asyncio.get_running_loop().run_in_executor(
            ls.thread_pool, _files_of, directory, prompts
        )
        found = list(_ranges(snapshot, prompts))
        uris = [
            uri
            for each in paths
            if each != snapshot.path and (uri := uri_in(directory.project, each)) is not None
        ]
        for uri in uris[:_MAX_FILES]:
            await asyncio.sleep(
                0
            )  # what came meanwhile goes first; a request that was cancelled ends here
            other = ls.projects.snapshot(uri)
            if other is not None:
                found += _ranges(other, prompts)
        return found[:_MAX_FOUND]


def _prompts_at(snapshot: DocumentSnapshot, line: int) -> frozenset[str]:
    """Return the prompt of a line's owner, else those of whatever else is there, functions for instance."""
    here = [
        each
        for each in snapshot.placements
        if each.located.start is not None and each.located.start <= line <= (each.located.end or 0)
    ]
    owners = [
        each for each in here if any(start <= line <= end for start, end in each.owned_ranges)
    ]
    return frozenset(
        prompt
        for each in owners or here
        if (prompt := each.current.text("prompt_hash")) is not None
    )


def _files_of(directory: AuditDir, prompts: frozenset[str]) -> list[str]:
    """Return the files with current annotations of some prompts, in a thread, by a trail of its own: it reads every annotation."""
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


def _ranges(snapshot: DocumentSnapshot, prompts: frozenset[str]) -> Iterator[types.Location]:
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
