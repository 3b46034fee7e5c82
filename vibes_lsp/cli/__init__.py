"""The `vibes` command: each module translates a command to one use case, and its result to text.

`main` lists the commands and maps errors to exit codes, `options` defines shared options,
`project` opens the audit trail, `output` escapes, colours and prints.
"""
