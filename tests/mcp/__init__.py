"""`vibes mcp` as a process, driven by the official SDK's own client."""
