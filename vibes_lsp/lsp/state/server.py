"""The server object: documents, projects, settings, last answers; our errors as LSP errors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypeAlias, TypeVar
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from typing_extensions import override

from vibes_lsp import __version__
from vibes_lsp.errors import AuditDirNotFound, VibesError, report
from vibes_lsp.git.missing_trail import explained
from vibes_lsp.lsp.protocol.conversion import path_of
from vibes_lsp.lsp.protocol.extensions import own_capability
from vibes_lsp.lsp.protocol.open_documents import Document, Documents
from vibes_lsp.lsp.protocol.pygls_protocol import Protocol, RequestFailed
from vibes_lsp.lsp.protocol.settings import Settings
from vibes_lsp.lsp.state.attestations import Attestations, AttestationState
from vibes_lsp.lsp.state.knowledge_bases import KnowledgeBases
from vibes_lsp.lsp.state.projects import Project, Projects
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members
from vibes_lsp.patience import PROGRESS
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.store.audit_dir import find_audit_dir
from vibes_lsp.trail.trail import Trail

_logger = logging.getLogger(__name__)
_MAX_NAME: Final = 200
Show: TypeAlias = Callable[[int], None]
"""Shows how much is done, in percent."""
_T = TypeVar("_T")


class DocumentChanged(VibesError):
    """A range is for another version of a document than the open one."""

    code = "document-changed"


@dataclass(slots=True)
class LastAnswers:
    """The last `vibes/provenance` answer about each document, by a `resultId`."""

    _numbers: count[int] = field(default_factory=lambda: count(1))
    _last: dict[str, tuple[str, Sequence[Members]]] = field(default_factory=dict)

    def answer(
        self, uri: str, placements: Sequence[Members], previous: str | None
    ) -> dict[str, Any]:
        """Return placements with a `resultId`, or only what changed `since` the last answer.

        Only changes are sent if `previous` is the id of the last answer, the same annotations are
        there in the same order, and none has lost a member. Unchanged placements are left out then,
        and so are the unchanged members of the others, except `annotationId`.
        """
        last_id, last = self._last.get(uri, (None, ()))
        result_id = str(next(self._numbers))
        self._last[uri] = result_id, placements
        if previous is None or previous != last_id or not _is_comparable(last, placements):
            return {"resultId": result_id, "placements": list(placements)}
        pairs = zip(last, placements, strict=True)
        changed = [_changed_members(old, new) for old, new in pairs if old != new]
        return {"resultId": result_id, "since": previous, "placements": changed}

    def discard(self, uri: str) -> None:
        """Delete the last answer about a document."""
        self._last.pop(uri, None)


def _is_comparable(last: Sequence[Members], placements: Sequence[Members]) -> bool:
    return len(last) == len(placements) and all(
        old["annotationId"] == new["annotationId"] and old.keys() <= new.keys()
        for old, new in zip(last, placements, strict=True)
    )


def _changed_members(old: Members, new: Members) -> Members:
    missing = object()
    changed = {name: value for name, value in new.items() if old.get(name, missing) != value}
    return {"annotationId": new["annotationId"], **changed}


class Server(LanguageServer):
    """A language server over the trails of the open folders.

    Attributes:
        settings: The settings of section `vibes`.
        projects: The trails.
        knowledge: The knowledge bases.
        root: The only folder of a client without workspace folders; None for all others.
        diagnostics_of: Returns the diagnostics of a document, unless a function says that they are
            not wanted any more; `features.diagnostics` sets it.
        checking: Held while a trail is checked. One check at a time: it keeps a thread busy, and
            another thread reads the client's messages.
        attestations: What is known of the attestation of each trail.
        answers: The last `vibes/provenance` answer about each open document.
        exit_code: The exit code of the process for a client that disconnects without `exit`.
    """

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__(
            "vibes-lsp",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
        )
        self.settings = Settings()
        self.projects = Projects(self.documents)
        self.knowledge = KnowledgeBases(self.documents, self.run_in_thread)
        self.root: str | None = None
        self.diagnostics_of: Callable[[str, Callable[[], bool]], Awaitable[list[types.Diagnostic]]]
        self.checking = asyncio.Lock()
        self.attestations = Attestations()
        self.answers = LastAnswers()
        self.exit_code = 0
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

    @property
    def shows_inlay_hints(self) -> bool:
        """Whether there are inlay hints: by default unless the client draws line ends itself."""
        wanted = self.settings.inlay_hints
        draws = own_capability(self.client_capabilities, "lineText") is True
        return not draws if wanted is None else wanted

    def use_settings(self, settings: Settings) -> None:
        """Replace the settings."""
        before = self.settings
        if (settings.use_git, settings.notes) != (before.use_git, before.notes):
            for project in self.projects.all():
                project.coverage.add_change()
        self.settings = settings
        self.projects.preview_risk(wanted=settings.preview_risk)
        self.knowledge.is_enabled = settings.knowledge

    def declared(self, *names: str) -> Any:
        """Return what the client declares under names as Python spells them; None if nothing."""
        capability: Any = self.client_capabilities
        for name in names:
            capability = getattr(capability, name, None)
        return capability

    def can_register(self, feature: str) -> bool:
        """Whether the client takes registrations of a feature, maybe for some files."""
        return bool(self.declared("text_document", feature, "dynamic_registration"))

    async def offer(self, method: str, options: object, name: str | None = None) -> None:
        """Register a method with the client, which may refuse it.

        Args:
            method: The method.
            options: Its registration options.
            name: The id of the registration; by default the method.
        """
        registration = types.Registration(f"vibes-{name or method}", method, options)
        try:
            await self.client_register_capability_async(types.RegistrationParams([registration]))
        except JsonRpcException as error:
            _logger.warning("the client refuses %s: %s", method, error.message)

    def document_in(self, uri: str, version: object) -> Document | None:
        """Return an open document in the version that a range is about; None if it is not open.

        Raises:
            DocumentChanged: Another version is open.
        """
        document = self.documents.get(uri)
        if document is not None and version is not None and version != document.version:
            raise DocumentChanged(
                f"the range is for version {version}, {document.version} is open",
                hint="give the range in the open version",
            )
        return document

    def warn_too_large(self, uri: str) -> None:
        """Say that no text of a document is kept, because it is too large."""
        name = single_line(uri.rpartition("/")[2], _MAX_NAME)
        message = f"VIBES shows nothing in {name}: it is too large"
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    async def run_in_thread(self, work: Callable[[], _T]) -> _T:
        """Return what a function returns, which runs in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self.thread_pool, work)

    async def search(self, project: Project, search: Callable[[ProjectLocator, Scorer], _T]) -> _T:
        """Return what a search in a project returns, in a thread with a trail of its own."""
        directory, policy = project.directory, project.snapshot.policy
        use_git = self.settings.use_git

        def work() -> _T:
            trail = Trail(directory, uses_saved=True)
            with ProjectLocator(trail, use_git=use_git, use_cache=True) as locator:
                locator.refresh({})
                return search(locator, Scorer(trail, policy))

        return await self.run_in_thread(work)

    def attestation_about(self, uri: str) -> tuple[AttestationState, str] | None:
        """Return the attestation of the trail that an audit file is part of, and the file's name.

        None if the document is no audit file, or its trail was not verified yet; in that case it is
        verified in the background.
        """
        audit_file = self.projects.audit_file(uri)
        state = None if audit_file is None else self.attestations.last(audit_file[0].directory)
        return None if audit_file is None or state is None else (state, audit_file[1])

    def begin_diagnostics(self, uri: str) -> Callable[[], bool]:
        """Begin to compute diagnostics; the returned function says whether none began later."""
        mine = self._diagnostics[uri] = object()
        return lambda: self._diagnostics.get(uri) is mine

    def cancel_diagnostics(self, uri: str) -> None:
        """Drop the diagnostics that are being computed: the document was changed or closed."""
        self._diagnostics.pop(uri, None)

    def find_project(self, uri: str | None) -> Project:
        """Return the project that owns a document or folder; by default of a workspace folder.

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
                missing = explained(error, path)
            except OSError as error:  # a folder that may not be entered, a name that is too long
                missing = AuditDirNotFound(
                    f"no audit directory owns {str(path)[:200]}: {error.strerror}"
                )
        raise missing

    async def indexed_project(self, uri: str | None) -> Project:
        """Return the same as `find_project` once its log is indexed; the client can cancel that.

        Raises:
            AuditDirNotFound: No audit directory is there or above.
        """
        project = self.find_project(uri)
        await project.until_indexed()
        return project

    @override
    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error in one line; the library would open a message box for each."""
        is_answered = isinstance(error, RequestFailed)
        level = logging.INFO if is_answered else logging.ERROR
        what = error if isinstance(error, JsonRpcException | VibesError) else report(error)
        _logger.log(level, "%s: %s", getattr(source, "__name__", "error"), what)


@asynccontextmanager
async def shown_progress(server: Server, title: str) -> AsyncIterator[Show]:
    """Have the client show progress meanwhile; nothing is shown by one that cannot."""
    token, progress = f"vibes-{uuid4()}", server.work_done_progress
    if not await _is_shown(server, token):
        yield lambda _percentage: None
        return
    progress.begin(token, types.WorkDoneProgressBegin(title, percentage=0))

    def show(percentage: int) -> None:
        progress.report(token, types.WorkDoneProgressReport(percentage=percentage))

    try:
        yield show
    finally:
        progress.end(token, types.WorkDoneProgressEnd())
        progress.tokens.pop(token, None)  # pygls never removes them


async def _is_shown(server: Server, token: str) -> bool:
    """Whether the client takes progress by a token, and says so in time."""
    if not server.declared("window", "work_done_progress"):
        return False
    try:
        async with asyncio.timeout(PROGRESS.limit):
            # the request is not cancelled: its answer may still come
            await asyncio.shield(server.work_done_progress.create_async(token))
    except TimeoutError:
        _logger.warning("the client shows no progress: it did not answer in time")
        return False
    except JsonRpcException as error:
        _logger.warning("the client shows no progress: %s", error.message)
        return False
    return True
