"""The demonstration: the sample repository, shown with the real programs (`make demo`)."""
