"""What anybody's tables give away."""
