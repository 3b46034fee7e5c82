"""Create anchors and locate text by them (RFC 7.3.1, R14-R16). Pure functions over lines."""
