"""Strongest paths of random preferences on the GPU, against Floyd and Warshall's algorithm in numpy."""

import numpy as np
from scaling_elections import compute_strongest_paths

rng = np.random.default_rng(1)
for count in (32, 96):
    preferences = rng.integers(0, 1000, (count, count), dtype=np.uint32)
    np.fill_diagonal(preferences, 0)
    wanted = np.where(preferences > preferences.T, preferences, 0)
    for via in range(count):
        wanted = np.maximum(wanted, np.minimum(wanted[:, via : via + 1], wanted[via]))
    np.fill_diagonal(wanted, 0)
    got = np.array(compute_strongest_paths(preferences, allow_tma=False, allow_gpu=True, tile_size=16))
    np.fill_diagonal(got, 0)
    np.testing.assert_array_equal(got, wanted)
print("right")
