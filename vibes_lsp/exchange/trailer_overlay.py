"""Show which agent a commit's trailers name, for lines that nothing better is known of.

A trailer is about a whole commit: some of its lines may be a person's. So it is labelled as such,
is no annotation, and counts nowhere.
"""

from __future__ import annotations

from vibes_lsp.exchange.brought_lines import BlamedFile, BroughtLines
from vibes_lsp.git.agent_trailers import AgentTrailer, read_agent_trailers
from vibes_lsp.git.repository import Repository


def trailers_of_lines(
    repository: Repository, file: BlamedFile
) -> BroughtLines[AgentTrailer] | None:
    """Return the trailers of the commits that brought the lines of a file; None without any."""
    commits = {origin.commit for origin in file.origins if origin is not None}
    trailers = read_agent_trailers(repository.objects, commits)
    return file.brought(lambda origin: trailers.get(origin.commit)) if trailers else None
