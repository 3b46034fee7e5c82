"""Entry point of `vibes`: the hooks of agents and of git start without the other commands.

`vibes hook` runs many times in an agent's session, and the agent waits for it; a commit waits for
`vibes backfill --pre-commit`.
"""

import sys

from vibes_lsp import search_programs_in_path

_OF_GIT = 5
_SLOW_OPTIONS = {"-h", "--help", "--wait"}


def main() -> None:
    """Run the command line and exit."""
    search_programs_in_path()
    if sys.argv[1:2] == ["hook"] and _SLOW_OPTIONS.isdisjoint(sys.argv):
        from vibes_lsp.ingest import hook  # noqa: PLC0415

        hook.main()
    if sys.argv[1:4] == ["backfill", "--pre-commit", "--audit-dir"] and len(sys.argv) == _OF_GIT:
        from pathlib import Path  # noqa: PLC0415

        from vibes_lsp.cli.commit_hook import prepare_commit  # noqa: PLC0415

        sys.exit(prepare_commit(Path(sys.argv[4])))
    from vibes_lsp.cli.main import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
