"""Keep a trail in step with git: the pre-commit hook, merging, export."""
