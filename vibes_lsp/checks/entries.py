"""Are the manifest's entries complete, and are they what their keys say (RFC 5.2, 6.2-6.7, 13.3)?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.finding import Check, Finding
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import BrokenBlob, MalformedJson
from vibes_lsp.model.canonical import parse_object
from vibes_lsp.model.hashing import ContextVariant, explain_context_hash
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.validation import entry_problems
from vibes_lsp.model.vocabulary import AssuranceLevel, ContextType
from vibes_lsp.store.reasoning import inline_entry

_EXAMPLES = 3


@dataclass
class HashCounts:
    """How many keys verify in which variant (R2), and the first keys of each."""

    counts: Counter[ContextVariant] = field(default_factory=Counter)
    first: dict[ContextVariant, str] = field(default_factory=dict)

    def add(self, key: str, variants: tuple[ContextVariant, ...]) -> None:
        """Count an entry under the last variant that it needs."""
        self.counts[variants[-1]] += 1
        self.first.setdefault(variants[-1], key)


def check_entries(subject: Subject, hashes: HashCounts, only: Collection[str] | None = None) -> Iterator[Finding]:
    """Findings about each entry, or about some; fills `hashes`."""
    manifest = subject.trail.manifest
    nameless: list[str] = []
    keys = [key for key in manifest if only is None or key in only]
    for key, _ in zip(keys, subject.steps("entries", len(keys)), strict=True):
        try:
            entry = parse_object(manifest.raw(key))
        except MalformedJson as error:
            yield subject.in_entry(catalogue.ENTRY_FIELD, f"entry {key[:16]}: {error.reason}", key)
            continue
        for problem in entry_problems(entry):
            check = catalogue.TIMESTAMP if problem.kind == "timestamp" else catalogue.ENTRY_FIELD
            yield subject.in_entry(check, f"{problem.field}: {problem.message}", key, problem.field)
        variants = _explain(key, entry, subject)
        hashes.add(key, variants)
        if variants == (ContextVariant.MISMATCH,):
            yield subject.in_entry(catalogue.HASH_MISMATCH, f"entry {key[:16]} does not have this hash, in any known variant", key)
        if entry.get("type") == ContextType.PROMPT and text(entry, "prompt_text") == "":
            yield subject.in_entry(catalogue.PROMPT_EMPTY, "prompt_text is empty", key, "prompt_text")
        if entry.get("type") == ContextType.REASONING and not text(entry, "reasoning_model"):
            nameless.append(key)
    if nameless:
        message = f"{len(nameless):,} of {subject.entry_counts[ContextType.REASONING]:,} reasoning entries name no model"
        yield subject.in_entry(catalogue.REASONING_MODEL, message, nameless[0], "reasoning_model")
    for variant, count in hashes.counts.items():
        if variant not in (ContextVariant.SPEC, ContextVariant.MISMATCH):
            yield subject.in_entry(
                catalogue.HASH_VARIANT, f"{count:,} of {len(manifest):,} keys verify as {variant!s}", hashes.first[variant]
            )


def check_level(subject: Subject) -> Iterator[Finding]:
    """Findings about what the assurance level asks the manifest to hold (guide's list)."""
    level, counts = subject.config.config.assurance_level, subject.entry_counts
    if not subject.trail.log.columns.annotations or not subject.resolves:
        return
    if level != AssuranceLevel.LOW and not counts[ContextType.PROMPT]:
        yield _absent(subject, catalogue.PROMPTS_ABSENT, level, "prompt")
    if level == AssuranceLevel.HIGH and not counts[ContextType.REASONING]:
        yield _absent(subject, catalogue.REASONING_ABSENT, level, "reasoning")


def _absent(subject: Subject, check: Check, level: AssuranceLevel, kind: str) -> Finding:
    return Finding(check, f"the project's level is {level}, and the manifest has no {kind} entry", subject.manifest_name)


def _explain(key: str, entry: Members, subject: Subject) -> tuple[ContextVariant, ...]:
    """Say how the key was computed; a packed entry may also be keyed by its inline form (R8)."""
    variants = explain_context_hash(key, entry)
    packed = "reasoning_text_compressed" in entry or "blob_path" in entry
    if variants != (ContextVariant.MISMATCH,) or not packed:
        return variants
    try:
        return explain_context_hash(key, inline_entry(entry, subject.directory))
    except BrokenBlob:
        return variants
