"""Passes that change a body, and what they put into it."""
