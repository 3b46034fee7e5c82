"""Numbers and pictures of a trail: statistics, models, sessions, SARIF."""
