"""Tables of the papers, made from the results."""
