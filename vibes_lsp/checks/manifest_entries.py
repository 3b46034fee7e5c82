"""Check manifest entries: hashes, members (RFC 5.2, 6.2-6.7), blobs (R8), privacy (RFC 13.1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Check, Finding, Severity
from vibes_lsp.errors import BrokenBlob, EscapingBlob, MalformedJson, MissingBlob
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.hashing import ContextVariant, explain_context_hash
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.secrets import MaskingRules, secret_kinds
from vibes_lsp.model.validation import entry_problems
from vibes_lsp.model.vocabulary import IMPORTED_FROM, AssuranceLevel, ContextType
from vibes_lsp.store.reasoning import (
    blob_file,
    blob_name_matches,
    inline_entry,
    read_blob,
    reasoning_text,
)

_EXAMPLES = 3


@dataclass
class HashCounts:
    """The number of keys that match in each variant (R2), and the first key of each."""

    counts: Counter[ContextVariant] = field(default_factory=Counter)
    first: dict[ContextVariant, str] = field(default_factory=dict)

    def add(self, key: str, variants: tuple[ContextVariant, ...]) -> None:
        """Count a key under the last of its variants."""
        self.counts[variants[-1]] += 1
        self.first.setdefault(variants[-1], key)


def check_entries(
    context: CheckContext, hashes: HashCounts, only: Collection[str] | None = None
) -> Iterator[Finding]:
    """Yield findings about each entry, or about those in `only`; fill `hashes`."""
    manifest = context.trail.manifest
    without_model: list[str] = []
    keys = [key for key in manifest if only is None or key in only]
    for key, _ in zip(keys, context.track_progress("entries", len(keys)), strict=True):
        try:
            entry = parse_object(manifest.raw(key))
        except MalformedJson as error:
            yield context.in_entry(catalogue.ENTRY_FIELD, f"entry {key[:16]}: {error.reason}", key)
            continue
        for problem in entry_problems(entry):
            check = catalogue.TIMESTAMP if problem.kind == "timestamp" else catalogue.ENTRY_FIELD
            yield context.in_entry(check, f"{problem.field}: {problem.message}", key, problem.field)
        variants = _explain(key, entry, context)
        hashes.add(key, variants)
        if variants == (ContextVariant.MISMATCH,):
            yield context.in_entry(
                catalogue.HASH_MISMATCH,
                f"entry {key[:16]} does not match its key in any known variant",
                key,
            )
        if entry.get("type") == ContextType.PROMPT and text(entry, "prompt_text") == "":
            yield context.in_entry(
                catalogue.PROMPT_EMPTY, "prompt_text is empty", key, "prompt_text"
            )
        if entry.get("type") == ContextType.REASONING and not text(entry, "reasoning_model"):
            without_model.append(key)
    if without_model:
        total = context.entry_counts[ContextType.REASONING]
        message = f"{len(without_model):,} of {total:,} reasoning entries have no reasoning_model"
        yield context.in_entry(
            catalogue.REASONING_MODEL, message, without_model[0], "reasoning_model"
        )
    for variant, count in hashes.counts.items():
        if variant not in (ContextVariant.SPEC, ContextVariant.MISMATCH):
            yield context.in_entry(
                catalogue.HASH_VARIANT,
                f"{count:,} of {len(manifest):,} keys match only as {variant!s}",
                hashes.first[variant],
            )


def check_level(context: CheckContext) -> Iterator[Finding]:
    """Yield findings about entries that the assurance level requires (guide)."""
    level, counts = context.config.config.assurance_level, context.entry_counts
    if not context.trail.log.columns.annotations or not context.can_resolve_entries:
        return
    if level == AssuranceLevel.LOW or _are_all_imported(context):
        return
    if not counts[ContextType.PROMPT]:
        yield _absent(context, catalogue.PROMPTS_ABSENT, level, "prompt")
    if level == AssuranceLevel.HIGH and not counts[ContextType.REASONING]:
        yield _absent(context, catalogue.REASONING_ABSENT, level, "reasoning")


def _are_all_imported(context: CheckContext) -> bool:
    """Whether no annotation was recorded here: other tools keep less than a level requires."""
    return all(IMPORTED_FROM in each.first.members for each in context.lineages)


def _absent(context: CheckContext, check: Check, level: AssuranceLevel, kind: str) -> Finding:
    return Finding(
        check,
        f"level {level} requires {kind} entries, but the manifest has none",
        context.manifest_name,
    )


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


def check_blobs(context: CheckContext, only: Collection[str] | None = None) -> Iterator[Finding]:
    """Yield findings about compressed and external reasoning, of all entries or those in `only`."""
    ignored: bool | None = None
    for key, kind in context.entry_types.items():
        if only is not None and key not in only:
            continue
        entry = context.trail.manifest.entry(key) if kind == ContextType.REASONING else None
        if entry is None or text(entry, "reasoning_text") is not None:
            continue
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


def check_privacy(context: CheckContext) -> Iterator[Finding]:
    """Yield one finding per entry and kind of secret, and one about all home directories."""
    manifest = context.trail.manifest
    redaction = context.config.config.redaction
    rules = MaskingRules(allow=redaction.allow)
    at_home: list[str] = []
    for key, _ in zip(manifest, context.track_progress("privacy", len(manifest)), strict=True):
        entry = manifest.entry(key)
        if entry is None:
            continue
        member_texts = list(_texts(_unpacked(entry, context)))
        if any(_HOME.search(value) for _, value in member_texts):
            at_home.append(key)
        kinds = {
            (member, kind) for member, value in member_texts for kind in secret_kinds(value, rules)
        }
        for member, kind in sorted(kinds):
            yield context.in_entry(
                catalogue.SECRET, f"{member} may contain a secret: {kind}", key, member
            )
    if at_home:
        yield context.in_entry(
            catalogue.HOME_PATH,
            f"{len(at_home):,} of {len(manifest):,} entries contain a path of a home directory",
            at_home[0],
        )


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
            pending.extend((member, item) for item in value)
        elif isinstance(value, dict):
            pending.extend((member, item) for item in value.values())
