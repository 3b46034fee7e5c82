"""The commands of the knowledge base: `vibes.kb`, `vibes.kbAt`, `vibes.kbPropose` and more.

They act as the person at the editor, who may approve. No surface that an agent uses leads here.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.errors import InvalidObject, KnowledgeBaseNotFound, UnreadableFile
from vibes_lsp.git.process import git_setting
from vibes_lsp.git.project_files import read_content
from vibes_lsp.knowledge.actors import system_user
from vibes_lsp.lsp.documents.knowledge_texts import ClaimTexts, describe_proposal
from vibes_lsp.lsp.documents.rendering import Markup
from vibes_lsp.lsp.protocol.conversion import lines_of, path_of
from vibes_lsp.lsp.protocol.extensions import CommandName, ProjectArguments
from vibes_lsp.lsp.state.knowledge_bases import find_knowledge_folder
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.shown_documents import ShownDocuments

if TYPE_CHECKING:
    from vibes_lsp.knowledge.knowledge_base import KnowledgeBase

_MAX_ANSWERED: Final = 100
"""Results that are kept for a `requestId` that comes again."""


@dataclass(frozen=True, slots=True)
class MethodArguments:
    """The argument of `vibes.kb`.

    Attributes:
        method: A method, such as `kb.list_pending`.
        params: The object of its parameters.
        uri: A file or folder of the project; by default the first workspace folder.
        requestId: The same one again changes nothing, and has the same result.
    """

    method: str
    params: Any = None
    uri: str | None = None
    requestId: str | None = None  # noqa: N815  # its name on the wire


@dataclass(frozen=True, slots=True)
class LinesArguments:
    """The argument of `vibes.kbAt`.

    Attributes:
        uri: The file.
        range: Only what has a line in this range.
    """

    uri: str
    range: types.Range | None = None


@dataclass(frozen=True, slots=True)
class ShowClaimsArguments:
    """The argument of `vibes.kbShow`.

    Attributes:
        uri: The file.
        claimIds: Claims at its lines.
        proposalIds: Proposals at its lines.
        show: Whether to open the text.
        format: `markdown` or `plaintext`.
    """

    uri: str
    claimIds: list[str] = field(default_factory=list)  # noqa: N815  # its name on the wire
    proposalIds: list[str] = field(default_factory=list)  # noqa: N815
    show: bool = True
    format: str = types.MarkupKind.Markdown


@dataclass(frozen=True, slots=True)
class ProposeArguments:
    """The argument of `vibes.kbPropose`: a claim with the lines of a range as its evidence.

    Attributes:
        uri: The file.
        range: The lines, in the open text.
        text: What the claim says.
        type: Its type, such as `fact` or `decision`.
        confidence: How certain it is, from 0 to 1.
        rationale: Why it should be approved.
        version: The version of the document that the range is in.
        requestId: The same one again changes nothing, and has the same result.
    """

    uri: str
    range: types.Range
    text: str
    type: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    version: int | None = None
    requestId: str | None = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class ReanchorArguments:
    """The argument of `vibes.kbReanchor`.

    Attributes:
        uri: The file.
        claimId: The claim.
        evidenceId: The evidence that it cites, which the new evidence takes the place of.
        range: The lines; by default where the evidence is now.
        version: The version of the document that the range is in.
        requestId: The same one again changes nothing, and has the same result.
    """

    uri: str
    claimId: str  # noqa: N815
    evidenceId: str  # noqa: N815
    range: types.Range | None = None
    version: int | None = None
    requestId: str | None = None  # noqa: N815


@dataclass(frozen=True, slots=True)
class _Source:
    """A file whose lines become evidence, as the editor has it."""

    folder: Path
    path: str
    content: str | None
    is_saved: bool

    def read(self) -> bytes:
        """Return the bytes to capture: those on disk while they are what the editor shows.

        Raises:
            UnreadableFile: The file is neither open nor readable, or leads out of the project.
        """
        if self.content is None:
            return read_content(self.folder.parent, self.path)
        if self.is_saved:
            try:
                saved = read_content(self.folder.parent, self.path)
            except UnreadableFile:
                return encode(self.content)
            if Text.from_bytes(saved).lines == Text(self.content).lines:
                return saved
        return encode(self.content)


@dataclass(slots=True)
class _Answered:
    """The last commands with a `requestId`, and their results; a failed one may be repeated."""

    _tasks: OrderedDict[str, asyncio.Task[Any]] = field(default_factory=OrderedDict)

    async def once(self, request: str | None, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        if request is None:
            return await work()
        task = self._tasks.get(request)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._tasks[request] = asyncio.create_task(work())
            while len(self._tasks) > _MAX_ANSWERED:
                self._tasks.popitem(last=False)
        return await asyncio.shield(task)  # a cancelled request stops no other one


def register(server: Server, shown: ShownDocuments) -> None:
    """Offer the commands."""
    _register_lists(server, shown)
    answered = _Answered()

    @server.command(CommandName.KB)
    async def call(ls: Server, arguments: MethodArguments) -> Any:
        """Return the result of a method of the knowledge base above `uri`.

        It runs as the person at the editor, who may approve.
        """
        folder = _folder(ls, arguments.uri)
        params = dict(arguments.params) if isinstance(arguments.params, dict) else {}
        reviewer = ls.settings.reviewer
        work = partial(_call, folder, reviewer, arguments.method, params)
        return await answered.once(arguments.requestId, partial(_run, ls, work))

    @server.command(CommandName.KB_PROPOSE)
    async def propose(ls: Server, arguments: ProposeArguments) -> Any:
        """Return `{proposalId, claimId}`: a proposed claim with these lines as evidence.

        The text of the moment, saved or not, is captured as the source.
        """

        async def propose_once() -> Any:
            source = _source(ls, arguments.uri, arguments.version)
            return await _run(ls, partial(_propose, source, ls.settings.reviewer, arguments))

        return await answered.once(arguments.requestId, propose_once)

    @server.command(CommandName.KB_REANCHOR)
    async def reanchor(ls: Server, arguments: ReanchorArguments) -> Any:
        """Return `{claimId, evidenceId}`: new evidence, cited in place of the old.

        It is where the lines are now, or in the range.
        """

        async def reanchor_once() -> Any:
            lines = None if arguments.range is None else lines_of(arguments.range)
            if lines is None:
                lines = await _current_lines(ls, arguments.uri, arguments.evidenceId)
            if lines is None:
                raise InvalidObject(
                    f"evidence {arguments.evidenceId} could not be found in the file",
                    hint="select its lines, and re-anchor there",
                )
            source = _source(ls, arguments.uri, arguments.version)
            return await _run(
                ls, partial(_reanchor, source, ls.settings.reviewer, arguments, lines)
            )

        return await answered.once(arguments.requestId, reanchor_once)


def _register_lists(server: Server, shown: ShownDocuments) -> None:
    """Offer the commands that only read: what is at lines, and what waits."""

    @server.command(CommandName.KB_AT)
    async def at(ls: Server, arguments: LinesArguments) -> dict[str, Any]:
        """Return `{uri, version, project, claims, pending}`: what is said about lines of a file.

        In document order, what is lost at the end; `project` is null without a knowledge base.
        """
        knowledge = await ls.knowledge.about(arguments.uri, is_patient=True)
        if knowledge is None:
            return {"uri": arguments.uri, "project": None, "claims": [], "pending": []}
        within, count = arguments.range, ls.projects.ai_lines_of(arguments.uri)
        placed = knowledge.placed if within is None else knowledge.at(*lines_of(within))
        texts = ClaimTexts(knowledge, datetime.now(UTC), count)
        return {
            "uri": arguments.uri,
            "version": knowledge.version,
            "project": knowledge.project.as_uri(),
            "claims": texts.claims(placed),
            "pending": texts.proposals(placed),
        }

    @server.command(CommandName.KB_SHOW)
    async def show(ls: Server, arguments: ShowClaimsArguments) -> dict[str, Any]:
        """Return `{uri, text}`: claims and proposals of the file with their quotes.

        The text is opened unless `show` is false.
        """
        knowledge = await ls.knowledge.about(arguments.uri, is_patient=True)
        if knowledge is None:
            raise _no_knowledge_base()
        wanted = {*arguments.claimIds, *arguments.proposalIds}
        count = ls.projects.ai_lines_of(arguments.uri)
        text = ClaimTexts(knowledge, datetime.now(UTC), count).document(
            wanted, Markup.named(arguments.format)
        )
        uri = await shown.show(ls, "claims.md", text) if arguments.show else None
        return {"uri": uri, "text": text}

    @server.command(CommandName.KB_PENDING)
    async def pending(ls: Server, arguments: ProjectArguments) -> dict[str, Any]:
        """Return `{project, pending}`: what waits for a decision in the knowledge base.

        The oldest first, each with the place of the first lines that it cites, `uri` and
        `filePath`; without them if it cites none.
        """
        folder = _folder(ls, arguments.uri)
        return {"project": folder.parent.as_uri(), "pending": await _pending(ls, folder)}


async def _run(ls: Server, work: Callable[[], Any]) -> Any:
    """Return what a use case returns, in a thread; the next answers have what it wrote."""
    try:
        return await ls.run_in_thread(work)
    finally:
        await ls.knowledge.refresh()


async def _pending(ls: Server, folder: Path) -> list[dict[str, Any]]:
    """Return the proposals that wait, the oldest first, with the first lines that each cites."""
    own = await ls.knowledge.about((folder / "config.yaml").as_uri(), is_patient=True)
    if own is None:
        return []
    places: dict[str, dict[str, Any]] = {}
    now = datetime.now(UTC)
    async for file in ls.knowledge.citing(own, lambda citation: bool(citation.proposals)):
        for proposal in ClaimTexts(file, now).proposals(file.placed):
            place = {"uri": file.uri, "filePath": file.path, **proposal}
            places.setdefault(proposal["proposalId"], place)
    return [
        places.get(waiting["id"]) or describe_proposal(waiting, now)
        for waiting in own.snapshot.proposals()
    ]


def _folder(ls: Server, uri: str | None) -> Path:
    """Return the nearest `.vouch/`.

    Raises:
        KnowledgeBaseNotFound: There is none above the file or folder.
    """
    for candidate_uri in [uri] if uri else ls.folders:
        path = path_of(candidate_uri)
        folder = None if path is None else find_knowledge_folder(path / "file")
        if folder is not None:
            return folder
    raise _no_knowledge_base()


def _no_knowledge_base() -> KnowledgeBaseNotFound:
    return KnowledgeBaseNotFound(
        "no .vouch/ in this folder or above it", hint="create one with `vibes kb init`"
    )


def _source(ls: Server, uri: str, version: int | None) -> _Source:
    """Return a file whose lines are to be evidence.

    Raises:
        DocumentChanged: The range is for another version of the document.
        KnowledgeBaseNotFound: There is no knowledge base above the file.
        InvalidObject: The file is part of the knowledge base.
    """
    folder, path = _folder(ls, uri), path_of(uri)
    relative = None if path is None else path.relative_to(folder.parent).as_posix()
    if relative is None or relative.split("/")[0] == folder.name:
        raise InvalidObject("a file of the knowledge base is no evidence", hint="name another file")
    document = ls.document_in(uri, version)
    if document is None:
        return _Source(folder, relative, None, is_saved=True)
    return _Source(folder, relative, document.content, is_saved=not document.has_changes)


async def _current_lines(ls: Server, uri: str, evidence: str) -> tuple[int, int] | None:
    """Return where evidence is now; None if it is lost."""
    knowledge = await ls.knowledge.about(uri, is_patient=True)
    for placed in () if knowledge is None else knowledge.placed:
        start, end = placed.located.start, placed.located.end
        if placed.citation.evidence["id"] == evidence and start is not None and end is not None:
            return start, end
    return None


def _opened(folder: Path, reviewer: str | None) -> tuple[KnowledgeBase, str]:
    """Return a knowledge base and who decides: the setting, else the user of git or the system.

    Never `VOUCH_AGENT`: an editor that an agent's shell has started is still a person's.
    """
    # Imported late: a server without a knowledge base does not load pydantic's models.
    from vibes_lsp.knowledge.knowledge_base import KnowledgeBase  # noqa: PLC0415

    knowledge = KnowledgeBase(folder)
    return knowledge, reviewer or git_setting(knowledge.project, "user.name") or system_user()


def _call(folder: Path, reviewer: str | None, method: str, params: dict[str, Any]) -> Any:
    from vibes_lsp.knowledge.methods import KnowledgeMethods  # noqa: PLC0415

    knowledge, actor = _opened(folder, reviewer)
    with closing(KnowledgeMethods(knowledge, actor, may_approve_own=True)) as methods:
        return methods.call(method, params)


def _propose(source: _Source, reviewer: str | None, arguments: ProposeArguments) -> dict[str, Any]:
    from vibes_lsp.knowledge.citing_lines import CitedLines, propose_claim_at  # noqa: PLC0415

    knowledge, actor = _opened(source.folder, reviewer)
    members = {
        name: getattr(arguments, name) for name in ("text", "type", "confidence", "rationale")
    }
    cited = CitedLines(source.path, source.read(), *lines_of(arguments.range))
    now = datetime.now(UTC)
    proposal = propose_claim_at(knowledge, cited, members, actor=actor, now=now)
    return {"proposalId": proposal["proposal_id"], "claimId": proposal["claim_id"]}


def _reanchor(
    source: _Source, reviewer: str | None, arguments: ReanchorArguments, lines: tuple[int, int]
) -> dict[str, Any]:
    from vibes_lsp.knowledge.citing_lines import CitedLines, reanchor_at  # noqa: PLC0415

    knowledge, actor = _opened(source.folder, reviewer)
    cited = CitedLines(source.path, source.read(), *lines)
    claim, now = arguments.claimId, datetime.now(UTC)
    evidence = reanchor_at(knowledge, claim, arguments.evidenceId, cited, actor, now)
    return {"claimId": claim, "evidenceId": evidence}
