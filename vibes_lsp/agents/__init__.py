"""Coding agents: one module for each, with all that is about it, and what several have in common.

An agent's module has its payloads, its configuration, what it wants to be trusted, and its session
files. `all_agents` has them all; `setup` writes their configuration. Nothing here records.
"""
