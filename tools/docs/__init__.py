"""Writes the parts of the documentation that are made from code: `make docs`."""
