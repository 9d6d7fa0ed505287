"""Detection and reconstruction from the published statistics."""
