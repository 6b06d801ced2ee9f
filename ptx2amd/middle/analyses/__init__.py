"""Facts about a function's body. Analyses do not change it."""
