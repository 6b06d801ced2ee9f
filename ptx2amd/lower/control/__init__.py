"""Branches, and loops in which lanes wait for each other."""
