"""VIBES audit trails for editors and shells: which AI wrote a line, why, and who reviewed it."""

__version__ = "0.1.0"
