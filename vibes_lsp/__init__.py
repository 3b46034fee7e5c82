"""VIBES audit trails for editors and shells: which AI wrote which line, from which prompt, and who reviewed it."""

__version__ = "0.1.0"
