"""The attack as one small integer program: types, classes, and the reference formulation."""
