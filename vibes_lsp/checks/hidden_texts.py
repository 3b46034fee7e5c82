"""Check that the log has nothing of texts that git stores encrypted or elsewhere (R14, R32)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.stored_files import StoredFiles, distinctive_lines
from vibes_lsp.model.hashing import ANCHOR_MEMBERS
from vibes_lsp.model.paths import normal_path
from vibes_lsp.trail.lineage import Lineage


def check_hidden_texts(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each record with a quote or a hash of lines that git does not store.

    A file is hidden if a filter applies to it, HEAD has it, and HEAD's version has none of the
    quoted lines, nor most of its own lines in the file on disk. The file on disk alone does not
    show it: in a clone without the key it is encrypted too.
    """
    if context.repository is None:
        return
    stored = StoredFiles(context.directory.project)
    filters = stored.filters({normal_path(path) for path in context.trail.annotated_paths()})
    for path, name in sorted(filters.items()):
        lineages = context.trail.lineages_in(path)
        if any(map(_has_anchors, lineages)) and _is_hidden(context, stored, path, lineages):
            for lineage in lineages:
                yield from _findings(context, lineage, f"{path}: git stores it by filter {name}")


def _has_anchors(lineage: Lineage) -> bool:
    return any(record.text(name) for record in lineage.members for name in ANCHOR_MEMBERS)


def _is_hidden(
    context: CheckContext, stored: StoredFiles, path: str, lineages: Sequence[Lineage]
) -> bool:
    in_git = stored.lines_in_head(path)
    if in_git is None:
        return False
    quoted = distinctive_lines(
        line
        for lineage in lineages
        for record in lineage.members
        for line in (record.text("anchor_context") or "").split("\n")
    )
    if in_git & quoted:
        return False
    try:
        on_disk = distinctive_lines(read_source(context.directory.project, path).lines)
    except UnreadableFile:
        return True
    is_as_stored = on_disk == in_git
    return is_as_stored or not in_git or 2 * len(in_git & on_disk) < len(in_git)


def _findings(context: CheckContext, lineage: Lineage, about: str) -> Iterator[Finding]:
    for record in lineage.members:
        names = [name for name in ANCHOR_MEMBERS if record.text(name)]
        if names:
            message = f"{about}, but the record has {', '.join(names)}"
            yield context.in_log(catalogue.HIDDEN_TEXT, message, record.line, names[0])
    for review in context.trail.reviews_of(lineage):
        if review.text_hash is not None:
            message = f"{about}, but the review has a hash of its lines"
            line = review.edge.record.line
            yield context.in_log(catalogue.HIDDEN_TEXT, message, line, "metadata.text")
