"""Tests of what the log says now."""
