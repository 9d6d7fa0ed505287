"""The reference set: the papers' figures and tables as the default study made them, kept with the code."""
