"""Where results come from, and the audit of it."""
