"""The accuracy of the locator on git histories; `python -m benchmarks.locating`."""
