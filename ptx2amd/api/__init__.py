"""APIs as tables: one row a function; declarations, entry points, calls of the library beneath and pages come from it.

`spec` has the row, `generate` turns rows into C; `driver`, `nvml` and `hip` are tables.
"""
