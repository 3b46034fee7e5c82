"""Real Neovims: our plugin, and the plain client that the documentation shows."""
