"""RAP-RANK: confidence-ranked reconstruction."""
