"""`vibes doctor`: why no annotation is shown, and what to do; each step is tested in turn."""
