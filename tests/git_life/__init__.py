"""Histories of git in which the author of every line is known, and what a tool says of them."""
