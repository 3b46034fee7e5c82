"""Real coding agents, run with a scripted model."""
