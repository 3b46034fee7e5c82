"""The commands that ask: `vibes.lookup`, `vibes.show`, `vibes.check`, `vibes.queue`; and the request `vibes/provenance`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from lsprotocol import types

from vibes_lsp.anchors.located import Located
from vibes_lsp.checks.report import check_trail
from vibes_lsp.checks.subject import open_subject
from vibes_lsp.errors import AuditDirNotFound, UnreadableFile
from vibes_lsp.index.lookup import look_up
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.places import Places
from vibes_lsp.index.risk import Scorer
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp.labels import label
from vibes_lsp.lsp.messages import PROVENANCE, ProvenanceParams
from vibes_lsp.lsp.server import Server, answered
from vibes_lsp.lsp.views import View
from vibes_lsp.model.members import Members
from vibes_lsp.reports.blame import line_kinds
from vibes_lsp.reports.queue import review_queue, waits
from vibes_lsp.reports.record import shown
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.layout import AuditDir

_LONGEST_QUEUE = 1000


@dataclass(frozen=True, slots=True)
class LookupArguments:
    """What `vibes.lookup` takes: a file; a range of it, whose annotations alone are meant; whether to go line by line."""

    uri: str
    range: types.Range | None = None
    lines: bool = False


@dataclass(frozen=True, slots=True)
class ShowArguments:
    """What `vibes.show` takes: an id or a unique prefix of one; `uri` picks the trail where there are several."""

    id: str
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """What `vibes.check` takes: a file or folder whose trail is meant; by default the first workspace folder's."""

    uri: str | None = None


@dataclass(frozen=True, slots=True)
class QueueArguments:
    """What `vibes.queue` takes: a file or folder whose trail is meant, by default the first workspace folder's; how many at most."""

    uri: str | None = None
    limit: int = 200


def register(server: Server) -> None:
    """Offer the commands and the request."""

    @server.command("vibes.lookup")
    def lookup(ls: Server, arguments: LookupArguments) -> dict[str, Any]:
        return answered(lambda: _provenance(ls, arguments.uri, arguments.range, lines=arguments.lines))

    @server.feature(PROVENANCE)
    def provenance(ls: Server, params: ProvenanceParams) -> dict[str, Any]:
        return answered(lambda: _provenance(ls, params.textDocument.uri, None, lines=bool(params.lines)))

    @server.command("vibes.show")
    def show(ls: Server, arguments: ShowArguments) -> dict[str, Any]:
        def answer() -> dict[str, Any]:
            trail = ls.project(arguments.uri).read().trail
            return shown(trail, look_up(trail, arguments.id))

        return answered(answer)

    @server.command("vibes.check")
    def check(ls: Server, arguments: CheckArguments) -> dict[str, Any]:
        def answer() -> dict[str, Any]:
            return check_trail(open_subject(ls.project(arguments.uri).trail.directory, datetime.now(UTC))).as_json()

        return answered(answer)

    @server.command("vibes.queue")
    async def queue(ls: Server, arguments: QueueArguments) -> dict[str, Any]:
        project = answered(lambda: ls.project(arguments.uri).read())
        policy = project.config.policy.previewed if project.previews_risk else project.config.policy
        work = partial(_queue, project.trail.directory, policy, use_git=ls.settings.use_git)
        waiting = await asyncio.get_running_loop().run_in_executor(ls.thread_pool, answered, work)
        shown_ones = waiting[: max(0, min(arguments.limit, _LONGEST_QUEUE))]
        root = project.trail.directory.project
        return {"placements": [{**each, "uri": (root / str(each["filePath"])).as_uri()} for each in shown_ones], "total": len(waiting)}


def _queue(directory: AuditDir, policy: Policy, *, use_git: bool) -> list[Members]:
    """Return what waits for a review; in a thread, with a trail of its own, for all files are read and git is asked about them."""
    trail = Trail(directory)
    with Places(trail, use_git=use_git) as places:
        places.renew({})
        return review_queue(places, Scorer(trail, policy))


def _provenance(ls: Server, uri: str, within: types.Range | None, *, lines: bool) -> dict[str, Any]:
    found = ls.projects.of(uri)
    if found is None:
        raise AuditDirNotFound(f"no audit directory owns {uri[:200]}", hint="`vibes doctor` says why nothing shows")
    found[0].read()
    view = ls.projects.view(uri)
    if view is None:
        raise UnreadableFile(f"{uri[:200]} cannot be read, or is part of an audit trail", hint="open the file, or name another")
    chosen = [each for each in view.placements if within is None or _touches(each.located, within)]
    placements = [_placement(view, each, with_prompts=ls.settings.show_prompts) for each in chosen]
    result: dict[str, Any] = {"uri": uri, "version": view.version, "placements": placements}
    if view.is_provisional:
        result["provisional"] = True
    if lines:
        result["lines"] = line_kinds(chosen)
    return result


def _placement(view: View, placement: Placement, *, with_prompts: bool) -> Members:
    """Return a placement with what only editors ask for."""
    facts = view.report.placement(placement, with_prompts=with_prompts)
    return {**facts, "label": label(view, placement), "waits": waits(placement, facts)}


def _touches(located: Located, within: types.Range) -> bool:
    """Whether a placement has a line in a range; the range's end at character 0 does not count its line, unless it is empty."""
    first, last = within.start, within.end
    stop = last.line if last.character == 0 and last.line > first.line else last.line + 1
    return located.start is not None and located.end is not None and located.start <= stop and located.end >= first.line + 1
