"""What a file defines, by the grammar of its language or by the look of its lines. Pure; grammars are loaded on first use."""
