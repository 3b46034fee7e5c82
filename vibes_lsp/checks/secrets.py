"""Do entries tell what should stay private: secrets, home directories (RFC 13.1)? What a secret looks like is left to `model.secrets`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import BrokenBlob
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.secrets import Rules, secret_kinds
from vibes_lsp.store.reasoning import inline_entry

_HOME: Final = re.compile(r"(?:/(?:home|Users|root)/|[A-Za-z]:\\+Users\\+)[^/\\\s\"']+")
_MAX_TEXT: Final = 1 << 20


def check_privacy(subject: Subject) -> Iterator[Finding]:
    """Findings about secrets, one for each entry and kind, and one about all home directories."""
    manifest = subject.trail.manifest
    redaction = subject.config.config.redaction
    rules = Rules(allow=redaction.allow)
    at_home: list[str] = []
    for key, _ in zip(manifest, subject.steps("privacy", len(manifest)), strict=True):
        entry = manifest.entry(key)
        if entry is None:
            continue
        member_texts = list(_texts(_unpacked(entry, subject)))
        if any(_HOME.search(value) for _, value in member_texts):
            at_home.append(key)
        kinds = {(field, kind) for field, value in member_texts for kind in secret_kinds(value, rules)}
        for field, kind in sorted(kinds):
            yield subject.in_entry(catalogue.SECRET, f"{field} looks as if it contained a secret: {kind}", key, field)
    if at_home:
        yield subject.in_entry(catalogue.HOME_PATH, f"{len(at_home):,} of {len(manifest):,} entries name a home directory", at_home[0])


def _unpacked(entry: Members, subject: Subject) -> Members:
    """Reasoning is read as its text (RFC 6.7), never as what packed text looks like."""
    if text(entry, "reasoning_text_compressed") is None and text(entry, "blob_path") is None:
        return entry
    try:
        return inline_entry(entry, subject.directory)
    except BrokenBlob:  # a finding of its own
        return {name: value for name, value in entry.items() if name != "reasoning_text_compressed"}


def _texts(entry: Members) -> Iterator[tuple[str, str]]:
    pending: list[tuple[str, JsonValue]] = list(entry.items())
    for field, value in pending:  # grows while it is walked
        if isinstance(value, str):
            yield field, value[:_MAX_TEXT]
        elif isinstance(value, list):
            pending.extend((field, item) for item in value)
        elif isinstance(value, dict):
            pending.extend((field, item) for item in value.values())
