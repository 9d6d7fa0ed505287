"""Generate-then-verify on protected counts: what is still verified from the release, and how much of it is false."""
