"""How likely is what is not certain: probabilities of the study's claims and rows, and how well they are calibrated."""
