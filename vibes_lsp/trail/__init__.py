"""What a trail says: one index of the log, lineages, reviews and look-up."""
