"""The current state of a trail: log index, lineages, reviews, placements, live risk. Read-only."""
