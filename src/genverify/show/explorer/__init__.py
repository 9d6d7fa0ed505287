"""The block explorer: a static page about blocks, their published tables, their verified claims and the proofs."""
