"""What people look at: each figure of the papers, drawn from the results."""
