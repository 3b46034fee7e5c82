"""Recording: what every use case writes, and that it is sound."""
