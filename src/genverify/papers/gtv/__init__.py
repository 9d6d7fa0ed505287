"""Generate-then-verify: sampling, baselines, figures and tables of the paper."""
