"""Checkers of proofs: exact integers, no solver, no code shared with what found them."""
