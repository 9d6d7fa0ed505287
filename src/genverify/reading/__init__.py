"""What files of printed tables say: a role, with its reason, for every cell, and the tables that follow."""
