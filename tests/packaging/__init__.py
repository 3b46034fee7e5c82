"""What is released: that it is whole, and that it works where nothing else of ours is."""
