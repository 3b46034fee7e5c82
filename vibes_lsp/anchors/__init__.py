"""Create anchors and locate text by them (RFC 7.3.1, R14-R16). Pure functions over lines.

"Buys N points of starts, of both ends" in a docstring means: without this step, N percentage points
fewer ranges get the right first line, the right first and last line (`benchmarks.locating`).
"""
