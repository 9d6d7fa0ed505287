"""Pages and the look of figures."""
