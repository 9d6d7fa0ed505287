"""Studies as workflows: configuration, jobs, code digests, provenance, reference set."""
