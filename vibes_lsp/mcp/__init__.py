"""The MCP server: a coding agent asks what is known of lines, and may record what it did.

`message_loop` speaks the protocol through the official SDK. The tools are in `tool_catalogue`; they
use the same reports and requests as the command line.
"""
