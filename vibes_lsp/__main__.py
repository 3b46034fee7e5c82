"""Entry point of `vibes`: an agent's hook starts without the other commands.

`vibes hook` runs many times in an agent's session, and the agent waits for it.
"""

import sys

from vibes_lsp import search_programs_in_path

_SLOW_OPTIONS = {"-h", "--help", "--wait"}


def main() -> None:
    """Run the command line and exit."""
    search_programs_in_path()
    if sys.argv[1:2] == ["hook"] and _SLOW_OPTIONS.isdisjoint(sys.argv):
        from vibes_lsp.ingest import hook_spool  # noqa: PLC0415

        hook_spool.main()
    from vibes_lsp.cli.main import main as run  # noqa: PLC0415

    run()


if __name__ == "__main__":
    main()
