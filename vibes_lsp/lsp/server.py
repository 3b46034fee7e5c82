"""The server object: documents, projects, settings, last answers, and how our errors become LSP errors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from typing_extensions import override

from vibes_lsp import __version__
from vibes_lsp.errors import AuditDirNotFound, VibesError, report
from vibes_lsp.lsp.documents import Documents
from vibes_lsp.lsp.projects import Project, Projects
from vibes_lsp.lsp.protocol import Protocol
from vibes_lsp.lsp.settings import Settings
from vibes_lsp.lsp.showing import Showing
from vibes_lsp.lsp.uris import path_of
from vibes_lsp.model.members import Members
from vibes_lsp.store.audit_dir import find_audit_dir


@dataclass(slots=True)
class Answers:
    """The last answer about each document, under an id that the client gives back."""

    _numbers: count[int] = field(default_factory=lambda: count(1))
    _last: dict[str, tuple[str, Sequence[Members]]] = field(default_factory=dict)

    def give(self, uri: str, placements: Sequence[Members], previous: str | None) -> dict[str, Any]:
        """Return `placements` and their `resultId`; of the answer that `previous` names, and if it is the last, only what is other `since`.

        Then placements that are as they were are left out, and so are the members of the others that are; `annotationId` says which one it is.
        Where other annotations are there than before, or in another order, or one lost a member, all is said.
        """
        known, before = self._last.get(uri, (None, ()))
        result = str(next(self._numbers))
        self._last[uri] = result, placements
        if previous is None or previous != known or not _are_alike(before, placements):
            return {"resultId": result, "placements": list(placements)}
        changed = [
            _news(old, new) for old, new in zip(before, placements, strict=True) if old != new
        ]
        return {"resultId": result, "since": previous, "placements": changed}

    def discard(self, uri: str) -> None:
        """Delete the last answer about a document."""
        self._last.pop(uri, None)


def _are_alike(before: Sequence[Members], after: Sequence[Members]) -> bool:
    """Whether the same annotations are in both, in the same order, and none has lost a member."""
    return len(before) == len(after) and all(
        old["annotationId"] == new["annotationId"] and old.keys() <= new.keys()
        for old, new in zip(before, after, strict=True)
    )


def _news(old: Members, new: Members) -> Members:
    missing = object()
    changed = {name: value for name, value in new.items() if old.get(name, missing) != value}
    return {"annotationId": new["annotationId"], **changed}


_logger = logging.getLogger(__name__)
_T = TypeVar("_T")


class CommandFailed(JsonRpcException):
    """An error of ours as the client sees it: a message for a person, a stable code for a program."""

    CODE = -32001

    def __init__(self, error: VibesError) -> None:
        hint = f"; {error.hint}" if error.hint else ""
        super().__init__(
            message=f"{error.message}{hint}", code=self.CODE, data={"code": error.code}
        )


class Server(LanguageServer):
    """A language server over the trails of the open folders.

    Args:
        freeze_heap: Called when much was loaded that will stay.

    Attributes:
        settings: The settings of section `vibes`.
        projects: The trails.
        root: The only folder of a client without workspace folders; None for all others.
        checking: Held while a trail is checked. One check at a time: it keeps a thread busy, and
            another thread reads the client's messages.
        showing: Texts that were opened in the client.
        answers: The last `vibes/provenance` answer about each open document.
        has_shut_down: Whether the client sent `shutdown`.
        exit_code: The exit code of the process: 1 after `exit` without `shutdown`, as LSP asks.
        freeze_heap: Called when much was loaded that will stay.
    """

    protocol: Protocol

    def __init__(self, freeze_heap: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            "vibes-lsp",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
        )
        self.settings = Settings()
        self.projects = Projects(self.documents)
        self.root: str | None = None
        self.checking = asyncio.Lock()
        self.showing = Showing()
        self.answers = Answers()
        self.has_shut_down = False
        self.exit_code = 0
        self.freeze_heap = freeze_heap
        self._diagnostics: dict[str, object] = {}

    @property
    def documents(self) -> Documents:
        """The open documents."""
        return self.protocol.documents

    @property
    def folders(self) -> list[str]:
        """The URIs of the workspace folders."""
        return [folder.uri for folder in self.workspace.folders.values()] or (
            [self.root] if self.root is not None else []
        )

    def choose(self, settings: Settings) -> None:
        """Take over what the user chose."""
        if settings.use_git != self.settings.use_git:
            for project in self.projects.all():
                project.invalidate_history()
        self.settings = settings
        self.projects.preview_risk(wanted=settings.preview_risk)

    def begin_diagnostics(self, uri: str) -> Callable[[], bool]:
        """Begin to compute a document's diagnostics; return what says whether they are still the last to begin."""
        mine = self._diagnostics[uri] = object()
        return lambda: self._diagnostics.get(uri) is mine

    def cancel_diagnostics(self, uri: str) -> None:
        """Drop the diagnostics of a document that are being computed: its text has changed, or it was closed."""
        self._diagnostics.pop(uri, None)

    def project(self, uri: str | None) -> Project:
        """Return the project that owns a document or folder, else that of the first workspace folder that has one.

        Raises:
            AuditDirNotFound: No audit directory is there or above.
        """
        missing = AuditDirNotFound(
            "no workspace folder is open",
            hint="open the folder that holds .ai-audit/, or name a uri",
        )
        for path in map(path_of, [uri] if uri else self.folders):
            if path is None:
                continue
            try:
                return self.projects.refreshed(find_audit_dir(path))
            except AuditDirNotFound as error:
                missing = error
            except OSError as error:  # a folder that may not be entered, a name that is too long
                missing = AuditDirNotFound(
                    f"no audit directory owns {str(path)[:200]}: {error.strerror}"
                )
        raise missing

    @override
    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log what went wrong in one line; a pop-up for every broken message would be worse than the message."""
        level = (
            logging.INFO if isinstance(error, CommandFailed) else logging.ERROR
        )  # the client was told
        what = error if isinstance(error, JsonRpcException | VibesError) else report(error)
        _logger.log(level, "%s: %s", getattr(source, "__name__", "error"), what)


def answered(answer: Callable[[], _T]) -> _T:
    """Return what a use case answers; an error of ours becomes one that the client understands.

    Raises:
        CommandFailed: The use case failed.
    """
    try:
        return answer()
    except VibesError as error:
        raise CommandFailed(error) from error
