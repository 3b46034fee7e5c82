"""The language server: thin handlers that translate LSP requests to use cases and back."""
