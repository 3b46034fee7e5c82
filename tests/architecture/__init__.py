"""Tests of the source tree itself: imports, names, sizes, wording."""
