"""The `vibes` command: one module for each subcommand, each translating to one use case and back."""
