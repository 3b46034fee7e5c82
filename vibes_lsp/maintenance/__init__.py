"""Keep a trail in step with git: back-filling, remapping, the pre-commit hook, merging, export."""
