"""What the server and a client say to each other: messages, positions, texts, settings."""
