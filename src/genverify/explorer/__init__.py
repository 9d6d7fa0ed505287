"""The page of blocks, claims and proofs."""
