"""Real VS Code, served by code-server to a headless Chromium, with our extension as it is released."""
