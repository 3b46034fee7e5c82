"""Documentation; `generate` writes the parts that are made from code."""
