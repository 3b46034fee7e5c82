"""How right the locator is, measured on histories that it has never seen; `python -m benchmarks.locating PATH...`."""
