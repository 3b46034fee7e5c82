"""The commands that show a record, a prompt, a history or changes.

A text is opened as a virtual document (LSP 3.18), else as a file, else as a message. A client that
compares versions of a file reads those of git as virtual documents, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeAlias

from lsprotocol import types

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId
from vibes_lsp.lsp.documents.audit_files import location_now
from vibes_lsp.lsp.documents.description import Description
from vibes_lsp.lsp.documents.rendering import Markup
from vibes_lsp.lsp.protocol.extensions import CommandName
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.shown_documents import (
    ShownDocuments,
    open_document,
    parse_version,
    read_version,
    version_uri,
)
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import code_block
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.diff import ChangedFile, Changes, collect_changes
from vibes_lsp.reports.placements import (
    describe_edit,
    describe_lines,
    describe_location,
    describe_review,
    model_name,
)
from vibes_lsp.reports.show import found_as_json
from vibes_lsp.trail.lookup import look_up
from vibes_lsp.trail.records import LogRecord

_MARKUP: Final = Markup(types.MarkupKind.Markdown)
_MAX_PROMPT: Final = 300
_MAX_NAME: Final = 200
_MAX_HISTORIES: Final = 20
_Place: TypeAlias = tuple[str, int]
"""Path and first line of a range."""
_MAX_ID: Final = 80
"""Characters of an id or hash: it is shown whole."""


@dataclass(frozen=True, slots=True)
class ShowArguments:
    """The argument of `vibes.show`.

    Attributes:
        id: An id, or a unique prefix of one.
        uri: A file or folder of the project; by default the first workspace folder.
    """

    id: str
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class ChangesArguments:
    """The argument of `vibes.changes`.

    Attributes:
        uri: A file or folder of the project; by default the first workspace folder.
        base: A revision or range, as for `vibes diff`; by default HEAD.
        staged: Whether to compare with the index, not with the work tree.
        show: Whether to open the text.
    """

    uri: str | None = None
    base: str | None = None
    staged: bool = False
    show: bool = False


@dataclass(frozen=True, slots=True)
class AnnotationArguments:
    """The argument of the other commands.

    Attributes:
        uri: A file.
        annotationId: An annotation in it.
        annotationIds: Several annotations in it, for `vibes.showHistory`.
        show: Whether to open the document; false for clients that show it themselves.
        format: `markdown` or `plaintext`.
    """

    uri: str
    annotationId: str | None = None  # noqa: N815  # its name on the wire
    annotationIds: list[str] | None = None  # noqa: N815
    show: bool = True
    format: str = types.MarkupKind.Markdown

    async def find(self, ls: Server) -> list[tuple[DocumentSnapshot, Placement]]:
        """Return the annotations, each once, when the trail is indexed.

        Raises:
            UnknownId: None is named, or one that the file does not have.
        """
        await ls.projects.until_indexed([self.uri])
        first = [] if self.annotationId is None else [self.annotationId]
        named = list(dict.fromkeys([*first, *(self.annotationIds or [])]))
        if not named:
            raise UnknownId(
                "no annotation is named", hint="pass annotationId or annotationIds with the uri"
            )
        snapshot, placements = ls.projects.snapshot(self.uri), []
        for name in named[:_MAX_HISTORIES]:
            placement = None if snapshot is None else snapshot.placement_with(name)
            if snapshot is None or placement is None:
                raise UnknownId(
                    f"no annotation {name[:80]!r} in this file",
                    hint="ask for the code actions of the file again",
                )
            placements.append((snapshot, placement))
        return placements


def register(server: Server) -> ShownDocuments:  # noqa: C901  # a list of handlers
    """Offer the commands and the documents that they open."""
    documents = ShownDocuments()

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    async def content(
        ls: Server, params: types.TextDocumentContentParams
    ) -> types.TextDocumentContentResult:
        """Return a text that the server opened, or the content of a file in git."""
        version = parse_version(params.uri)
        if version is None:
            return types.TextDocumentContentResult(documents.text(params.uri))
        file, blob = version
        work = partial(read_version, ls.find_project(file).directory, blob)
        text = await ls.run_in_thread(work)
        return types.TextDocumentContentResult(text)

    @server.command(CommandName.SHOW)
    async def show(ls: Server, arguments: ShowArguments) -> dict[str, Any]:
        """Return `{kind, id, record or entry, edges: {out, in}}`, exactly as on disk."""
        project = await ls.indexed_project(arguments.uri)
        return await ls.search(
            project,
            lambda locator, _: found_as_json(locator.trail, look_up(locator.trail, arguments.id)),
        )

    @server.command(CommandName.CHANGES)
    async def compare(ls: Server, arguments: ChangesArguments) -> dict[str, Any]:
        """Return `{uri, text, total, files}`: the changes as Markdown, opened with `show`.

        Unsaved text counts unless `staged`; `uri` is the document that was opened. `files` has
        those with AI lines: `{uri, filePath, changedLines, verifiedLines, claimedLines,
        editedLines, unreviewedLines, baseUri?, headUri?, ranges}`. `baseUri`, unless the file is
        new, and, if a commit or the index is the newer side, `headUri` are virtual documents with
        the versions in git. A range is `{annotationId, lineStart, lineEnd, textLine, unreviewed}`:
        its code begins at `textLine` of the text.
        """
        project = await ls.indexed_project(arguments.uri)
        unsaved = {path: document.text for path, document in ls.projects.opened_in(project)}
        tracking = project.snapshot.config.tracking
        changes = await ls.search(
            project,
            lambda locator, scorer: collect_changes(
                locator, arguments.base, scorer, tracking, unsaved, is_staged=arguments.staged
            ),
        )
        text, text_lines = _render_changes(changes, with_prompts=ls.settings.show_prompts)
        root = project.directory.project
        files = [_changed_file(root, file, text_lines) for file in changes.files if file.ranges]
        total = changes.as_json()["total"]
        uri = await documents.show(ls, "changes.md", text) if arguments.show else None
        return {"uri": uri, "text": text, "total": total, "files": files}

    @server.command(CommandName.SHOW_PROMPT)
    async def show_prompt(ls: Server, arguments: AnnotationArguments) -> dict[str, Any]:
        """Return `{uri, text}`: the whole prompt, opened unless `show` is false."""
        placements = await arguments.find(ls)
        text = _render_prompt(ls, *placements[0], Markup.named(arguments.format))
        uri = await documents.show(ls, "prompt.md", text) if arguments.show else None
        return {"uri": uri, "text": text}

    @server.command(CommandName.SHOW_HISTORY)
    async def show_history(ls: Server, arguments: AnnotationArguments) -> dict[str, Any]:
        """Return `{uri, text}`: prompt and history, one document for all annotations.

        It is opened unless `show` is false.
        """
        placements = await arguments.find(ls)
        markup = Markup.named(arguments.format)
        text = "\n".join(
            _render_history(ls, *snapshot_and_placement, markup)
            for snapshot_and_placement in placements
        )
        uri = await documents.show(ls, "history.md", text) if arguments.show else None
        return {"uri": uri, "text": text}

    @server.command(CommandName.OPEN_RECORD)
    async def open_record(ls: Server, arguments: AnnotationArguments) -> dict[str, Any]:
        """Return `{uri, line, shown}`: the current record in the log.

        It is opened unless `show` is false.
        """
        snapshot, placement = (await arguments.find(ls))[0]
        number = None if placement.is_pending else placement.current.log_line
        if number is None:
            raise UnknownId(
                f"the log has no record {placement.current.id[:8]} yet: it waits for a commit",
                hint="`vibes flush` writes it now",
            )
        place = types.Range(types.Position(number - 1, 0), types.Position(number - 1, 0))
        uri = snapshot.trail.trail.directory.log.absolute().as_uri()
        shown = arguments.show and await open_document(ls, uri, place)
        return {"uri": uri, "line": number, "shown": shown}

    @server.command(CommandName.OPEN_LINES)
    async def open_lines(ls: Server, arguments: AnnotationArguments) -> dict[str, Any]:
        """Return `{uri, range, shown}`: the lines of an annotation now; `range` is null when lost.

        They are opened and selected unless `show` is false.
        """
        snapshot, placement = (await arguments.find(ls))[0]
        location = location_now(snapshot, placement, ls.documents.encoding)
        if location is None:
            return {"uri": arguments.uri, "range": None, "shown": False}
        shown = arguments.show and await open_document(ls, location.uri, location.range)
        return {"uri": location.uri, "range": location.range, "shown": shown}

    return documents


def _changed_file(root: Path, file: ChangedFile, text_lines: Mapping[_Place, int]) -> Members:
    """Return where the AI lines of a changed file are, and its versions in git as documents."""
    old, new = file.blobs
    versions: Members = {}
    if old is not None:
        versions["baseUri"] = version_uri(root, file.old_path or file.path, old)
    if new is not None:
        versions["headUri"] = version_uri(root, file.path, new)
    ranges: list[JsonValue] = [
        {
            "annotationId": changed_range.placement.current.id,
            "lineStart": changed_range.start,
            "lineEnd": changed_range.end,
            "textLine": text_lines[file.path, changed_range.start],
            "unreviewed": file.needs_review(changed_range),
        }
        for changed_range in file.ranges
    ]
    return {
        "uri": (root / file.path).as_uri(),
        "filePath": file.path,
        "changedLines": file.changed_lines,
        **file.counts.as_json(),
        "unreviewedLines": file.unreviewed_lines,
        **versions,
        "ranges": ranges,
    }


def _render_prompt(
    ls: Server, snapshot: DocumentSnapshot, placement: Placement, markup: Markup
) -> str:
    prompt = snapshot.report.prompt(placement) if ls.settings.show_prompts else None
    if prompt is None:
        raise UnknownId(
            "no prompt to show: none is recorded, or prompts are hidden",
            hint="see the setting vibes.prompts.show",
        )
    description = Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)
    parts = [
        markup.heading("Prompt", 1),
        markup.block(Text(prompt).lines),
        markup.heading("Annotation"),
        description.mention(placement, with_prompt=False),
        description.detail(placement),
    ]
    return "\n\n".join(parts) + "\n"


def _render_history(
    ls: Server, snapshot: DocumentSnapshot, placement: Placement, markup: Markup
) -> str:
    """Return an annotation: its prompt, records, reviews, and other annotations on its lines."""
    description = Description(snapshot, markup, datetime.now(UTC), ls.settings.show_prompts)
    start, end = placement.located.start, placement.located.end
    others = [
        neighbour
        for neighbour in snapshot.placements
        if neighbour is not placement
        and start is not None
        and neighbour.located.touches(start, end or start)
    ]
    others.sort(key=lambda neighbour: neighbour.lineage.rank, reverse=True)
    parts = [
        markup.heading("Annotation", 1),
        description.mention(placement, with_prompt=False),
    ]
    prompt = snapshot.report.prompt(placement) if ls.settings.show_prompts else None
    if prompt is not None:
        parts += [markup.heading("Prompt"), markup.block(Text(prompt).lines)]
    parts += [markup.heading("Details"), description.detail(placement)]
    records = [_render_record(record, markup) for record in placement.lineage.members]
    parts += [markup.heading("Records"), "\n".join(records)]
    reviews = [
        f"- {markup.quote(review.edge.record.text('timestamp') or '?', 24)} "
        f"{review.verdict or 'reviewed'} by {markup.quote(review.reviewer, 60)}"
        for review in snapshot.trail.trail.reviews_of(placement.lineage)
    ]
    if reviews:
        parts += [markup.heading("Reviews"), "\n".join(reviews)]
    if others:
        parts.append(markup.heading("Other annotations on these lines"))
    for neighbour in others:
        parts += [description.mention(neighbour), description.detail(neighbour)]
    return "\n\n".join(parts) + "\n"


def _render_record(record: LogRecord, markup: Markup) -> str:
    quote = markup.quote
    lines = f"{record.members.get('line_start', '?')}-{record.members.get('line_end', '?')}"
    commit = record.text("commit_hash")
    of_commit = f", commit {quote(commit, _MAX_ID)}" if commit else ""
    place = "waits for a commit" if record.is_waiting else f"log line {record.line}"
    return (
        f"- {place}: {quote(record.text('action') or '?', 20)} "
        f"{quote(lines, 30)}{of_commit}, record {quote(record.id, _MAX_ID)}"
    )


def _render_changes(changes: Changes, *, with_prompts: bool) -> tuple[str, dict[_Place, int]]:
    """Return a change as Markdown, untrusted text escaped, and where in it each range's code is."""
    base, head = changes.diff_range.base[:8], changes.diff_range.head
    span = f"{base}..{head[:8]}" if head is not None else f"{base} to the work tree"
    if changes.diff_range.is_staged:
        span = f"{base} to the staged files"
    counts = f"{changes.counts.words()} of {changes.changed_lines} changed lines"
    rows = ["# AI lines of a change", "", f"{span}: {counts}."]
    places: dict[_Place, int] = {}
    for file in changes.files:
        if file.ranges:
            former = f" (was {_name(file.old_path)})" if file.old_path is not None else ""
            counts = f"{file.counts.words()} of {file.changed_lines} changed lines"
            rows += ["", f"## {_name(file.path)}{former}", "", counts]
        last: str | None = None
        for changed in file.ranges:
            if last != changed.placement.current.id:
                last = changed.placement.current.id
                annotation = _render_annotation(changed.placement, file, with_prompts=with_prompts)
                rows += ["", *annotation]
            lines = describe_lines(changed.start, changed.end).capitalize()
            code = file.text.lines[changed.start - 1 : changed.end]
            rows += ["", f"{lines}:", "", *code_block(code, _language(file.path)).split("\n")]
            places[file.path, changed.start] = len(rows) - len(code)
    return "\n".join([*rows, ""]), places


def _name(path: str) -> str:
    return _MARKUP.quote(path, _MAX_NAME)


def _render_annotation(placement: Placement, file: ChangedFile, *, with_prompts: bool) -> list[str]:
    facts = file.facts[placement.current.id]
    figures = file.report.describe_risk(facts)
    parts = [
        model_name(facts),
        describe_edit(placement),
        describe_location(placement),
        f"risk {figures}" if figures is not None else "",
        describe_review(facts),
        placement.current.id[:8],
    ]
    line = " · ".join(_MARKUP.quote(part, 100) for part in parts if part)
    prompt = facts.get("prompt")
    if with_prompts and isinstance(prompt, str):
        return [f"{line}  ", f"Prompt: {_MARKUP.quote(prompt, _MAX_PROMPT)}"]
    return [line]


def _language(path: str) -> str:
    suffix = PurePosixPath(path).suffix[1:]
    return suffix if suffix.isascii() and suffix.isalnum() else ""
