"""Generate, verify, effective k, truth."""
