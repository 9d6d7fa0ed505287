"""The values that everything speaks of: domains, queries, releases, claims, linear systems; and files."""
