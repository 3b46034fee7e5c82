"""What is true now: the log followed, lineages, edges and reviews, look-up by id; nothing here changes a trail."""
