"""How likely is what is not certain: probabilities of claims and rows of the study's blocks, and how well they are calibrated."""
