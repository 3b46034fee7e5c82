"""Which models wrote how much (`vibes models`): current annotations by tool and model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vibes_lsp.index.lineage import Lineage
from vibes_lsp.index.trail import Trail
from vibes_lsp.model.members import Members
from vibes_lsp.reports.environments import Author, Authors


@dataclass(frozen=True, slots=True)
class ModelShare:
    """One tool and model, and its part of all current annotations.

    Attributes:
        author: Tool and model.
        annotations: Current annotations that it wrote; reviews are none.
        files: Files that these are about.
        share: Its part of all current annotations, 0 to 1.
    """

    author: Author
    annotations: int
    files: int
    share: float

    def as_json(self) -> Members:
        """Return the share with the names that environment entries have."""
        return {
            "tool_name": self.author.tool,
            "tool_version": self.author.tool_version,
            "model_name": self.author.model,
            "model_version": self.author.model_version,
            "annotations": self.annotations,
            "files": self.files,
            "share": round(self.share, 4),
        }


def model_shares(trail: Trail, lineages: Sequence[Lineage]) -> list[ModelShare]:
    """Return the shares of all tools and models, the largest first; history and reviews do not count."""
    authors = Authors(trail)
    counts: Counter[Author] = Counter()
    files: dict[Author, set[str]] = {}
    for lineage in lineages:
        author = authors.of(lineage.current.text("environment_hash"))
        if lineage.superseded_by or author.is_human or lineage.is_review:
            continue
        counts[author] += 1
        files.setdefault(author, set()).add(lineage.current.text("file_path") or "")
    total = counts.total()
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].model, item[0].tool, item[0].tool_version))
    return [ModelShare(author, count, len(files[author]), count / total) for author, count in ordered]
