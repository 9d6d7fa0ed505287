"""Benchmarks of the attack."""
