"""Each check has its finding, and a sound trail has none."""
