"""Services for attestations of VIBES: a cosigning endpoint, a registry, OpenTimestamps.

The package adds commands to `vibes`, and times that `vibes verify` accepts, by entry points.
"""

__version__ = "0.1.0"
