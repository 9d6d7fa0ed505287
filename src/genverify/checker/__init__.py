"""Proofs read and checked, in exact integers; imports core only."""
