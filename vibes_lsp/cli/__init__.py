"""The `vibes` command: each module translates a command to one use case, and its result to text."""
