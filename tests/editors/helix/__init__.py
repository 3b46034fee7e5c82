"""A real Helix, set up as the documentation says."""
