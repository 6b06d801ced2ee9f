"""Filling the cache ahead of a program's first run: of files, of whole environments, here or on a cluster."""
