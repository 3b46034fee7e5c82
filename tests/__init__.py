"""The test suite; one folder per kind: unit, properties, server, cli, editors, architecture."""
