"""Set up coding agents: write `vibes hook` into their own configuration, and inspect what is there.

`agents` is the table of all agents. `json_edits` and `hook_configuration` are pure; `hook_files`
reads and writes files; `trust` asks whether the agent runs what was written.
"""
