"""Maintenance: what keeps a trail in step with git."""
