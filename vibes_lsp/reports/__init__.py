"""Answers for people and programs: blame, find, diff, coverage, statistics, placements, SARIF."""
