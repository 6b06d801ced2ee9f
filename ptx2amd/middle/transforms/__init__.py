"""Passes that change a body, and the instructions that they insert."""
