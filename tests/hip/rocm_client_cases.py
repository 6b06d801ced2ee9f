"""What test_rocm_libraries.py asks of ROCm's libraries, and rocm_client.py does."""

#: rocrand_rng_type: all but mt19937, whose jump-ahead tables take minutes to set up.
GENERATORS = {
    "xorwow": 401, "mrg32k3a": 402, "mtgp32": 403, "philox": 404, "mrg31k3p": 405, "lfsr113": 406, "threefry2x32": 408,
    "threefry4x32": 410, "sobol32": 501, "scrambled_sobol32": 502,
}  # fmt: skip
#: Those of 64 bits.
WIDE = {"threefry2x64": 409, "threefry4x64": 411, "sobol64": 504, "scrambled_sobol64": 505}
#: Of transforms: powers, mixed radices, a prime.
LENGTHS = (16, 64, 100, 256, 1000, 1031, 4096)
#: Of matrices: M, N, K.
PRODUCTS = tuple(f"{name}:{size}" for name in ("sgemm", "dgemm") for size in ("64:64:64", "257:129:65", "1:33:100"))
