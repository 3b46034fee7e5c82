"""Keep a trail in step with git: backfill, remap, merge, export and the pre-commit hook."""
