"""Tests of git's part: revisions, ancestry, the commits that records came with."""
