"""Import from other formats and export to them: agent-trace, git-ai notes."""
