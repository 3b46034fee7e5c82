"""Other programs' formats in and out: events of coding agents, received from their hooks.

`hook_spool` stores what a hook is given, `payloads` reads it, `edited_lines` finds the lines of an
edit, and `fold_events` records. It loads nothing by itself: a hook must start fast.
"""
