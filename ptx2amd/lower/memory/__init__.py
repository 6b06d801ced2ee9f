"""Loads, stores, atomics, copies, and where variables lie."""
