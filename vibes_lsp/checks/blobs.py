"""Can all reasoning be read (RFC 6.7, 8.2, R8)?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import BrokenBlob, EscapingBlob, MissingBlob
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.store.reasoning import blob_file, names_its_content, read_blob, reasoning_text


def check_blobs(subject: Subject, only: Collection[str] | None = None) -> Iterator[Finding]:
    """Findings about compressed and external reasoning, of all entries or of some, unpacked one at a time."""
    ignored: bool | None = None
    for key, kind in subject.entry_types.items():
        if only is not None and key not in only:
            continue
        entry = subject.trail.manifest.entry(key) if kind == ContextType.REASONING else None
        if entry is None or text(entry, "reasoning_text") is not None:
            continue
        path = text(entry, "blob_path")
        field = "blob_path" if path is not None else "reasoning_text_compressed"
        try:
            yield from _read(subject, key, entry, path)
        except EscapingBlob as error:
            yield subject.in_entry(catalogue.BLOB_ESCAPES, error.message, key, field)
        except MissingBlob as error:
            if ignored is None:
                ignored = subject.repository is not None and path is not None and _ignored(subject, path)
            yield subject.in_entry(catalogue.BLOB_MISSING, error.message, key, field, Severity.NOTE if ignored else None)
        except BrokenBlob as error:
            yield subject.in_entry(catalogue.BLOB_BROKEN, error.message, key, field)


def _read(subject: Subject, key: str, entry: Members, path: str | None) -> Iterator[Finding]:
    if path is None and text(entry, "reasoning_text_compressed") is None:
        yield subject.in_entry(catalogue.REASONING_EMPTY, "no text, no compressed text, no blob", key, "reasoning_text")
        return
    reasoning_text(entry, subject.directory)
    if path is not None and not names_its_content(path, read_blob(path, subject.directory), entry):
        yield subject.in_entry(catalogue.BLOB_NAME, f"the name of {path} is not the digest of its content", key, "blob_path")


def _ignored(subject: Subject, path: str) -> bool:
    return subject.repository is not None and subject.repository.ignores(blob_file(path, subject.directory))
