"""What the server answers, one module for each feature; none imports another."""
