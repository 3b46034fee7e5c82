"""The `vibes` command, as its users run it."""
