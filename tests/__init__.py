"""The test suite: one folder per kind of witness (unit, properties, server, cli, editors, architecture)."""
