"""Proofs for other people's checkers."""
