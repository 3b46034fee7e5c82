"""Stories in real repositories: what a user does with git, and what the trail then contains."""
