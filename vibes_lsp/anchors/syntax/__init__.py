"""What a file defines, by its language's grammar or the look of its lines.

Grammars are loaded on first use.
"""
