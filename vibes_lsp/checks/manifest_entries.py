"""Check manifest entries: hashes, members (RFC 5.2, 6.2-6.7), blobs (R8), privacy (RFC 13.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Check, Finding, Severity
from vibes_lsp.errors import BrokenBlob, EscapingBlob, MalformedJson, MissingBlob
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import ContextVariant, explain_context_hash
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.secrets import secret_kinds
from vibes_lsp.model.validation import entry_problems
from vibes_lsp.model.vocabulary import AssuranceLevel, ContextType
from vibes_lsp.store.reasoning import (
    blob_file,
    blob_name_matches,
    inline_entry,
    read_blob,
    reasoning_text,
)


@dataclass
class EntryTally:
    """What checks of single entries find and add up.

    Attributes:
        hashes: The number of keys that match in each variant (R2).
        first_keys: The first key of each variant.
        types: The type of each entry; None if it has none.
        packed: Keys of reasoning that is compressed or in a blob, or absent.
        without_model: The number of reasoning entries without a model.
        first_without_model: The key of the first of these.
        at_home: The number of entries that contain a path of a home directory.
        first_at_home: The key of the first of these.
        findings: What is wrong with single entries.
    """

    hashes: Counter[ContextVariant] = field(default_factory=Counter)
    first_keys: dict[ContextVariant, str] = field(default_factory=dict)
    types: list[str | None] = field(default_factory=list)
    packed: list[str] = field(default_factory=list)
    without_model: int = 0
    first_without_model: str = ""
    at_home: int = 0
    first_at_home: str = ""
    findings: list[Finding] = field(default_factory=list)


def tally_entries(context: CheckContext, keys: Sequence[str], tally: EntryTally) -> None:
    """Check the members, the hash and the privacy of some entries, and add them to a tally."""
    for key in keys:
        entry = _check_entry(context, key, tally)
        kind = None if entry is None else text(entry, "type")
        tally.types.append(kind)
        if entry is None:
            continue
        if kind == ContextType.REASONING and text(entry, "reasoning_text") is None:
            tally.packed.append(key)
        _check_privacy(context, key, list(_texts(_unpacked(entry, context))), tally)


def _check_entry(context: CheckContext, key: str, tally: EntryTally) -> Members | None:
    """Check members and hash of an entry; return it, or None if it is not a valid object."""
    findings = tally.findings
    try:
        entry = parse_object(context.trail.manifest.raw(key))
    except MalformedJson as error:
        findings.append(
            context.in_entry(catalogue.ENTRY_FIELD, f"entry {key[:8]}: {error.reason}", key)
        )
        return None
    for problem in entry_problems(entry):
        check = catalogue.TIMESTAMP if problem.kind == "timestamp" else catalogue.ENTRY_FIELD
        findings.append(
            context.in_entry(check, f"{problem.field}: {problem.message}", key, problem.field)
        )
    variants = _explain(key, entry, context)
    tally.hashes[variants[-1]] += 1
    tally.first_keys.setdefault(variants[-1], key)
    if variants == (ContextVariant.MISMATCH,):
        message = f"entry {key[:8]} does not match its key in any known variant"
        findings.append(context.in_entry(catalogue.HASH_MISMATCH, message, key))
    kind = entry.get("type")
    if kind == ContextType.PROMPT and text(entry, "prompt_text") == "":
        message = "prompt_text is empty"
        findings.append(context.in_entry(catalogue.PROMPT_EMPTY, message, key, "prompt_text"))
    if kind == ContextType.REASONING and not text(entry, "reasoning_model"):
        tally.without_model += 1
        tally.first_without_model = tally.first_without_model or key
    return entry


def check_entry_tally(context: CheckContext, tally: EntryTally) -> Iterator[Finding]:
    """Yield findings about single entries and about all of them together."""
    yield from tally.findings
    if tally.without_model:
        total = context.entry_counts[ContextType.REASONING]
        message = f"{tally.without_model:,} of {total:,} reasoning entries have no reasoning_model"
        yield context.in_entry(
            catalogue.REASONING_MODEL, message, tally.first_without_model, "reasoning_model"
        )
    number = len(context.trail.manifest)
    for variant, count in tally.hashes.items():
        if variant not in (ContextVariant.SPEC, ContextVariant.MISMATCH):
            message = f"{count:,} of {number:,} keys match only as {variant!s}"
            yield context.in_entry(catalogue.HASH_VARIANT, message, tally.first_keys[variant])
    if tally.at_home:
        message = f"{tally.at_home:,} of {number:,} entries contain a path of a home directory"
        yield context.in_entry(catalogue.HOME_PATH, message, tally.first_at_home)


def check_level(context: CheckContext, are_all_imported: Callable[[], bool]) -> Iterator[Finding]:
    """Yield findings about entries that the assurance level requires (guide).

    Args:
        context: The trail.
        are_all_imported: Whether no annotation was recorded here: other tools keep less than a
            level requires. Called if an entry is missing.
    """
    level, counts = context.config.config.assurance_level, context.entry_counts
    if not context.trail.annotation_count or not context.can_resolve_entries:
        return
    absent: list[tuple[Check, str]] = []
    if level != AssuranceLevel.LOW and not counts[ContextType.PROMPT]:
        absent.append((catalogue.PROMPTS_ABSENT, "prompt"))
    if level == AssuranceLevel.HIGH and not counts[ContextType.REASONING]:
        absent.append((catalogue.REASONING_ABSENT, "reasoning"))
    if absent and not are_all_imported():
        for check, kind in absent:
            message = f"level {level} requires {kind} entries, but the manifest has none"
            yield Finding(check, message, context.manifest_name)


def _explain(key: str, entry: Members, context: CheckContext) -> tuple[ContextVariant, ...]:
    """Return how the key was computed; a packed entry may be keyed by its inline form (R8)."""
    variants = explain_context_hash(key, entry)
    packed = "reasoning_text_compressed" in entry or "blob_path" in entry
    if variants != (ContextVariant.MISMATCH,) or not packed:
        return variants
    try:
        return explain_context_hash(key, inline_entry(entry, context.directory))
    except BrokenBlob:
        return variants


def check_blobs(context: CheckContext, packed: Iterable[str]) -> Iterator[Finding]:
    """Yield findings about compressed and external reasoning, of the entries with these keys."""
    ignored: bool | None = None
    for key in packed:
        entry = context.trail.manifest.entry(key) or {}
        path = text(entry, "blob_path")
        field = "blob_path" if path is not None else "reasoning_text_compressed"
        try:
            yield from _read(context, key, entry, path)
        except EscapingBlob as error:
            yield context.in_entry(catalogue.BLOB_ESCAPES, error.message, key, field)
        except MissingBlob as error:
            if ignored is None:
                ignored = (
                    context.repository is not None and path is not None and _ignored(context, path)
                )
            yield context.in_entry(
                catalogue.BLOB_MISSING,
                error.message,
                key,
                field,
                Severity.NOTE if ignored else None,
            )
        except BrokenBlob as error:
            yield context.in_entry(catalogue.BLOB_BROKEN, error.message, key, field)


def _read(context: CheckContext, key: str, entry: Members, path: str | None) -> Iterator[Finding]:
    if path is None and text(entry, "reasoning_text_compressed") is None:
        yield context.in_entry(
            catalogue.REASONING_EMPTY,
            "the entry has no text, no compressed text and no blob",
            key,
            "reasoning_text",
        )
        return
    reasoning_text(entry, context.directory)
    if path is not None and not blob_name_matches(path, read_blob(path, context.directory), entry):
        yield context.in_entry(
            catalogue.BLOB_NAME,
            f"the name of {path} does not match the digest of its content",
            key,
            "blob_path",
        )


def _ignored(context: CheckContext, path: str) -> bool:
    return context.repository is not None and context.repository.is_ignored(
        blob_file(path, context.directory)
    )


_HOME: Final = re.compile(r"(?:/(?:home|Users|root)/|[A-Za-z]:\\+Users\\+)[^/\\\s\"']+")
_MAX_TEXT: Final = 1 << 20


def _check_privacy(
    context: CheckContext, key: str, texts: Sequence[tuple[str, str]], tally: EntryTally
) -> None:
    """Add one finding per kind of secret and member of an entry, and count paths of home folders.

    Args:
        context: The trail.
        key: The entry's key.
        texts: The names of its members, and texts in them.
        tally: What is added to.
    """
    if any(_HOME.search(value) for _, value in texts):
        tally.at_home += 1
        tally.first_at_home = tally.first_at_home or key
    rules = context.config.config.redaction
    secrets = {(member, kind) for member, value in texts for kind in secret_kinds(value, rules)}
    for member, kind in sorted(secrets):
        message = f"{member} may contain a secret: {kind}"
        tally.findings.append(context.in_entry(catalogue.SECRET, message, key, member))


def _unpacked(entry: Members, context: CheckContext) -> Members:
    """Return an entry with its reasoning unpacked (RFC 6.7), or without it if that fails."""
    if text(entry, "reasoning_text_compressed") is None and text(entry, "blob_path") is None:
        return entry
    try:
        return inline_entry(entry, context.directory)
    except BrokenBlob:  # it has its own finding
        return {name: value for name, value in entry.items() if name != "reasoning_text_compressed"}


def _texts(entry: Members) -> Iterator[tuple[str, str]]:
    pending: list[tuple[str, JsonValue]] = list(entry.items())
    for member, value in pending:  # the list grows during the loop
        if isinstance(value, str):
            yield member, value[:_MAX_TEXT]
        elif isinstance(value, list):
            pending.extend((member, nested) for nested in value)
        elif isinstance(value, dict):
            pending.extend((member, nested) for nested in value.values())
