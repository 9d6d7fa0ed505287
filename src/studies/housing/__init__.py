"""Subsidized housing: two releases linked."""
