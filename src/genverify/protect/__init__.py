"""Protections: noise, swapping, suppression and rounding."""
