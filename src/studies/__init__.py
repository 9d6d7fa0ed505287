"""The papers and the built-in country: each folder with a study.py is a study. Not part of the wheel."""
