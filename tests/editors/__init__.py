"""Real editors, unmodified, in which people's stories are played: what is read is what they would see."""
