"""Compliance checks over a whole audit trail, each with an id, a severity and a place."""
