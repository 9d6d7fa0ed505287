"""Two releases about the same households: block counts and statistics of subsidized properties (subsidized housing)."""
