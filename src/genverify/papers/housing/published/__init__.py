"""What the two agencies publish, and how it is protected."""
