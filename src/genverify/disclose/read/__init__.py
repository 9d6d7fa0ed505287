"""Readers of printed tables, one module per family of formats."""
