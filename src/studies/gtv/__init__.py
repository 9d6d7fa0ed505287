"""Generate-then-verify, and what goes beyond it."""
