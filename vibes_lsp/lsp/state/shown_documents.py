"""Texts that open in the client: virtual documents (LSP 3.18), else files, else messages."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections import OrderedDict
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from vibes_lsp.anchors.text import Text
from vibes_lsp.git.repository import open_repository
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.model.escaping import single_line
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import write_error

_logger = logging.getLogger(__name__)
SCHEME: Final = "vibes"
_MAX_DOCUMENTS: Final = 32
_MAX_MESSAGE: Final = 400
_MODELINES: Final = 5
"""Lines at either end of a file in which editors look for settings, unless configured otherwise."""
_EXPIRED: Final = "This document is no longer available. Ask for it again.\n"
_VERSION: Final = "git"


class ShownDocuments:
    """The texts that were opened in the client: the latest virtual documents, and files."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def text(self, uri: str) -> str:
        """Return the text of a virtual document."""
        return self._texts.get(uri, _EXPIRED)

    def close(self) -> None:
        """Delete the files."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    async def offer(self, ls: Server) -> None:
        """Register virtual documents with clients that support them."""
        if not offers_texts(ls):
            return
        options = types.TextDocumentContentRegistrationOptions([SCHEME])
        await ls.offer(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, options)

    async def show(self, ls: Server, name: str, text: str) -> str | None:
        """Open a text in the client.

        Args:
            ls: The server.
            name: The name of the document, with an extension.
            text: The text.

        Returns:
            The URI of the document; None if it was shown as a message, or not at all.
        """
        if not shows_documents(ls):
            ls.window_show_message(
                types.ShowMessageParams(types.MessageType.Info, single_line(text, _MAX_MESSAGE))
            )
            return None
        uri = self._add_virtual(name, text) if offers_texts(ls) else self._write(name, text)
        return uri if await open_document(ls, uri) else None

    def _add_virtual(self, name: str, text: str) -> str:
        uri = f"{SCHEME}:/{uuid4().hex[:8]}/{name}"
        self._texts[uri] = text
        while len(self._texts) > _MAX_DOCUMENTS:
            self._texts.popitem(last=False)
        return uri

    def _write(self, name: str, text: str) -> str:
        """Write a text outside all projects, below a folder that only this user may enter.

        Each text gets a file of its own: a client may keep showing the old content of an open file.
        Blank lines surround it, since editors obey modelines in it, and the text is untrusted.
        """
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        file = Path(tempfile.gettempdir())
        blank = "\n" * _MODELINES
        try:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(
                    prefix="vibes-lsp-", ignore_cleanup_errors=True
                )
            file = Path(self._folder.name).resolve() / digest[:16] / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{blank}{text}\n{blank}\f\n", encoding="utf-8", errors="replace")
        except OSError as error:
            raise write_error(file, error) from error
        return file.as_uri()


def offers_texts(ls: Server) -> bool:
    """Whether the client supports virtual documents that are registered dynamically."""
    return bool(ls.declared("workspace", "text_document_content", "dynamic_registration"))


def shows_documents(ls: Server) -> bool:
    """Whether the client opens documents when asked to."""
    return bool(ls.declared("window", "show_document", "support"))


async def open_document(ls: Server, uri: str, selection: types.Range | None = None) -> bool:
    """Open a document in the client; return whether it did."""
    if not shows_documents(ls):
        return False
    params = types.ShowDocumentParams(uri, external=False, take_focus=True, selection=selection)
    try:
        return (await ls.window_show_document_async(params)).success
    except JsonRpcException as error:
        _logger.warning("the client does not open a document: %s", error.message)
        return False


def parse_version(uri: str) -> tuple[str, str] | None:
    """Return the file's URI and the blob that a URI of `version_uri` names; else None."""
    parts = urlsplit(uri)
    name, _, blob = unquote(parts.query).partition("=")
    if parts.scheme != SCHEME or name != _VERSION:
        return None
    return urlunsplit(("file", parts.netloc, parts.path, "", "")), blob


def version_uri(root: Path, path: str, blob: str) -> str:
    """Return the URI of a virtual document: the content of a file in git.

    It has the path of the file, so that clients show it by the file's name.
    """
    file = urlsplit((root / path).as_uri())
    return urlunsplit((SCHEME, file.netloc, file.path, f"{_VERSION}={blob}", ""))


def read_version(directory: AuditDir, blob: str) -> str:
    """Return a file's content in git, in a thread."""
    repository = open_repository(directory.project)
    if repository is None:
        return _EXPIRED
    with closing(repository):
        content = repository.objects.contents(blob)
    return _EXPIRED if content is None else Text.from_bytes(content).content
