"""Claims and proofs in words."""
