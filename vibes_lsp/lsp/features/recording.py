"""The commands that record: each takes one object, carries out one use case in a thread, and shows at once in every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from vibes_lsp.errors import VibesError
from vibes_lsp.lsp.background import open_texts
from vibes_lsp.lsp.conversion import Encoding, path_of
from vibes_lsp.lsp.documents import Document, to_utf16
from vibes_lsp.lsp.projects import Project
from vibes_lsp.lsp.server import CommandFailed, Server
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.vocabulary import ReviewerKind

if TYPE_CHECKING:
    from vibes_lsp.recording import Recorder

COMMANDS: Final = {
    "vibes.startSession": "session-start",
    "vibes.endSession": "session-end",
    "vibes.recordAnnotation": "annotate",
    "vibes.recordInlineCompletion": "inline-completion",
    "vibes.recordPrompt": "prompt",
    "vibes.recordCommand": "command",
    "vibes.recordRead": "read",
    "vibes.recordDecision": "decision",
    "vibes.recordDelegation": "delegation",
    "vibes.recordEdge": "edge",
    "vibes.review": "review",
    "vibes.reanchor": "reanchor",
    "vibes.markLost": "mark-lost",
    "vibes.remap": "remap",
}
"""The server's commands, and what the same ones are called in the shell."""


_MAX_MESSAGE: Final = 400


class DocumentChanged(VibesError):
    """A range was given for another version of a document than the one that is open."""

    code = "document-changed"


def register(server: Server, recorded: Callable[[Project], None]) -> None:
    """Offer the commands.

    Args:
        server: The server.
        recorded: Is told of a trail that something was recorded in.
    """
    warned: dict[Path, str] = {}
    freeze_heap = cache(server.freeze_heap)  # once the models are imported
    for name, use_case in COMMANDS.items():
        server.command(name)(_handler(use_case, recorded, warned, freeze_heap))


def _handler(
    use_case: str,
    recorded: Callable[[Project], None],
    warned: dict[Path, str],
    freeze_heap: Callable[[], None],
) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    async def record(ls: Server, arguments: Any) -> dict[str, Any]:
        members = dict(arguments) if isinstance(arguments, Mapping) else {}
        uri = members.get("uri")
        try:
            project = ls.find_project(uri if isinstance(uri, str) else None).read()
            prepared = _PREPARED.get(use_case, _with_text)(ls, members)
            _tell_known_locations(ls, project, uri)
            held = open_texts(ls.projects, project) if project.pending else {}
            work = partial(_carry_out, use_case, prepared, project.recorder, held, freeze_heap)
            result = await asyncio.get_running_loop().run_in_executor(ls.thread_pool, work)
        except VibesError as error:
            raise CommandFailed(error) from error
        ls.projects.refreshed(
            project.directory
        )  # while somebody types, no other answer looks at the disk
        recorded(project)
        _warn(ls, project, warned)
        return result

    return record


def _warn(ls: Server, project: Project, warned: dict[Path, str]) -> None:
    """Say once of a policy that cannot be read what is recorded by meanwhile: it may mask and withhold less than the project wants."""
    said = project.recorder.warning or ""
    if said and warned.get(project.directory.path) != said:
        ls.window_show_message(
            types.ShowMessageParams(types.MessageType.Warning, single_line(said, _MAX_MESSAGE))
        )
    warned[project.directory.path] = said


def _tell_known_locations(ls: Server, project: Project, uri: Any) -> None:
    """Tell the recorder where the annotations of a document are, which are followed here and need not be looked for."""
    document = ls.documents.get(uri) if isinstance(uri, str) else None
    path = path_of(document.uri) if document is not None else None
    root = project.directory.project
    if document is not None and path is not None and path.is_relative_to(root):
        project.recorder.known_locations.tell(
            path.relative_to(root).as_posix(), document.content, project.known_locations(document)
        )


