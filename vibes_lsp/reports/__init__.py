"""Answers for people and programs, as values that become JSON or text.

Modules are named after the commands that print them; `placements` has the shape of a placement in
JSON and its texts, `authors` the tools and models, `sarif` findings for code scanning.
"""
