"""Textures and surfaces."""
