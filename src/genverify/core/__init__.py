"""What can be stated about records, and what is published: no solver, no private data."""
