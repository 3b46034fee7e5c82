"""Git: revisions, ancestry, the commits that records came with. The only package that runs git."""
