"""Whose line it is: git says which commit brought it, hashes say whose text it is (R31, R32)."""
