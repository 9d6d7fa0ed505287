"""One room per paper; they do not know each other."""
