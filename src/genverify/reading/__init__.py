"""What a file of printed tables says: a role, with its reason, for every cell that is not empty, and the tables that follow."""
