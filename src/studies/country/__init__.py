"""The built-in country, census files, and the blocks that are sampled."""
