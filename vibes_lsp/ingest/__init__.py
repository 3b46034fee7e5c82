"""What agents do becomes records: `hook` stores an event, `spool` reads it, and `fold` records it.

It loads nothing by itself: a hook must start fast.
"""
