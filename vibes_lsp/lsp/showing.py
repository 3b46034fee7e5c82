"""Opening texts and locator in the client, by whatever it can do: a virtual document (LSP 3.18), a file, else a message."""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.model.escaping import single_line

if TYPE_CHECKING:
    from vibes_lsp.lsp.server import Server

_logger = logging.getLogger(__name__)
SCHEME: Final = "vibes"
_MAX_KEPT: Final = 32
_MODELINES: Final = 5
"""Lines at either end of a file in which editors look for settings, unless told otherwise."""
_MAX_MESSAGE: Final = 400
_GONE: Final = "This was shown a while ago, and is not kept any more. Ask for it again.\n"


class Showing:
    """The texts that were shown, the newest of them only."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._folder: Path | None = None

    def text(self, uri: str) -> str:
        """Return what a virtual document says."""
        return self._texts.get(uri, _GONE)

    def close(self) -> None:
        """Remove the files that were made to be shown."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    async def show(self, ls: Server, name: str, text: str) -> str | None:
        """Show a text; return the URI of the document that it is in, None where it was no more than a message, or not shown.

        Args:
            ls: The server.
            name: What the document is called, with an extension.
            text: What it says.
        """
        if not _shows_documents(ls):
            ls.window_show_message(
                types.ShowMessageParams(types.MessageType.Info, single_line(text, _MAX_MESSAGE))
            )
            return None
        uri = (
            self._virtual(name, text)
            if offers_texts(ls.client_capabilities)
            else self._written(name, text)
        )
        return uri if await show_place(ls, uri) else None

    def _virtual(self, name: str, text: str) -> str:
        uri = f"{SCHEME}:/{uuid4().hex[:8]}/{name}"
        self._texts[uri] = text
        while len(self._texts) > _MAX_KEPT:
            self._texts.popitem(last=False)
        return uri

    def _written(self, name: str, text: str) -> str:
        """Write a text where no project is: below a folder of this process that nobody else may enter.

        Another text is another file, since a client that has one open may keep showing what was in it.
        """
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="vibes-")).resolve()
        folder = self._folder / hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
        folder.mkdir(exist_ok=True)
        file = folder / name
        around = (
            "\n" * _MODELINES
        )  # an editor obeys what it finds in the first and last lines of a file; the text is not ours
        file.write_text(f"{around}{text}\n{around}\f\n", encoding="utf-8", errors="replace")
        return file.as_uri()


async def show_place(ls: Server, uri: str, selection: types.Range | None = None) -> bool:
    """Open a document in the client, at some lines; say whether it did."""
    if not _shows_documents(ls):
        return False
    params = types.ShowDocumentParams(uri, external=False, take_focus=True, selection=selection)
    try:
        return (await ls.window_show_document_async(params)).success
    except JsonRpcException as error:
        _logger.warning("the client does not show a document: %s", error.message)
        return False


async def offer(ls: Server) -> None:
    """Say that documents of our scheme can be asked for, to clients that can."""
    if not offers_texts(ls.client_capabilities):
        return
    options = types.TextDocumentContentRegistrationOptions([SCHEME])
    registration = types.Registration("vibes-texts", types.WORKSPACE_TEXT_DOCUMENT_CONTENT, options)
    try:
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException as error:
        _logger.warning("the client asks for no texts: %s", error.message)


def offers_texts(capabilities: types.ClientCapabilities) -> bool:
    """Whether a client asks for virtual documents when it is told that there are some."""
    content = (
        capabilities.workspace.text_document_content if capabilities.workspace is not None else None
    )
    return content is not None and bool(content.dynamic_registration)


def _shows_documents(ls: Server) -> bool:
    window = ls.client_capabilities.window
    return window is not None and window.show_document is not None and window.show_document.support
