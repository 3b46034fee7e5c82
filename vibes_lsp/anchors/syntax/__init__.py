"""Find the definitions in a file, by its language's grammar or by line patterns.

Grammars are loaded on first use.
"""
