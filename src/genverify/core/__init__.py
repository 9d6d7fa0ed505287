"""What can be said about records, and what is published: no solver, no private data."""
