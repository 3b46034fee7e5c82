"""The demonstration: a small real repository with a trail, looked at with the real commands (`make demo`)."""
