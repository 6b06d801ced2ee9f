"""APIs as tables with one row per function. Declarations, entry points, calls of the underlying library and
documentation are generated from them.

`spec` defines the row, `generate` turns rows into C; `driver`, `nvml`, `hip` and the libraries' packages are tables.
"""
