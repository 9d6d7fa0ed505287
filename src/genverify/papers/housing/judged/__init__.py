"""The attack beside the truth."""
