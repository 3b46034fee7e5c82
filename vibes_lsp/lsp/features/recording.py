"""The commands that record: each takes one object, carries out one use case in a thread, and shows at once in every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from vibes_lsp.errors import VibesError
from vibes_lsp.lsp.server import CommandFailed, Server

if TYPE_CHECKING:
    from vibes_lsp.recording import Recorder

COMMANDS: Final = {
    "vibes.startSession": "session-start",
    "vibes.endSession": "session-end",
    "vibes.recordAnnotation": "annotate",
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


class DocumentChanged(VibesError):
    """A range was given for another version of a document than the one that is open."""

    code = "document-changed"


def register(server: Server, tell: Callable[[Server], Coroutine[Any, Any, None]]) -> None:
    """Offer the commands.

    Args:
        server: The server.
        tell: Says that answers given before may be wrong now.
    """
    for name, use_case in COMMANDS.items():
        server.command(name)(_handler(use_case, tell))


def _handler(use_case: str, tell: Callable[[Server], Coroutine[Any, Any, None]]) -> Callable[..., Coroutine[Any, Any, dict[str, Any]]]:
    async def record(ls: Server, arguments: Any) -> dict[str, Any]:
        members = dict(arguments) if isinstance(arguments, Mapping) else {}
        uri = members.get("uri")
        try:
            recorder = ls.project(uri if isinstance(uri, str) else None).read().recorder
            work = partial(_carry_out, use_case, _with_text(ls, members), recorder)
            result = await asyncio.get_running_loop().run_in_executor(ls.thread_pool, work)
        except VibesError as error:
            raise CommandFailed(error) from error
        if ls.projects.news():
            await tell(ls)
        return result

    return record


def _with_text(ls: Server, members: dict[str, Any]) -> dict[str, Any]:
    """Return a command's members with the text of the document as it is open: what is not saved is what the range is about.

    But for a deletion, whose range is about the text that had the lines still: what is saved, unless the command brings it (R14).

    Raises:
        DocumentChanged: The range is about another version of it.
    """
    rest = {name: value for name, value in members.items() if name != "version"}
    if "verdict" in rest and ls.settings.reviewer is not None:
        rest = {"reviewer": ls.settings.reviewer, **rest}
    document = ls.documents.get(str(members.get("uri")))
    if document is None:
        return rest
    version = members.get("version")
    if version is not None and version != document.version:
        raise DocumentChanged(f"version {version} was meant, {document.version} is open", hint="give the range in the text as it is now")
    takes_text = rest.get("action") != "delete" and not rest.keys().isdisjoint({"range", "lineStart", "action", "verdict"})
    return {"text": document.content, **rest} if takes_text else rest


def _carry_out(use_case: str, members: dict[str, Any], recorder: Recorder) -> dict[str, Any]:
    from vibes_lsp.recording import as_json  # noqa: PLC0415  # it needs pydantic's models, which a server that only reads does without
    from vibes_lsp.recording.requests import EDITOR_REQUESTS, parse  # noqa: PLC0415

    return dict(as_json(parse(EDITOR_REQUESTS[use_case], members).carry_out(recorder)))
