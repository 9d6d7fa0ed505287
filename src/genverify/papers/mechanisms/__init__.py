"""Privacy against accuracy: randomized response, sensitivity, the matrix mechanism, and what published zeros give away."""
