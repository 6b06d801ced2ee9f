"""Benchmarks: `make bench`. Each prints ratios against a peer measured in the same run, or a goal."""
