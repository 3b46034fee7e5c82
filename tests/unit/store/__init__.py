"""Tests of what is read from and written to an audit directory."""
