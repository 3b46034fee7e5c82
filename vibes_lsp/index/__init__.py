"""What a trail says now: log index, lineages, reviews, placements, live risk. Read-only."""
