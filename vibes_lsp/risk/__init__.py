"""PRISM: what a risk score means (RFC 10.4). Pure."""
