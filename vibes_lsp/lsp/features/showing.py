"""The commands that open something: `vibes.changes`, `vibes.showPrompt`, `vibes.showHistory`, `vibes.openRecord`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final

from lsprotocol import types

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId, VibesError
from vibes_lsp.index.live_risk import Scorer
from vibes_lsp.index.placements import Placement
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.index.records import LogRecord
from vibes_lsp.index.trail import Trail
from vibes_lsp.lsp import showing
from vibes_lsp.lsp.description import Description, Markup
from vibes_lsp.lsp.server import CommandFailed, Server, answered
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import code_block
from vibes_lsp.reports.diff import ChangedFile, Changes, collect_changes
from vibes_lsp.reports.placements import (
    describe_edit,
    describe_location,
    describe_review,
    model_name,
)
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.config import LoadedConfig

_MARKUP: Final = Markup(types.MarkupKind.Markdown)
_MAX_PROMPT: Final = 300
_MAX_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class ChangesArguments:
    """What `vibes.changes` takes: a file or folder of the project; what to compare as for `vibes diff`; whether to open the text."""

    uri: str | None = None
    base: str | None = None
    show: bool = False


@dataclass(frozen=True, slots=True)
class AnnotationArguments:
    """What the others take: a file, and an annotation that is in it."""

    uri: str
    annotationId: str  # noqa: N815  # its name on the wire


def register(server: Server) -> None:
    """Offer the commands, and the documents that they open."""

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    def content(
        ls: Server, params: types.TextDocumentContentParams
    ) -> types.TextDocumentContentResult:
        return types.TextDocumentContentResult(ls.showing.text(params.uri))

    @server.command("vibes.changes")
    async def compare(ls: Server, arguments: ChangesArguments) -> dict[str, Any]:
        try:
            project = ls.project(arguments.uri).read()
            unsaved = {path: document.text for path, document in ls.projects.opened_in(project)}
            work = partial(
                _changes,
                project.directory,
                project.snapshot.config,
                project.snapshot.policy,
                arguments.base,
                unsaved,
            )
            found = await asyncio.get_running_loop().run_in_executor(ls.thread_pool, work)
        except VibesError as error:
            raise CommandFailed(error) from error
        text = "".join(_lines(found, with_prompts=ls.settings.show_prompts))
        uri = await ls.showing.show(ls, "changes.md", text) if arguments.show else None
        return {"uri": uri, "text": text, "total": found.as_json()["total"]}

    @server.command("vibes.showPrompt")
    async def prompt(ls: Server, arguments: AnnotationArguments) -> dict[str, Any]:
        text = answered(lambda: _prompt(ls, *_find(ls, arguments)))
        return {"uri": await ls.showing.show(ls, "prompt.md", text), "text": text}

    @server.command("vibes.showHistory")
    async def history(ls: Server, arguments: AnnotationArguments) -> dict[str, Any]:
        text = answered(lambda: _history(ls, *_find(ls, arguments)))
        return {"uri": await ls.showing.show(ls, "history.md", text), "text": text}

    @server.command("vibes.openRecord")
    async def record(ls: Server, arguments: AnnotationArguments) -> dict[str, Any]:
        snapshot, placement = answered(lambda: _find(ls, arguments))
        line = placement.current.line - 1
        place = types.Range(types.Position(line, 0), types.Position(line, 0))
        uri = snapshot.trail.trail.directory.log.absolute().as_uri()
        return {"uri": uri, "line": line + 1, "shown": await showing.show_place(ls, uri, place)}


def _find(ls: Server, arguments: AnnotationArguments) -> tuple[DocumentSnapshot, Placement]:
    """Return an annotation of a file.

    Raises:
        UnknownId: There is no such one.
    """
    snapshot = ls.projects.snapshot(arguments.uri)
    found = (
        next(
            (each for each in snapshot.placements if arguments.annotationId in each.lineage.ids),
            None,
        )
        if snapshot is not None
        else None
    )
    if snapshot is None or found is None:
        raise UnknownId(
            f"no annotation {arguments.annotationId[:80]!r} is known of this file",
            hint="ask for the file's actions again",
        )
    return snapshot, found


def _prompt(ls: Server, snapshot: DocumentSnapshot, placement: Placement) -> str:
    prompt = snapshot.report.prompt(placement) if ls.settings.show_prompts else None
    if prompt is None:
        raise UnknownId(
            "the prompt is not known, or not to be shown", hint="see the setting vibes.prompts.show"
        )
    told = Description(snapshot, _MARKUP, show_prompts=False).of(placement, owns=True)
    return f"# Prompt\n\n{code_block(Text(prompt).lines)}\n\n## What came of it\n\n{told}\n"


def _history(ls: Server, snapshot: DocumentSnapshot, placement: Placement) -> str:
    """Return what there is to say about an annotation, about the earlier ones on its lines, and each record of it."""
    description = Description(snapshot, _MARKUP, ls.settings.show_prompts)
    start, end = placement.located.start, placement.located.end
    others = [
        each
        for each in snapshot.placements
        if each is not placement
        and start is not None
        and end is not None
        and _overlaps(each, start, end)
    ]
    others.sort(key=lambda each: each.lineage.rank, reverse=True)
    parts = [
        "# This edit",
        description.of(placement, owns=True),
        "## Its records",
        "\n".join(map(_record, placement.lineage.members)),
    ]
    reviews = [
        f"- {_MARKUP.quote(each.edge.record.text('timestamp') or '?', 24)} {each.verdict or 'reviewed'} by {_MARKUP.quote(each.reviewer, 60)}"
        for each in snapshot.trail.trail.reviews_of(placement.lineage)
    ]
    parts += ["## Reviews", "\n".join(reviews)] if reviews else []
    parts += (
        ["## Others on these lines", *(description.of(each, owns=False) for each in others)]
        if others
        else []
    )
    return "\n\n".join(parts) + "\n"


def _overlaps(placement: Placement, start: int, end: int) -> bool:
    located = placement.located
    return (
        located.start is not None
        and located.end is not None
        and located.start <= end
        and start <= located.end
    )


def _record(record: LogRecord) -> str:
    quote = _MARKUP.quote
    lines = f"{record.members.get('line_start', '?')}-{record.members.get('line_end', '?')}"
    commit = record.text("commit_hash")
    of_commit = f", commit {quote(commit, 12)}" if commit else ""
    return f"- log line {record.line}: {quote(record.text('action') or '?', 20)} {quote(lines, 30)}{of_commit}, record {quote(record.id, 12)}"


def _changes(
    directory: AuditDir,
    config: LoadedConfig,
    policy: Policy,
    base: str | None,
    unsaved: dict[str, Text],
) -> Changes:
    """Compare, in a thread, on a trail of its own."""
    trail = Trail(directory)
    trail.refresh()
    with ProjectLocator(trail) as locator:
        return collect_changes(locator, base, Scorer(trail, policy), config.tracking, unsaved)


def _lines(found: Changes, *, with_prompts: bool) -> Iterator[str]:
    """Give the change as Markdown in which all text of others is inert."""
    span = (
        f"{found.span.base[:12]}..{found.span.head[:12]}"
        if found.span.head is not None
        else f"{found.span.base[:12]} to the work tree"
    )
    yield f"# AI lines of a change\n\n{span}: {found.counts.words()} of {found.changed} changed lines.\n"
    for file in found.files:
        if file.ranges:
            yield from _file(file, with_prompts=with_prompts)


def _file(file: ChangedFile, *, with_prompts: bool) -> Iterator[str]:
    quote = _MARKUP.quote
    was = f" (was {quote(file.former, _MAX_NAME)})" if file.former is not None else ""
    yield f"\n## {quote(file.path, _MAX_NAME)}{was}\n\n{file.counts.words()} of {file.changed} changed lines\n"
    told: str | None = None
    for changed in file.ranges:
        placement = changed.placement
        if told != placement.current.id:
            told = placement.current.id
            yield f"\n{_annotation(placement, file, with_prompts=with_prompts)}\n"
        code = file.text.lines[changed.start - 1 : changed.end]
        yield f"\nLines {changed.start}-{changed.end}:\n\n{code_block(code, _language(file.path))}\n"


def _annotation(placement: Placement, file: ChangedFile, *, with_prompts: bool) -> str:
    facts = file.facts[placement.current.id]
    figures = file.report.describe_risk(facts)
    said = [
        model_name(facts),
        describe_edit(placement),
        describe_location(placement),
        f"risk {figures}" if figures is not None else "",
        describe_review(facts),
        placement.current.id[:8],
    ]
    line = " · ".join(_MARKUP.quote(each, 100) for each in said if each)
    prompt = facts.get("prompt")
    return (
        f"{line}  \nPrompt: {_MARKUP.quote(prompt, _MAX_PROMPT)}"
        if with_prompts and isinstance(prompt, str)
        else line
    )


def _language(path: str) -> str:
    suffix = PurePosixPath(path).suffix[1:]
    return suffix if suffix.isascii() and suffix.isalnum() else ""
