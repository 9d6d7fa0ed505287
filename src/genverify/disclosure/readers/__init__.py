"""Printed tables as people have them: one module per format, one model of what was understood."""
