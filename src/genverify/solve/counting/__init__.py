"""Counting the datasets that fit."""
