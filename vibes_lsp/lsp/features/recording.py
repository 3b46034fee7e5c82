"""The recording commands: each takes one object and executes one request in a thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from vibes_lsp.errors import VibesError
from vibes_lsp.lsp.protocol.conversion import Encoding
from vibes_lsp.lsp.protocol.open_documents import Document, to_utf16
from vibes_lsp.lsp.protocol.pygls_protocol import RequestFailed
from vibes_lsp.lsp.state.projects import Project
from vibes_lsp.lsp.state.server import DocumentChanged, Server
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.vocabulary import ReviewerKind
from vibes_lsp.store.waiting import VERDICTS_WAIT, place_of_waiting
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from vibes_lsp.recording import Recorder
    from vibes_lsp.store.audit_dir import AuditDir

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
"""The server's commands, and the names of the same requests in the shell."""

_MAX_MESSAGE: Final = 400


def register(server: Server, recorded: Callable[[Project], None]) -> None:
    """Register the commands.

    Args:
        server: The server.
        recorded: Called with the project in which something was recorded.
    """
    told: set[tuple[Path, str]] = set()
    for name, use_case in COMMANDS.items():
        server.command(name)(_handler(use_case, recorded, told))


def _handler(
    use_case: str, recorded: Callable[[Project], None], told: set[tuple[Path, str]]
) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    async def record(ls: Server, arguments: Any) -> dict[str, Any]:
        members = dict(arguments) if isinstance(arguments, Mapping) else {}
        uri = members.get("uri")
        project = await ls.indexed_project(uri if isinstance(uri, str) else None)
        try:
            prepare = _of_completion if use_case == "inline-completion" else _with_text
            prepared = prepare(ls, members)
            texts = ls.projects.open_texts(project) if project.pending else {}
            homes = [
                other_project.directory
                for other_project in ls.projects.all()
                if other_project is not project
            ]
            work = partial(_execute, use_case, prepared, project.recorder, texts, homes)
            answer = await ls.run_in_thread(work)
            ls.projects.refreshed(project.directory)  # no other answer reads the disk while typing
        except VibesError as error:  # what may be recorded already is not asked again
            raise RequestFailed(error) from error
        recorded(project)
        messages: list[tuple[types.MessageType, str]] = []
        if project.recorder.warning:  # the defaults may mask and withhold too little
            warning = single_line(project.recorder.warning, _MAX_MESSAGE)
            messages.append((types.MessageType.Warning, warning))
        if use_case == "review" and place_of_waiting(project.directory) is not None:
            messages.append((types.MessageType.Info, VERDICTS_WAIT))
        for kind, message in messages:
            if (project.directory.path, message) not in told:
                told.add((project.directory.path, message))
                ls.window_show_message(types.ShowMessageParams(kind, message))
        return answer

    return record


def _with_text(ls: Server, members: dict[str, Any]) -> dict[str, Any]:
    """Return a command's members with the text of the open document, which the range is about.

    The range of a deletion is about the text that still had the lines: the saved file, unless the
    command has a text (R14).

    Raises:
        DocumentChanged: The range is for another version of the document.
    """
    rest = {name: value for name, value in members.items() if name != "version"}
    if (
        "verdict" in rest
        and rest.get("reviewerKind") != ReviewerKind.AI
        and ls.settings.reviewer is not None
    ):
        rest = {"reviewer": ls.settings.reviewer, **rest}
    document = ls.document_in(str(members.get("uri")), members.get("version"))
    if document is None:
        return rest
    takes_text = rest.get("action") != "delete" and not rest.keys().isdisjoint(
        {"range", "lineStart", "action", "verdict"}
    )
    return {"text": document.content, **rest} if takes_text else rest


def _of_completion(ls: Server, members: dict[str, Any]) -> dict[str, Any]:
    """Return the members of an accepted completion with the document's text before it and now.

    The change that inserts it may have arrived or not. The version after the change is accepted as
    well, although the range is one in the text before.

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
        raise DocumentChanged(
            f"version {version} of the document is not known, {document.version} is open",
            hint="record a completion when it is accepted, with the version it was accepted in",
        )
    is_expected = version == document.version
    if is_expected and _was_inserted(document, rest, ls.documents.encoding):
        before, is_expected = document.text_at(document.previous_version) or "", False
    with_range = {**rest, "range": _in_utf16(rest.get("range"), before, ls.documents.encoding)}
    now = {} if is_expected else {"currentText": document.content}
    return {"text": before, **now, **with_range}


def _was_inserted(document: Document, members: dict[str, Any], encoding: Encoding) -> bool:
    """Return whether the last change of a document inserted the completion."""
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


def _in_utf16(value: Any, text: str, encoding: Encoding) -> Any:
    """Return a range in UTF-16; an invalid one as it is, for the request to refuse."""
    if encoding == types.PositionEncodingKind.Utf16:
        return value
    ends = _ends(value).items()
    return {
        end: {"line": at.line, "character": to_utf16(text, at.line, at.character, encoding)}
        for end, at in ends
    } or value


def _ends(value: Any) -> dict[str, types.Position]:
    """Return the ends of a range; nothing for an invalid one."""
    try:
        return {
            end: types.Position(place["line"], place["character"]) for end, place in value.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):  # ValueError: a number out of range
        return {}


def _execute(
    use_case: str,
    members: dict[str, Any],
    recorder: Recorder,
    texts: Mapping[str, str],
    homes: Sequence[AuditDir],
) -> dict[str, Any]:
    # A server that only reads does not import pydantic's models.
    from vibes_lsp.recording.across_projects import visiting_request  # noqa: PLC0415
    from vibes_lsp.recording.requests import REQUESTS, parse  # noqa: PLC0415
    from vibes_lsp.recording.results import as_json  # noqa: PLC0415

    if use_case == "remap":
        from vibes_lsp.maintenance.remap import Remap, remap  # noqa: PLC0415

        return dict(as_json(remap(recorder, request_id=parse(Remap, members).request_id)))
    request = parse(REQUESTS[use_case], members)
    session = members.get("sessionId")
    if use_case == "session-end" and isinstance(session, str):  # with the texts of open documents
        recorder.record_pending_completions(texts, session_id=session)
    visiting = visiting_request(recorder, (Trail(home, uses_saved=True) for home in homes), request)
    return dict(recorder.execute_json(visiting))
