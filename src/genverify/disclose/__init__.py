"""What tables of users give away."""
