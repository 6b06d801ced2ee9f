"""What a driver answers where the manual leaves room: values, texts, orders of checks, faults and what follows them.

Questions are tables (scripts/*.txt) and sweeps (sweeps.py); nvidia.txt has what NVIDIA's driver answered."""