def _with_text(ls: Server, members: dict[str, Any]) -> dict[str, Any]:
    """Return a command's members with the text of the document as it is open: what is not saved is what the range is about.

    But for a deletion, whose range is about the text that had the lines still: what is saved, unless the command brings it (R14).

    Raises:
        DocumentChanged: The range is about another version of it.
    """
    rest = {name: value for name, value in members.items() if name != "version"}
    if (
        "verdict" in rest
        and rest.get("reviewerKind") != ReviewerKind.AI
        and ls.settings.reviewer is not None
    ):
        rest = {"reviewer": ls.settings.reviewer, **rest}
    document = ls.documents.get(str(members.get("uri")))
    if document is None:
        return rest
    version = members.get("version")
    if version is not None and version != document.version:
        raise DocumentChanged(
            f"version {version} was meant, {document.version} is open",
            hint="give the range in the text as it is now",
        )
    takes_text = rest.get("action") != "delete" and not rest.keys().isdisjoint(
        {"range", "lineStart", "action", "verdict"}
    )
    return {"text": document.content, **rest} if takes_text else rest


def _of_completion(ls: Server, members: dict[str, Any]) -> dict[str, Any]:
    """Return the members of an accepted completion, with the document as it was before and as it is now.

    The change that put it in may have arrived or not. A client that names the version after it, though the range is that before, is understood.

    Raises:
        DocumentChanged: The version is not known yet, or no more.
    """
    rest = {name: value for name, value in members.items() if name != "version"}
    document, version = ls.documents.get(str(members.get("uri"))), members.get("version")
    if document is None or "text" in members:
        return rest
    version = document.version if version is None else version
    before = document.text_at(version) if isinstance(version, int) else None
    if before is None:
        hint = "tell of a completion when it is accepted, with the version of the document that it was accepted in"
        raise DocumentChanged(
            f"version {version} of the document is not known, {document.version} is open", hint=hint
        )
    is_to_come = version == document.version
    if is_to_come and _is_there(document, rest, ls.documents.encoding):
        before, is_to_come = document.text_at(document.previous_version) or "", False
    document.expect_text(expected=is_to_come)
    with_range = {**rest, "range": _in_utf16(rest.get("range"), before, ls.documents.encoding)}
    now = {} if is_to_come else {"currentText": document.content}
    return {"text": before, **now, **with_range}


def _is_there(document: Document, members: dict[str, Any], encoding: Encoding) -> bool:
    """Whether the last change of a document was to accept the completion."""
    new, ends, before = (
        members.get("newText"),
        _ends(members.get("range")),
        document.text_at(document.previous_version),
    )
    if before is None or ends.keys() != {"start", "end"} or not isinstance(new, str):
        return False
    trial = Document(document.uri, document.previous_version, before)
    trial.change(None, [types.TextDocumentContentChangePartial(types.Range(**ends), new)], encoding)
    return trial.text.lines == document.text.lines


def _in_utf16(within: Any, text: str, encoding: Encoding) -> Any:
    """Return a range as the use case has it; what is no range is left for it to refuse."""
    if encoding == types.PositionEncodingKind.Utf16:
        return within
    found = _ends(within).items()
    return {
        end: {"line": at.line, "character": to_utf16(text, at.line, at.character, encoding)}
        for end, at in found
    } or within


def _ends(within: Any) -> dict[str, types.Position]:
    """Return the ends of a range; nothing for what is no range."""
    try:
        return {
            end: types.Position(place["line"], place["character"]) for end, place in within.items()
        }
    except (
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ):  # a ValueError: a number that is none of LSP's
        return {}


_PREPARED: Final[dict[str, Callable[[Server, dict[str, Any]], dict[str, Any]]]] = {
    "inline-completion": _of_completion,
}


def _carry_out(
    use_case: str,
    members: dict[str, Any],
    recorder: Recorder,
    held: Mapping[str, str],
    freeze_heap: Callable[[], None],
) -> dict[str, Any]:
    from vibes_lsp.maintenance.remap import Remap, remap  # noqa: PLC0415
    from vibes_lsp.recording import as_json  # noqa: PLC0415  # it needs pydantic's models, which a server that only reads does without
    from vibes_lsp.recording.requests import REQUESTS, parse  # noqa: PLC0415

    freeze_heap()
    if use_case == "remap":
        return dict(as_json(remap(recorder, request_id=parse(Remap, members).request_id)))
    request = parse(REQUESTS[use_case], members)
    session = members.get("sessionId")
    if use_case == "session-end" and isinstance(session, str):  # with the texts as they are open
        recorder.record_pending_completions(held, session_id=session)
    return dict(recorder.execute_json(request))
