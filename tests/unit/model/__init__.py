"""Tests of the standard as types and pure functions."""
