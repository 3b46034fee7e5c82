"""An editor as tests drive it: opens and changes documents, asks, and remembers everything that the server sends of its own accord."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import JsonRPCNotification, JsonRPCResponseMessage, default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from tests.waiting import TIMEOUT

PROVENANCE = "vibes/provenance"
PROVENANCE_CHANGED = "vibes/provenanceChanged"
KNOWLEDGE_CHANGED = "vibes/knowledgeChanged"

Message = tuple[str, Any]
_AGE = re.compile(r"just now|\d+ (?:year|month|day|hour|minute)s? ago")


def without_age(text: str) -> str:
    """Return a text with all ages, which grow from day to day, as `AGE`."""
    return _AGE.sub("AGE", text)


class EditorClient(LanguageClient):
    """The test client, which keeps what it is sent in `sent`, in order."""

    def __init__(self) -> None:
        super().__init__(converter_factory=_converter)
        self.profile = "nothing"
        self.sent: list[Message] = []
        self._more = asyncio.Event()
        self.feature(types.WORKSPACE_CONFIGURATION)(self._settings())
        taken = {
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
            types.WORKSPACE_DIAGNOSTIC_REFRESH,
            types.WORKSPACE_CODE_LENS_REFRESH,
            types.WORKSPACE_INLAY_HINT_REFRESH,
            types.CLIENT_REGISTER_CAPABILITY,
            types.PROGRESS,
            PROVENANCE_CHANGED,
            KNOWLEDGE_CHANGED,
        }
        own = {*taken, types.WORKSPACE_CONFIGURATION}
        register_lsp_features(
            self,
            {name: answer for name, answer in DEFAULT_CLIENT_FEATURES.items() if name not in own},
        )
        for method in sorted(taken):
            self.feature(method)(self._keeper(method))

    def _keeper(self, method: str) -> Callable[[Any], None]:
        def keep(params: Any) -> None:
            self.sent.append((method, params))
            self._more.set()

        return keep

    def _settings(self) -> Callable[[types.ConfigurationParams], list[Any]]:
        keep = self._keeper(types.WORKSPACE_CONFIGURATION)

        def answer(params: types.ConfigurationParams) -> list[Any]:
            keep(params)
            return [self.get_configuration(section=item.section) for item in params.items]

        return answer

    async def until(self, wanted: Callable[[Message], bool], *, after: int = 0) -> Message:
        """Wait until a message that is wanted has come, looking at those from number `after` on."""
        async with asyncio.timeout(TIMEOUT):
            while True:
                found = next((message for message in self.sent[after:] if wanted(message)), None)
                if found is not None:
                    return found
                self._more.clear()
                await self._more.wait()


def _converter() -> Any:
    """Results and notifications of our own stay the JSON objects that they are."""
    converter = default_converter()  # type: ignore[no-untyped-call]  # of pygls
    for kind in (JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, lambda members, cls: cls(**members))
    return converter


class Editor:
    """A running session with the server, as one of the profiles."""

    def __init__(self, client: EditorClient) -> None:
        self.client = client
        self.profile = client.profile
        self._versions: dict[str, int] = {}
        self._chose = False

    @property
    def pulls(self) -> bool:
        """Whether this client asks for diagnostics: it can, and can be told to ask again."""
        return self.profile == "vscode_current"

    @property
    def marks(self) -> bool:
        """Whether this client renders Markdown."""
        return self.profile != "nothing"

    @property
    def asks_for_settings(self) -> bool:
        """Whether this client can be asked for its settings."""
        return self.profile != "nothing"

    def open(self, file: Path, text: str | None = None) -> str:
        """Open a file, with a text that may differ from what is saved; return its URI."""
        return self.open_uri(file.as_uri(), file.read_bytes().decode() if text is None else text)

    async def open_settled(self, file: Path, text: str | None = None) -> str:
        """Open the first file of a test's own project, and wait until its commits were looked up and all was told that follows from it."""
        after = len(self.client.sent)
        uri = self.open(file, text)
        await self.told(uri, after=after)
        await self.final(uri)  # under load it is told before history was asked, too
        await self.caught_up()
        return uri

    async def open_known(self, file: Path) -> str:
        """Open a file, and wait until its answers are final: history was asked."""
        uri = self.open(file)
        await self.final(uri)
        return uri

    async def final(self, uri: str) -> Any:
        """Return a document's provenance once it is provisional no more."""
        while True:
            after = len(self.client.sent)
            answer = await self.provenance(uri)
            if "provisional" not in answer:
                return answer
            await self.told(uri, after=after)

    def open_uri(self, uri: str, text: str) -> str:
        """Open a document that may be no file."""
        self._versions[uri] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text))
        )
        return uri

    def change(self, uri: str, *changes: types.TextDocumentContentChangeEvent) -> int:
        """Change a document; return its new version."""
        self._versions[uri] += 1
        version = self._versions[uri]
        document = types.VersionedTextDocumentIdentifier(version=version, uri=uri)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(document, list(changes))
        )
        return version

    def insert(self, uri: str, line: int, text: str) -> int:
        """Insert text before a 0-based line."""
        return self.replace(uri, (line, 0), (line, 0), text)

    def replace(self, uri: str, start: tuple[int, int], end: tuple[int, int], text: str) -> int:
        """Replace what stands between two positions."""
        return self.change(
            uri,
            types.TextDocumentContentChangePartial(
                types.Range(types.Position(*start), types.Position(*end)), text
            ),
        )

    def close(self, uri: str) -> None:
        """Close a document."""
        del self._versions[uri]
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    async def begun(self) -> None:
        """Wait until the settings hold that the server asks for when a session begins."""
        if self.asks_for_settings:
            await self.asked(types.WORKSPACE_CONFIGURATION, after=0)
        await self.caught_up()

    async def caught_up(self) -> None:
        """Wait until the server has handled all that it was sent, and we have got what it said of that at once."""
        await self.hover_whole("untitled:answered-after-all-that-came-before", 1)

    async def leave(self) -> None:
        """Close whatever is open, and take back what was chosen."""
        if self._chose:
            await self.set()
        for uri in list(self._versions):
            self.close(uri)

    def save(self, uri: str) -> None:
        """Say that a document was saved."""
        self.client.text_document_did_save(
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    async def hover_whole(self, uri: str, line: int, character: int = 0) -> types.Hover | None:
        """Hover over a 1-based line."""
        place = types.Position(line - 1, character)
        return await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), place)
        )

    async def hover(self, uri: str, line: int, character: int = 0) -> str:
        """Hover over a 1-based line that has something to say; return what the user reads."""
        found = await self.hover_whole(uri, line, character)
        assert found is not None, f"nothing on line {line}"
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def lens_places(self, uri: str) -> list[types.CodeLens]:
        """Return the lenses as they come first, without titles."""
        found = await self.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(uri))
        )
        return list(found or [])

    async def lenses(self, uri: str) -> list[tuple[int, str]]:
        """Return 1-based lines and titles of all lenses, without ages."""
        resolved = [
            await self.client.code_lens_resolve_async(lens) for lens in await self.lens_places(uri)
        ]
        return [
            (lens.range.start.line + 1, without_age(lens.command.title) if lens.command else "")
            for lens in resolved
        ]

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Return the diagnostics of an open document as they are now: asked for, or told after a change of nothing."""
        if self.pulls:
            params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
            report = await self.client.text_document_diagnostic_async(params)
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            return list(report.items)
        after = len(self.client.sent)
        return await self.pushed(uri, self.change(uri), after=after)

    async def pushed(self, uri: str, version: int, *, after: int = 0) -> list[types.Diagnostic]:
        """Wait for the diagnostics that a client is told for a version of a document."""
        method = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS

        def wanted(message: Message) -> bool:
            return message[0] == method and message[1].uri == uri and message[1].version == version

        _, params = await self.client.until(wanted, after=after)
        return list(params.diagnostics)

    async def told(self, uri: str, *, after: int) -> None:
        """Wait for the notification that answers about a document may have changed."""
        await self.client.until(
            lambda sent: sent == (PROVENANCE_CHANGED, {"uri": uri}), after=after
        )

    async def asked(self, method: str, *, after: int) -> None:
        """Wait for a request of the server's."""
        await self.client.until(lambda sent: sent[0] == method, after=after)

    def watched(
        self, file: Path, kind: types.FileChangeType = types.FileChangeType.Changed
    ) -> None:
        """Say that a file changed on disk."""
        event = types.FileEvent(file.as_uri(), kind)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    async def provenance(self, uri: str, **members: Any) -> Any:
        """Send the request `vibes/provenance`."""
        params = {"textDocument": {"uri": uri}, **members}
        return await self.client.protocol.send_request_async(PROVENANCE, params)  # type: ignore[no-untyped-call]  # of pytest-lsp

    async def run(self, command: str, *arguments: Any) -> Any:
        """Execute a command."""
        return await self.client.workspace_execute_command_async(
            types.ExecuteCommandParams(command, arguments=list(arguments))
        )

    async def set(self, **settings: Any) -> None:
        """Choose settings as a user would, and wait until they hold."""
        after = len(self.client.sent)
        self._chose = True
        if self.asks_for_settings:
            self.client.set_configuration(settings, section="vibes")
        given = None if self.asks_for_settings else {"vibes": settings}
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(given))
        if self.asks_for_settings:
            await self.asked(types.WORKSPACE_CONFIGURATION, after=after)
        await self.caught_up()
