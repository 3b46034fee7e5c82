"""Measurements of the product against large audit trails that are made on the spot."""
