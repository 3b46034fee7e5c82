"""Do entries tell what should stay private: secrets, home directories (RFC 13.1)?

Detection is the library's (`bc-detect-secrets`): its detectors of known token formats, without those that judge by entropy
or by a variable's name; added here are the formats of a few services that it does not know yet, and keys over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Finding
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import BrokenBlob
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.store.reasoning import inline_entry

_HOME: Final = re.compile(r"(?:/(?:home|Users|root)/|[A-Za-z]:\\+Users\\+)[^/\\\s\"']+")
_MAX_LINE: Final = 4_000
"""Longer lines are looked at in pieces: some detectors take seconds for a hostile one."""
_OVERLAP: Final = 400
"""Characters that two pieces share, so that a secret is whole in one of them."""
_MAX_TEXT: Final = 1 << 20
_ADDED: Final = {
    "Anthropic API Key": re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    "OpenAI API Key": re.compile(r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_]{20,}"),
    "GitLab Token": re.compile(r"\bgl(?:pat|dt|rt|ptt|agent)-[A-Za-z0-9_-]{20,}"),
    "PyPI Token": re.compile(r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    "Private Key": re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    "Google API Key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}\b"),
}
_PASSED_OVER: Final = frozenset({"Base64HighEntropyString", "HexHighEntropyString", "KeywordDetector"})
_CANDIDATE: Final = re.compile(r"[A-Za-z0-9+/=_-]{16}|://[^/\s]*@|PRIVATE KEY|(?i:secret|token|passw|key)")
"""What every known format has: a long word, credentials in a URL, a key's header, or a telling name."""


def check_privacy(subject: Subject) -> Iterator[Finding]:
    """Findings about secrets, one for each entry and kind, and one about all home directories."""
    manifest = subject.trail.manifest
    at_home: list[str] = []
    find = _finder()
    for key, _ in zip(manifest, subject.steps("privacy", len(manifest)), strict=True):
        entry = manifest.entry(key)
        if entry is None:
            continue
        member_texts = list(_texts(_unpacked(entry, subject)))
        if any(_HOME.search(value) for _, value in member_texts):
            at_home.append(key)
        kinds = {(field, kind) for field, value in member_texts for kind in _kinds(value, find)}
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


def _kinds(value: str, find: Callable[[str], set[str]]) -> set[str]:
    found: set[str] = set()
    for line in value.splitlines():
        for start in range(0, len(line), _MAX_LINE - _OVERLAP):
            piece = line[start : start + _MAX_LINE]
            if _CANDIDATE.search(piece):
                found |= find(piece)
    return found


def _finder() -> Callable[[str], set[str]]:
    """Return a function that names the kinds of secret in a line; loaded late, because the library is slow to import."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # noqa: PLC0415

    classes: list[Any] = list(get_mapping_from_secret_type_to_class().values())
    detectors = [each() for each in classes if each.__name__ not in _PASSED_OVER]

    def find(line: str) -> set[str]:
        known = {str(detector.secret_type) for detector in detectors if any(detector.analyze_string(line))}
        return known | {kind for kind, pattern in _ADDED.items() if pattern.search(line)}

    return find
