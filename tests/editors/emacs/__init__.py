"""Real Emacsen, set up as the documentation says."""
