"""Benchmarks of audits, and rounded tables of areas."""
